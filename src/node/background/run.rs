//! A background run as JavaScript sees it.

use std::path::Path;

use napi_derive::napi;

use crate::node::result::{RunUsage, number};
use crate::orchestrate::background;

/// A run that nobody waits for. All texts are sanitized and bounded; times are milliseconds since 1970 in UTC.
#[napi(object, object_from_js = false)]
pub struct BackgroundRun {
    /// A random UUID, by which the run is kept.
    pub key: String,
    /// Eight hexadecimal characters, the name of its directory.
    pub run_id: String,
    /// `agent:<agent>:subagent:<key>`.
    pub session_key: String,
    /// The id of the conversation that asked for it.
    pub session: String,
    /// A name for people.
    pub label: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// The task; in events no more than its beginning.
    pub task: String,
    /// The model that answers, or that was chosen, `provider/id`.
    pub model: Option<String>,
    /// The thinking level that was chosen.
    pub thinking: Option<String>,
    /// The directory that it works in.
    pub cwd: String,
    /// What becomes of its transcript.
    #[napi(ts_type = "\"keep\" | \"delete\"")]
    pub cleanup: &'static str,
    /// Whether it goes on when the pi that started it ends.
    pub is_kept: bool,
    /// Where it stands.
    #[napi(ts_type = "\"queued\" | \"starting\" | \"running\" | \"retrying\" | \"ended\"")]
    pub state: &'static str,
    /// Its place in the queue, from 1, while it waits in one.
    pub position: Option<u32>,
    /// What came of it, once it is over.
    #[napi(ts_type = "\"success\" | \"error\" | \"timeout\" | \"unknown\"")]
    pub status: Option<&'static str>,
    /// How it ended, once it is over.
    #[napi(
        ts_type = "\"completed\" | \"failed\" | \"aborted\" | \"idle_timeout\" | \"hard_timeout\" | \"budget\" | \"killed\" | \"skipped\" | \"interrupted\""
    )]
    pub outcome: Option<&'static str>,
    /// What went wrong.
    pub error: Option<String>,
    /// When it was accepted.
    pub created_ms: f64,
    /// When its turn came.
    pub started_ms: Option<f64>,
    /// When it ended.
    pub ended_ms: Option<f64>,
    /// When its transcript is archived.
    pub archive_at_ms: Option<f64>,
    /// When that was done.
    pub archived_ms: Option<f64>,
    /// What it has spent.
    pub usage: RunUsage,
    /// The run's directory.
    pub directory: Option<String>,
    /// The child's session file.
    pub transcript: Option<String>,
    /// The id of the child's session.
    pub child_session_id: Option<String>,
    /// What was announced; at most 16 KiB of it. Absent in the `runs` of events.
    pub result: Option<String>,
    /// What there was of an answer that did not become one, at most 4 KiB of it; absent like `result`.
    pub partial: Option<String>,
    /// What else there is to say of it; absent like `result`.
    pub notes: Option<Vec<String>>,
    /// The tools that its policy allowed when it was accepted.
    pub tools: Vec<String>,
    /// How it is held to reading, or that it is not.
    pub sandbox: Option<String>,
    /// How far the end of its processes is certain.
    pub supervision: Option<String>,
    /// The child's process, while it is there.
    pub pid: Option<u32>,
    /// Processor time of its processes together.
    pub cpu_ms: Option<f64>,
    /// The memory of its processes together, the most there was at once.
    pub rss_bytes: Option<f64>,
    /// Its processes, the most there were at once.
    pub processes: Option<f64>,
    /// The newest tool call in a few words.
    pub last_tool: Option<String>,
    /// The newest text, at most 2 KiB of it.
    pub text: Option<String>,
    /// How often it was resumed.
    pub times_resumed: u32,
    /// Whether it lives in this process.
    pub is_ours: bool,
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Milliseconds since 1970 stay exact in a JavaScript number for longer than there are calendars.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn epoch_ms(ms: i64) -> f64 {
    ms as f64
}

impl From<background::BackgroundRun> for BackgroundRun {
    fn from(run: background::BackgroundRun) -> Self {
        Self {
            key: run.key,
            run_id: run.run_id,
            session_key: run.session_key,
            session: run.session,
            label: run.label,
            agent: run.agent,
            task: run.task,
            model: run.model,
            thinking: run.thinking,
            cwd: path(&run.cwd),
            cleanup: run.cleanup.as_str(),
            is_kept: run.is_kept,
            state: run.state.as_str(),
            position: run.position.and_then(|position| u32::try_from(position).ok()),
            status: run.status.map(background::Status::as_str),
            outcome: run.outcome.map(crate::run::RunOutcome::as_str),
            error: run.error,
            created_ms: epoch_ms(run.created_ms),
            started_ms: run.started_ms.map(epoch_ms),
            ended_ms: run.ended_ms.map(epoch_ms),
            archive_at_ms: run.archive_at_ms.map(epoch_ms),
            archived_ms: run.archived_ms.map(epoch_ms),
            usage: (&run.usage).into(),
            directory: run.directory.as_deref().map(path),
            transcript: run.transcript.as_deref().map(path),
            child_session_id: run.child_session_id,
            result: run.result,
            partial: run.partial,
            notes: (!run.notes.is_empty()).then_some(run.notes),
            tools: run.tools,
            sandbox: run.sandbox,
            supervision: run.supervision,
            pid: run.pid,
            cpu_ms: run.cpu_ms.map(number),
            rss_bytes: run.rss_bytes.map(number),
            processes: run.processes.map(number),
            last_tool: run.last_tool,
            text: run.text,
            times_resumed: run.times_resumed,
            is_ours: run.is_ours,
        }
    }
}
