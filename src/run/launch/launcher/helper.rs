//! Runs the other commands of a launcher: `cancel` and `fetch`.

use std::time::Duration;

use crate::process::{Captured, ChildCommand, Outcome, capture, exit_signal};
use crate::text::chain;

/// The time limit for the command `cancel`. The caller waits for it.
const CANCELLING: Duration = Duration::from_secs(10);
/// The maximum number of bytes that are kept of the output of `cancel`. The output is not used.
const MAX_PRINTED: usize = 4 * 1024;

/// Runs the command `cancel` of a launcher to its end.
///
/// # Errors
///
/// Fails if the command fails or takes too long. The text names the launcher and the reason.
pub(crate) async fn run_cancel(launcher: &str, command: ChildCommand) -> Result<(), String> {
    run_helper(launcher, "cancel", command, CANCELLING, MAX_PRINTED).await.map(drop)
}

/// Runs a command of a launcher to its end. `field` is its key in the settings.
///
/// # Errors
///
/// The same as for [`run_cancel`].
pub(in crate::run) async fn run_helper(
    launcher: &str,
    field: &str,
    command: ChildCommand,
    limit: Duration,
    max_bytes: usize,
) -> Result<Captured, String> {
    let failed = |why: &str| Err(format!("`launchers.{launcher}.{field}` failed: {why}"));
    let captured = match capture(command, limit, max_bytes).await {
        Ok(captured) if captured.is_success() => return Ok(captured),
        Ok(captured) => captured,
        Err(error) => return failed(&chain(&error)),
    };
    let stderr = captured.stderr.trim();
    let how = match captured.outcome {
        Outcome::HardTimeout { .. } => return failed(&format!("it took longer than {} s", limit.as_secs())),
        _ if !stderr.is_empty() => return failed(stderr),
        Outcome::Exited(status) => match (status.code(), exit_signal(status)) {
            (Some(code), _) => format!("it exited with {code}"),
            (None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None) => "it has ended".to_owned(),
        },
        _ => "it has ended".to_owned(),
    };
    failed(&format!("{how} and printed no error"))
}
