//! One warden and the child behind it, on Linux.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use pi_subagent_warden::{Ending, MAX_MESSAGE, Mechanism, Order, OverLimit, Report, Stage, Tally};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, send, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use uuid::Uuid;

use super::super::command::ChildCommand;
use super::super::error::SpawnError;
use super::super::guardian::Guardian;
use super::super::program;
use super::super::streams::Pipes;
use super::sweep::{TREE, sweep};

/// How long a warden may take to start a child. It needs milliseconds; a stopped one would need for ever.
const START_LIMIT: Duration = Duration::from_secs(10);

/// How long a warden may take until its tree is gone, from the end of the child or from the order to kill. It gives
/// up by itself after two seconds.
const END_LIMIT: Duration = Duration::from_secs(3);

/// The connection to one warden.
pub(in crate::process) struct Link {
    socket: OwnedFd,
    warden: Mutex<Option<Child>>,
    warden_pid: u32,
    marker: String,
    cgroup: Option<PathBuf>,
    /// When the child ended or the kill was ordered; starts [`END_LIMIT`].
    ending: Mutex<Option<Instant>>,
}

/// What a read from the socket found.
enum Heard {
    Report(Report),
    /// No message for now.
    Silence,
    /// The warden has closed the socket.
    End,
}

/// An event in the life of a tree.
pub(in crate::process) enum News {
    /// The child itself has ended.
    Ended(ExitStatus),
    /// The tree exceeded a limit, and the warden is ending it.
    OverLimit(OverLimit),
    /// What the tree has used so far.
    Using(Tally),
    /// The tree is gone, except for the processes that [`Tally::left`] counts.
    Gone(Tally),
    /// The warden was killed, and so was every process of its tree that could be found.
    Orphaned,
    /// The warden is reaped. This is the last event.
    Cleared,
}

/// Whether more messages can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Pending,
    /// The warden has closed the socket: it has ended.
    Ended,
}

