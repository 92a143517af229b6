//! The progress of a run, as watchers see it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use tokio::sync::watch;

use super::state::{RunState, TaskState};
use pi_events::{ContextUse, DisplayItem, PendingRetry, Usage, provider_message, run_usage};
use sanitizer::figures::epoch_ms;
use sanitizer::{Sanitized, Sanitizer};
use supervisor::Tally;

/// The resources of all processes of a child together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resources {
    /// The peak of resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Processor time, in milliseconds.
    pub cpu_ms: u64,
    /// The peak number of processes.
    pub processes: u64,
}

impl From<Tally> for Resources {
    fn from(Tally { peak_rss_bytes, cpu_ms, processes, .. }: Tally) -> Self {
        Self { peak_rss_bytes, cpu_ms, processes }
    }
}

/// A failed request that is about to be repeated, or a failed attempt that is followed by another.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryNotice {
    /// The number of the repetition, from 1.
    pub attempt: u32,
    /// The maximum number of repetitions, if known.
    pub max_attempts: Option<u32>,
    /// The time at which it begins, in milliseconds since 1970 in UTC.
    pub at_ms: i64,
    /// The provider's message on one line.
    pub error: Option<String>,
}

impl RetryNotice {
    /// Most characters of an error, and the bytes that they are taken from.
    const ERROR_CHARS: usize = 200;
    const ERROR_BYTES: usize = 4 * Self::ERROR_CHARS;

    /// Describes a request that pi repeats.
    pub(super) fn by_pi(pending: &PendingRetry, sanitizer: &Sanitizer) -> Self {
        Self {
            attempt: pending.attempt,
            max_attempts: pending.max_attempts,
            at_ms: epoch_ms(pending.at),
            error: pending.error.as_deref().map(|error| {
                sanitizer
                    .clip(&provider_message(error), Self::ERROR_BYTES)
                    .line(Self::ERROR_CHARS)
                    .into_string()
            }),
        }
    }

    /// Describes another attempt of the run after a pause.
    pub(super) fn by_run(
        attempt: u32,
        max_attempts: Option<u32>,
        pause: Duration,
        error: Option<&Sanitized>,
    ) -> Self {
        let now = SystemTime::now();
        Self {
            attempt,
            max_attempts,
            at_ms: epoch_ms(now.checked_add(pause).unwrap_or(now)),
            error: error.map(|error| error.line(Self::ERROR_CHARS).into_string()),
        }
    }
}

/// The progress of a run. All strings are sanitized and bounded; clones share them. Updates have it as [`TaskProgress`].
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// The state of the run.
    #[serde(skip)]
    pub state: RunState,
    /// Its position in the queue, from 1, while it waits in one.
    pub position: Option<usize>,
    /// The remaining time of the provider's rate limit, in milliseconds. Absent if the run does not wait for one.
    pub rate_limited_for_ms: Option<u64>,
    /// The run that writes to the same work tree and must end before this run can start, if there is one.
    pub blocked_by: Option<Arc<str>>,
    /// A note about the changes that cannot be undone, for a run that writes in place.
    pub undo_note: Option<Cow<'static, str>>,
    /// The current attempt, counted from 1.
    pub attempt: u32,
    /// The newest text of the child.
    #[serde(skip)]
    pub text: Arc<str>,
    /// The newest texts and tool calls, in order.
    #[serde(skip)]
    pub display_items: Arc<[DisplayItem]>,
    /// The pending retry.
    pub retry: Option<RetryNotice>,
    /// Usage so far, all attempts together.
    #[serde(with = "run_usage")]
    pub usage: Usage,
    /// The child's context use; absent before the end of its first turn.
    pub context: Option<ContextUse>,
    /// Assistant messages completed so far.
    pub turn_count: u64,
    /// Time since the run got its permit, in milliseconds. While it waits: time since it was requested.
    pub elapsed_ms: u64,
    /// Time since the child's last event, in milliseconds.
    pub since_event_ms: u64,
    /// The model that answers, `provider/id`.
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
    /// The process id of the child, or of the warden that started it.
    #[serde(skip)]
    pub pid: Option<u32>,
    /// The resources of the child's processes so far, if measured; at most a second old while the child works. A change
    /// of this field alone sends an update only for a run that announces its result.
    #[serde(skip)]
    pub resources: Option<Resources>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            state: RunState::default(),
            position: None,
            rate_limited_for_ms: None,
            blocked_by: None,
            undo_note: None,
            attempt: 1,
            text: Arc::from(""),
            display_items: Arc::from([]),
            retry: None,
            usage: Usage::default(),
            context: None,
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

/// The channel for the progress of a run. It holds only the newest state: while a watcher is busy, states are replaced,
/// not queued.
pub type ProgressSender = watch::Sender<Progress>;

/// The progress of the run of a call, or of one of several, as updates have it.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskProgress {
    /// The agent's name. Absent in a call with one run.
    pub agent: Option<String>,
    /// The state of the task.
    pub state: TaskState,
    /// The progress of its run.
    #[serde(flatten)]
    pub progress: Progress,
    /// The error message, once the task has ended.
    pub error: Option<String>,
    /// The newest text of the child. Absent in a call with one run, whose result has it, and if neither it nor the items
    /// have changed since the last update.
    pub text: Option<Arc<str>>,
    /// True if the text of the update is the child's. Otherwise the child has not said anything yet, and the text says so. Only
    /// in a call with one run.
    pub has_text: Option<bool>,
    /// The newest texts and tool calls. Absent if neither they nor the text have changed since the last update.
    pub display_items: Option<Arc<[DisplayItem]>>,
}

impl TaskProgress {
    /// Returns the progress of a call's only run.
    #[must_use]
    pub fn of_call(progress: Progress) -> Self {
        let state = TaskState::Live(progress.state);
        let has_text = Some(!progress.text.trim().is_empty());
        Self { agent: None, text: None, has_text, ..Self::new(String::new(), state, progress) }
    }

    /// Returns the progress of one of several tasks.
    #[must_use]
    pub fn new(agent: String, state: TaskState, progress: Progress) -> Self {
        let text = Some(Arc::clone(&progress.text));
        let display_items = Some(Arc::clone(&progress.display_items));
        Self { agent: Some(agent), state, progress, error: None, text, has_text: None, display_items }
    }
}
