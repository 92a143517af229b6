//! Commands in the tree of a child: one prepares it before the first prompt, one checks the work after the last.

pub(super) mod check;
pub(super) mod setup;

use std::time::{Duration, Instant};

use super::active_run::ActiveRun;
use crate::run::blocking::blocking;
use crate::run::launch::files::RunFiles;
use crate::run::launch::tree_command::TreeCommandError;
use crate::run::outcome::checked::line;
use supervisor::{
    Activity, Cancel, CancelReason, ChildCommand, Input, Mechanism, Observer, SuperviseLimits, Supervised,
    start,
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
}

/// Ignores standard output: the command prints to standard error, of which the beginning and the end are kept.
struct IgnoreOutput;

impl Observer for IgnoreOutput {
    fn stdout(&mut self, _chunk: &[u8]) -> Activity {
        Activity::default()
    }
}
