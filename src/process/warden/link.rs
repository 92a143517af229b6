//! A child behind its warden, on Linux.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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
use super::super::program;
use super::super::tree::Pipes;
use super::Guardian;
use super::sweep::sweep;

/// The variable by which the processes of a tree are found again when their warden was killed.
pub(super) const TREE: &str = "PI_SUBAGENT_TREE";

/// How long a warden may take to start a child. It needs milliseconds; one that somebody has stopped would need for ever.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The wire to one warden.
pub(in crate::process) struct Link {
    socket: OwnedFd,
    warden: Mutex<Option<Child>>,
    warden_pid: u32,
    marker: String,
    cgroup: Option<PathBuf>,
}

/// What happens to a tree, in the order in which it happens.
pub(in crate::process) enum News {
    /// The child itself has ended.
    Ended(ExitStatus),
    /// A limit was reached; the end follows.
    OverLimit(OverLimit),
    /// Nobody is left.
    Gone(Tally),
    /// The warden was killed. Whoever could be found of its tree was killed too.
    Orphaned,
}

impl Link {
    /// Starts the warden, and through it the child. Blocks until the child has executed its program.
    ///
    /// The standard library takes `posix_spawn`, because nothing is hooked in between: everything that a fork would be
    /// needed for is the warden's work. The child's standard input travels over the socket; no descriptor of this process
    /// ever loses its close-on-exec flag, or another child that is started at the same moment would inherit it.
    pub(in crate::process) fn start(
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
                // Too much or too many of something, which the program would have met as well.
                _ => SpawnError::from_exec(program.into(), source),
            })?;
        let pipes = Pipes::new(writes.into(), &mut warden);
        let warden_pid = warden.id();
        let mut link = Self { cgroup: None, socket, warden: Mutex::new(Some(warden)), warden_pid, marker };
        link.send_start(&reads).map_err(raw)?;
        drop(reads);
        link.listen_for(Some(START_LIMIT)).map_err(raw)?;
        let mut first = link.hear();
        if let Some(Report::Grouped(path)) = first {
            link.cgroup = Some(path);
            first = link.hear();
        }
        match first {
            Some(Report::Started { mechanisms, .. }) => {
                link.listen_for(None).map_err(raw)?;
                Ok((link, pipes, mechanisms))
            }
            Some(Report::Failed { stage, errno }) => {
                link.reap();
                let source = io::Error::from_raw_os_error(errno);
                Err(match stage {
                    Stage::Exec => program::diagnose(program, cwd, source),
                    Stage::Sandbox => SpawnError::Sandbox { path: program.into(), source },
                    Stage::Warden | Stage::Namespace => failed(source),
                })
            }
            _ => {
                link.abandon();
                link.reap();
                Err(failed(io::Error::other("it did not say that it has started anything")))
            }
        }
    }

    /// The process id of the warden.
    pub(in crate::process) fn id(&self) -> u32 {
        self.warden_pid
    }

    /// Follows the tree to its end. Blocks.
    pub(in crate::process) fn follow(&self, mut tell: impl FnMut(News)) {
        loop {
            match self.hear() {
                Some(Report::Ended(ending)) => tell(News::Ended(status(ending))),
                Some(Report::OverLimit(over)) => tell(News::OverLimit(over)),
                Some(Report::Gone(tally)) => {
                    tell(News::Gone(tally));
                    return self.reap();
                }
                Some(Report::Grouped(_) | Report::Started { .. } | Report::Failed { .. }) => {}
                None => {
                    // Unreaped, the warden keeps its number, which is that of the session it made for its tree.
                    sweep(&self.marker, self.warden_pid, self.cgroup.as_deref());
                    tell(News::Orphaned);
                    return self.reap();
                }
            }
        }
    }

    /// Asks everybody in the tree to leave.
    pub(in crate::process) fn ask(&self) {
        self.order(Order::Ask);
    }

    /// Has everybody in the tree ended.
    pub(in crate::process) fn kill(&self) {
        self.order(Order::Kill);
    }

    /// Ends a warden that does not obey; its tree is then ended from here.
    pub(in crate::process) fn abandon(&self) {
        if let Some(warden) = &mut *self.warden() {
            // That it has ended already is what was wanted.
            drop(warden.kill());
        }
    }

    /// A warden that does not listen any more has gone, which [`Link::follow`] notices by itself.
    fn order(&self, order: Order) {
        let _ = send(&self.socket, order.as_str().as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    /// Bounds how long the next reports are waited for.
    fn listen_for(&self, limit: Option<Duration>) -> Result<(), Errno> {
        set_socket_timeout(&self.socket, Timeout::Recv, limit)
    }

    fn send_start(&self, stdin: &OwnedFd) -> Result<(), Errno> {
        let descriptors = [stdin.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let text = [IoSlice::new(Order::Start.as_str().as_bytes())];
        match sendmsg(&self.socket, &text, &mut control, SendFlags::NOSIGNAL) {
            // It has gone already; what is heard of it next says so better.
            Err(Errno::PIPE) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits for a report. `None` once the warden has gone.
    fn hear(&self) -> Option<Report> {
        let mut bytes = [0; MAX_MESSAGE];
        loop {
            match recv(&self.socket, &mut bytes, RecvFlags::empty()) {
                Ok((0, _)) => return None,
                Ok((count, _)) => {
                    // One of another version is passed over; the end will be understood.
                    if let Some(report) = Report::parse(&bytes[..count]) {
                        return Some(report);
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    fn reap(&self) {
        let warden = self.warden().take();
        if let Some(mut warden) = warden {
            drop(warden.wait());
        }
    }

    fn warden(&self) -> std::sync::MutexGuard<'_, Option<Child>> {
        self.warden.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn status(ending: Ending) -> ExitStatus {
    ExitStatus::from_raw(match ending {
        Ending::Code(code) => (code & 0xff) << 8,
        Ending::Signal { number, core } => number | if core { 0x80 } else { 0 },
    })
}
