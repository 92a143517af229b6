//! How far a run has come, for those who watch it.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

use super::state::{RunState, TaskState};
use crate::event::{DisplayItem, Usage};
use crate::process::Tally;

/// What all processes of a child used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// The most resident memory at once.
    pub peak_rss_bytes: u64,
    /// Processor time.
    pub cpu_ms: u64,
    /// The most processes at once.
    pub processes: u64,
}

impl From<Tally> for Resources {
    fn from(Tally { peak_rss_bytes, cpu_ms, processes, .. }: Tally) -> Self {
        Self { peak_rss_bytes, cpu_ms, processes }
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

/// The flat form in which `details` show usage.
pub(super) fn flat_usage<S: serde::Serializer>(usage: &Usage, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeStruct;
    let mut out = serializer.serialize_struct("Usage", 6)?;
    out.serialize_field("input", &usage.input)?;
    out.serialize_field("output", &usage.output)?;
    out.serialize_field("cacheRead", &usage.cache_read)?;
    out.serialize_field("cacheWrite", &usage.cache_write)?;
    out.serialize_field("cost", &usage.cost.total)?;
    out.serialize_field("turns", &usage.turns)?;
    out.end()
}