impl Link {
    /// Starts the warden and, through it, the child. Blocks until the child has executed its program.
    ///
    /// The standard library uses `posix_spawn`, because no hook is installed: the warden does everything that a fork
    /// would be needed for. The child's standard input travels over the socket. No descriptor of this process ever
    /// loses its close-on-exec flag; otherwise another child started at the same moment would inherit it.
    pub(super) fn start(
        command: &ChildCommand,
        guardian: &Guardian,
        program: &Path,
        cwd: &Path,
    ) -> Result<(Self, Pipes, Vec<Mechanism>), SpawnError> {
        let failed = |source| SpawnError::Warden { path: guardian.program.clone(), source };
        let raw = |error: Errno| failed(error.into());
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(raw)?;
        let (reads, writes) = pipe_with(PipeFlags::CLOEXEC).map_err(raw)?;
        let marker = Uuid::new_v4().simple().to_string();
        let mut warden = Command::new(&guardian.program)
            .args(guardian.arguments(program, &command.args))
            .current_dir(cwd)
            .env_clear()
            .envs(command.env.iter().map(|(name, value)| (name, value)))
            .env(TREE, &marker)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| match source.kind() {
                // The system reports a missing directory and a missing program with the same error.
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                    program::check_cwd(cwd).err().unwrap_or_else(|| failed(source))
                }
                // Out of some resource, which would have stopped the program as well.
                _ => SpawnError::from_exec(program.into(), source),
            })?;
        let pipes = Pipes::new(writes.into(), &mut warden);
        let warden_pid = warden.id();
        let mut link = Self {
            cgroup: None,
            socket,
            warden: Mutex::new(Some(warden)),
            warden_pid,
            marker,
            ending: Mutex::default(),
        };
        let limited = set_socket_timeout(&link.socket, Timeout::Recv, Some(START_LIMIT));
        let first = limited.and_then(|()| link.send_start(&reads));
        drop(reads);
        let mut first = first.map(|()| link.hear(RecvFlags::empty()));
        if let Ok(Heard::Report(Report::Grouped(path))) = first {
            link.cgroup = Some(path);
            first = Ok(link.hear(RecvFlags::empty()));
        }
        match first {
            Ok(Heard::Report(Report::Started(mechanisms))) => Ok((link, pipes, mechanisms)),
            Ok(Heard::Report(Report::Failed { stage, errno })) => {
                link.give_up();
                let source = io::Error::from_raw_os_error(errno);
                Err(match stage {
                    Stage::Exec => program::diagnose(program, cwd, source),
                    Stage::Sandbox => SpawnError::Sandbox { path: program.into(), source },
                    Stage::Warden | Stage::Namespace => failed(source),
                })
            }
            Err(error) => {
                link.give_up();
                Err(raw(error))
            }
            Ok(_) => {
                link.give_up();
                Err(failed(io::Error::other("it did not say that it has started anything")))
            }
        }
    }

    /// The process id of the warden.
    pub(in crate::process) fn id(&self) -> u32 {
        self.warden_pid
    }

    /// Passes on what the warden has reported since the last call.
    pub(super) fn read(&self, tell: &mut dyn FnMut(News)) -> Reading {
        loop {
            match self.hear(RecvFlags::DONTWAIT) {
                Heard::Report(Report::Ended(ending)) => {
                    self.expect_the_end();
                    tell(News::Ended(status(ending)));
                }
                Heard::Report(Report::OverLimit(over)) => tell(News::OverLimit(over)),
                Heard::Report(Report::Using(tally)) => tell(News::Using(tally)),
                Heard::Report(Report::Gone(tally)) => {
                    self.order(Order::Leave);
                    tell(News::Gone(tally));
                }
                Heard::Report(Report::Grouped(_) | Report::Started(_) | Report::Failed { .. }) => {}
                Heard::Silence => return Reading::Pending,
                Heard::End => return Reading::Ended,
            }
        }
    }

    /// Becomes readable when there is something to [read](Link::read).
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Starts the clock of [`END_LIMIT`], unless it runs already.
    fn expect_the_end(&self) {
        self.ending().get_or_insert_with(Instant::now);
    }

    /// Whether the warden takes longer to end its tree than it can need, because somebody has stopped it.
    pub(super) fn is_overdue(&self) -> bool {
        self.ending().is_some_and(|since| since.elapsed() > END_LIMIT)
    }

    /// Cleans up after a start that failed.
    pub(super) fn give_up(&self) {
        self.abandon();
        self.sweep();
        self.reap();
    }

    /// Kills what a dead warden has left behind. As long as the warden is not reaped, nobody else gets its process
    /// id, which is also the id of the session that it made for its tree.
    pub(super) fn sweep(&self) {
        sweep(&self.marker, self.warden_pid, self.cgroup.as_deref());
    }

    /// Tells the warden that the child gets its work now, so that it does not remove `Guardian::unless_kept`.
    pub(in crate::process) fn keep(&self) {
        self.order(Order::Keep);
    }

    /// Has the warden ask every process of the tree to exit.
    pub(in crate::process) fn ask(&self) {
        self.order(Order::Ask);
    }

    /// Has the warden kill every process of the tree.
    pub(in crate::process) fn kill(&self) {
        self.expect_the_end();
        self.order(Order::Kill);
    }

    /// Kills a warden that does not obey. The end of its socket then triggers the sweep of its tree.
    pub(super) fn abandon(&self) {
        if let Some(warden) = &mut *self.warden() {
            // An error usually means that it has already ended.
            drop(warden.kill());
        }
    }

    /// Sends an order. Errors are ignored: a warden that no longer listens has ended, which the end of the socket
    /// reports.
    fn order(&self, order: Order) {
        let _ = send(&self.socket, order.as_str().as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    fn send_start(&self, stdin: &OwnedFd) -> Result<(), Errno> {
        let descriptors = [stdin.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let text = [IoSlice::new(Order::Start.as_str().as_bytes())];
        match sendmsg(&self.socket, &text, &mut control, SendFlags::NOSIGNAL) {
            // The warden has already ended; the next read says why.
            Err(Errno::PIPE) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads the next report. Waits for it, for at most [`START_LIMIT`], unless `flags` say otherwise.
    fn hear(&self, flags: RecvFlags) -> Heard {
        let mut bytes = [0; MAX_MESSAGE];
        loop {
            match recv(&self.socket, &mut bytes, flags) {
                Ok((0, _)) => return Heard::End,
                Ok((count, _)) => {
                    // A report that this version does not know is skipped; the end of the socket will be understood.
                    if let Some(report) = Report::parse(&bytes[..count]) {
                        return Heard::Report(report);
                    }
                }
                // CONNRESET comes once, when the warden ended with an order unread; its last reports still follow.
                Err(Errno::INTR | Errno::CONNRESET) => {}
                Err(Errno::AGAIN) => return Heard::Silence,
                Err(_) => return Heard::End,
            }
        }
    }

    /// Whether the warden has ended, perhaps just now. A reaped one has.
    pub(super) fn has_exited(&self) -> bool {
        self.warden().as_mut().is_none_or(|warden| !matches!(warden.try_wait(), Ok(None)))
    }

    fn ending(&self) -> MutexGuard<'_, Option<Instant>> {
        self.ending.lock()
    }

    pub(super) fn reap(&self) {
        let warden = self.warden().take();
        if let Some(mut warden) = warden {
            drop(warden.wait());
        }
    }

    fn warden(&self) -> MutexGuard<'_, Option<Child>> {
        self.warden.lock()
    }
}

fn status(ending: Ending) -> ExitStatus {
    ExitStatus::from_raw(match ending {
        Ending::Code(code) => (code & 0xff) << 8,
        Ending::Signal { number, core } => number | if core { 0x80 } else { 0 },
    })
}
