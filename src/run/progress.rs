//! How far a run has come, for those who watch it.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

use super::result::{Resources, RunOutcome, flat_usage};
use crate::event::{DisplayItem, Usage};
use crate::text::text_enum;

text_enum! {
    /// Where a run stands that is not over.
    #[derive(Default)]
    pub enum RunState {
        /// It waits for its turn.
        #[default]
        Queued = "queued",
        /// Its child is being started, or has not said a word yet.
        Starting = "starting",
        /// Its child works.
        Running = "running",
        /// An attempt has failed, and the next one is about to begin.
        Retrying = "retrying",
    }
}

/// How far a run has come. All strings are sanitized and bounded; clones share them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Where it stands.
    pub state: RunState,
    /// Its place in the queue, from 1, while it waits in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// For how long its provider's rate limit still holds it back, in milliseconds, while it waits for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_for_ms: Option<u64>,
    /// The attempt at hand, from 1.
    pub attempt: u32,
    /// The newest text of the child.
    #[serde(serialize_with = "as_str")]
    pub text: Arc<str>,
    /// The newest texts and tool calls, in order.
    #[serde(serialize_with = "as_slice")]
    pub display_items: Arc<[DisplayItem]>,
    /// Spent so far.
    #[serde(serialize_with = "flat_usage")]
    pub usage: Usage,
    /// Assistant messages completed so far.
    pub turn_count: u64,
    /// Since the run's turn came, in milliseconds; while it waits, since it was asked for.
    pub elapsed_ms: u64,
    /// Since the child's last event, in milliseconds.
    pub since_event_ms: u64,
    /// The model that answers, `provider/id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The newest tool call on one line.
    #[serde(skip)]
    pub last_tool: Option<Arc<str>>,
    /// The child's session file.
    #[serde(skip)]
    pub session_file: Option<Arc<Path>>,
    /// The run's directory.
    #[serde(skip)]
    pub directory: Option<Arc<Path>>,
    /// The process id of the child, or of the warden before it.
    #[serde(skip)]
    pub pid: Option<u32>,
    /// What the child's processes have used so far, where somebody measures it; at most a second old while the child
    /// works. A change of this alone is news only for a run that is to announce itself.
    #[serde(skip)]
    pub resources: Option<Resources>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            state: RunState::default(),
            position: None,
            held_for_ms: None,
            attempt: 1,
            text: Arc::from(""),
            display_items: Arc::from([]),
            usage: Usage::default(),
            turn_count: 0,
            elapsed_ms: 0,
            since_event_ms: 0,
            model: None,
            last_tool: None,
            session_file: None,
            directory: None,
            pid: None,
            resources: None,
        }
    }
}

fn as_str<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

fn as_slice<S: serde::Serializer>(items: &Arc<[DisplayItem]>, serializer: S) -> Result<S::Ok, S::Error> {
    items.as_ref().serialize(serializer)
}

/// Where the progress of a run goes. It holds the newest only: while a watcher is busy, states are replaced, not queued.
pub type ProgressSender = watch::Sender<Progress>;

/// Where one of several tasks stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Others have to end first.
    Waiting,
    /// It has begun.
    Live(RunState),
    /// It is over.
    Ended(RunOutcome),
}

impl TaskState {
    /// The state as callers see it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Live(state) => state.as_str(),
            Self::Ended(outcome) => outcome.as_str(),
        }
    }
}

impl Serialize for TaskState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// How far one of several tasks has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// The agent's name.
    pub agent: String,
    /// Where it stands; decides over the state of `progress`.
    pub state: TaskState,
    /// How far it has come.
    pub progress: Progress,
    /// What went wrong, once it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether text and items are the same as in the update before, and so are left out.
    pub is_unchanged: bool,
}
