//! Cards of the tools for work in the background: one line each, more when expanded or when something is wrong.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::report::draw_lines;
use super::state::Phase;
use super::stored::read;
use super::title;
use crate::present::paint::{Color, INDENT, Limit, PREVIEW_CHARS, Page, Part, Span, beginning, folded};
use crate::present::{Mark, Receipt, SessionDetails, SpawnableAgent, SpawnableAgents, ToolDetails};
use crate::run::{WriteReach, for_person};
use agents::{Tool, prepare_arguments};

/// A narrower head has the id instead of the kind of the call.
const WIDE_FROM: usize = 44;
/// Lines of a report in a collapsed card.
const FEW_LINES: usize = 6;

/// A call of such a tool.
#[derive(Debug)]
pub(super) struct SessionCall {
    tool: String,
    /// The arguments of the call.
    arguments: Value,
    /// The details of its result, as JSON.
    details: String,
    /// The text of the result.
    text: String,
    phase: Phase,
    is_error: bool,
}

impl SessionCall {
    pub(super) fn new(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: Value::Null,
            details: String::new(),
            text: String::new(),
            phase: Phase::Pending,
            is_error: false,
        }
    }

    pub(super) fn ask(&mut self, arguments: &str) {
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        let prepared = Tool::parse(&self.tool).and_then(|tool| prepare_arguments(tool, given.clone()).ok());
        self.arguments = prepared.unwrap_or(given);
    }

    pub(super) fn start(&mut self) {
        if self.phase == Phase::Pending {
            self.phase = Phase::Running;
        }
    }

    pub(super) fn finish(&mut self, details: &str, text: &str, has_failed: bool) {
        details.clone_into(&mut self.details);
        text.clone_into(&mut self.text);
        self.phase = Phase::Done;
        self.is_error = has_failed;
    }

    pub(super) fn draw_head(&self, page: &mut Page) {
        let parts = match Tool::parse(&self.tool) {
            Some(Tool::SessionsSpawn) => self.spawn_head(page.width()),
            Some(Tool::AgentsList) => self.agents_head(),
            _ => vec![
                title(self.mark(), &self.tool, self.argument("sessionKey")),
                Span::new("muted", folded(self.argument("message"))).into(),
            ],
        };
        page.line(parts);
    }

    pub(super) fn draw_body(&self, page: &mut Page, is_expanded: bool) {
        page.indented(INDENT, |page| match Tool::parse(&self.tool) {
            Some(Tool::SessionsSpawn) => self.draw_receipt(page, is_expanded),
            Some(Tool::AgentsList) => self.draw_agents(page, is_expanded),
            _ => self.draw_answer(page, is_expanded),
        });
    }

    fn argument(&self, name: &str) -> &str {
        beginning(self.arguments.get(name).and_then(Value::as_str).unwrap_or_default(), PREVIEW_CHARS)
    }

    fn spawn_head(&self, width: usize) -> Vec<Part> {
        let (run_id, key) = match self.stored() {
            Some(Receipt::Accepted { run_id, session_key, .. }) => (run_id, session_key),
            _ => Default::default(),
        };
        // `agent:<agentId>:subagent:<uuid>`.
        let spawned = key.split(':').nth(1).unwrap_or_default();
        let named = [self.argument("agentId"), self.argument("agent"), spawned, "subagent"];
        let agent = named.into_iter().find(|name| !name.is_empty());
        let started = Span::new("muted", if self.mark() == Mark::Started { "started" } else { "" });
        let (label, id) =
            (Span::new("toolOutput", folded(self.argument("label"))), Span::new("muted", folded(&run_id)));
        if width < WIDE_FROM {
            let name = folded(agent.unwrap_or_default());
            return vec![title(self.mark(), &name, ""), id.into(), started.into(), label.into()];
        }
        vec![
            title(self.mark(), "background", agent.unwrap_or_default()),
            started.into(),
            label.into(),
            id.into(),
            // The task takes what room there is: the line is cut where the terminal ends.
            Span::new("muted", folded(self.argument("task"))).into(),
        ]
    }

    fn draw_receipt(&self, page: &mut Page, is_expanded: bool) {
        let (warnings, key) = match self.stored() {
            Some(Receipt::Accepted { warnings, session_key, .. }) if !self.is_error => {
                (warnings, session_key)
            }
            Some(Receipt::Forbidden { error } | Receipt::Error { error }) => {
                return page.text("error", &for_person(&error), Limit::None);
            }
            _ => return self.draw_plain(page),
        };
        if is_expanded {
            page.text("muted", self.argument("task"), Limit::None);
        }
        for warning in &warnings {
            page.text("warning", warning, Limit::None);
        }
        if is_expanded && !key.is_empty() {
            page.line([Span::new("muted", folded(&key))]);
        }
    }

    fn agents_head(&self) -> Vec<Part> {
        let listed: Option<SpawnableAgents> = self.stored();
        let names: Vec<String> =
            listed.iter().flat_map(|listed| &listed.agents).map(|agent| folded(&agent.id)).collect();
        vec![title(self.mark(), "agents_list", ""), Span::new("muted", names.join(", ")).into()]
    }

    fn draw_agents(&self, page: &mut Page, is_expanded: bool) {
        if let Some(SpawnableAgents { agents, .. }) = self.stored() {
            for agent in agents.iter().filter(|_| is_expanded) {
                page.spans(agent_spans(agent));
            }
            return;
        }
        let details: Value = serde_json::from_str(&self.details).unwrap_or_default();
        match details.get("error").and_then(Value::as_str).filter(|error| !error.is_empty()) {
            Some(error) => page.text(self.color(), beginning(error, PREVIEW_CHARS), Limit::None),
            None => self.draw_plain(page),
        }
    }

    /// Draws the answer in the form of the commands.
    fn draw_answer(&self, page: &mut Page, is_expanded: bool) {
        match self.stored() {
            Some(SessionDetails { report, .. }) => {
                let shown = if is_expanded || self.is_error { usize::MAX } else { FEW_LINES };
                draw_lines(page, &report.lines[..shown.min(report.lines.len())]);
            }
            None => self.draw_plain(page),
        }
    }

    fn stored<T: DeserializeOwned + ToolDetails>(&self) -> Option<T> {
        read(&self.details, T::KIND)
    }

    /// Draws the readable text of foreign details.
    fn draw_plain(&self, page: &mut Page) {
        if !self.text.is_empty() {
            let text = if self.is_error { for_person(&self.text) } else { self.text.as_str().into() };
            page.text(self.color(), &text, Limit::None);
        }
    }

    fn color(&self) -> Color {
        if self.is_error { "error" } else { "toolOutput" }
    }

    fn mark(&self) -> Mark {
        match self.phase {
            Phase::Done if self.is_error => Mark::Error,
            // The run works, or has ended in the meantime: the message with its result has the outcome.
            Phase::Done if Tool::parse(&self.tool) == Some(Tool::SessionsSpawn) => Mark::Started,
            Phase::Done if self.stored().is_some_and(|details: SessionDetails| details.starts_run()) => {
                Mark::Started
            }
            Phase::Done => Mark::Ok,
            Phase::Running => Mark::Starting,
            Phase::Pending => Mark::Queued,
        }
    }
}

fn agent_spans(agent: &SpawnableAgent) -> Vec<Span> {
    let SpawnableAgent { id, description, source, readonly, can_write, writes, model, model_from, .. } =
        agent;
    let mut traits = vec![source.as_str().to_owned()];
    traits.extend(readonly.then(|| "readonly".to_owned()));
    traits.extend((!readonly && !can_write).then(|| "cannot write here".to_owned()));
    traits.extend((*writes == Some(WriteReach::Anywhere)).then(|| "writes anywhere".to_owned()));
    let from = model_from.as_deref().map(|from| format!(" from {from}")).unwrap_or_default();
    traits.extend(model.as_deref().filter(|model| !model.is_empty()).map(|model| format!("{model}{from}")));
    vec![
        Span::new("accent", folded(id)),
        Span::new("muted", format!(" ({})  ", folded(&traits.join(", ")))),
        Span::new("toolOutput", folded(description)),
    ]
}
