//! Enforces the budget of a run: counts what its child spends, tells it to wrap up, and ends it.

use parking_lot::Mutex;

use super::meter::{Meter, OverBudget, Spending, Stage};
use crate::event::{Live, StopReason, Usage};
use crate::process::{Cancel, CancelReason};

/// Checks the meter of a run at every message of its child.
pub(in crate::run) struct BudgetEnforcer {
    state: Mutex<State>,
    /// Cancels this run only, not its siblings.
    cancel: Cancel,
}

struct State {
    meter: Meter,
    /// The assistant messages of the current attempt that were counted.
    turns: u64,
    is_wrapping_up: bool,
}

impl BudgetEnforcer {
    /// Creates an enforcer that ends its run through `cancel`.
    pub(in crate::run) fn new(meter: Meter, cancel: Cancel) -> Self {
        Self { state: Mutex::new(State { meter, turns: 0, is_wrapping_up: false }), cancel }
    }

    /// Why nothing more may be started, if the budget is exhausted.
    pub(in crate::run) fn refusal(&self) -> Option<OverBudget> {
        self.state.lock().meter.refusal()
    }

    /// Begins another attempt: its usage is added to that of the earlier ones.
    pub(in crate::run) fn next_attempt(&self) {
        let mut state = self.state.lock();
        state.meter.next_attempt();
        (state.turns, state.is_wrapping_up) = (0, false);
    }

    /// Counts what the child has spent. Near a bound, tells it to wrap up through `steer`; at the bound, ends the run.
    ///
    /// Leaves a child alone that has given its answer, since it spends nothing more. Tells it to wrap up only between
    /// two turns, where the message costs no extra turn.
    pub(in crate::run) fn check(&self, live: &Live<'_>, steer: impl FnOnce(&str)) {
        let mut state = self.state.lock();
        if state.turns != live.usage.turns {
            state.turns = live.usage.turns;
            state.meter.record(live.usage);
        }
        let is_answered = !live.streaming && live.stop_reason.is_some_and(StopReason::ends_turn);
        let is_between_turns = !live.streaming && live.stop_reason == Some(&StopReason::ToolUse);
        match state.meter.stage() {
            Stage::Over(over) if !is_answered => self.cancel.cancel(CancelReason::Bound(over.to_string())),
            Stage::WrapUp(words) if is_between_turns && !state.is_wrapping_up => {
                state.is_wrapping_up = true;
                steer(&words);
            }
            Stage::Fine | Stage::WrapUp(_) | Stage::Over(_) => {}
        }
    }

    /// What all attempts of the run have spent, in USD.
    pub(in crate::run) fn spent(&self) -> f64 {
        self.state.lock().meter.spent()
    }

    /// Whether optional work still fits the budget.
    pub(in crate::run) fn has_room(&self) -> bool {
        self.cancel.reason().is_none() && matches!(self.state.lock().meter.stage(), Stage::Fine)
    }

    /// Whether work may follow that the task needs: nothing is used up yet, however near a bound is.
    pub(in crate::run) fn may_go_on(&self) -> bool {
        self.cancel.reason().is_none() && !matches!(self.state.lock().meter.stage(), Stage::Over(_))
    }

    /// Counts the final usage of an attempt that has ended.
    pub(in crate::run) fn record(&self, usage: &Usage) {
        self.state.lock().meter.record(usage);
    }

    /// Watches for other runs that spend from the shared account of the session.
    pub(in crate::run) fn watch(&self) -> Spending {
        self.state.lock().meter.watch()
    }
}

#[cfg(test)]
mod tests;
