//! Where a run stands, and how one ended.

use serde::Serialize;

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

text_enum! {
    /// How a run came to its end.
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
        /// The child's processes used more than they may.
        Killed = "killed",
        /// The run, or its session, has spent what it may.
        Budget = "budget",
        /// The run was one of several and never started, because of another.
        Skipped = "skipped",
        /// The host ended while it ran.
        Interrupted = "interrupted",
    }
}

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
