//! Ending what a killed warden has left behind.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};

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
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let mut found = false;
    for pid in pids {
        let number = pid.as_raw_pid().unsigned_abs();
        if strangers.contains(&number) {
            continue;
        }
        // Held before it is looked at, so that what is looked at is what is killed.
        let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if belongs(pid, marker, warden) {
            found = true;
            let _ = rustix::process::pidfd_send_signal(&held, Signal::KILL);
        } else {
            strangers.insert(number);
        }
    }
    found
}

fn belongs(pid: Pid, marker: &[u8], warden: u32) -> bool {
    let file = |name: &str| fs::read(format!("/proc/{}/{name}", pid.as_raw_pid())).unwrap_or_default();
    let (alive, session) = alive_in_session(&file("stat"));
    let carries = || file("environ").split(|byte| *byte == 0).any(|entry| is_marker(entry, marker));
    alive && (session == Some(warden) || carries())
}

fn is_marker(entry: &[u8], marker: &[u8]) -> bool {
    let value = entry.strip_prefix(super::link::TREE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
    value == Some(marker)
}

/// Whether a line of `/proc/<pid>/stat` is of a living process, and its session. The fields stand after the program's
/// name, which may itself hold anything: state, parent, group, session.
fn alive_in_session(stat: &[u8]) -> (bool, Option<u32>) {
    let Some(end) = stat.iter().rposition(|byte| *byte == b')') else { return (false, None) };
    let text = String::from_utf8_lossy(&stat[end + 1..]);
    let mut fields = text.split_ascii_whitespace();
    let alive = fields.next().is_some_and(|state| !matches!(state, "Z" | "X" | "x"));
    (alive, fields.nth(2).and_then(|field| field.parse().ok()))
}
