//! A pid namespace around the tree.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use pi_subagent_warden::{Ability, Ending, Mechanism, Stage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use rustix::thread::UnshareFlags;

use crate::start::Failure;
use crate::sys::trial::in_a_fork;
use crate::sys::{self, Forked};

/// Goes on as the first process of a pid namespace: when that one ends, however, the kernel ends everybody in it. The
/// process that was started by the host stays outside, waits, and takes its namespace along when it ends.
pub(crate) fn enter() -> Result<Vec<Mechanism>, Failure> {
    let failed = Failure::at(Stage::Namespace);
    let raw = |error: rustix::io::Errno| failed(error.into());
    unshare().map_err(&failed)?;
    // Open for as long as the process outside lives. Inside, that one has no number that could be asked for.
    let (outside, lives) = pipe_with(PipeFlags::CLOEXEC).map_err(raw)?;
    match sys::fork().map_err(&failed)? {
        Forked::Parent(pid) => stand_for(pid, &lives),
        Forked::Child => {
            drop(lives);
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(raw)?;
            if has_hung_up(&outside) {
                return Err(failed(io::ErrorKind::NotFound.into()));
            }
            show_own_processes().map_err(&failed)?;
            Ok(vec![Mechanism::PidNamespace])
        }
    }
}

fn has_hung_up(pipe: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(pipe, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut watched, Some(&now)).is_ok() && watched[0].revents().contains(PollFlags::HUP)
}

/// Leaves as the process inside left. Everything but the sign of life is closed: it would keep the child's output from
/// ending, and the host from being missed.
fn stand_for(pid: i32, lives: &OwnedFd) -> ! {
    let _ = rustix::stdio::dup2_stdin(lives);
    sys::close_from(1);
    loop {
        match sys::wait() {
            Ok(process) if process.pid == pid => sys::die_like(process.ending),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => sys::die_like(Ending::Code(1)),
            _ => {}
        }
    }
}

/// Root needs no user namespace; everybody else gets one in which the own user and group stay what they are.
fn unshare() -> io::Result<()> {
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    let wanted = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    if user.is_root() && sys::unshare(wanted).is_ok() {
        return Ok(());
    }
    sys::unshare(wanted | UnshareFlags::NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))
}

/// Mounts a `/proc` with the numbers of this namespace. In the old one every number is a stranger's.
fn show_own_processes() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Whether a child could get one, tried out in a process of its own.
pub(crate) fn pid_namespace() -> Ability<()> {
    match in_a_fork(|| unshare().and_then(|()| in_a_fork(show_own_processes))) {
        Ok(()) => Ability::Yes(()),
        Err(error) => Ability::No(format!("a pid namespace is refused: {error}")),
    }
}
