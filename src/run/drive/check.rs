//! Checks the work of a child with a command, before the run counts as done.
//!
//! A child that can be told stays alive meanwhile. When the check fails, it gets the output as another prompt.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::active_run::ActiveRun;
use super::child_control::ChildControl;
use crate::process::{
    Activity, Cancel, CancelReason, ChildCommand, Input, Mechanism, Observer, Outcome, SpawnError,
    SuperviseLimits, Supervised, start,
};
use crate::run::blocking::blocking;
use crate::run::launch::files::RunFiles;
use crate::run::outcome::checked::Checked;
use crate::run::result::CheckReport;

/// How long a check that is ended may take to clean up.
const GRACE: Duration = Duration::from_secs(1);
/// How long its output is read after it has ended, when a process that it has left behind holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// Where the check of one child stands. Shared by the reader of the child and the task that runs the check.
pub(super) struct CheckState {
    state: Mutex<State>,
    wanted: Notify,
}

struct State {
    stage: Stage,
    /// How often the child may still be told of a failure.
    left: u32,
    runs: u32,
    report: Option<CheckReport>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// It is due when the child has finished.
    Due,
    Running,
    /// It has ended; these are the words for the child, if it may mend something.
    Ended(Option<String>),
    Never,
}

/// What the reader of a child does now that the child has finished.
pub(super) enum Next {
    /// Waits for the check.
    Wait,
    /// Tells the child this.
    Tell(String),
    /// Ends the work.
    End,
}

impl CheckState {
    pub(super) fn new(is_wanted: bool, attempts: u32) -> Self {
        let first = if is_wanted { Stage::Due } else { Stage::Never };
        let state = Mutex::new(State { stage: first, left: attempts, runs: 0, report: None });
        Self { state, wanted: Notify::new() }
    }

    /// Decides what follows once the child has finished with something to check. Starts the check if it is due.
    pub(super) fn next(&self, has_room: bool) -> Next {
        let mut state = self.state.lock();
        match &mut state.stage {
            Stage::Never => Next::End,
            Stage::Running => Next::Wait,
            Stage::Due => {
                state.stage = Stage::Running;
                self.wanted.notify_one();
                Next::Wait
            }
            Stage::Ended(words) => {
                let words = words.take().filter(|_| state.left > 0 && has_room);
                let Some(words) = words else {
                    state.stage = Stage::Never;
                    return Next::End;
                };
                state.left -= 1;
                state.stage = Stage::Due;
                Next::Tell(words)
            }
        }
    }

    /// No check follows any more. What the last one said stays.
    pub(super) fn give_up(&self) {
        self.state.lock().stage = Stage::Never;
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state.lock().stage, Stage::Running | Stage::Ended(_))
    }

    /// Whether the child ended before a check of its work did.
    pub(super) fn is_due(&self) -> bool {
        matches!(self.state.lock().stage, Stage::Due | Stage::Running)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.state.lock().report.as_ref().is_some_and(|report| !report.passed)
    }

    pub(super) fn report(&self) -> Option<CheckReport> {
        self.state.lock().report.clone()
    }

    fn begin(&self) -> u32 {
        let mut state = self.state.lock();
        state.runs += 1;
        state.runs
    }

    fn end(&self, Checked { report, words }: Checked) {
        let mut state = self.state.lock();
        (state.report, state.stage) = (Some(report), Stage::Ended(words));
    }
}

/// A child whose work is checked.
pub(super) struct Checks<'a> {
    pub state: &'a CheckState,
    pub files: &'a RunFiles,
    /// The command that started the child.
    pub child: &'a ChildCommand,
    /// What holds the child.
    pub mechanisms: Vec<Mechanism>,
}

impl ActiveRun<'_> {
    /// Runs checks whenever one is due, until `stop` is cancelled and what it has started is gone.
    pub(super) async fn run_checks(&self, checks: &Checks<'_>, child_control: &ChildControl, stop: &Cancel) {
        loop {
            tokio::select! {
                biased;
                _ = stop.cancelled() => return,
                () = checks.state.wanted.notified() => {}
            }
            if self.check(checks, None, stop).await.is_none() {
                child_control.news().notify_one();
            }
        }
    }

    /// Runs the check once. `left` is what the run's own limit leaves. Returns how it ended if the run ends with it.
    pub(super) async fn check(
        &self,
        checks: &Checks<'_>,
        left: Option<Duration>,
        stop: &Cancel,
    ) -> Option<Outcome> {
        let command = self.admitted.resolved.check()?.to_owned();
        let runs = checks.state.begin();
        self.watchers.progress.send_modify(|shown| shown.last_tool = Some(format!("check {command}").into()));
        let sanitizer = self.sanitizer();
        let checked = match self.start_check(&command, checks, left, stop).await {
            Ok(Ok(ended)) => {
                if let Outcome::Cancelled(_) = ended.outcome {
                    return Some(ended.outcome);
                }
                if left.is_some_and(|left| ended.outcome == Outcome::HardTimeout { limit: left }) {
                    return Some(ended.outcome);
                }
                Checked::of(&command, runs, Ok(ended), sanitizer)
            }
            Ok(Err(error)) => Checked::of(&command, runs, Err(error), sanitizer),
            Err(why) => Checked::never_started(&command, runs, &why, sanitizer),
        };
        checks.state.end(checked);
        None
    }

    async fn start_check(
        &self,
        check: &str,
        Checks { files, child, mechanisms, .. }: &Checks<'_>,
        left: Option<Duration>,
        stop: &Cancel,
    ) -> Result<Result<Supervised, SpawnError>, String> {
        let held = self.admitted.resolved.sandbox.held();
        let is_missing = |in_force: &[Mechanism]| held.and_then(|held| held.missing(in_force));
        let has_view = held.is_some_and(|held| held.metadata) && is_missing(mechanisms).is_none();
        let scope = self.admitted.resolved.scope.clone().filter(|_| has_view);
        let protected = blocking(move || scope.map(|scope| scope.look().protected).unwrap_or_default()).await;
        let command = self.admitted.check_command(check, child, files, has_view, protected)?;
        let since = Instant::now();
        let started = match start(command, stop).await {
            Ok(Some(started)) => started,
            Ok(None) => {
                let reason = stop.reason().unwrap_or(CancelReason::Dropped);
                return Ok(Ok(Supervised::never_started(reason, since)));
            }
            Err(error) => return Ok(Err(error)),
        };
        if has_view && let Some(missing) = is_missing(&started.tree.mechanisms()) {
            started.discard().await;
            return Err(missing);
        }
        let limit = self.admitted.config().check.timeout;
        let hard = Some(left.map_or(limit, |left| left.min(limit)));
        let limits = SuperviseLimits { hard, grace: GRACE, linger: GRACE, drain: DRAIN };
        Ok(started.drive(Input::once(Vec::new()), limits, None, stop, &mut Unread).await)
    }
}

/// Reads nothing: a check prints to standard error, whose head and tail are kept.
struct Unread;

impl Observer for Unread {
    fn stdout(&mut self, _chunk: &[u8]) -> Activity {
        Activity::default()
    }
}
