//! Runs what a launcher has beside the command that starts children: `cancel` and `fetch`.

use std::time::Duration;

use crate::process::{Captured, ChildCommand, Outcome, capture, exit_signal};
use crate::text::chain;

/// How long the command `cancel` of a launcher may take. Somebody is waiting.
const CANCELLING: Duration = Duration::from_secs(10);
/// The most bytes that are kept of what `cancel` prints, which nobody reads.
const MAX_PRINTED: usize = 4 * 1024;

/// Runs the command `cancel` of a launcher to its end.
///
/// # Errors
///
/// When it fails or takes too long; the text names the launcher and says why.
pub(crate) async fn run_cancel(launcher: &str, command: ChildCommand) -> Result<(), String> {
    run_helper(launcher, "cancel", command, CANCELLING, MAX_PRINTED).await.map(drop)
}

/// Runs a command of a launcher to its end, `field` of its settings.
///
/// # Errors
///
/// As [`run_cancel`].
pub(in crate::run) async fn run_helper(
    launcher: &str,
    field: &str,
    command: ChildCommand,
    limit: Duration,
    max_bytes: usize,
) -> Result<Captured, String> {
    let failed = |why: &str| Err(format!("`launchers.{launcher}.{field}` failed: {why}"));
    let said = match capture(command, limit, max_bytes).await {
        Ok(said) if said.is_success() => return Ok(said),
        Ok(said) => said,
        Err(error) => return failed(&chain(&error)),
    };
    let stderr = said.stderr.trim();
    let how = match said.outcome {
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
