//! Enforces the budget of a run: grants its child each turn, tells it to wrap up, and ends it.

use parking_lot::Mutex;

use super::meter::{Meter, NextTurn, OverBudget, Spending, Stage};
use pi_events::{Live, StopReason, Usage};
use supervisor::{Cancel, CancelReason};

/// Checks the meter of a run at every message of its child.
pub(crate) struct BudgetEnforcer {
    state: Mutex<State>,
    /// Cancels this run only, not its siblings.
    cancel: Cancel,
}

struct State {
    meter: Meter,
    /// The assistant messages of the current attempt that were counted.
    turns: u64,
    /// The turns of the current attempt that the child may begin.
    granted: u64,
    is_wrapping_up: bool,
    is_waiting: bool,
    /// The bound that ended the run.
    exceeded: Option<OverBudget>,
}

/// A message of the enforcer to a child.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BudgetNotice<'a> {
    /// The child must finish. The text is the message to it.
    WrapUp(&'a str),
    /// The child may begin its turns up to this one, counted from 1 in each attempt.
    Granted(u64),
}

impl BudgetEnforcer {
    /// Creates an enforcer that ends its run through `cancel`.
    pub(crate) fn new(meter: Meter, cancel: Cancel) -> Self {
        let state =
            State { meter, turns: 0, granted: 0, is_wrapping_up: false, is_waiting: false, exceeded: None };
        Self { state: Mutex::new(state), cancel }
    }

    /// Returns the reason why nothing more may be started, if the budget is exhausted.
    pub(crate) fn refusal(&self) -> Option<OverBudget> {
        self.state.lock().meter.refusal()
    }

    /// Begins another attempt. Its usage is added to the usage of the earlier attempts.
    pub(crate) fn next_attempt(&self) {
        let mut state = self.state.lock();
        state.meter.next_attempt();
        (state.turns, state.granted, state.is_wrapping_up) = (0, 0, false);
    }

    /// Counts the child's usage, and decides about its next turn. Near a bound, tells it to wrap up. If the rest of a
    /// bound does not cover the turn, ends the run.
    ///
    /// A turn under way may end, because it was covered when it began. A child that has answered is not ended either,
    /// because it spends nothing more.
    pub(crate) fn check(&self, live: &Live<'_>, mut notify: impl FnMut(BudgetNotice<'_>)) {
        let mut state = self.state.lock();
        let state = &mut *state;
        if state.turns != live.usage.turns {
            state.turns = live.usage.turns;
            if live.stop_reason.is_some_and(StopReason::is_failure) {
                state.meter.record_failed(live.usage);
            } else {
                state.meter.record(live.usage);
            }
            state.meter.end_turn();
        }
        state.is_waiting = false;
        if live.is_concluded || live.answered {
            return;
        }
        let has_begun = live.turns_begun > state.granted;
        let requests_turn = has_begun && (live.awaits_turn || live.streaming);
        let is_answered = live.stop_reason.is_some_and(StopReason::ends_turn) && !live.streaming;
        if !requests_turn && (live.streaming || is_answered || state.meter.has_turn()) {
            return;
        }
        let reached = state.meter.stage();
        if live.continues()
            && !state.is_wrapping_up
            && let Stage::WrapUp(message) = &reached
        {
            state.is_wrapping_up = true;
            tracing::info!(target: "budget", turns = live.usage.turns, "the child gets the message to finish");
            notify(BudgetNotice::WrapUp(message));
        }
        if !requests_turn && !matches!(reached, Stage::Exceeded(_)) {
            return;
        }
        match state.meter.begin_turn() {
            NextTurn::Exceeded(exceeded) => {
                tracing::warn!(target: "budget", reason = %exceeded, "the run is ended");
                self.cancel.cancel(CancelReason::Bound(exceeded.to_string()));
                state.exceeded.get_or_insert(exceeded);
            }
            NextTurn::Waits if !live.streaming => state.is_waiting = requests_turn,
            NextTurn::Waits | NextTurn::Covered => {
                // A child that nothing holds has begun the turn already.
                state.meter.note_turn();
                state.granted = live.turns_begun;
                tracing::debug!(target: "budget", turn = live.turns_begun, "the budget covers the turn");
                notify(BudgetNotice::Granted(live.turns_begun));
            }
        }
    }

    /// Returns true while the child waits for a turn. Its silence does not count then.
    pub(crate) fn is_waiting(&self) -> bool {
        self.state.lock().is_waiting
    }

    /// Returns true if optional work still fits the budget, and reserves its turn.
    pub(crate) fn has_room(&self) -> bool {
        let meter = &mut self.state.lock().meter;
        self.cancel.reason().is_none()
            && matches!(meter.stage(), Stage::Fine)
            && meter.begin_turn() == NextTurn::Covered
    }

    /// Returns true if the budget covers another turn that the task needs, and reserves the turn.
    pub(crate) fn may_continue(&self) -> bool {
        let meter = &mut self.state.lock().meter;
        self.cancel.reason().is_none() && !matches!(meter.begin_turn(), NextTurn::Exceeded(_))
    }

    /// Returns the cost of all attempts of the run, in USD.
    pub(crate) fn spent(&self) -> f64 {
        self.state.lock().meter.spent()
    }

    /// Counts the final usage of an attempt that has ended.
    pub(crate) fn record(&self, usage: &Usage) {
        let mut state = self.state.lock();
        state.meter.record_failed(usage);
        state.meter.end_turn();
        state.is_waiting = false;
    }

    /// Returns the same reason with the spending until now, if the budget ended the run for this reason.
    pub(crate) fn refreshed(&self, reason: &CancelReason) -> Option<CancelReason> {
        let state = self.state.lock();
        let exceeded = state.exceeded.as_ref()?;
        let is_same = *reason == CancelReason::Bound(exceeded.to_string());
        is_same.then(|| CancelReason::Bound(state.meter.refreshed(exceeded).to_string()))
    }

    /// Watches for other runs that spend from the shared account of the session.
    pub(crate) fn watch(&self) -> Spending {
        self.state.lock().meter.watch()
    }
}

#[cfg(test)]
mod tests;
