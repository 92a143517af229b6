//! The events of background runs for other extensions, as JavaScript sees them and as `docs/events.md` promises.

use napi_derive::napi;

use crate::node::into_js::{IntoJs, object_into_js};
use crate::node::result::RunUsage;
use crate::orchestrate::background;

/// An event of a run.
#[napi(object, object_from_js = false)]
pub struct RunEvent {
    /// The name of the event.
    #[napi(ts_type = "\"subagent:started\" | \"subagent:update\" | \"subagent:ended\"")]
    pub event: &'static str,
    /// The run.
    pub run: PublishedRun,
}

/// The event `subagent:delivered`: results are in the conversation.
#[napi(object, object_from_js = false)]
pub struct DeliveredEvent {
    /// The ids of the runs.
    pub run_ids: Vec<String>,
    /// The ids of the deliveries, in the same order.
    pub delivery_ids: Vec<String>,
    /// The runs, with the beginnings of their results.
    pub runs: Vec<PublishedRun>,
}

/// A run as published to other extensions. The fields have the same meaning as in `RunRecord`.
#[napi(object, object_from_js = false)]
pub struct PublishedRun {
    pub run_id: String,
    pub session_key: String,
    pub label: Option<String>,
    pub agent: String,
    /// Its first 500 characters.
    pub task: String,
    #[napi(
        ts_type = "\"queued\" | \"starting\" | \"running\" | \"retrying\" | \"awaiting_quota\" | \"ended\""
    )]
    pub state: &'static str,
    pub position: Option<u32>,
    pub blocked_by: Option<String>,
    #[napi(ts_type = "\"success\" | \"error\" | \"timeout\" | \"unknown\"")]
    pub status: Option<&'static str>,
    #[napi(
        ts_type = "\"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\" | \"background\""
    )]
    pub outcome: Option<&'static str>,
    /// At most 500 characters.
    pub error: Option<String>,
    pub model: Option<String>,
    pub created_ms: i64,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    pub usage: RunUsage,
    pub last_tool: Option<String>,
    /// The last 500 characters of the text that it is writing.
    pub text: Option<String>,
    pub transcript: Option<String>,
    /// The first 4000 characters of its result; only when that has been delivered.
    pub result: Option<String>,
}

object_into_js! { |event: background::RunEvent| RunEvent { event: event.kind, run } }

object_into_js! { |run: background::RunRecord| PublishedRun {
    state: run.state(), status: run.status(),
    run_id, session_key, label, agent, task, outcome, error, model, created_ms, started_ms, ended_ms, transcript, result,
    position: run.progress.position,
    blocked_by: run.progress.blocked_by,
    usage: run.progress.usage,
    last_tool: run.progress.last_tool,
    text: run.progress.text,
} }

impl IntoJs<DeliveredEvent> for &background::DeliveryMessage {
    fn into_js(self) -> DeliveredEvent {
        DeliveredEvent {
            run_ids: self.run_ids(),
            delivery_ids: self.delivery_ids.clone(),
            runs: self.runs.iter().map(background::published_run).map(IntoJs::into_js).collect(),
        }
    }
}
