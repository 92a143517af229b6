//! What is run once the tree is gone and the host has died: nobody else is left who could end what lies beyond this machine.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long it may take, as long as a host would wait.
const LIMIT: Duration = Duration::from_secs(10);

/// How often is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a command to its end, at the latest to the limit. Errors are ignored, because there is nobody to report them to.
pub(crate) fn run(words: &[OsString]) {
    let Some((program, args)) = words.split_first() else { return };
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
        sleep(LOOK);
    }
}
