//! Tries something that cannot be undone, in a fork of this process that ends right after.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, pidfd_open, waitpid};

use super::process::{Forked, fork};

/// The time limit of an attempt. It needs well below a millisecond; the rest is for a machine under load.
const TIME_LIMIT: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// The exit code of an attempt that failed without an error number, or with a number that no exit code can carry.
const UNKNOWN_ERROR: i32 = 255;

/// Runs `attempt` in a fork of this process and returns its result. The process must have a single thread.
pub(crate) fn in_a_fork(attempt: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    in_a_fork_by(fork, attempt)
}

/// The same with another way to fork.
pub(crate) fn in_a_fork_by(
    fork: impl FnOnce() -> io::Result<Forked>,
    attempt: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    if let Forked::Parent(pid) = fork()? {
        return wait_for_result(pid);
    }
    let code = match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            error.raw_os_error().filter(|code| (1..UNKNOWN_ERROR).contains(code)).unwrap_or(UNKNOWN_ERROR)
        }
        Err(_) => UNKNOWN_ERROR,
    };
    // SAFETY: ends the fork without the exit handlers and buffers that belong to the original.
    unsafe { libc::_exit(code) }
}

fn wait_for_result(pid: Pid) -> io::Result<()> {
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let mut ends = [PollFd::new(&handle, PollFlags::IN)];
    if retry_on_intr(|| poll(&mut ends, Some(&TIME_LIMIT)))? == 0 {
        kill_process(pid, Signal::KILL)?;
    }
    let status = retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()))?;
    match status.and_then(|(_, status): (Pid, WaitStatus)| status.exit_status()) {
        Some(0) => Ok(()),
        Some(UNKNOWN_ERROR) => Err(io::Error::other("it failed without a reason")),
        Some(code) => Err(io::Error::from_raw_os_error(code)),
        None => Err(Errno::TIMEDOUT.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_the_fork_is_returned() {
        assert!(in_a_fork(|| Ok(())).is_ok());
        let refused = in_a_fork(|| Err(io::Error::from_raw_os_error(libc::EPERM)));
        assert_eq!(refused.map_err(|error| error.raw_os_error()), Err(Some(libc::EPERM)));
        assert!(in_a_fork(|| Err(io::Error::other("anything"))).is_err());
    }
}
