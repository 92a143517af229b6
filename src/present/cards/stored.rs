//! Reads back what calls and messages have left in a session.
//!
//! A session outlives releases, and anyone can write to its file: another extension may use our names, a line may be
//! cut, a person may edit it. So a value is read as a whole, from JSON. Unknown fields are skipped. A missing field, or
//! a field of another type, makes the whole value foreign, and the text next to it is shown.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::run::{Mode, RetryNotice, RunState};
use pi_events::{ContextUse, Usage, run_usage, short_form};
use sanitizer::text_enum;

/// The version that says the same by each field as this release.
const VERSION: f64 = 1.0;

/// The kind and version in the data. pi's own example has neither.
#[derive(Deserialize)]
struct Stamp {
    kind: Option<String>,
    version: Option<f64>,
}

/// The value that was kept as `kind`, if it is one.
pub(super) fn read<T: DeserializeOwned>(json: &str, kind: &str) -> Option<T> {
    let stamp: Stamp = serde_json::from_str(json).ok()?;
    let is_known = match (stamp.kind, stamp.version) {
        (None, None) => true,
        (Some(of), Some(version)) => of == kind && (version - VERSION).abs() < f64::EPSILON,
        _ => false,
    };
    is_known.then(|| serde_json::from_str(json).ok()).flatten()
}

/// The details of a call that runs agents.
#[derive(Debug, Deserialize)]
pub(super) struct CallDetails {
    pub mode: Mode,
    pub results: Vec<EndedTask>,
    pub streaming: Option<LiveTask>,
    pub tasks: Option<Vec<LiveTask>>,
    pub error: Option<CallFailure>,
}

impl CallDetails {
    /// Reads them; pi's own example of a sub-agent leaves some with nothing in them.
    pub(super) fn read(json: &str) -> Option<Self> {
        let details: Self = read(json, crate::run::RunDetails::KIND)?;
        let is_run = |run: &LiveTask| RunState::parse(&run.state).is_some() && run.display_items.is_some();
        let is_whole = details.streaming.as_ref().is_none_or(is_run)
            && details.tasks.iter().flatten().all(|task| task.agent.is_some());
        let has_some = details.error.is_some() || details.streaming.is_some() || details.tasks.is_some();
        (is_whole && (has_some || !details.results.is_empty())).then_some(details)
    }
}

/// The reason why a call did not simply succeed.
#[derive(Debug, Deserialize)]
pub(super) struct CallFailure {
    pub code: String,
    pub message: String,
}

/// The progress of a task. An update leaves out text and items that have not changed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LiveTask {
    /// Always present, except in a call with a single run.
    pub agent: Option<String>,
    pub state: String,
    pub error: Option<String>,
    pub text: Option<String>,
    /// Only of a single run: the text next to the details is its own.
    #[serde(default)]
    pub has_text: bool,
    pub display_items: Option<Vec<Item>>,
    pub attempt: f64,
    pub turn_count: f64,
    pub elapsed_ms: f64,
    pub since_event_ms: f64,
    pub position: Option<f64>,
    pub rate_limited_for_ms: Option<f64>,
    pub blocked_by: Option<String>,
    pub undo_note: Option<String>,
    #[serde(with = "run_usage")]
    pub usage: Usage,
    pub context: Option<ContextUse>,
    pub model: Option<String>,
    pub retry: Option<RetryNotice>,
}

/// A task that has ended.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EndedTask {
    pub agent: String,
    pub task: String,
    pub run_id: Option<String>,
    pub outcome: String,
    pub attempts: f64,
    pub duration_ms: f64,
    #[serde(with = "run_usage")]
    pub usage: Usage,
    pub context: Option<ContextUse>,
    pub error: Option<String>,
    pub session_file: Option<String>,
    pub output: Option<String>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub signal: Option<String>,
    pub full_output_file: Option<String>,
    pub check: Option<Check>,
    pub changes: Option<Vec<String>>,
    pub flagged: Option<Vec<String>>,
    pub flagged_gap: Option<String>,
    pub isolation: Option<Isolation>,
    pub redacted: Option<Vec<RedactedByRule>>,
    pub diagnostics: Option<Vec<String>>,
    pub display_items: Option<Vec<Item>>,
}

