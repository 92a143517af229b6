//! Checks the work of a child with a command, before the run counts as done.
//!
//! A child that takes messages stays alive during its check. If the check fails, the child gets its output as another
//! prompt.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Tree;
use crate::process::{Cancel, Outcome};
use crate::run::drive::active_run::ActiveRun;
use crate::run::drive::child_control::ChildControl;
use crate::run::outcome::checked::Checked;
use crate::run::result::CheckReport;
use crate::text::with_cause;

/// The state of a child's check. Shared by the reader of the child and the task that runs the check.
pub(crate) struct CheckState {
    state: Mutex<State>,
    wanted: Notify,
}

struct State {
    stage: Stage,
    /// The number of failed checks that may still be reported to the child.
    remaining: u32,
    runs: u32,
    report: Option<CheckReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// It is due when the child has finished.
    Due,
    Running,
    /// It has ended. The text is the message to the child, if the child may repair its work.
    Ended(Option<String>),
    Never,
}

/// The next step of the child's reader after the child has finished.
pub(crate) enum Next {
    /// Waits for the check.
    Wait,
    /// Sends this message to the child.
    Send(String),
    /// Ends the work.
    End,
}

impl CheckState {
    pub(crate) fn new(is_wanted: bool, attempts: u32) -> Self {
        let first = if is_wanted { Stage::Due } else { Stage::Never };
        let state = Mutex::new(State { stage: first, remaining: attempts, runs: 0, report: None });
        Self { state, wanted: Notify::new() }
    }

    /// Decides the next step once the child has finished with work to check. Starts the check if it is due. Calls
    /// `may_continue` if the child could repair its work: the budget must allow another turn.
    pub(crate) fn next(&self, may_continue: impl FnOnce() -> bool) -> Next {
        let mut state = self.state.lock();
        match &mut state.stage {
            Stage::Never => Next::End,
            Stage::Running => Next::Wait,
            Stage::Due => {
                state.stage = Stage::Running;
                self.wanted.notify_one();
                Next::Wait
            }
            Stage::Ended(message) => {
                let message = message.take().filter(|_| state.remaining > 0 && may_continue());
                let Some(message) = message else {
                    state.stage = Stage::Never;
                    return Next::End;
                };
                state.remaining -= 1;
                state.stage = Stage::Due;
                Next::Send(message)
            }
        }
    }

    /// Ends the checks. The last result stays.
    pub(crate) fn give_up(&self) {
        self.state.lock().stage = Stage::Never;
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state.lock().stage, Stage::Running | Stage::Ended(_))
    }

    /// Returns true if the child ended before a check of its work did.
    pub(crate) fn is_due(&self) -> bool {
        matches!(self.state.lock().stage, Stage::Due | Stage::Running)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state.lock().report.as_ref().is_some_and(|report| !report.passed)
    }

    pub(crate) fn report(&self) -> Option<CheckReport> {
        self.state.lock().report.clone()
    }

    fn begin(&self) -> u32 {
        let mut state = self.state.lock();
        state.runs += 1;
        state.runs
    }

    fn end(&self, Checked { report, message }: Checked) {
        let mut state = self.state.lock();
        (state.report, state.stage) = (Some(report), Stage::Ended(message));
    }
}

/// A child whose work is checked.
pub(crate) struct Checks<'a> {
    pub state: &'a CheckState,
    pub tree: &'a Tree<'a>,
}

impl ActiveRun<'_> {
    /// Runs checks whenever one is due, until `stop` is cancelled and all processes of the check have ended.
    pub(crate) async fn run_checks(&self, checks: &Checks<'_>, child_control: &ChildControl, stop: &Cancel) {
        loop {
            tokio::select! {
                biased;
                _ = stop.cancelled() => return,
                () = checks.state.wanted.notified() => {}
            }
            if self.check(checks, None, stop).await.is_none() {
                child_control.activity_changed().notify_one();
            }
        }
    }

    /// Runs the check once. `left` is the rest of the run's own limit. Returns the outcome if the run ends with it.
    pub(crate) async fn check(
        &self,
        checks: &Checks<'_>,
        remaining: Option<Duration>,
        stop: &Cancel,
    ) -> Option<Outcome> {
        let command = self.admitted.resolved.check()?.to_owned();
        let runs = checks.state.begin();
        self.show_command("check", &command);
        let sanitizer = self.sanitizer();
        let limit = self.admitted.resolved.check_limits().timeout;
        let limit = remaining.map_or(limit, |remaining| remaining.min(limit));
        let checked = match self.run_in_tree(&command, checks.tree, limit, stop).await {
            Ok(ended) => {
                if let Outcome::Cancelled(_) = ended.outcome {
                    return Some(ended.outcome);
                }
                if remaining
                    .is_some_and(|remaining| ended.outcome == Outcome::HardTimeout { limit: remaining })
                {
                    return Some(ended.outcome);
                }
                Checked::of(&command, runs, &ended, sanitizer)
            }
            Err(error) => Checked::never_started(&command, runs, &with_cause(&error), sanitizer),
        };
        tracing::info!(
            target: "run", runs, passed = checked.report.passed,
            "the check of the work has ended"
        );
        checks.state.end(checked);
        None
    }
}
