//! The steps after the end of a child.
//!
//! A remote child is ended on its machine, too, and its session is copied back. After the last child, the results of
//! the run are collected: changed files, snapshot, branch. An aborted run does not wait long for them.

use std::path::PathBuf;
use std::time::Duration;

use files::FileError;
use sanitizer::figures::bytes;
use sanitizer::{Sanitizer, chain, quoted_within, with_cause};
use supervisor::Outcome;
use tokio::time::sleep;
use tracing::Instrument as _;

use super::active_run::ActiveRun;
use crate::run::blocking::{blocking, spawn_task};
use crate::run::launch::files::RunFiles;
use crate::run::launch::private_files::write_private;
use crate::run::launcher::{HelperError, RemoteEnd, run_cancel, run_helper};
use crate::run::record::changes::{Changed, WorkTree};
use crate::run::record::changes::{TIME_AFTER, Watched};
use crate::run::record::git::{MAX_BYTES, NoAnswer};
use crate::run::record::isolation::{ImportOutcome, Isolated};
use crate::run::record::snapshots::{Before, TreeAtEnd};
use crate::run::result::verdict::{AttemptReport, Flagged};

/// The time limit of a launcher's command `fetch`.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum size of a session that is copied back, in bytes. pi reads sessions of that size in seconds.
const MAX_SESSION: usize = 64 * 1024 * 1024;

/// The maximum number of shown characters of a launcher's output before its child's first event. A queue gives its
/// reason in one or two lines.
const WAITING_CHARS: usize = 300;

/// The reason why a remote child's session was not received.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("its output is not a session of at most 64 MiB")]
    TooLarge,
    #[error("its output is not a session")]
    Malformed,
    #[error("{}", chain(.0))]
    File(FileError),
    #[error("{}", with_cause(.0))]
    Fetch(HelperError),
}

/// Returns the output of a launcher whose child had not sent an event when its run was ended: it may have been queued
/// all that time.
fn output_while_waiting(launcher: &str, last: &AttemptReport, sanitizer: &Sanitizer) -> Option<String> {
    let was_ended = matches!(
        last.supervised.outcome,
        Outcome::HardTimeout { .. } | Outcome::IdleTimeout { .. } | Outcome::Cancelled(_)
    );
    let output = sanitizer.line(&last.supervised.stderr, WAITING_CHARS);
    (was_ended && last.collected.last_event.is_none() && !output.is_empty()).then(|| {
        let output = quoted_within(&output, WAITING_CHARS);
        format!("the child had sent nothing until then; `{launcher}` printed: {output}")
    })
}

impl ActiveRun<'_> {
    /// Returns the notices for the caller.
    pub(super) async fn conclude_remote(&self, files: &RunFiles, last: &AttemptReport) -> Vec<String> {
        let launcher = &self.admitted.resolved.launcher;
        let context = &self.admitted.spec.context;
        let Some(name) = launcher.remote_name() else { return Vec::new() };
        let job = self.admitted.job(&files.run_id);
        let mut notices: Vec<String> =
            output_while_waiting(name, last, self.sanitizer()).into_iter().collect();
        let has_ended = match &last.supervised.outcome {
            // A launcher that has lost its child may end with success.
            Outcome::Exited(status) => {
                status.success() && last.remote_end.as_ref().is_some_and(RemoteEnd::has_ended)
            }
            Outcome::Settled { lingered, .. } => !lingered,
            _ => false,
        };
        if !has_ended && let Some(command) = launcher.cancel(job, context) {
            let cancelled = run_cancel(name, command).await;
            notices.extend(cancelled.err().map(|error| with_cause(&error)));
        }
        if let (Some(command), Some(session)) = (launcher.fetch(job, context), files.session()) {
            let session = session.to_path_buf();
            let stored = match run_helper(name, "fetch", command, FETCH_TIMEOUT, MAX_SESSION).await {
                Ok(output) if output.truncated => Err(SessionError::TooLarge),
                Ok(output) if !output.stdout.starts_with(b"{") => Err(SessionError::Malformed),
                Ok(output) => {
                    blocking(move || write_private(&session, &output.stdout).map_err(SessionError::File))
                        .await
                }
                Err(error) => Err(SessionError::Fetch(error)),
            };
            notices.extend(stored.err().map(|error| format!("the session was not received: {error}")));
        }
        notices
    }
}

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
            None => Err("the run was ended before git had listed them".to_owned()),
            Some(Err(NoAnswer::Failed)) => Err("git failed".to_owned()),
            Some(Err(NoAnswer::TooMuch)) => Err(format!("git lists more than {}", bytes(MAX_BYTES as u64))),
            Some(Err(NoAnswer::Blocked(why))) => Err(why),
        }
        .map_err(|why| ChangesNotListed { why })
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
