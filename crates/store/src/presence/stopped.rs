//! The remaining children of a stopped process, for example after Ctrl-Z. Such a process cannot give back the slots of children
//! that have ended in the meantime.
//!
//! The id of a process in the store ends with its process id and its pid namespace, so that processes in the same
//! namespace can find it. While its lock is held, no other process has this process id.

#[cfg(target_os = "linux")]
use std::fs;

#[cfg(target_os = "linux")]
use pi_subagent_warden::{Stat, processes};

/// Returns the suffix of this process's id in the store.
#[cfg(target_os = "linux")]
pub(super) fn suffix() -> String {
    namespace().map(|namespace| format!("p{}n{namespace}", std::process::id())).unwrap_or_default()
}

/// Returns the number of children that a stopped process still has. `None` if it is not stopped, or if that is not
/// visible from here.
#[cfg(target_os = "linux")]
pub(crate) fn children_of_stopped(id: &str) -> Option<usize> {
    let (pid, found) = id.rsplit_once('p')?.1.split_once('n')?;
    if namespace()? != found {
        return None;
    }
    let pid: i32 = pid.parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    if !fields.trim_start().starts_with(['T', 't']) {
        return None;
    }
    let is_child = |other: &i32| Stat::of(*other).is_some_and(|stat| stat.alive && stat.parent == pid);
    Some(processes().filter(is_child).count())
}

/// The number of the pid namespace.
#[cfg(target_os = "linux")]
fn namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().chars().filter(char::is_ascii_digit).collect())
}

/// Other systems do not show whether a process is stopped.
#[cfg(not(target_os = "linux"))]
pub(super) fn suffix() -> String {
    String::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn children_of_stopped(_id: &str) -> Option<usize> {
    None
}
