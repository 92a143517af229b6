//! Programs that are meant to outlive this process.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::thread::spawn;

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
