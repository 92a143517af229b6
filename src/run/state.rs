//! The states of a run and of a task, and how a run ended.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use sanitizer::text_enum;

text_enum! {
    /// The state of a run that has not ended.
    #[derive(Default)]
    pub enum RunState {
        /// The run waits for a permit.
        #[default]
        Queued = "queued",
        /// Its child is being started, or has not sent an event yet.
        Starting = "starting",
        /// Its child works.
        Running = "running",
        /// An attempt has failed, and the next one is about to begin.
        Retrying = "retrying",
        /// The run waits without a slot until its provider's quota is available again.
        AwaitingQuota = "awaiting_quota",
    }
}

text_enum! {
    /// The outcome of a run.
    pub enum RunOutcome {
        /// The child finished its work.
        Completed = "completed",
        /// The child, its provider or its start failed.
        Failed = "failed",
        /// The caller aborted the run.
        Aborted = "aborted",
        /// The child was silent for too long.
        IdleTimeout = "idle_timeout",
        /// The run reached its hard limit.
        HardTimeout = "hard_timeout",
        /// The child's processes exceeded a limit on resources.
        Killed = "killed",
        /// The run or its session has spent its budget.
        Budget = "budget",
        /// The run was one of several and never started, because an earlier one failed or was aborted.
        Skipped = "skipped",
        /// The host ended while it ran.
        Interrupted = "interrupted",
        /// The call was handed over before the run ended: it continues in the background.
        Background = "background",
    }
}

impl RunOutcome {
    /// Returns the next step for a model that reads of such an end. `None` if no step follows from the outcome alone.
    #[must_use]
    pub fn next_step(self) -> Option<&'static str> {
        Some(match self {
            Self::Failed => "fix the cause that the error names before you run it again",
            Self::HardTimeout | Self::IdleTimeout => "give it a smaller task, or continue its session",
            Self::Killed => "have it do less at once: fewer processes, less memory or output",
            Self::Budget => "do the rest yourself or in smaller parts; only the user can raise the budget",
            Self::Aborted => "it was stopped on purpose; do not run it again unless asked",
            Self::Completed | Self::Skipped | Self::Interrupted | Self::Background => return None,
        })
    }
}

/// The state of one of several tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// It waits for other tasks to end.
    Waiting,
    /// Its run has begun.
    Live(RunState),
    /// Its run has ended.
    Ended(RunOutcome),
}

impl Serialize for TaskState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TaskState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("unknown state `{text}`")))
    }
}

impl TaskState {
    /// Returns the state with exactly this text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let live = || RunState::parse(text).map(Self::Live);
        let ended = || RunOutcome::parse(text).map(Self::Ended);
        if text == "waiting" { Some(Self::Waiting) } else { live().or_else(ended) }
    }

    /// Returns the state as callers see it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Live(state) => state.as_str(),
            Self::Ended(outcome) => outcome.as_str(),
        }
    }
}
