//! The processes that descend from this one.

use std::collections::HashSet;
use std::fs;

use pi_subagent_warden::Mechanism;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::sys;

/// How this process reaches those it answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// By descent: as a subreaper it becomes the parent of every orphan among them, so none is ever out of sight.
    Descendants,
    /// As the first process of a pid namespace, in which there is nobody else.
    Namespace,
}

impl Tree {
    /// The tree under what is in force.
    pub(crate) fn under(mechanisms: &[Mechanism]) -> Self {
        if mechanisms.contains(&Mechanism::PidNamespace) { Self::Namespace } else { Self::Descendants }
    }

    /// Asks everybody to leave. A stopped process is continued, or it would never hear.
    pub(crate) fn ask(self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Ends everybody there is now. Who is being born meanwhile is caught next time.
    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
    }

    fn signal(self, signal: Signal) {
        if self == Self::Namespace {
            return sys::signal_everybody(signal.as_raw());
        }
        let tree = descendants();
        let members: HashSet<Pid> = tree.iter().copied().collect();
        // Ancestors first: one that is told first cannot start another when it sees its child end.
        for pid in tree {
            send(pid, signal, &members);
        }
    }
}

/// Signals a process that is still one of the tree. Its number may have been given to a stranger since it was read, so
/// it is held by a descriptor before it is looked at again.
fn send(pid: Pid, signal: Signal, tree: &HashSet<Pid>) {
    let Ok(held) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    let own = rustix::process::getpid();
    let is_ours = Stat::of(pid)
        .is_some_and(|stat| stat.state != b'Z' && (stat.parent == own || tree.contains(&stat.parent)));
    if is_ours {
        let _ = rustix::process::pidfd_send_signal(&held, signal);
    }
}

/// All descendants, ancestors before their own; ended ones that nobody has waited for are among them.
pub(crate) fn descendants() -> Vec<Pid> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    // A process that changes its parent while the lists are read may stand in two of them.
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

/// The children of a process. Each of its threads has a list of its own.
fn children_of(pid: Pid) -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())) else { return found };
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => {
                let words = list.split_ascii_whitespace();
                found.extend(words.filter_map(|word| Pid::from_raw(word.parse().ok()?)));
            }
            // A kernel without these lists; then everybody is asked for a parent.
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

/// What `/proc/<pid>/stat` says of a process.
pub(crate) struct Stat {
    pub state: u8,
    pub parent: Pid,
    /// Processor time of its own and of the children it has waited for, in clock ticks.
    pub cpu_ticks: u64,
    /// Resident memory in pages.
    pub rss_pages: u64,
    pub name: String,
}

impl Stat {
    pub(crate) fn of(pid: Pid) -> Option<Self> {
        Self::parse(&fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
    }

    /// The fields stand after the program's name, which may itself hold anything, parentheses too.
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
    fn a_process_is_read_whatever_its_name() {
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
