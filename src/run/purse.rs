//! What a run may spend, and what happens when it has.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::budget::{Meter, OverBudget, Spending, Stage};
use super::protocol::{Command, Reins};
use crate::event::Live;
use crate::process::{Cancel, CancelReason};

/// The meter of a run, read at every message of its child.
pub(super) struct Purse {
    meter: Mutex<Meter>,
    /// Ends the run, and nobody else's.
    cancel: Cancel,
    /// The assistant messages that were counted, of the attempt at hand.
    turns: AtomicU64,
    was_told: AtomicBool,
}

impl Purse {
    /// A purse that ends its run through `cancel`.
    pub(super) fn new(meter: Meter, cancel: Cancel) -> Self {
        Self { meter: Mutex::new(meter), cancel, turns: AtomicU64::new(0), was_told: AtomicBool::new(false) }
    }

    /// Why nothing can be started any more, if that is so.
    pub(super) fn refusal(&self) -> Option<OverBudget> {
        self.lock().refusal()
    }

    /// What follows counts on top of what the attempts before have spent.
    pub(super) fn next_attempt(&self) {
        self.lock().next_attempt();
        self.turns.store(0, Ordering::Relaxed);
        self.was_told.store(false, Ordering::Relaxed);
    }

    /// Counts what the child has spent, and does what follows: near the end of what it may spend it is told to wrap up,
    /// at the end its run is ended.
    ///
    /// A child that has given its answer is left alone, since it spends nothing more; and it is told to wrap up only between
    /// two turns, where that costs no further one.
    pub(super) fn check(&self, live: &Live<'_>, reins: &Reins) {
        let mut meter = self.lock();
        if self.turns.swap(live.usage.turns, Ordering::Relaxed) != live.usage.turns {
            meter.record(live.usage);
        }
        let is_answered = !live.streaming && matches!(live.stop_reason, Some("stop" | "length"));
        let is_between_turns = !live.streaming && live.stop_reason == Some("toolUse");
        match meter.stage() {
            Stage::Over(over) if !is_answered => self.cancel.cancel(CancelReason::Bound(over.to_string())),
            Stage::WrapUp(words) if is_between_turns && !self.was_told.swap(true, Ordering::Relaxed) => {
                // One that cannot be told finds out at the end.
                let _ = reins.tell(Command::Steer(&words));
            }
            Stage::Fine | Stage::WrapUp(_) | Stage::Over(_) => {}
        }
    }

    /// What the run has spent, its attempts together, in USD.
    pub(super) fn spent(&self) -> f64 {
        self.lock().spent()
    }

    /// Whether the run may spend on what it need not do.
    pub(super) fn has_room(&self) -> bool {
        self.cancel.reason().is_none() && matches!(self.lock().stage(), Stage::Fine)
    }

    /// Counts what is left of an attempt that is over.
    pub(super) fn settle(&self, usage: &crate::event::Usage) {
        self.lock().record(usage);
    }

    /// Tells when others have spent from what this run shares with them.
    pub(super) fn watch(&self) -> Spending {
        self.lock().watch()
    }

    fn lock(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
