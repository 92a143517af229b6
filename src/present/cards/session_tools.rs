//! Cards of the tools for work in the background: one line each, more when expanded or when something is wrong.

use serde::Deserialize;
use serde_json::Value;

use super::report::draw_lines;
use super::state::Phase;
use super::stored::read;
use super::title;
use crate::present::paint::{Color, INDENT, Limit, PREVIEW_CHARS, Page, Part, Span, beginning, folded};
use crate::present::{Mark, Report};
use crate::run::for_person;
use agents::{Tool, prepare_arguments};
use sanitizer::text_enum;

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

text_enum! {
    enum ReceiptStatus {
        Accepted = "accepted",
        Forbidden = "forbidden",
        Error = "error",
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Receipt {
    #[serde(rename = "status")]
    _status: ReceiptStatus,
    run_id: Option<String>,
    child_session_key: Option<String>,
    #[serde(rename = "note")]
    _note: Option<String>,
    error: Option<String>,
    warnings: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Agents {
    agents: Vec<Agent>,
    #[serde(rename = "defaultAgent")]
    _default_agent: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    id: String,
    description: String,
    source: String,
    readonly: bool,
    /// Absent in sessions of the first releases.
    can_write: Option<bool>,
    writes: Option<String>,
    model: Option<String>,
    model_from: Option<String>,
}

/// The details of a session tool: its answer for people, and the deliveries that the model has with it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    report: Report,
    delivery_ids: Option<Vec<String>>,
}

impl Answer {
    /// Returns true if it starts or continues a run, and does not have the run's result.
    fn starts(&self) -> bool {
        let has_result = self.delivery_ids.as_ref().is_some_and(|ids| !ids.is_empty());
        !has_result && self.report.lines.first().is_some_and(|line| line.mark == Mark::Started)
    }
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
        let receipt: Option<Receipt> = self.stored("subagent-receipt");
        let receipt = receipt.as_ref();
        let key = receipt.and_then(|receipt| receipt.child_session_key.as_deref()).unwrap_or_default();
        // `agent:<agentId>:subagent:<uuid>`.
        let spawned = key.split(':').nth(1).unwrap_or_default();
        let named = [self.argument("agentId"), self.argument("agent"), spawned, "subagent"];
        let agent = named.into_iter().find(|name| !name.is_empty());
        let run_id = receipt.and_then(|receipt| receipt.run_id.as_deref()).unwrap_or_default();
        let started = Span::new("muted", if self.mark() == Mark::Started { "started" } else { "" });
        let (label, id) =
            (Span::new("toolOutput", folded(self.argument("label"))), Span::new("dim", folded(run_id)));
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
        let Some(receipt) = self.stored::<Receipt>("subagent-receipt") else {
            self.draw_plain(page);
            return;
        };
        if self.is_error {
            let error = receipt.error.as_deref().filter(|error| !error.is_empty());
            page.text("error", &for_person(error.unwrap_or(&self.text)), Limit::None);
            return;
        }
        if is_expanded {
            page.text("muted", self.argument("task"), Limit::None);
        }
        for warning in receipt.warnings.iter().flatten() {
            page.text("warning", warning, Limit::None);
        }
        let key = receipt.child_session_key.filter(|key| is_expanded && !key.is_empty());
        if let Some(key) = key {
            page.line([Span::new("dim", folded(&key))]);
        }
    }

    fn agents_head(&self) -> Vec<Part> {
        let listed: Option<Agents> = self.stored("subagent-agents");
        let agents = listed.map(|listed| listed.agents).unwrap_or_default();
        let names: Vec<String> = agents.iter().map(|agent| folded(&agent.id)).collect();
        vec![title(self.mark(), "agents_list", ""), Span::new("muted", names.join(", ")).into()]
    }

    fn draw_agents(&self, page: &mut Page, is_expanded: bool) {
        if let Some(Agents { agents, .. }) = self.stored("subagent-agents") {
            for agent in agents.iter().filter(|_| is_expanded) {
                page.spans(agent.spans());
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
        match self.stored::<Answer>("subagent-session") {
            Some(Answer { report, .. }) => {
                let shown = if is_expanded || self.is_error { usize::MAX } else { FEW_LINES };
                draw_lines(page, &report.lines[..shown.min(report.lines.len())]);
            }
            None => self.draw_plain(page),
        }
    }

    fn stored<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        read(&self.details, kind)
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
            Phase::Done if self.stored("subagent-session").is_some_and(|answer: Answer| answer.starts()) => {
                Mark::Started
            }
            Phase::Done => Mark::Ok,
            Phase::Running => Mark::Starting,
            Phase::Pending => Mark::Queued,
        }
    }
}

impl Agent {
    fn spans(&self) -> Vec<Span> {
        let Self { id, description, source, readonly, can_write, writes, model, model_from } = self;
        let mut traits = vec![source.clone()];
        traits.extend(readonly.then(|| "readonly".to_owned()));
        traits.extend((!readonly && *can_write == Some(false)).then(|| "cannot write here".to_owned()));
        traits.extend(
            writes.as_deref().filter(|writes| *writes == "anywhere").map(|_| "writes anywhere".to_owned()),
        );
        let from = model_from.as_deref().map(|from| format!(" from {from}")).unwrap_or_default();
        traits
            .extend(model.as_deref().filter(|model| !model.is_empty()).map(|model| format!("{model}{from}")));
        vec![
            Span::new("accent", folded(id)),
            Span::new("dim", format!(" ({})  ", folded(&traits.join(", ")))),
            Span::new("toolOutput", folded(description)),
        ]
    }
}
