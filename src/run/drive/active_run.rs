//! The state that all parts of a run share while it has its permit.

use std::time::Instant;

use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::control::{Steering, Watchers};
use crate::run::admit::prepare::AdmittedRun;
use crate::run::budget::enforcer::BudgetEnforcer;
use crate::run::callbacks::HostCallbacks;
use crate::run::launcher::RemoteOutput;
use crate::run::outcome::retry::Limited;
use crate::run::progress::Progress;
use crate::run::record::isolation::Isolated;
use crate::run::result::verdict::Verdict;
use crate::run::state::RunState;
use pi_events::Usage;
use sanitizer::Sanitizer;
use sanitizer::figures::millis;
use supervisor::{Cancel, CancelReason, ProcessTree};

/// The notice for a run whose tree was not recorded, instead of the undo command.
const NOT_RECORDED: &str = "its tree could not be recorded, so its changes cannot be undone";

/// A run that has its permit.
pub(super) struct ActiveRun<'a> {
    pub admitted: AdmittedRun,
    /// The time at which it got the permit.
    pub started: Instant,
    pub enforcer: BudgetEnforcer,
    /// Cancels this run only, not its siblings.
    pub cancel: Cancel,
    /// Cancelled together with `cancel`, and when the time limit of the run has passed. Ends the work before and
    /// between its children. Each child has the rest of the limit as its own.
    pub stop: Cancel,
    /// Delivers messages to its children.
    pub steering: &'a Steering,
    pub watchers: Watchers<'a>,
    /// The pause that its provider has asked for.
    pub limited: Limited,
    /// The timer of its time limit.
    pub time_limit: JoinSet<()>,
    /// The number of attempts that continued a session after a wait for the provider's quota.
    pub continued: u32,
    pub callbacks: &'a dyn HostCallbacks,
    /// Its private tree, until its changes are imported.
    pub isolated: Option<Isolated>,
    /// True if it writes in a tree whose state could not be recorded before.
    pub is_unrecorded: bool,
    /// The messages that the script of its last remote child sent between the events.
    pub remote_output: Mutex<Option<Box<RemoteOutput>>>,
}

impl ActiveRun<'_> {
    pub(super) fn sanitizer(&self) -> &Sanitizer {
        &self.admitted.builder.sanitizer
    }

    /// Lets a child's warden hold the locks of the trees that the run writes to. If this process is killed, no other
    /// run writes there until the warden has ended the child.
    pub(super) fn hold_locks(&self, tree: &ProcessTree) {
        let own = self.isolated.as_ref().and_then(Isolated::lock);
        for lock in self.admitted.tree_lock.as_deref().into_iter().chain(own) {
            tree.hold(lock);
        }
    }

    /// Returns the verdict on a run that gets no child because of `stop`.
    pub(super) fn stopped(&self) -> Verdict {
        let resolved = &self.admitted.resolved;
        match (self.cancel.reason(), resolved.timeout) {
            (None, Some(limit)) if self.stop.reason().is_some() => {
                Verdict::hard_limit(limit, resolved.limited_by)
            }
            (reason, _) => Verdict::cancelled(&reason.unwrap_or(CancelReason::Dropped)),
        }
    }

    /// Returns the usage of the attempts that have ended.
    pub(super) fn earlier_usage(&self) -> &Usage {
        &self.admitted.builder.earlier.usage
    }

    /// Returns the progress of an attempt, with the usage of all attempts.
    pub(super) fn progress(&self, state: RunState, attempt: u32, usage: Usage) -> Progress {
        Progress {
            state,
            attempt,
            turn_count: usage.turns,
            usage,
            elapsed_ms: millis(self.started.elapsed()),
            undo_note: self.is_unrecorded.then_some(NOT_RECORDED.into()),
            ..Progress::default()
        }
    }
}
