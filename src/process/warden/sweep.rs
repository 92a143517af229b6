//! Ending what a killed warden has left behind.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal};

/// A sweep goes on until nobody is found, but not for longer: somebody who cannot be killed is not waited for.
const LIMIT: Duration = Duration::from_secs(2);

/// After how many looks in a row that found nobody there is nobody: one that forks and exits all the time can be between
/// two numbers whenever somebody looks.
const EMPTY_LOOKS: u32 = 4;

/// Between two looks; a process that was killed needs a moment to go.
const PAUSE: Duration = Duration::from_millis(2);

/// Kills every process that carries the marker of a tree in its environment or belongs to the warden's session. Blocks.
///
/// Who has left the session and cleared its environment is not found. The warden is not reaped yet, so that the session's
/// number is its own.
pub(super) fn sweep(marker: &str, warden: u32) {
    let deadline = Instant::now() + LIMIT;
    let mut empty = 0;
    while empty < EMPTY_LOOKS && Instant::now() < deadline {
        empty = if kill_all(marker.as_bytes(), warden) { 0 } else { empty + 1 };
        thread::sleep(PAUSE);
    }
}

/// Returns whether there was anybody.
fn kill_all(marker: &[u8], warden: u32) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let mut found = false;
    for pid in pids.filter(|pid| pid.as_raw_pid().unsigned_abs() != warden) {
        // Held before it is looked at, so that what is looked at is what is killed.
        let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { continue };
        if belongs(pid, marker, warden) {
            found = true;
            let _ = rustix::process::pidfd_send_signal(&held, Signal::KILL);
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
