//! Ending what a killed warden has left behind.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};

use super::super::platform::proc_stat::{Stat, processes};

/// The variable by which the processes of a tree are found again when their warden was killed.
pub(super) const TREE: &str = "PI_SUBAGENT_TREE";

/// A sweep goes on until nobody is found, but not for longer: somebody who cannot be killed is not waited for.
const LIMIT: Duration = Duration::from_secs(2);

/// Between two looks, shorter than anybody lives that forks and leaves.
const PAUSE: Duration = Duration::from_micros(500);

/// So many looks in a row have to find nobody: one who forks and leaves is somebody else at the next.
const QUIET_LOOKS: u32 = 40;

/// After so many looks that found nobody, strangers are looked at again: one that was just being replaced by another
/// program had no environment.
const TRUST_LOOKS: u32 = 20;

/// Kills every process that carries the marker of a tree in its environment or belongs to the warden's session. Blocks.
///
/// Who has left the session and cleared its environment is not found, unless the tree had a control group. The warden is not reaped yet, so that the session's
/// number is its own.
pub(super) fn sweep(marker: &str, warden: u32, cgroup: Option<&Path>) {
    if let Some(cgroup) = cgroup {
        // Everybody in it at once, those included whom nothing else would find.
        let _ = fs::write(cgroup.join("cgroup.kill"), "1");
    }
    let deadline = Instant::now() + LIMIT;
    let mut strangers = HashSet::from([warden]);
    let mut quiet = 0;
    while quiet < QUIET_LOOKS && Instant::now() < deadline {
        if quiet % TRUST_LOOKS == 0 {
            strangers = HashSet::from([warden]);
        }
        quiet = if kill_all(marker.as_bytes(), warden, &mut strangers) { 0 } else { quiet + 1 };
        thread::sleep(PAUSE);
    }
    if let Some(cgroup) = cgroup {
        let _ = fs::remove_dir(cgroup);
    }
}

/// Returns whether there was anybody. Those who do not belong to the tree are not looked at a second time, so that a look
/// is shorter than the life of one who forks and leaves.
fn kill_all(marker: &[u8], warden: u32, strangers: &mut HashSet<u32>) -> bool {
    let mut found = false;
    for number in processes() {
        if strangers.contains(&number) {
            continue;
        }
        let Some(pid) = number.try_into().ok().and_then(Pid::from_raw) else { continue };
        // Held before it is looked at, so that what is looked at is what is killed.
        let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if belongs(number, marker, warden) {
            found = true;
            let _ = rustix::process::pidfd_send_signal(&held, Signal::KILL);
        } else {
            strangers.insert(number);
        }
    }
    found
}

fn belongs(pid: u32, marker: &[u8], warden: u32) -> bool {
    let environment = || fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let carries = || environment().split(|byte| *byte == 0).any(|entry| is_marker(entry, marker));
    Stat::of(pid).is_some_and(|stat| stat.alive && (stat.session == warden || carries()))
}

fn is_marker(entry: &[u8], marker: &[u8]) -> bool {
    let value = entry.strip_prefix(TREE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
    value == Some(marker)
}
