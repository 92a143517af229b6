//! The processes that descend from the warden: which they are, and how they are ended.
//!
//! | Question | File |
//! |---|---|
//! | which limits of a control group hold for the tree | `cgroup` |
//! | how the tree gets a pid namespace, and what its first process does there | `namespace` |
//! | what the tree uses, and whether it exceeds a limit | `usage` |

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use pi_subagent_warden::{Mechanism, Stat, processes};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::sys;

pub(crate) mod cgroup;
pub(crate) mod namespace;
mod usage;

pub(crate) use cgroup::Cgroup;
pub(crate) use usage::Meter;

/// The children of this process, which has one thread.
const OWN_CHILDREN: &str = "/proc/thread-self/children";

/// The ways in which the warden finds the processes of its tree.
#[derive(Debug)]
pub(crate) enum Tree {
    /// By descent. As a subreaper the warden becomes the parent of every orphan in the tree, so none gets out of
    /// sight.
    Descendants {
        /// The list of the warden's own children, which stays readable when no file can be opened any more. `None`
        /// where the kernel has no such lists.
        children: Option<File>,
    },
    /// As the first process of a pid namespace, which contains only the tree.
    Namespace,
}

impl Tree {
    /// Returns the tree under the active mechanisms. Opens the files needed to kill it.
    pub(crate) fn with(mechanisms: &[Mechanism]) -> Self {
        if mechanisms.contains(&Mechanism::PidNamespace) {
            return Self::Namespace;
        }
        Self::Descendants { children: File::open(OWN_CHILDREN).ok() }
    }

    /// Asks every process to exit. SIGCONT follows, because a stopped process would not act on SIGTERM.
    pub(crate) fn ask(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Kills every process that exists now. The next call catches processes born in the meantime.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
        // A warden without descriptors sees only its own children. The children of a killed process become its own, so the next
        // calls reach them.
        for child in self.own_children() {
            // Not reaped yet, so the id is still this child's.
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
    }

    /// Returns a lower bound of the number of processes. Called while not all are reaped, so there is one even if the
    /// warden cannot check.
    pub(crate) fn remaining(&self) -> u64 {
        (descendants().len().max(self.own_children().len()) as u64).max(1)
    }

    fn own_children(&self) -> Vec<Pid> {
        let Self::Descendants { children: Some(list) } = self else { return Vec::new() };
        // Enough for hundreds. The rest is listed once these have ended.
        let mut bytes = [0; 4096];
        let count = list.read_at(&mut bytes, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..count]);
        // The last word may be cut off.
        let whole = text.rfind(' ').map_or("", |end| &text[..end]);
        whole.split_ascii_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect()
    }

    fn signal(&self, signal: Signal) {
        if matches!(self, Self::Namespace) {
            return sys::signal_all(signal.as_raw());
        }
        let tree = descendants();
        let members: HashSet<Pid> = tree.iter().copied().collect();
        // Ancestors first: a parent that got the signal cannot start another child when it sees one end.
        for pid in tree {
            send(pid, signal, &members);
        }
    }
}

/// Signals a process if it is still part of the tree. Its id may have been reused since it was read, so a descriptor
/// holds the process before it is checked again.
fn send(pid: Pid, signal: Signal, tree: &HashSet<Pid>) {
    let Ok(pidfd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    let is_parent = |parent: Pid| parent == rustix::process::getpid() || tree.contains(&parent);
    let stat = Stat::of(pid.as_raw_pid()).filter(|stat| stat.alive);
    if stat.and_then(|stat| Pid::from_raw(stat.parent)).is_some_and(is_parent) {
        let _ = rustix::process::pidfd_send_signal(&pidfd, signal);
    }
}

/// All descendants, each after its ancestors. Zombies are included.
pub(crate) fn descendants() -> Vec<Pid> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    // A process whose parent changes while the lists are read may appear in two of them.
    let mut add = |pids: Vec<Pid>, found: &mut Vec<Pid>| {
        found.extend(pids.into_iter().filter(|pid| known.insert(*pid)));
    };
    add(children_of(rustix::process::getpid()), &mut found);
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        add(children_of(pid), &mut found);
        next += 1;
    }
    found
}

/// The children of a process, collected from the list of each of its threads.
fn children_of(pid: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())) else { return found };
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                let pids = list.split_ascii_whitespace();
                found.extend(pids.filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
            }
            // The kernel was built without these lists, so every process is asked for its parent.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !has_lists() => {
                return children_by_parent(pid);
            }
            Err(_) => {}
        }
    }
    found
}

fn has_lists() -> bool {
    fs::exists(OWN_CHILDREN).unwrap_or(false)
}

fn children_by_parent(parent: Pid) -> Vec<Pid> {
    let is_child = |pid: &i32| Stat::of(*pid).is_some_and(|stat| stat.parent == parent.as_raw_pid());
    processes().filter(is_child).filter_map(Pid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_children_are_found() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().expect("sleep starts");
        let found = descendants().iter().any(|pid| pid.as_raw_nonzero().get().unsigned_abs() == child.id());
        child.kill().expect("the child is killed");
        child.wait().expect("the child ends");
        assert!(found);
    }
}
