//! What is known of a background run, for the store and for those who look.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::event::Usage;
use crate::run::RunOutcome;
use crate::text::text_enum;

text_enum! {
    /// Where a background run stands.
    #[derive(Default)]
    pub enum BackgroundState {
        /// It waits for its turn.
        #[default]
        Queued = "queued",
        /// Its child is being started, or has not said a word yet.
        Starting = "starting",
        /// Its child works.
        Running = "running",
        /// An attempt has failed, and the next one is about to begin.
        Retrying = "retrying",
        /// It is over.
        Ended = "ended",
    }
}

text_enum! {
    /// What came of a run, as it is announced. It follows from how the run ended and never from words of a model.
    pub enum Status {
        /// The child finished its work.
        Success = "success",
        /// It did not.
        Error = "error",
        /// A limit of time ended it.
        Timeout = "timeout",
        /// Its host ended while it ran.
        Unknown = "unknown",
    }
}

impl Status {
    /// What an outcome is announced as.
    #[must_use]
    pub fn of(outcome: RunOutcome) -> Self {
        match outcome {
            RunOutcome::Completed => Self::Success,
            RunOutcome::IdleTimeout | RunOutcome::HardTimeout => Self::Timeout,
            RunOutcome::Failed
            | RunOutcome::Aborted
            | RunOutcome::Killed
            | RunOutcome::Budget
            | RunOutcome::Skipped => Self::Error,
            RunOutcome::Interrupted => Self::Unknown,
        }
    }
}

text_enum! {
    /// What becomes of a run's transcript.
    #[derive(Default)]
    pub enum Cleanup {
        /// It is archived after a while.
        #[default]
        Keep = "keep",
        /// It is archived once the run's end was told.
        Delete = "delete",
    }
}

/// A background run. All texts are sanitized and bounded. Times are milliseconds since 1970 in UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BackgroundRun {
    /// A random UUID; the store knows the run by it.
    pub key: String,
    /// Eight hexadecimal characters, the name of its directory.
    pub run_id: String,
    /// `agent:<agent>:subagent:<key>`.
    pub session_key: String,
    /// The id of the conversation that asked for it.
    pub session: String,
    /// That conversation's file.
    pub session_file: Option<PathBuf>,
    /// A name for people.
    pub label: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// The task; at most 4 KiB of it.
    pub task: String,
    /// The model that answers, or that was chosen, `provider/id`.
    pub model: Option<String>,
    /// The thinking level that was chosen.
    pub thinking: Option<String>,
    /// The directory that it works in.
    pub cwd: PathBuf,
    /// What becomes of the transcript.
    pub cleanup: Cleanup,
    /// Whether it goes on when the pi that started it ends.
    pub is_kept: bool,
    /// Where it stands.
    pub state: BackgroundState,
    /// Its place in the queue, from 1, while it waits in one.
    #[serde(skip)]
    pub position: Option<usize>,
    /// What came of it, once it is over.
    pub status: Option<Status>,
    /// How it ended, once it is over.
    pub outcome: Option<RunOutcome>,
    /// What went wrong.
    pub error: Option<String>,
    /// When it was accepted.
    pub created_ms: i64,
    /// When its turn came.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// When its transcript is archived.
    pub archive_at_ms: Option<i64>,
    /// When that was done.
    pub archived_ms: Option<i64>,
    /// What it has spent.
    pub usage: Usage,
    /// What it had spent when it was last resumed.
    pub spent_before: Usage,
    /// The hard limit that was asked for.
    pub timeout_ms: Option<u64>,
    /// The run's directory.
    pub directory: Option<PathBuf>,
    /// The child's session file.
    pub transcript: Option<PathBuf>,
    /// The id of the child's session.
    pub child_session_id: Option<String>,
    /// What was announced; at most 16 KiB of it.
    pub result: Option<String>,
    /// What there was of an answer that did not become one; at most 4 KiB of it.
    pub partial: Option<String>,
    /// What else there is to say of how it was set up and ended.
    pub notes: Vec<String>,
    /// The tools that its policy allowed when it was accepted.
    pub tools: Vec<String>,
    /// How it is held to reading, or that it is not.
    pub sandbox: Option<String>,
    /// How far the end of its processes is certain.
    pub supervision: Option<String>,
    /// The child's process, while it is there.
    #[serde(skip)]
    pub pid: Option<u32>,
    /// Processor time of its processes together.
    pub cpu_ms: Option<u64>,
    /// The memory of its processes together: at the moment, or the most there was once it is over.
    pub rss_bytes: Option<u64>,
    /// Its processes: at the moment, or the most there were.
    pub processes: Option<u64>,
    /// The newest tool call in a few words.
    #[serde(skip)]
    pub last_tool: Option<String>,
    /// The newest text; at most 2 KiB of it.
    #[serde(skip)]
    pub text: Option<String>,
    /// How often it was resumed.
    pub times_resumed: u32,
    /// The process id of its host.
    pub host_pid: Option<u32>,
    /// Whether that is this process.
    #[serde(skip)]
    pub is_ours: bool,
}

impl BackgroundRun {
    /// Whether it is under way, or waits for its turn.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.state != BackgroundState::Ended
    }
}
