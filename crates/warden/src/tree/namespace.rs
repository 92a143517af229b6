//! Puts the tree into a pid namespace, and an IPC namespace with its own System V objects.

use std::io;
use std::os::fd::OwnedFd;

use pi_subagent_warden::{Ending, Mechanism, Stage, probe_result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal};
use rustix::thread::UnshareFlags;

use crate::start::{At as _, Failure};
use crate::sys::trial::in_a_fork;
use crate::sys::{self, Forked};
use crate::unavailable::Unavailable;

/// Continues as the first process of a new pid namespace. However that process ends, the kernel then kills every
/// process in the namespace. The process that the host started stays outside and waits; when it ends, the namespace
/// dies with it.
pub(crate) fn enter() -> Result<Vec<Mechanism>, Failure> {
    unshare().at(Stage::Namespace)?;
    // The pipe stays open as long as the process outside lives. Inside the namespace that process has no id that
    // could be checked.
    let (lifeline_reader, lifeline_writer) = pipe_with(PipeFlags::CLOEXEC).at(Stage::Namespace)?;
    match sys::fork().at(Stage::Namespace)? {
        Forked::Parent(pid) => wait_and_exit_like(pid, &lifeline_writer),
        Forked::Child => {
            drop(lifeline_writer);
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Stage::Namespace)?;
            if has_hung_up(&lifeline_reader) {
                return Err(io::ErrorKind::NotFound).at(Stage::Namespace);
            }
            show_own_processes().at(Stage::Namespace)?;
            Ok(vec![Mechanism::PidNamespace])
        }
    }
}

fn has_hung_up(pipe: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(pipe, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut watched, Some(&now)).is_ok() && watched[0].revents().contains(PollFlags::HUP)
}

/// Waits for the process inside, and ends as it ended. Closes everything but the pipe that shows it is alive: other
/// open descriptors would keep the child's output and the host's socket from ending.
fn wait_and_exit_like(pid: Pid, lifeline_writer: &OwnedFd) -> ! {
    let _ = rustix::stdio::dup2_stdin(lifeline_writer);
    sys::close_from(1);
    loop {
        match sys::wait() {
            Ok(process) if process.pid == pid => sys::exit_like(process.ending),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => sys::exit_like(Ending::Code(1)),
            _ => {}
        }
    }
}

/// Root needs no user namespace. Any other user gets one that maps only that user and its group, unchanged.
fn unshare() -> io::Result<()> {
    let wanted = UnshareFlags::NEWPID | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if rustix::process::getuid().is_root() && sys::unshare(wanted).is_ok() {
        return Ok(());
    }
    sys::unshare_with_user(wanted)
}

/// Mounts a `/proc` that shows the ids of this namespace. The old one shows the ids of the outer namespace.
fn show_own_processes() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Probes in a fork whether a child could get a pid namespace.
pub(crate) fn pid_namespace() -> io::Result<Result<(), Unavailable>> {
    let result = in_a_fork(|| unshare().and_then(|()| in_a_fork(show_own_processes)));
    probe_result(result, Unavailable::PidNamespace)
}
