//! Groups, signals and file permissions on Unix.

use std::ffi::OsStr;
use std::io;
use std::iter;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
#[cfg(target_os = "linux")]
use pi_subagent_warden::{Stat, processes};
use rustix::fs::Access;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::super::signaller::Signaller;

/// The time that processes left in the child's group have to exit after SIGTERM. They were abandoned, so they need less time than
/// a working child.
const LEFTOVER_GRACE: Duration = Duration::from_millis(500);

pub(crate) fn lead_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Enlarges a pipe, so that a child that writes much can continue while its output is read: fewer context switches. If
/// the system refuses (the pipes of a user share a quota), the pipe stays as it is.
#[cfg(target_os = "linux")]
pub(crate) fn widen(pipe: &impl AsFd, bytes: usize) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, bytes);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn widen(_pipe: &impl AsFd, _bytes: usize) {}

/// A child and the process group that it leads.
///
/// The kernel may reuse a group's id once its leader is reaped and its last member has ended. So an ended leader stays a zombie,
/// which reserves the id, until the last signal was sent. A lock keeps sending and reaping apart, and nothing is sent after
/// reaping.
///
/// `waitid` waits for this one child. It needs no SIGCHLD handler and touches none, so it does not matter who else
/// (libuv) has one.
pub(crate) struct Group {
    leader: Pid,
    state: Mutex<State>,
}

struct State {
    /// `None` once it was reaped, here or by other code.
    child: Option<Child>,
    /// True if the group was asked to exit, or killed.
    signalled: bool,
}

impl Group {
    pub(crate) fn new(child: Child) -> Self {
        let leader = Pid::from_child(&child);
        Self { leader, state: Mutex::new(State { child: Some(child), signalled: false }) }
    }

    /// Blocks until the leader has ended, and leaves it unreaped. Returns `None` if other code has reaped it.
    pub(crate) fn wait(&self) -> Option<ExitStatus> {
        loop {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            match rustix::process::waitid(WaitId::Pid(self.leader), options) {
                Ok(Some(status)) => {
                    let core_flag = if status.dumped() { 0x80 } else { 0 };
                    let raw = match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => (code & 0xff) << 8,
                        (None, Some(signal)) => signal | core_flag,
                        (None, None) => continue,
                    };
                    return Some(ExitStatus::from_raw(raw));
                }
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => {
                    // The id is no longer reserved, so nothing may be sent to it.
                    self.state.lock().child = None;
                    return None;
                }
            }
        }
    }

    /// Call this after the leader has ended. Ends the processes it left in the group, politely first, then reaps it.
    /// Blocks for at most about twice [`LEFTOVER_GRACE`].
    pub(crate) fn clear(&self) {
        if self.has_others() {
            if !self.state.lock().signalled {
                self.ask();
            }
            if !self.wait_alone() {
                self.kill();
                self.wait_alone();
            }
        }
        self.kill();
        if let Some(mut child) = self.state.lock().child.take() {
            // It has ended already, so this returns at once.
            drop(child.wait());
        }
    }

    fn wait_alone(&self) -> bool {
        let deadline = Instant::now() + LEFTOVER_GRACE;
        let mut pause = Duration::from_millis(1);
        while self.has_others() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        true
    }

    fn send(&self, signals: &[Signal]) {
        let mut state = self.state.lock();
        state.signalled = true;
        if state.child.is_none() {
            return;
        }
        for signal in signals {
            // An error usually means that the group is already gone.
            let _ = rustix::process::kill_process_group(self.leader, *signal);
            if rustix::process::getpgid(Some(self.leader)) != Ok(self.leader) {
                // The leader has moved into another group.
                let _ = rustix::process::kill_process(self.leader, *signal);
            }
        }
    }

    /// Returns true if the group has a living member besides the leader.
    #[cfg(target_os = "linux")]
    fn has_others(&self) -> bool {
        if self.state.lock().child.is_none() {
            return false;
        }
        // Probing the group with a signal would count the leader, which is a zombie by now, so the members are looked
        // up.
        let leader = self.leader.as_raw_pid();
        let is_member = |pid| Stat::of(pid).is_some_and(|stat| stat.alive && stat.group == leader);
        processes().any(|pid| pid != leader && is_member(pid))
    }

    /// Returns true if the group has a living member besides the leader. The kernel does not count zombies here.
    #[cfg(not(target_os = "linux"))]
    fn has_others(&self) -> bool {
        self.state.lock().child.is_some() && rustix::process::test_kill_process_group(self.leader).is_ok()
    }
}

impl Signaller for Group {
    fn id(&self) -> u32 {
        self.leader.as_raw_pid().unsigned_abs()
    }

    /// SIGCONT follows, because a stopped process would not act on SIGTERM.
    fn ask(&self) {
        self.send(&[Signal::TERM, Signal::CONT]);
    }

    fn kill(&self) {
        self.send(&[Signal::KILL]);
    }
}

pub(crate) fn exit_signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

pub(crate) fn signal_name(signal: i32) -> Option<&'static str> {
    // The numbers differ between systems, the names do not.
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::SYS, "SIGSYS"),
    ];
    names.into_iter().find_map(|(known, name)| (known.as_raw() == signal).then_some(name))
}

pub(crate) fn is_path_variable(name: &OsStr) -> bool {
    name == "PATH"
}

/// The file names to try for a program called `name`.
pub(crate) fn file_names(name: &OsStr) -> impl Iterator<Item = &OsStr> {
    iter::once(name)
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

pub(crate) fn may_enter(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::access(directory, Access::EXEC_OK)?)
}

pub(crate) fn is_too_many_files(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

pub(crate) fn is_exec_format(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NOEXEC)
}
