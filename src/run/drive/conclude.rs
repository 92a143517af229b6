//! The steps after the end of a remote child: it is ended on its machine, too, and its session is copied back.

use std::time::Duration;

use super::active_run::ActiveRun;
use crate::run::blocking::blocking;
use crate::run::launch::files::RunFiles;
use crate::run::launch::private_files::write_private;
use crate::run::launcher::{HelperError, RemoteEnd, run_cancel, run_helper};
use crate::run::result::verdict::AttemptReport;
use files::FileError;
use sanitizer::{Sanitizer, chain, quoted_within, with_cause};
use supervisor::Outcome;

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
