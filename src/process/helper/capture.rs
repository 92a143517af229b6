//! Runs a short helper program for its output.

use std::time::Duration;

use crate::process::cancel::Cancel;
use crate::process::command::ChildCommand;
use crate::process::error::SpawnError;
use crate::process::idle_timer::Activity;
use crate::process::input::Input;
use crate::process::observer::Observer;
use crate::process::outcome::Outcome;
use crate::process::supervise::{SuperviseLimits, supervise};

/// The grace period of a helper. It has nothing to save, so it is short.
const GRACE: Duration = Duration::from_millis(500);

/// How long a helper's output is read after it has exited.
const DRAIN: Duration = Duration::from_millis(500);

/// The output of a helper program, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// How it ended; a timeout is [`Outcome::HardTimeout`].
    pub outcome: Outcome,
    /// Its standard output, up to the limit. Not sanitized.
    pub stdout: Vec<u8>,
    /// Whether it wrote more than the limit.
    pub truncated: bool,
    /// Its standard error, as in [`Supervised`](crate::process::Supervised).
    pub stderr: String,
}

impl Captured {
    /// Whether it exited with code 0. Its output may still be truncated.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Exited(status) if status.success())
    }
}

/// Runs a program to its end and keeps the first `max_bytes` of its standard output; the rest is read and discarded.
///
/// After `timeout` the program and its process group are ended, which takes about a second more at most. Dropping the
/// future kills the group.
///
/// # Errors
///
/// Only when the program could not be started.
pub fn capture(
    command: ChildCommand,
    timeout: Duration,
    max_bytes: usize,
) -> impl Future<Output = Result<Captured, SpawnError>> + Send {
    capture_fed(command, Vec::new(), timeout, max_bytes)
}

/// As [`capture`], with `input` as the program's standard input.
///
/// # Errors
///
/// Only when the program could not be started.
pub fn capture_fed(
    command: ChildCommand,
    input: Vec<u8>,
    timeout: Duration,
    max_bytes: usize,
) -> impl Future<Output = Result<Captured, SpawnError>> + Send {
    capture_observed(command, input, timeout, max_bytes, |_| {})
}

/// As [`capture_fed`]. `observe` is told after each read that was kept how many bytes there are.
pub(crate) async fn capture_observed(
    command: ChildCommand,
    input: Vec<u8>,
    timeout: Duration,
    max_bytes: usize,
    observe: impl FnMut(usize) + Send,
) -> Result<Captured, SpawnError> {
    let limits =
        SuperviseLimits { hard: Some(timeout), grace: GRACE, drain: DRAIN, ..SuperviseLimits::default() };
    let mut kept = Kept { bytes: Vec::new(), room: max_bytes, truncated: false, observe };
    let ended = supervise(command, Input::once(input), limits, None, &Cancel::new(), &mut kept).await?;
    Ok(Captured {
        outcome: ended.outcome,
        stdout: kept.bytes,
        truncated: kept.truncated,
        stderr: ended.stderr,
    })
}

struct Kept<F> {
    bytes: Vec<u8>,
    room: usize,
    truncated: bool,
    observe: F,
}

impl<F: FnMut(usize) + Send> Observer for Kept<F> {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        let kept = &chunk[..chunk.len().min(self.room)];
        self.bytes.extend_from_slice(kept);
        self.room -= kept.len();
        if !kept.is_empty() {
            (self.observe)(self.bytes.len());
        }
        self.truncated |= kept.len() < chunk.len();
        Activity::default()
    }
}
