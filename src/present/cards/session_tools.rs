//! Cards of the tools for work in the background: one line each, more when expanded or when something is wrong.

use serde::Deserialize;
use serde_json::Value;

use super::report::{StoredLine, StoredReport, stored_lines};
use super::state::Phase;
use super::stored::read;
use super::title;
use crate::present::Mark;
use crate::present::drawing::{Drawing, INDENT, PREVIEW_CHARS, Part, Row, Span, beginning, folded, indented};
use agents::{Tool, prepare_arguments};
use sanitizer::text_enum;

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
struct Answer {
    report: StoredReport,
    #[serde(rename = "deliveryIds")]
    _delivery_ids: Option<Vec<String>>,
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

    pub(super) fn head(&self, is_expanded: bool) -> Drawing {
        vec![Row::line(self.drawn(is_expanded).0)]
    }

    pub(super) fn body(&self, is_expanded: bool) -> Drawing {
        indented(self.drawn(is_expanded).1, INDENT)
    }

    fn drawn(&self, is_expanded: bool) -> (Vec<Part>, Drawing) {
        match Tool::parse(&self.tool) {
            Some(Tool::SessionsSpawn) => spawn(self, is_expanded),
            Some(Tool::AgentsList) => agents(self, is_expanded),
            _ => session(self, is_expanded),
        }
    }

    fn argument(&self, name: &str) -> &str {
        beginning(self.arguments.get(name).and_then(Value::as_str).unwrap_or_default(), PREVIEW_CHARS)
    }
}

fn spawn(card: &SessionCall, is_expanded: bool) -> (Vec<Part>, Drawing) {
    let receipt: Option<Receipt> = stored(card, "subagent-receipt");
    let key = receipt.as_ref().and_then(|receipt| receipt.child_session_key.as_deref()).unwrap_or_default();
    // `agent:<agentId>:subagent:<uuid>`.
    let spawned = key.split(':').nth(1).unwrap_or_default();
    let named = [card.argument("agentId"), card.argument("agent"), spawned, "subagent"];
    let agent = named.into_iter().find(|name| !name.is_empty());
    let run_id = receipt.as_ref().and_then(|receipt| receipt.run_id.as_deref()).unwrap_or_default();
    let head = vec![
        title(mark(card), "background", agent.unwrap_or_default()),
        Span::new("toolOutput", folded(card.argument("label"))).into(),
        Span::new("dim", folded(run_id)).into(),
        // The task takes what room there is: the line is cut where the terminal ends.
        Span::new("muted", folded(card.argument("task"))).into(),
    ];
    let Some(receipt) = receipt.as_ref() else { return (head, plain_text(card)) };
    if card.is_error {
        let error = receipt.error.as_deref().filter(|error| !error.is_empty());
        return (head, vec![Row::text("error", error.unwrap_or(&card.text))]);
    }
    let warnings = receipt.warnings.iter().flatten().map(|warning| Row::text("warning", warning));
    if !is_expanded {
        return (head, warnings.collect());
    }
    let task = [Row::text("muted", card.argument("task"))];
    let key_row = (!key.is_empty()).then(|| Row::line([Span::new("dim", folded(key))]));
    (head, task.into_iter().chain(warnings).chain(key_row).collect())
}

fn agents(card: &SessionCall, is_expanded: bool) -> (Vec<Part>, Drawing) {
    let listed: Option<Agents> = stored(card, "subagent-agents");
    let agents = listed.as_ref().map(|listed| listed.agents.as_slice()).unwrap_or_default();
    let names: Vec<String> = agents.iter().map(|agent| folded(&agent.id)).collect();
    let head = vec![title(mark(card), "agents_list", ""), Span::new("muted", names.join(", ")).into()];
    let body = match listed {
        Some(_) if is_expanded => agents.iter().map(agent).collect(),
        Some(_) => Drawing::new(),
        None => {
            let details: Value = serde_json::from_str(&card.details).unwrap_or_default();
            match details.get("error").and_then(Value::as_str).filter(|error| !error.is_empty()) {
                Some(error) => vec![Row::text(color(card), beginning(error, PREVIEW_CHARS))],
                None => plain_text(card),
            }
        }
    };
    (head, body)
}

fn agent(Agent { id, description, source, readonly, can_write, writes, model, model_from }: &Agent) -> Row {
    let mut traits = vec![source.clone()];
    traits.extend(readonly.then(|| "readonly".to_owned()));
    traits.extend((!readonly && *can_write == Some(false)).then(|| "cannot write here".to_owned()));
    traits.extend(
        writes.as_deref().filter(|writes| *writes == "anywhere").map(|_| "writes anywhere".to_owned()),
    );
    let from = model_from.as_deref().map(|from| format!(" from {from}")).unwrap_or_default();
    traits.extend(model.as_deref().filter(|model| !model.is_empty()).map(|model| format!("{model}{from}")));
    Row::spans(vec![
        Span::new("accent", folded(id)),
        Span::new("dim", format!(" ({})  ", folded(&traits.join(", ")))),
        Span::new("toolOutput", folded(description)),
    ])
}

/// Returns the request with its run, and the answer in the form of the commands.
fn session(card: &SessionCall, is_expanded: bool) -> (Vec<Part>, Drawing) {
    let head = vec![
        title(mark(card), &card.tool, card.argument("sessionKey")),
        Span::new("muted", folded(card.argument("message"))).into(),
    ];
    let Some(Answer { report, .. }) = stored(card, "subagent-session") else {
        return (head, plain_text(card));
    };
    let is_whole = is_expanded || card.is_error;
    let lines: &[StoredLine] = &report.lines;
    (head, stored_lines(if is_whole { lines } else { &lines[..lines.len().min(FEW_LINES)] }))
}

fn stored<T: serde::de::DeserializeOwned>(card: &SessionCall, kind: &str) -> Option<T> {
    read(&card.details, kind)
}

/// Returns the readable text of foreign details.
fn plain_text(card: &SessionCall) -> Drawing {
    if card.text.is_empty() { Drawing::new() } else { vec![Row::text(color(card), &card.text)] }
}

fn color(card: &SessionCall) -> &'static str {
    if card.is_error { "error" } else { "toolOutput" }
}

fn mark(card: &SessionCall) -> Mark {
    match card.phase {
        Phase::Done if card.is_error => Mark::Error,
        Phase::Done => Mark::Ok,
        Phase::Running => Mark::Starting,
        Phase::Pending => Mark::Queued,
    }
}
