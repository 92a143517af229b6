//! The warden as its own host, for a tree that a shell script starts. The processes of such a script cannot open a
//! socket.

use std::ffi::OsString;
use std::io::{self, IoSlice, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};

use pi_subagent_warden::{Ending, MAX_MESSAGE, Order, Report};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, sendmsg, socketpair,
};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::sys;

/// The first argument that asks for it; the options of a warden follow.
pub(crate) const HOLD: &str = "--hold";

/// The signals that end the tree like the death of a host: it is asked to exit, and killed after the grace period.
const END_SIGNALS: [i32; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// Starts a warden with these arguments, and the child with this process's standard input. Returns the child's exit status once
/// its tree has ended. If this process dies first, the warden ends the tree.
pub(crate) fn hold(args: &[OsString]) -> io::Result<Ending> {
    sys::block_signals();
    let signals = sys::signal_events(&END_SIGNALS)?;
    // The script that waits for this process may be killed without a word.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    let (socket, warden_socket) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let mut warden = Command::new("/proc/self/exe").args(args).stdin(Stdio::from(warden_socket)).spawn()?;
    if send_start(&socket).is_ok() {
        // The child's input is the child's alone.
        let empty = std::fs::File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(&empty)?;
        watch(&socket, &signals);
    }
    drop(socket);
    Ok(ending(warden.wait()?))
}

fn send_start(socket: &OwnedFd) -> io::Result<()> {
    let descriptors = [rustix::stdio::stdin()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    let start = [IoSlice::new(Order::Start.as_str().as_bytes())];
    sendmsg(socket, &start, &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Returns once the tree has ended, or has to end.
fn watch(socket: &OwnedFd, signals: &OwnedFd) {
    let mut bytes = [0; MAX_MESSAGE];
    loop {
        let mut watched =
            [signals, socket].map(|descriptor| PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN));
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        if !watched[0].revents().is_empty() {
            return;
        }
        match recv(socket, &mut bytes, RecvFlags::empty()) {
            Ok((0, _)) => return,
            Ok((count, _)) => match Report::parse(&bytes[..count]) {
                Some(Report::Failed { stage, errno, path }) => {
                    let error = io::Error::from_raw_os_error(errno);
                    let path = path.map_or_else(String::new, |path| format!("`{}`: ", path.display()));
                    let _ = writeln!(io::stderr(), "pi-subagent-warden: {}: {path}{error}", stage.as_str());
                    return;
                }
                Some(Report::TreeEnded(_)) => return,
                _ => {}
            },
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// The warden ends as its child did.
fn ending(status: ExitStatus) -> Ending {
    let number = status.signal().unwrap_or(libc::SIGKILL);
    status.code().map_or(Ending::Signal { number, core: false }, Ending::Code)
}
