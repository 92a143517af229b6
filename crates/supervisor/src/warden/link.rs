//! One warden and the child behind it, on Linux.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IoSlice};
use std::iter;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pi_subagent_warden::{Ending, MAX_MESSAGE, Options, Order, Report, Stage, sandbox_problem, shortage};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    recv, send, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::watch;
use uuid::Uuid;

use super::super::command::Located;
use super::super::error::{SpawnError, SpawnStage};
use super::super::guardian::Guardian;
use super::super::signaller::{Known, Remaining, Signaller};
use super::super::streams::Pipes;
use super::sweep::{TREE_VARIABLE, sweep};
use crate::command;
use sanitizer::quoted_path;

/// The time that a warden has to start a child. It needs milliseconds. A stopped warden would need forever.
const START_LIMIT: Duration = Duration::from_secs(10);

/// The time that a warden has to end its tree, counted from the end of the child or from the order to kill. It gives up by itself
/// after two seconds.
const END_LIMIT: Duration = Duration::from_secs(3);

/// The connection to one warden.
pub(super) struct Link {
    socket: OwnedFd,
    warden: Mutex<Option<Child>>,
    warden_pid: u32,
    marker: String,
    cgroup: Option<PathBuf>,
    /// The time at which the child ended, the kill was ordered, or the warden was released; starts [`END_LIMIT`].
    ending: Mutex<Option<Instant>>,
    exit_conditions: Mutex<ExitConditions>,
    known: watch::Sender<Known>,
    /// The span of the child's start. The thread that reads its reports serves all wardens.
    span: tracing::Span,
}

/// The conditions under which the warden may exit: both must be met.
#[derive(Debug, Default)]
struct ExitConditions {
    /// The warden has reported that its tree has ended.
    tree_has_ended: bool,
    /// The last order, once the cleanup is done or impossible.
    released: Option<Order>,
}

/// The result of a read from the socket.
enum WardenMessage {
    Report(Report),
    /// No message for now.
    Silence,
    /// The warden has closed the socket.
    End,
}

