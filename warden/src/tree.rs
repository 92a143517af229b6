//! The processes that descend from the warden.

use std::collections::HashSet;
use std::fs;

use pi_subagent_warden::Mechanism;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::sys;

/// How the warden finds the processes of its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// By descent. As a subreaper the warden becomes the parent of every orphan in the tree, so none gets out of
    /// sight.
    Descendants,
    /// As the first process of a pid namespace, which contains only the tree.
    Namespace,
}

impl Tree {
    /// The tree under the mechanisms in force.
    pub(crate) fn under(mechanisms: &[Mechanism]) -> Self {
        if mechanisms.contains(&Mechanism::PidNamespace) { Self::Namespace } else { Self::Descendants }
    }

    /// Asks every process to exit. SIGCONT follows, because a stopped process would not act on SIGTERM.
    pub(crate) fn ask(self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Kills every process that exists now. One born meanwhile is caught by the next call.
    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(self, signal: Signal) {
        if self == Self::Namespace {
            return sys::signal_everybody(signal.as_raw());
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
    let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    let own = rustix::process::getpid();
    let is_ours = Stat::of(pid)
        .is_some_and(|stat| stat.state != b'Z' && (stat.parent == own || tree.contains(&stat.parent)));
    if is_ours {
        let _ = rustix::process::pidfd_send_signal(&held, signal);
    }
}

/// All descendants, each after its ancestors. Zombies are included.
pub(crate) fn descendants() -> Vec<Pid> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
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
                let words = list.split_ascii_whitespace();
                found.extend(words.filter_map(|word| Pid::from_raw(word.parse().ok()?)));
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
    fs::exists("/proc/thread-self/children").unwrap_or(false)
}

fn children_by_parent(parent: Pid) -> Vec<Pid> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    pids.filter(|pid| Stat::of(*pid).is_some_and(|stat| stat.parent == parent)).collect()
}

/// The fields of `/proc/<pid>/stat` that are needed here.
pub(crate) struct Stat {
    pub state: u8,
    pub parent: Pid,
    /// CPU time of the process and of the children it has waited for, in clock ticks.
    pub cpu_ticks: u64,
    /// Resident memory in pages.
    pub rss_pages: u64,
    pub name: String,
}

impl Stat {
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
    }

    /// The fields follow the program's name, which may itself contain anything, parentheses too.
    fn parse(stat: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stat);
        let (open, close) = (text.find('(')?, text.rfind(')')?);
        let fields: Vec<&str> = text.get(close + 1..)?.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        // Numbered as in proc(5), where the state is the third field.
        let ticks = [14, 15, 16, 17].into_iter().filter_map(|field| number(field - 3)).sum();
        Some(Self {
            state: *fields.first()?.as_bytes().first()?,
            parent: Pid::from_raw(fields.get(1)?.parse().ok()?)?,
            cpu_ticks: ticks,
            rss_pages: number(24 - 3)?,
            name: printable(text.get(open + 1..close)?),
        })
    }
}

fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_parsed_whatever_its_name() {
        let line = "41 (a) b\n(c) S 40 41 40 0 -1 4194304 1 0 0 0 5 6 7 8 20 0 1 0 99 1000 250 0 0";
        let stat = Stat::parse(line.as_bytes()).expect("a line of the right shape");
        assert_eq!((stat.state, stat.parent.as_raw_nonzero().get()), (b'S', 40));
        assert_eq!((stat.cpu_ticks, stat.rss_pages, stat.name.as_str()), (26, 250, "a) b?(c"));
        for short in ["", "41", "41 (x", "41 (x) S", "41 (x) S 1 2", "41 (x) S 0 1 1 0 -1 0"] {
            assert!(Stat::parse(short.as_bytes()).is_none(), "{short}");
        }
    }

    #[test]
    fn own_children_are_found() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().expect("sleep starts");
        let found = descendants().iter().any(|pid| pid.as_raw_nonzero().get().unsigned_abs() == child.id());
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(found);
    }
}