/// The result of the check of its work.
#[derive(Debug, Deserialize)]
pub(super) struct Check {
    pub command: String,
    pub passed: bool,
    pub ended: String,
}

/// The artifacts of a run in a private tree.
#[derive(Debug, Deserialize)]
pub(super) struct Isolation {
    pub branch: Option<String>,
}

/// The number of values that a rule has redacted.
#[derive(Debug, Deserialize)]
pub(super) struct RedactedByRule {
    pub rule: String,
    pub count: f64,
}

/// A text or a tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "StoredItem")]
pub(super) enum Item {
    Text(String),
    /// A call on one line.
    Call(String),
}

text_enum! {
    enum ItemKind {
        Text = "text",
        ToolCall = "toolCall",
    }
}

#[derive(Deserialize)]
struct StoredItem {
    #[serde(rename = "type")]
    kind: ItemKind,
    text: Option<String>,
    name: Option<String>,
    args: Option<Map<String, Value>>,
}

impl TryFrom<StoredItem> for Item {
    type Error = &'static str;

    fn try_from(StoredItem { kind, text, name, args }: StoredItem) -> Result<Self, Self::Error> {
        match (kind, text, name, args) {
            (ItemKind::Text, Some(text), ..) => Ok(Self::Text(text)),
            (ItemKind::ToolCall, _, Some(name), Some(args)) => {
                Ok(Self::Call(short_form(&name, &Value::Object(args))))
            }
            _ => Err("an item lacks a field of its type"),
        }
    }
}

/// A number as a count: a negative one is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate, and a negative count is none"
)]
pub(super) fn count(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn details(change: impl Fn(&mut Value)) -> Option<CallDetails> {
        let usage =
            json!({"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "cost": 0.1, "turns": 1.0});
        let result = json!({"agent": "a", "task": "t", "outcome": "of a later release", "attempts": 1,
            "durationMs": 5, "usage": usage, "displayItems": [{"type": "toolCall", "name": "ls", "args": {}}]});
        let mut value =
            json!({"kind": "subagent-run", "version": 1, "mode": "single", "results": [result], "more": 1});
        change(&mut value);
        CallDetails::read(&value.to_string())
    }

    #[test]
    fn details_are_read_with_and_without_a_version_stamp() {
        let read = details(|_| {}).expect("the details are valid");
        let items = read.results[0].display_items.as_deref();
        assert_eq!(items, Some([Item::Call("ls .".to_owned())].as_slice()));
        let unstamped = details(|value| {
            let fields = value.as_object_mut().expect("the value is an object");
            fields.remove("kind");
            fields.remove("version");
        });
        assert!(unstamped.is_some());
    }

    #[test]
    fn details_with_another_version_or_kind_or_type_are_not_read() {
        for (pointer, other) in [
            ("/version", json!(2)),
            ("/kind", json!("x")),
            ("/kind", Value::Null),
            ("/mode", json!("later")),
            ("/results", json!([])),
            ("/results/0/agent", json!(7)),
            ("/results/0/usage/cost", Value::Null),
            ("/results/0/usage", json!("1")),
            ("/results/0/displayItems/0/args", json!([])),
            ("/results/0/displayItems/0/type", json!("thinking")),
        ] {
            let read =
                details(|value| *value.pointer_mut(pointer).expect("the field exists") = other.clone());
            assert!(read.is_none(), "{pointer} = {other}");
        }
        for text in ["", "null", "[]", "7", "{", "{}"] {
            assert!(CallDetails::read(text).is_none(), "{text}");
        }
    }
}
