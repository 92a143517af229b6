//! What is left of a process that is stopped, by Ctrl-Z for instance: it cannot give back the places of children that
//! have ended meanwhile.
//!
//! The id of a process in the store says which one it is, as those see it who are in the same pid namespace. While its
//! lock is held, its number belongs to no other.

use std::fs;

use pi_subagent_warden::{Stat, processes};

/// What the id of this process in the store ends with.
pub(super) fn suffix() -> String {
    namespace().map(|namespace| format!("p{}n{namespace}", std::process::id())).unwrap_or_default()
}

/// How many children of a process are left if it is stopped. `None`: it is not, or that cannot be seen from here.
pub(in crate::store) fn children_of_stopped(id: &str) -> Option<usize> {
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
fn namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_string_lossy().chars().filter(char::is_ascii_digit).collect())
}
