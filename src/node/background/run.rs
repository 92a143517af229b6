//! A background run, as JavaScript sees it.

use napi_derive::napi;

use crate::node::into_js::object_into_js;
use crate::node::result::{ContextUse, RetryNotice, RunUsage};
use crate::orchestrate::background;

/// A run, in the background or in the foreground. All texts are sanitized; times are milliseconds since 1970 in UTC.
#[napi(object, object_from_js = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the run")]
pub struct RunRecord {
    /// A random UUID; the run is stored under it.
    pub key: String,
    /// Eight hexadecimal characters, the name of its directory.
    pub run_id: String,
    /// `agent:<agent>:subagent:<key>`.
    pub session_key: String,
    /// The id of the conversation that asked for it, or its file.
    pub session: String,
    /// A name for people; at most 80 characters.
    pub label: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// At most 4 KiB; in events at most 200 bytes.
    pub task: String,
    /// The model that answers, or that was chosen, `provider/id`.
    pub model: Option<String>,
    /// The thinking level that was chosen.
    pub thinking: Option<String>,
    /// The directory the child works in.
    pub cwd: String,
    /// The rule for archiving its transcript: `keep`: after `archiveAfterMinutes`; `delete`: once its result was
    /// delivered.
    #[napi(ts_type = "\"keep\" | \"delete\"")]
    pub cleanup: &'static str,
    /// True when the run continues after its pi has ended.
    pub is_detached: bool,
    /// `starting`: the child has not said anything yet; `retrying`: an attempt has failed, and the next one is about to
    /// start.
    #[napi(
        ts_type = "\"queued\" | \"starting\" | \"running\" | \"retrying\" | \"awaiting_quota\" | \"ended\""
    )]
    pub state: &'static str,
    /// The position in the queue, from 1; absent once it has a slot.
    pub position: Option<u32>,
    /// The run that writes to its work tree and has to end first; absent unless that holds it back.
    pub blocked_by: Option<String>,
    /// The question of its child, on one line, while it waits for the answer.
    pub pending_question: Option<String>,
    /// The status in the announcement. Absent before the end; `unknown`: its host ended first.
    #[napi(ts_type = "\"success\" | \"error\" | \"timeout\" | \"unknown\"")]
    pub status: Option<&'static str>,
    /// The outcome. Absent before the end.
    #[napi(
        ts_type = "\"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\" | \"background\""
    )]
    pub outcome: Option<&'static str>,
    /// The reason of the failure.
    pub error: Option<String>,
    /// The time at which it was accepted.
    pub created_ms: i64,
    /// The time at which it got its slot.
    pub started_ms: Option<i64>,
    /// The time of its end.
    pub ended_ms: Option<i64>,
    /// The runtime before the last resumption, in milliseconds; 0 for a run that was never resumed. For a resumed run
    /// `startedMs` is the time at which its last part got its slot.
    pub previous_run_ms: f64,
    /// The time at which its transcript will be archived.
    pub archive_at_ms: Option<i64>,
    /// The time at which its transcript was archived.
    pub archived_ms: Option<i64>,
    /// Its usage, including the parts before it was resumed.
    pub usage: RunUsage,
    /// The context use of its child. Absent before the end of its first turn.
    pub context: Option<ContextUse>,
    /// The run's directory; absent before its child starts.
    pub directory: Option<String>,
    /// The child's session file, under its new name once it was archived; absent before its child starts, and once it was
    /// removed for `quotaBytes`.
    pub transcript: Option<String>,
    /// The id of the child's session.
    pub child_session_id: Option<String>,
    /// The announcement; at most 16 KiB. Absent in the brief runs of events, as are `partial` and `notes`.
    pub result: Option<String>,
    /// The beginning of an answer that was cut off; at most 4 KiB.
    pub partial: Option<String>,
    /// Further notes on how it was set up and ended.
    pub notes: Option<Vec<String>>,
    /// The tools its policy allowed when it was accepted.
    pub tools: Vec<String>,
    /// The child's sandbox in words: the mechanisms that enforce it, or a note that it is not enforced.
    pub sandbox: Option<String>,
    /// The level of certainty that all of the child's processes have ended, as in `SingleResult`.
    pub supervision: Option<String>,
    /// The child's process id, while it runs.
    pub pid: Option<u32>,
    /// Processor time of its processes together, in milliseconds.
    pub cpu_ms: Option<f64>,
    /// The most resident memory of its processes at once, in bytes.
    pub rss_bytes: Option<f64>,
    /// The most processes at once.
    pub processes: Option<f64>,
    /// The newest tool call on one line.
    pub last_tool: Option<String>,
    /// The pending retry.
    pub retry: Option<RetryNotice>,
    /// The newest text, unless a tool was called since; at most 2 KiB.
    pub text: Option<String>,
    /// The number of resumptions, from 0.
    pub times_resumed: u32,
    /// True when its child works in a tree of its own, which `diff` shows once it has ended.
    pub is_isolated: bool,
    /// True when it runs in this process.
    pub is_in_process: bool,
    /// True when a call waits for it, or has waited: it is listed until it ends, and kept so that it can be continued.
    pub is_foreground: bool,
}

object_into_js! { |run: background::RunRecord| RunRecord {
    state: run.state(), status: run.status(),
    key, run_id, session_key, session, label, agent, task, model, thinking, cwd, cleanup, is_detached, outcome, error,
    created_ms, started_ms, ended_ms, archive_at_ms, archived_ms, directory, transcript, child_session_id, result,
    partial, notes, tools, sandbox, supervision, times_resumed, previous_run_ms, is_isolated, is_in_process,
    is_foreground,
    position: run.progress.position,
    blocked_by: run.progress.blocked_by,
    pending_question: run.progress.pending_question,
    usage: run.progress.usage,
    context: run.progress.context,
    pid: run.progress.pid,
    cpu_ms: run.progress.cpu_ms,
    rss_bytes: run.progress.rss_bytes,
    processes: run.progress.processes,
    last_tool: run.progress.last_tool,
    text: run.progress.text,
    retry: run.progress.retry,
} }
