//! Runs the last command after the tree has ended and the host has died. No other process remains that could end work on a remote
//! machine.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time limit of the command, as long as a host would wait.
const LIMIT: Duration = Duration::from_secs(10);

/// The interval between checks whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Runs a command to its end, at the latest to the limit. Errors are ignored, because no process remains to receive them.
pub(crate) fn run(command_line: &[OsString]) {
    let Some((program, args)) = command_line.split_first() else { return };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let until = Instant::now() + LIMIT;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= until {
            drop(child.kill());
            drop(child.wait());
            return;
        }
        sleep(POLL_INTERVAL);
    }
}
