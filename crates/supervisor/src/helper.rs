//! Helper programs other than the children: short ones whose output is read, and one that outlives this process.
//!
//! A helper that only waits is noticed by what `/proc` says of its threads. A program that waits for the other end of a
//! FIFO, or for a device, sleeps and is never woken. A working program runs, waits for a disk, or is woken again and
//! again, even on a machine under load. Systems without such a `/proc` show nothing.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::cancel::{Cancel, CancelReason};
use crate::command::ChildCommand;
use crate::error::SpawnError;
use crate::idle_timer::Activity;
use crate::observer::Observer;
use crate::outcome::{Outcome, Supervised};
use crate::streams::Input;
use crate::supervise::{SuperviseLimits, start};
use crate::thread::spawn;

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

/// A helper program that is watched.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux shows the activity of a program")
)]
pub(crate) struct Watched {
    /// The process id of the program, or of its warden.
    pub id: u32,
    /// True if `id` is a warden's. Its own sleep does not count.
    pub is_warden: bool,
}

impl Watched {
    /// Makes the request `stop` once all threads of the program have slept for `limit` without being woken.
    async fn stop_when_stalled(self, limit: Option<Duration>, stop: &Cancel) -> Infallible {
        if let Some(limit) = limit {
            self.stalled(limit).await;
            let why = format!("it did nothing for {} ms", limit.as_millis());
            stop.cancel(CancelReason::Stuck(why));
        }
        std::future::pending().await
    }

    #[cfg(target_os = "linux")]
    async fn stalled(self, limit: Duration) {
        /// The pause between two looks. Several fit into any limit.
        const POLL: Duration = Duration::from_millis(250);
        let mut before = None;
        let mut asleep = Duration::ZERO;
        while asleep < limit {
            tokio::time::sleep(POLL).await;
            let now = tokio::task::spawn_blocking(move || sleepers(self)).await.ok().flatten();
            // Counted, not measured: if this process is stopped for a while, the program waits for it.
            asleep = if now.is_some() && now == before { asleep + POLL } else { Duration::ZERO };
            before = now;
        }
    }

    #[cfg(not(target_os = "linux"))]
    async fn stalled(self, _limit: Duration) {
        std::future::pending().await
    }
}

/// A sleeping thread: its id, and how often it has been put to sleep and woken.
#[cfg(target_os = "linux")]
type Sleeper = (i32, [u64; 2]);

/// Returns all threads of the program and its descendants if every one sleeps. Returns `None` if one works, or if `/proc` does
/// not show them. Blocks.
#[cfg(target_os = "linux")]
fn sleepers(Watched { id, is_warden }: Watched) -> Option<Vec<Sleeper>> {
    use std::fs;

    let mut sleepers = Vec::new();
    let mut waiting = vec![id];
    while let Some(pid) = waiting.pop() {
        for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
            let read = |name: &str| fs::read_to_string(thread.as_ref().ok()?.path().join(name)).ok();
            waiting
                .extend(read("children")?.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            if !(is_warden && pid == id) {
                sleepers.push(sleeper(&read("status")?)?);
            }
        }
    }
    sleepers.sort_unstable();
    (!sleepers.is_empty()).then_some(sleepers)
}

/// Reads the `status` of a thread; `None` unless it sleeps in a way that a signal ends, as it does for a FIFO.
#[cfg(target_os = "linux")]
fn sleeper(status: &str) -> Option<Sleeper> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.strip_prefix(':')).map(str::trim)
    };
    let number = |name| field(name)?.parse().ok();
    let is_asleep = field("State")?.starts_with('S');
    let switches = [number("voluntary_ctxt_switches")?, number("nonvoluntary_ctxt_switches")?];
    is_asleep.then_some((field("Pid")?.parse().ok()?, switches))
}

const THREAD: &str = "subagent-host";

/// The most bytes read of an answer. No program that is meant here says more.
const MAX_ANSWER: u64 = 1024 * 1024;

/// A program that keeps running when this process ends, and how to start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detached {
    /// An absolute path.
    pub program: PathBuf,
    /// The arguments, without the program itself.
    pub args: Vec<OsString>,
    /// Variables added to the environment of this process.
    pub env: Vec<(OsString, OsString)>,
}

impl Detached {
    /// Starts the program in its own process group, out of reach of terminal signals, writes `request` to its
    /// standard input, and returns the first line of its answer, with which it takes over. Blocks until then. The
    /// answer is empty or cut short when the program ends early.
    ///
    /// # Errors
    ///
    /// If the program cannot be started, takes no request, or does not answer within `timeout`. A program that was started is
    /// then killed.
    pub fn start(&self, request: Vec<u8>, timeout: Duration) -> io::Result<Vec<u8>> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let (sender, receiver) = mpsc::channel();
        // On a thread, because the program may never read and never answer.
        let started = spawn(THREAD, move || drop(sender.send(exchange(input, output, &request))));
        let answer = started.and_then(|()| match receiver.recv_timeout(timeout) {
            Ok(answer) => answer,
            Err(_) => Err(io::Error::other(format!("it did not answer within {} s", timeout.as_secs()))),
        });
        if answer.is_err() {
            let _ = child.kill();
        }
        // Reaps the program whenever it ends.
        spawn(THREAD, move || drop(child.wait()))?;
        answer
    }
}

/// Writes the request and reads the line that answers it.
fn exchange(input: Option<ChildStdin>, output: Option<ChildStdout>, request: &[u8]) -> io::Result<Vec<u8>> {
    let (mut input, output) = input.zip(output).ok_or(io::ErrorKind::BrokenPipe)?;
    input.write_all(request)?;
    drop(input);
    let mut answer = Vec::new();
    BufReader::new(output.take(MAX_ANSWER)).read_until(b'\n', &mut answer)?;
    Ok(answer)
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
            untrusted: Vec::new(),
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
        for waits in ["cat", "exec cat"].map(|cat| format!("{cat} {}", fifo.display())) {
            assert!(captured(&waits, stall, &cancel).await.is_stalled(), "{waits} waits for a FIFO");
        }
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

    #[cfg(target_os = "linux")]
    #[test]
    fn only_a_sleeping_thread_is_a_sleeper() {
        let status = |state: &str| {
            format!(
                "Name:\tgit\nState:\t{state}\nTgid:\t7\nPid:\t9\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t1\n"
            )
        };
        assert_eq!(sleeper(&status("S (sleeping)")), Some((9, [3, 1])));
        for state in ["R (running)", "D (disk sleep)", "T (stopped)", "Z (zombie)"] {
            assert_eq!(sleeper(&status(state)), None, "{state}");
        }
        assert_eq!(
            sleeper("State:\tS (sleeping)\nPid:\t9\n"),
            None,
            "a thread without counters is not a sleeper"
        );
    }
}