impl Link {
    /// Starts the warden and, through it, the child. Blocks until the child has executed its program.
    ///
    /// The standard library uses `posix_spawn`, because no hook is installed: the warden does everything that a fork
    /// would be needed for. The child's standard input travels over the socket. No descriptor of this process ever
    /// loses its close-on-exec flag; otherwise another child started at the same moment would inherit it.
    pub(super) fn start(
        Located { command, program, cwd, env }: &Located<'_>,
        guardian: &Guardian,
        known: watch::Sender<Known>,
    ) -> Result<(Self, Pipes), SpawnError> {
        let failed = |source| SpawnError::from_warden(&guardian.program, source);
        let raw = |error: Errno| failed(error.into());
        let (socket, warden_socket) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(raw)?;
        let (reads, writes) = pipe_with(PipeFlags::CLOEXEC).map_err(raw)?;
        let marker = Uuid::new_v4().simple().to_string();
        let command_line =
            iter::once(program.as_os_str()).chain(command.args.iter().map(OsString::as_os_str));
        let options = Options { command: command_line.map(Into::into).collect(), ..guardian.options.clone() };
        let mut warden = Command::new(&guardian.program)
            .args(options.to_args())
            .current_dir(cwd)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
            .env(TREE_VARIABLE, &marker)
            .stdin(Stdio::from(warden_socket))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| match source.kind() {
                // The system reports a missing directory and a missing program with the same error.
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                    command::check_cwd(cwd).err().unwrap_or_else(|| failed(source))
                }
                // Out of some resource, which would have stopped the program as well.
                _ => SpawnError::from_exec(program, source),
            })?;
        let pipes = Pipes::new(writes.into(), &mut warden);
        let mut link = Self {
            socket,
            warden_pid: warden.id(),
            warden: Mutex::new(Some(warden)),
            marker,
            cgroup: None,
            ending: Mutex::default(),
            exit_conditions: Mutex::default(),
            known,
            span: tracing::Span::current(),
        };
        let ordered = link.order_start(&reads);
        drop(reads);
        let answer = ordered.map(|()| link.first_answer());
        if let Ok(Some(Report::Started(mechanisms))) = &answer {
            tracing::trace!(target: "warden", pid = link.warden_pid, ?mechanisms, "the warden has started a program");
        } else {
            tracing::warn!(target: "warden", pid = link.warden_pid, ?answer, "the warden has started nothing");
        }
        let refused = match answer {
            Ok(Some(Report::Started(mechanisms))) => {
                link.known.send_modify(|known| known.mechanisms = mechanisms);
                return Ok((link, pipes));
            }
            Ok(Some(Report::Failed { stage, errno, path })) => {
                let source = io::Error::from_raw_os_error(errno);
                let source = match path {
                    // The position of the error does not help, and its message says everything.
                    Some(_) if shortage(&source).is_some_and(|short| !short.is_at_path) => source,
                    Some(path) => {
                        let path = quoted_path(&path.to_string_lossy());
                        let why = sandbox_problem(errno).map_or_else(|| source.to_string(), str::to_owned);
                        io::Error::new(source.kind(), format!("{path}: {why}"))
                    }
                    None => source,
                };
                match stage {
                    Stage::Exec => command::diagnose(program, cwd, source),
                    Stage::Sandbox => {
                        SpawnError::new(SpawnStage::Sandbox, "cannot be set up", program, source)
                    }
                    Stage::Warden | Stage::Namespace => failed(source),
                }
            }
            Ok(_) => failed(io::Error::other("it reported no start")),
            Err(error) => raw(error),
        };
        link.clean_up_failed_start();
        Err(refused)
    }

    /// Waits for the warden's report on the start; `None` if none arrives in time.
    fn first_answer(&mut self) -> Option<Report> {
        loop {
            match self.next_message(RecvFlags::empty()) {
                WardenMessage::Report(Report::Grouped(path)) => self.cgroup = Some(path),
                WardenMessage::Report(report) => return Some(report),
                WardenMessage::Silence | WardenMessage::End => return None,
            }
        }
    }

    /// Notes the warden's reports since the last call. Returns true if more can come, and `false` once the warden has closed the
    /// socket, which means that it has ended.
    pub(super) fn read(&self) -> bool {
        loop {
            let report = match self.next_message(RecvFlags::DONTWAIT) {
                WardenMessage::Report(report) => report,
                WardenMessage::Silence => return true,
                WardenMessage::End => return false,
            };
            self.log(&report);
            match report {
                Report::Ended(_) => self.start_end_limit(),
                Report::TreeEnded(_) => {
                    self.meet_exit_condition(|exit_conditions| exit_conditions.tree_has_ended = true);
                }
                _ => {}
            }
            self.known.send_modify(|known| match report {
                Report::Ended(ending) => known.end(Some(status(ending))),
                Report::OverLimit(excess) => known.over_limit = Some(excess),
                Report::Using(tally) => known.so_far = Some(tally),
                Report::TreeEnded(tally) => (known.tally, known.remaining) = (Some(tally), Remaining::Warden),
                Report::Grouped(_) | Report::Started(_) | Report::Failed { .. } => {}
            });
        }
    }

    fn log(&self, report: &Report) {
        let pid = self.warden_pid;
        let _entered = self.span.enter();
        match report {
            Report::OverLimit(_) => tracing::warn!(target: "warden", pid, ?report, "the warden reports"),
            Report::TreeEnded(tally) if tally.remaining > 0 => {
                tracing::warn!(target: "warden", pid, ?report, "the warden reports");
            }
            // A run has many short programs, such as git.
            _ => tracing::trace!(target: "warden", pid, ?report, "the warden reports"),
        }
    }

    /// Returns true if the warden has reported that its tree has ended.
    pub(super) fn tree_has_ended(&self) -> bool {
        self.known.borrow().tally.is_some()
    }

    /// Returns true if the warden is about to exit.
    pub(super) fn is_leaving(&self) -> bool {
        let exit_conditions = self.exit_conditions.lock();
        exit_conditions.tree_has_ended && exit_conditions.released.is_some()
    }

    /// Notes a fulfilled condition, and sends the last order once none is missing. Until then the warden may wait without a
    /// limit: it guards resources that this process still needs.
    fn meet_exit_condition(&self, step: impl FnOnce(&mut ExitConditions)) {
        let mut exit_conditions = self.exit_conditions.lock();
        step(&mut exit_conditions);
        if let (true, Some(order)) = (exit_conditions.tree_has_ended, exit_conditions.released) {
            self.order(order);
            *self.ending.lock() = Some(Instant::now());
        }
    }

    /// Does the remaining work once the warden has ended. Blocks for up to two seconds if it was killed.
    pub(super) fn end(&self) {
        if !self.tree_has_ended() {
            let pid = self.warden_pid;
            let _entered = self.span.enter();
            tracing::warn!(target: "warden", pid, "the warden has ended before its tree");
            self.sweep();
            self.known.send_modify(|known| (known.orphaned, known.ended) = (true, true));
        }
        self.reap();
        self.known.send_modify(|known| known.remaining = Remaining::None);
    }

    /// Becomes readable when there is something to [read](Link::read).
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Starts the clock of [`END_LIMIT`], unless it runs already.
    fn start_end_limit(&self) {
        self.ending.lock().get_or_insert_with(Instant::now);
    }

    /// Returns true if the warden takes longer to end its tree or to exit than it can need, because a signal has
    /// stopped it.
    pub(super) fn is_overdue(&self) -> bool {
        let exit_conditions = self.exit_conditions.lock();
        let waits_for_host = exit_conditions.tree_has_ended && exit_conditions.released.is_none();
        !waits_for_host && self.ending.lock().is_some_and(|since| since.elapsed() > END_LIMIT)
    }

    /// Cleans up after a start that failed.
    pub(super) fn clean_up_failed_start(&self) {
        self.abandon();
        self.sweep();
        self.reap();
    }

    /// Kills the processes that a dead warden has left behind. As long as the warden is not reaped, no other process gets its
    /// process id, which is also the id of the session that it made for its tree.
    fn sweep(&self) {
        sweep(&self.marker, self.warden_pid.cast_signed(), self.cgroup.as_deref());
    }

    /// Kills a warden that does not follow orders. The end of its socket then triggers the sweep of its tree.
    pub(super) fn abandon(&self) {
        if let Some(warden) = &mut *self.warden.lock() {
            // An error usually means that it has already ended.
            drop(warden.kill());
        }
    }

    /// Sends an order. Errors are ignored: a warden that no longer listens has ended, which the end of the socket
    /// reports.
    fn order(&self, order: Order) {
        let _ = send(&self.socket, order.as_str().as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    /// Orders the start of a child with this standard input, and limits how long its answer is waited for.
    fn order_start(&self, stdin: &OwnedFd) -> Result<(), Errno> {
        set_socket_timeout(&self.socket, Timeout::Recv, Some(START_LIMIT))?;
        match self.order_with(Order::Start, stdin.as_fd(), SendFlags::NOSIGNAL) {
            // The warden has already ended; the next read says why.
            Err(Errno::PIPE) => Ok(()),
            ordered => ordered,
        }
    }

    /// Sends an order that carries a descriptor.
    fn order_with(&self, order: Order, descriptor: BorrowedFd<'_>, flags: SendFlags) -> Result<(), Errno> {
        let descriptors = [descriptor];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let text = [IoSlice::new(order.as_str().as_bytes())];
        sendmsg(&self.socket, &text, &mut control, flags).map(drop)
    }

    /// Reads the next report. Waits for it, for at most [`START_LIMIT`], unless `flags` say otherwise.
    fn next_message(&self, flags: RecvFlags) -> WardenMessage {
        let mut bytes = [0; MAX_MESSAGE];
        loop {
            match recv(&self.socket, &mut bytes, flags) {
                Ok((0, _)) => return WardenMessage::End,
                Ok((count, _)) => {
                    // A report that this version does not know is skipped; the end of the socket will be understood.
                    if let Some(report) = Report::parse(&bytes[..count]) {
                        return WardenMessage::Report(report);
                    }
                }
                // CONNRESET comes once, when the warden ended with an order unread; its last reports still follow.
                Err(Errno::INTR | Errno::CONNRESET) => {}
                Err(Errno::AGAIN) => return WardenMessage::Silence,
                Err(_) => return WardenMessage::End,
            }
        }
    }

    /// Returns true if the warden has ended, perhaps just now. Also true for a reaped one.
    pub(super) fn has_exited(&self) -> bool {
        self.warden.lock().as_mut().is_none_or(|warden| !matches!(warden.try_wait(), Ok(None)))
    }

    fn reap(&self) {
        let warden = self.warden.lock().take();
        if let Some(mut warden) = warden {
            drop(warden.wait());
        }
    }
}

impl Signaller for Link {
    fn id(&self) -> u32 {
        self.warden_pid
    }

    fn ask(&self) {
        self.order(Order::Ask);
    }

    fn kill(&self) {
        self.start_end_limit();
        self.order(Order::Kill);
    }

    fn keep(&self) {
        self.order(Order::Keep);
    }

    fn hold(&self, file: &File) {
        // A warden that no longer listens has ended, and its tree with it.
        let _ = self.order_with(Order::Hold, file.as_fd(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    fn release(&self, cleaned: bool) {
        self.meet_exit_condition(|exit_conditions| {
            exit_conditions.released = Some(if cleaned { Order::Leave } else { Order::Clean });
        });
    }
}

fn status(ending: Ending) -> ExitStatus {
    ExitStatus::from_raw(match ending {
        Ending::Code(code) => (code & 0xff) << 8,
        Ending::Signal { number, core } => number | if core { 0x80 } else { 0 },
    })
}
