//! Kills the processes that a killed warden has left behind.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pi_subagent_warden::{Stat, processes, remove_group};
use rustix::process::{Pid, PidfdFlags, Signal};

/// The environment variable that marks the processes of a tree, so that they are found when their warden was killed.
pub(super) const TREE_VARIABLE: &str = "PI_SUBAGENT_TREE";

/// The longest sweep. A process that cannot be killed is not waited for.
const LIMIT: Duration = Duration::from_secs(2);

/// The pause between two passes, shorter than the life of any process that forks and exits.
const PAUSE: Duration = Duration::from_micros(500);

/// A sweep ends after this many passes in a row that found nothing: a process that forks and exits has a new id in
/// the next pass.
const QUIET_PASSES: u32 = 40;

/// After this many passes in a row that found nothing, the processes taken for unrelated are checked again. A process
/// that was just replacing its program had no environment.
const RECHECK_PASSES: u32 = 20;

/// Kills every process that carries the marker of a tree in its environment or belongs to the warden's session. Blocks.
///
/// A process that has left the session and cleared its environment is only found through the tree's control group, if there is
/// one. The warden must not be reaped yet, so that no other process gets its session id.
pub(super) fn sweep(marker: &str, warden: i32, cgroup: Option<&Path>) {
    if let Some(cgroup) = cgroup {
        // Kills everything in it at once, including what would not be found otherwise.
        let _ = fs::write(cgroup.join("cgroup.kill"), "1");
    }
    let deadline = Instant::now() + LIMIT;
    let mut unrelated = HashSet::from([warden]);
    let mut quiet = 0;
    while quiet < QUIET_PASSES && Instant::now() < deadline {
        if quiet % RECHECK_PASSES == 0 {
            unrelated = HashSet::from([warden]);
        }
        quiet = if kill_all(marker.as_bytes(), warden, &mut unrelated) { 0 } else { quiet + 1 };
        thread::sleep(PAUSE);
    }
    if let Some(cgroup) = cgroup {
        // The kernel needs a moment to end processes that were killed only through the group.
        while remove_group(cgroup).is_err() && Instant::now() < deadline {
            thread::sleep(PAUSE);
        }
    }
}

/// Kills the processes that it finds; returns true if there were any. A process outside the tree is checked only once, so that a
/// pass is shorter than the life of a process that forks and exits.
fn kill_all(marker: &[u8], warden: i32, unrelated: &mut HashSet<i32>) -> bool {
    let mut found = false;
    for number in processes() {
        if unrelated.contains(&number) {
            continue;
        }
        let Some(pid) = Pid::from_raw(number) else { continue };
        // It is opened before the check, so that the process that is checked is the one that is killed.
        let Ok(pidfd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if belongs(number, marker, warden) {
            found = true;
            let _ = rustix::process::pidfd_send_signal(&pidfd, Signal::KILL);
        } else {
            unrelated.insert(number);
        }
    }
    found
}

fn belongs(pid: i32, marker: &[u8], warden: i32) -> bool {
    let environment = || fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let carries = || environment().split(|byte| *byte == 0).any(|entry| is_marker(entry, marker));
    Stat::of(pid).is_some_and(|stat| stat.alive && (stat.session == warden || carries()))
}

fn is_marker(entry: &[u8], marker: &[u8]) -> bool {
    let value = entry.strip_prefix(TREE_VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
    value == Some(marker)
}
