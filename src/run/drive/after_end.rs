//! Collects the results of a run after its last child: changed files, snapshot, branch. An aborted run does not wait
//! long.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::sleep;
use tracing::Instrument as _;

use super::active_run::ActiveRun;
use crate::run::blocking::spawn_task;
use crate::run::record::changes::{Changed, WorkTree};
use crate::run::record::flagged::{TIME_AFTER, Watched};
use crate::run::record::git::NoAnswer;
use crate::run::record::isolation::{ImportOutcome, Isolated};
use crate::run::record::snapshots::{Before, TreeAtEnd};
use crate::run::result::verdict::Flagged;

/// The maximum time that an aborted run may search for changed files. The caller is waiting.
const SCAN_AFTER_ABORT: Duration = Duration::from_secs(1);
/// The maximum time that the caller of an aborted run waits for the branch of a private tree. An import usually takes
/// less than a second.
const IMPORT_AFTER_ABORT: Duration = Duration::from_secs(5);
/// The maximum time for each of these steps once the time limit of the run has passed.
const AFTER_TIME_LIMIT: Duration = Duration::from_secs(10);

/// git would block the run.
#[derive(Debug, thiserror::Error)]
#[error("the files that this run changed are not listed: {why}")]
pub(super) struct ChangesNotListed {
    /// The message of git, or the name of the file that would block it.
    why: String,
}

impl ActiveRun<'_> {
    /// Returns the result of `work` that follows the end of a child. `None` once the run has been cancelled, now or
    /// before, and `after_abort` has passed, or its time limit and [`AFTER_TIME_LIMIT`].
    async fn within_end_limits<T>(&self, after_abort: Duration, work: impl Future<Output = T>) -> Option<T> {
        let aborted = async {
            self.cancel.cancelled().await;
            sleep(after_abort).await;
        };
        let late = async {
            self.stop.cancelled().await;
            sleep(AFTER_TIME_LIMIT).await;
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = aborted => None,
            () = late => None,
        }
    }

    /// Returns the files that the run has changed since `before`.
    ///
    /// # Errors
    ///
    /// Fails if git would block the run.
    pub(super) async fn changes_since(
        &self,
        before: Option<WorkTree>,
    ) -> Result<Option<Changed>, ChangesNotListed> {
        let Some(before) = before else { return Ok(None) };
        match self.within_end_limits(SCAN_AFTER_ABORT, Box::pin(before.changes())).await {
            Some(Ok(changed)) => Ok(Some(changed)),
            None | Some(Err(NoAnswer::Failed)) => Ok(None),
            Some(Err(NoAnswer::Blocked(why))) => Err(ChangesNotListed { why }),
        }
    }

    /// Returns the files that the run has changed and that a person should look at. `changed` are known changes.
    pub(super) async fn flagged_since(&self, watched: Option<Watched>, changed: &[PathBuf]) -> Flagged {
        let Some(watched) = watched else { return Flagged::default() };
        let time = if self.cancel.reason().is_some() { SCAN_AFTER_ABORT } else { TIME_AFTER };
        let found =
            self.within_end_limits(2 * SCAN_AFTER_ABORT, Box::pin(watched.changes(changed, time))).await;
        found.unwrap_or_else(|| Flagged::unknown(2 * SCAN_AFTER_ABORT))
    }

    /// Compares the tree with its snapshot. This continues in the background if the caller does not wait for it.
    pub(super) async fn tree_since(&self, snapshot: Option<Before>) -> TreeAtEnd {
        let Some(snapshot) = snapshot else { return TreeAtEnd::Unknown(None) };
        let noting = spawn_task(snapshot.at_end().in_current_span());
        match self.within_end_limits(Duration::ZERO, noting).await {
            Some(Ok(tree)) => tree,
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            None => TreeAtEnd::Unknown(None),
        }
    }

    /// Imports the work of a private tree. The import continues in the background if the caller does not wait for it.
    pub(super) async fn import_changes(&self, isolated: Isolated) -> ImportOutcome {
        let remote_output = self.remote_output.lock().take();
        let pending = isolated.import_pending();
        match self
            .within_end_limits(
                IMPORT_AFTER_ABORT,
                spawn_task(isolated.import(remote_output).in_current_span()),
            )
            .await
        {
            Some(Ok(outcome)) => outcome,
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            None => pending,
        }
    }
}
