//! Runs the other commands of a launcher: `cancel` and `fetch`.

use std::time::Duration;

use supervisor::{Captured, ChildCommand, Outcome, SpawnError, capture, exit_signal};

/// The time limit for the command `cancel`. The caller waits for it.
const CANCELLING: Duration = Duration::from_secs(10);
/// The maximum number of bytes that are kept of the output of `cancel`. The output is not used.
const MAX_PRINTED: usize = 4 * 1024;

/// A command of a launcher has failed.
#[derive(Debug, thiserror::Error)]
#[error("`launchers.{launcher}.{field}` failed")]
pub(crate) struct HelperError {
    launcher: String,
    /// The command's key in the settings.
    field: String,
    source: HelperFailure,
}

/// The way in which a command of a launcher has failed.
#[derive(Debug, thiserror::Error)]
enum HelperFailure {
    #[error(transparent)]
    NotStarted(#[from] SpawnError),
    #[error("it took longer than {} s", limit.as_secs())]
    TooSlow { limit: Duration },
    /// It has printed an error.
    #[error("{0}")]
    Printed(String),
    #[error("it exited with {0} and printed no error")]
    Exited(i32),
    #[error("it was ended by signal {0} and printed no error")]
    Killed(i32),
    #[error("it has ended and printed no error")]
    Ended,
}

/// Runs the command `cancel` of a launcher to its end.
///
/// # Errors
///
/// Fails if the command fails or takes too long.
pub(crate) async fn run_cancel(launcher: &str, command: ChildCommand) -> Result<(), HelperError> {
    run_helper(launcher, "cancel", command, CANCELLING, MAX_PRINTED).await.map(drop)
}

/// Runs a command of a launcher to its end. `field` is its key in the settings.
///
/// # Errors
///
/// The same as for [`run_cancel`].
pub(crate) async fn run_helper(
    launcher: &str,
    field: &str,
    command: ChildCommand,
    limit: Duration,
    max_bytes: usize,
) -> Result<Captured, HelperError> {
    let ended = capture(command, limit, max_bytes).await.map_err(HelperFailure::from);
    let source = match ended {
        Ok(captured) if captured.is_success() => return Ok(captured),
        Ok(captured) => failure(&captured, limit),
        Err(failure) => failure,
    };
    Err(HelperError { launcher: launcher.to_owned(), field: field.to_owned(), source })
}

fn failure(captured: &Captured, limit: Duration) -> HelperFailure {
    let stderr = captured.stderr.trim();
    match captured.outcome {
        Outcome::HardTimeout { .. } => HelperFailure::TooSlow { limit },
        _ if !stderr.is_empty() => HelperFailure::Printed(stderr.to_owned()),
        Outcome::Exited(status) => match (status.code(), exit_signal(status)) {
            (Some(code), _) => HelperFailure::Exited(code),
            (None, Some(signal)) => HelperFailure::Killed(signal),
            (None, None) => HelperFailure::Ended,
        },
        _ => HelperFailure::Ended,
    }
}
