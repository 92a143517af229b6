//! Enforces the budget of a run: counts what its child spends, tells it to wrap up, and ends it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::meter::{Meter, OverBudget, Spending, Stage};
use crate::event::{Live, StopReason};
use crate::process::{Cancel, CancelReason};

/// Checks the meter of a run at every message of its child.
pub(in crate::run) struct BudgetEnforcer {
    meter: Mutex<Meter>,
    /// Cancels this run only, not its siblings.
    cancel: Cancel,
    /// The assistant messages of the current attempt that were counted.
    turns: AtomicU64,
    is_wrapping_up: AtomicBool,
}

impl BudgetEnforcer {
    /// Creates an enforcer that ends its run through `cancel`.
    pub(in crate::run) fn new(meter: Meter, cancel: Cancel) -> Self {
        Self {
            meter: Mutex::new(meter),
            cancel,
            turns: AtomicU64::new(0),
            is_wrapping_up: AtomicBool::new(false),
        }
    }

    /// Why nothing more may be started, if the budget is exhausted.
    pub(in crate::run) fn refusal(&self) -> Option<OverBudget> {
        self.lock().refusal()
    }

    /// Begins another attempt: its usage is added to that of the earlier ones.
    pub(in crate::run) fn next_attempt(&self) {
        self.lock().next_attempt();
        self.turns.store(0, Ordering::Relaxed);
        self.is_wrapping_up.store(false, Ordering::Relaxed);
    }

    /// Counts what the child has spent. Near a bound, tells it to wrap up through `steer`; at the bound, ends the run.
    ///
    /// Leaves a child alone that has given its answer, since it spends nothing more. Tells it to wrap up only between
    /// two turns, where the message costs no extra turn.
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

    /// What all attempts of the run have spent, in USD.
    pub(in crate::run) fn spent(&self) -> f64 {
        self.lock().spent()
    }

    /// Whether optional work still fits the budget.
    pub(in crate::run) fn has_room(&self) -> bool {
        self.cancel.reason().is_none() && matches!(self.lock().stage(), Stage::Fine)
    }

    /// Counts the final usage of an attempt that has ended.
    pub(in crate::run) fn record(&self, usage: &crate::event::Usage) {
        self.lock().record(usage);
    }

    /// Watches for other runs that spend from the shared account of the session.
    pub(in crate::run) fn watch(&self) -> Spending {
        self.lock().watch()
    }

    fn lock(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock()
    }
}
