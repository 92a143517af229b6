//! What a run may spend, and what happens when it has.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::meter::{Meter, OverBudget, Spending, Stage};
use crate::event::{Live, StopReason};
use crate::process::{Cancel, CancelReason};

/// The meter of a run, read at every message of its child.
pub(in crate::run) struct BudgetEnforcer {
    meter: Mutex<Meter>,
    /// Ends the run, and nobody else's.
    cancel: Cancel,
    /// The assistant messages that were counted, of the attempt at hand.
    turns: AtomicU64,
    is_wrapping_up: AtomicBool,
}

impl BudgetEnforcer {
    /// An enforcer that ends its run through `cancel`.
    pub(in crate::run) fn new(meter: Meter, cancel: Cancel) -> Self {
        Self {
            meter: Mutex::new(meter),
            cancel,
            turns: AtomicU64::new(0),
            is_wrapping_up: AtomicBool::new(false),
        }
    }

    /// Why nothing can be started any more, if that is so.
    pub(in crate::run) fn refusal(&self) -> Option<OverBudget> {
        self.lock().refusal()
    }

    /// What follows counts on top of what the attempts before have spent.
    pub(in crate::run) fn next_attempt(&self) {
        self.lock().next_attempt();
        self.turns.store(0, Ordering::Relaxed);
        self.is_wrapping_up.store(false, Ordering::Relaxed);
    }

    /// Counts what the child has spent, and does what follows: near the end of what it may spend it is told to wrap up,
    /// at the end its run is ended.
    ///
    /// A child that has given its answer is left alone, since it spends nothing more; and it is told to wrap up only between
    /// two turns, where that costs no further one.
    pub(in crate::run) fn check(&self, live: &Live<'_>, steer: impl FnOnce(&str)) {
        let mut meter = self.lock();
        if self.turns.swap(live.usage.turns, Ordering::Relaxed) != live.usage.turns {
            meter.record(live.usage);
        }
        let is_answered = !live.streaming && live.stop_reason.is_some_and(StopReason::ends_turn);
        let is_between_turns = !live.streaming && live.stop_reason == Some(&StopReason::ToolUse);
        match meter.stage() {
            Stage::Over(over) if !is_answered => self.cancel.cancel(CancelReason::Bound(over.to_string())),
            Stage::WrapUp(words)
                if is_between_turns && !self.is_wrapping_up.swap(true, Ordering::Relaxed) =>
            {
                steer(&words);
            }
            Stage::Fine | Stage::WrapUp(_) | Stage::Over(_) => {}
        }
    }

    /// What the run has spent, its attempts together, in USD.
    pub(in crate::run) fn spent(&self) -> f64 {
        self.lock().spent()
    }

    /// Whether optional work still fits the budget.
    pub(in crate::run) fn has_room(&self) -> bool {
        self.cancel.reason().is_none() && matches!(self.lock().stage(), Stage::Fine)
    }

    /// Counts what is left of an attempt that is over.
    pub(in crate::run) fn record(&self, usage: &crate::event::Usage) {
        self.lock().record(usage);
    }

    /// Tells when others have spent from what this run shares with them.
    pub(in crate::run) fn watch(&self) -> Spending {
        self.lock().watch()
    }

    fn lock(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock()
    }
}
