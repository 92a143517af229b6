//! The socket to the host. Its end means that the host has died.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use pi_subagent_warden::{MAX_MESSAGE, Order, Report};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};

/// The warden's end of the socket.
pub(crate) struct Channel(OwnedFd);

/// The result of a read from the socket.
pub(crate) enum HostMessage {
    /// An order, with the descriptor that it carried.
    Order(Order, Option<OwnedFd>),
    /// A message that this version does not know.
    Noise,
    /// No message for now.
    Nothing,
    /// The host has died.
    HostDied,
}

/// The way in which a warden and its host have parted.
pub(crate) struct ChannelEnd {
    /// The host has died, or cannot remove the child's remaining files.
    pub must_clean_up: bool,
    /// The host ordered to keep the child's files.
    pub keeps_files: bool,
    /// The host has died.
    pub host_has_died: bool,
}

impl Channel {
    /// Takes the socket from standard input, and replaces that with `/dev/null`.
    pub(crate) fn from_stdin() -> io::Result<Self> {
        let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let empty = std::fs::File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(&empty)?;
        Ok(Self(socket))
    }

    /// Waits for the first order and the child's standard input that it carries. `None` when the host died first or
    /// sent anything else.
    pub(crate) fn wait_for_start(&self) -> Option<OwnedFd> {
        match self.receive(RecvFlags::CMSG_CLOEXEC) {
            HostMessage::Order(Order::Start, Some(stdin)) => Some(stdin),
            _ => None,
        }
    }

    /// Sends the last report, and waits until the host has removed the child's remaining files, or has died. A child ends when
    /// its input ends, so its end may be the first sign of the host's.
    pub(crate) fn finish(&self, last: &Report) -> ChannelEnd {
        // Waits for room in the socket, because a host that was stopped for long and misses this would wait for ever.
        self.send(last, SendFlags::NOSIGNAL);
        let mut keeps_files = false;
        loop {
            match self.receive(RecvFlags::CMSG_CLOEXEC) {
                HostMessage::Order(Order::Leave, _) => {
                    return ChannelEnd { must_clean_up: false, keeps_files, host_has_died: false };
                }
                HostMessage::Order(Order::Clean, _) => {
                    return ChannelEnd { must_clean_up: true, keeps_files, host_has_died: false };
                }
                HostMessage::HostDied => {
                    return ChannelEnd { must_clean_up: true, keeps_files, host_has_died: true };
                }
                HostMessage::Order(Order::Keep, _) => keeps_files = true,
                HostMessage::Order(..) | HostMessage::Noise | HostMessage::Nothing => {}
            }
        }
    }

    /// Reads the next message without waiting for one.
    pub(crate) fn next_message(&self) -> HostMessage {
        self.receive(RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT)
    }

    fn receive(&self, flags: RecvFlags) -> HostMessage {
        let mut bytes = [0; MAX_MESSAGE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        loop {
            let mut control = RecvAncillaryBuffer::new(&mut space);
            match recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
                Ok(message) => {
                    let mut descriptors = control.drain().filter_map(|message| match message {
                        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                        _ => None,
                    });
                    let descriptor = descriptors.next();
                    return match (message.bytes, Order::parse(&bytes[..message.bytes])) {
                        _ if message.flags.contains(ReturnFlags::TRUNC) => HostMessage::Noise,
                        (0, _) => HostMessage::HostDied,
                        (_, Some(order)) => HostMessage::Order(order, descriptor),
                        (_, None) => HostMessage::Noise,
                    };
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return HostMessage::Nothing,
                Err(_) => return HostMessage::HostDied,
            }
        }
    }

    /// Sends a report. Errors are ignored: the warden works on without a host that reads.
    pub(crate) fn report(&self, report: &Report) {
        self.send(report, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    fn send(&self, report: &Report, flags: SendFlags) {
        let text = report.to_string();
        let bytes = &text.as_bytes()[..text.len().min(MAX_MESSAGE)];
        let _ = send(&self.0, bytes, flags);
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
