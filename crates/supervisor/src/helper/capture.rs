//! Runs a short helper program for its output.

use std::time::{Duration, Instant};

use super::stall::Watched;
use crate::cancel::{Cancel, CancelReason};
use crate::command::ChildCommand;
use crate::error::SpawnError;
use crate::idle_timer::Activity;
use crate::input::Input;
use crate::observer::Observer;
use crate::outcome::{Outcome, Supervised};
use crate::supervise::{SuperviseLimits, start};

/// The grace period of a helper. It has nothing to save, so it is short.
const GRACE: Duration = Duration::from_millis(500);

/// The time in which a helper's output is still read after it has exited.
const DRAIN: Duration = Duration::from_millis(500);

/// The output of a helper program, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The outcome; a timeout is [`Outcome::HardTimeout`].
    pub outcome: Outcome,
    /// Its standard output, up to the limit. Not sanitized.
    pub stdout: Vec<u8>,
    /// True if it wrote more than the limit.
    pub truncated: bool,
    /// Its standard error, as in [`Supervised`](crate::Supervised).
    pub stderr: String,
}

impl Captured {
    /// Returns true if it exited with code 0. Its output may still be truncated.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Exited(status) if status.success())
    }

    /// Returns whether it was ended because it waited for longer than [`CaptureLimits::stall`] and did nothing.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        matches!(self.outcome, Outcome::Cancelled(CancelReason::Stuck(_)))
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

/// The limits after which a helper that does not exit by itself is ended.
#[derive(Clone, Copy, Debug)]
pub struct CaptureLimits<'a> {
    /// The maximum run time.
    pub timeout: Duration,
    /// The maximum time without any activity, on Linux; see [`Captured::is_stalled`].
    pub stall: Option<Duration>,
    /// The bytes of standard output that are kept.
    pub max_bytes: usize,
    /// Ends it at once.
    pub cancel: &'a Cancel,
}

/// Works like [`capture_fed`]. After each read whose bytes were kept, calls `observe` with the number of bytes so far.
///
/// # Errors
///
/// If the command cannot be started.
pub async fn capture_observed(
    command: ChildCommand,
    input: Vec<u8>,
    timeout: Duration,
    max_bytes: usize,
    observe: impl FnMut(usize) + Send,
) -> Result<Captured, SpawnError> {
    let limits = CaptureLimits { timeout, stall: None, max_bytes, cancel: &Cancel::new() };
    capture_within(command, input, limits, observe).await
}

/// As [`capture_observed`], within these limits. A request to cancel is [`Outcome::Cancelled`].
///
/// # Errors
///
/// If the command cannot be started.
pub async fn capture_within(
    command: ChildCommand,
    input: Vec<u8>,
    CaptureLimits { timeout, stall, max_bytes, cancel }: CaptureLimits<'_>,
    observe: impl FnMut(usize) + Send,
) -> Result<Captured, SpawnError> {
    let limits =
        SuperviseLimits { hard: Some(timeout), grace: GRACE, drain: DRAIN, ..SuperviseLimits::default() };
    let mut output = OutputBuffer { bytes: Vec::new(), room: max_bytes, truncated: false, observe };
    let stop = cancel.child();
    let since = Instant::now();
    let is_warden = command.guardian.is_some();
    let ended = match start(command, &stop).await? {
        Some(started) => {
            let watched = Watched { id: started.tree.id(), is_warden };
            let drive = started.drive(Input::once(input), limits, None, &stop, &mut output);
            tokio::select! {
                biased;
                ended = drive => ended?,
                never = watched.stop_when_stalled(stall, &stop) => match never {},
            }
        }
        None => Supervised::never_started(stop.reason().unwrap_or(CancelReason::Dropped), since),
    };
    Ok(Captured {
        outcome: ended.outcome,
        stdout: output.bytes,
        truncated: output.truncated,
        stderr: ended.stderr,
    })
}

struct OutputBuffer<F> {
    bytes: Vec<u8>,
    room: usize,
    truncated: bool,
    observe: F,
}

impl<F: FnMut(usize) + Send> Observer for OutputBuffer<F> {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        let accepted = &chunk[..chunk.len().min(self.room)];
        self.bytes.extend_from_slice(accepted);
        self.room -= accepted.len();
        if !accepted.is_empty() {
            (self.observe)(self.bytes.len());
        }
        self.truncated |= accepted.len() < chunk.len();
        Activity::default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Much longer than any of these programs runs.
    const TIMEOUT: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> ChildCommand {
        ChildCommand {
            program: "/bin/sh".into(),
            args: ["-c", script].map(Into::into).to_vec(),
            cwd: "/".into(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            guardian: None,
        }
    }

    async fn captured(script: &str, stall: Option<Duration>, cancel: &Cancel) -> Captured {
        let limits = CaptureLimits { timeout: TIMEOUT, stall, max_bytes: 1024, cancel };
        capture_within(shell(script), Vec::new(), limits, |_| {}).await.expect("the shell starts")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_idle_helper_is_ended_and_a_working_one_is_not() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let fifo = scene.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("the FIFO is created");
        let stall = Some(Duration::from_millis(500));
        let cancel = Cancel::new();
        let waits = format!("cat {}", fifo.display());
        assert!(
            captured(&waits, stall, &cancel).await.is_stalled(),
            "a shell that waits for a FIFO is stalled"
        );
        // Each of them takes much longer than the limit.
        let begun = "end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do";
        for works in [format!("{begun} :; done"), format!("{begun} sleep 0.1; done")] {
            let captured = captured(&works, stall, &cancel).await;
            assert!(captured.is_success() && !captured.is_stalled(), "{works}: {captured:?}");
        }
        assert_eq!(cancel.reason(), None, "the caller did not cancel");
    }

    #[tokio::test]
    async fn a_helper_ends_with_a_request_to_cancel() {
        let cancel = Cancel::new();
        let began = tokio::sync::Notify::new();
        let limits = CaptureLimits { timeout: TIMEOUT, stall: None, max_bytes: 1024, cancel: &cancel };
        let running =
            capture_within(shell("echo begun; sleep 600"), Vec::new(), limits, |_| began.notify_one());
        let request = async {
            began.notified().await;
            cancel.cancel(CancelReason::Dropped);
        };
        let (captured, ()) = tokio::join!(running, request);
        let captured = captured.expect("the shell starts");
        assert_eq!(
            (captured.outcome, captured.stdout),
            (Outcome::Cancelled(CancelReason::Dropped), b"begun\n".to_vec())
        );
        let limits = CaptureLimits { timeout: TIMEOUT, stall: None, max_bytes: 1024, cancel: &cancel };
        let late = capture_within(shell("echo begun"), Vec::new(), limits, |_| {})
            .await
            .expect("a cancelled call is not an error");
        assert_eq!(late.stdout, b"", "no program is started after the request");
    }
}
