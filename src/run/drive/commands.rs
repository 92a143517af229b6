//! Commands in the tree of a child: one prepares a private tree before the first prompt, one checks the work before the run
//! counts as done.
//!
//! A child that takes messages stays alive during its check. If the check fails, the child gets its output as another
//! prompt.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::active_run::ActiveRun;
use super::child_control::ChildControl;
use crate::run::blocking::blocking;
use crate::run::facts::CheckReport;
use crate::run::launch::command_line::TreeCommandError;
use crate::run::launch::files::RunFiles;
use crate::run::outcome::checked::{Checked, SetUp, line};

use crate::run::result::verdict::Verdict;
use sanitizer::with_cause;
use supervisor::{
    Activity, Cancel, CancelReason, ChildCommand, Input, Mechanism, Observer, Outcome, SuperviseLimits,
    Supervised, start,
};

/// The maximum time that a command may take to clean up after it was ended.
const GRACE: Duration = Duration::from_secs(1);
/// The maximum time for reading its output after its end, if a process that it has left behind holds the pipe.
const DRAIN: Duration = Duration::from_secs(1);

/// The files and the command of a child, and the mechanisms that contain it.
pub(super) struct Tree<'a> {
    pub files: &'a RunFiles,
    /// The command that started the child.
    pub child: &'a ChildCommand,
    /// The mechanisms that contain the child.
    pub mechanisms: Vec<Mechanism>,
}

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
    /// Shows what runs now: a word for it, and the command.
    fn show_command(&self, what: &str, command: &str) {
        let shown = format!("{what} {}", line(command, self.sanitizer()));
        self.watchers.progress.send_modify(|progress| progress.last_tool = Some(shown.into()));
    }

    /// Runs a shell command in the child's tree, as confined as the child's shell. Returns once the command has ended
    /// and none of its processes remain.
    ///
    /// # Errors
    ///
    /// Fails if it was not started.
    async fn run_in_tree(
        &self,
        command: &str,
        Tree { files, child, mechanisms }: &Tree<'_>,
        limit: Duration,
        stop: &Cancel,
    ) -> Result<Supervised, TreeCommandError> {
        let sandbox = self.admitted.resolved.sandbox.enforced();
        let missing_layer = |active: &[Mechanism]| sandbox.and_then(|sandbox| sandbox.missing(active));
        let has_view = sandbox.is_some_and(|sandbox| sandbox.metadata) && missing_layer(mechanisms).is_none();
        let scope = self.admitted.resolved.scope.clone().filter(|_| has_view);
        let protected =
            blocking(move || scope.map(|scope| scope.find_protected().protected).unwrap_or_default()).await;
        let command = self.admitted.tree_command(command, child, files, has_view, protected)?;
        let since = Instant::now();
        let started = match start(command, stop).await {
            Ok(Some(started)) => started,
            Ok(None) => {
                let reason = stop.reason().unwrap_or(CancelReason::Dropped);
                return Ok(Supervised::never_started(reason, since));
            }
            Err(error) => return Err(TreeCommandError::Spawn(error)),
        };
        self.hold_locks(&started.tree);
        if has_view && let Some(reason) = missing_layer(&started.tree.mechanisms()) {
            started.discard().await;
            return Err(TreeCommandError::MissingLayer(reason));
        }
        let limits = SuperviseLimits {
            hard: Some(limit),
            grace: GRACE,
            linger: GRACE,
            drain: DRAIN,
            ..SuperviseLimits::default()
        };
        let ended = started.drive(Input::once(Vec::new()), limits, None, stop, &mut IgnoreOutput).await;
        ended.map_err(TreeCommandError::Spawn)
    }

    /// Runs the command that prepares the private tree, if there is one.
    ///
    /// # Errors
    ///
    /// The verdict on the run: a child in a tree that is not prepared would fail at something else.
    pub(crate) async fn set_up(&self, tree: &Tree<'_>) -> Result<(), Verdict> {
        let resolved = &self.admitted.resolved;
        let Some(command) = resolved.setup() else { return Ok(()) };
        self.show_command("setup", command);
        let limit = resolved.config.isolation.setup_timeout;
        let remaining = resolved.timeout.map(|limit| limit.saturating_sub(self.started.elapsed()));
        let sanitizer = self.sanitizer();
        let limit = remaining.map_or(limit, |remaining| remaining.min(limit));
        let failed = match self.run_in_tree(command, tree, limit, &self.cancel).await {
            Ok(ended) => match (&ended.outcome, resolved.timeout) {
                (Outcome::Cancelled(reason), _) => return Err(Verdict::cancelled(reason)),
                (Outcome::HardTimeout { limit }, Some(time_limit)) if remaining == Some(*limit) => {
                    return Err(Verdict::hard_limit(time_limit, resolved.limited_by));
                }
                _ => SetUp::failure(command, &ended, sanitizer),
            },
            Err(error) => Some(SetUp::never_started(command, &with_cause(&error), sanitizer)),
        };
        failed.map_or(Ok(()), |why| Err(Verdict::failed(1, why)))
    }

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
        let limit = self.admitted.resolved.config.check.timeout;
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

/// Ignores standard output: the command prints to standard error, of which the beginning and the end are kept.
struct IgnoreOutput;

impl Observer for IgnoreOutput {
    fn stdout(&mut self, _chunk: &[u8]) -> Activity {
        Activity::default()
    }
}
