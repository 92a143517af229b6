//! Starts the child.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;

use pi_subagent_warden::{Mechanism, Stage};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal};

use crate::cgroup::Cgroup;
use crate::sandbox::Prepared;
use crate::sys::{self, Forked};

/// A start that did not succeed.
pub(crate) struct Failure {
    pub stage: Stage,
    pub error: io::Error,
}

impl Failure {
    pub(crate) fn at(stage: Stage) -> impl Fn(io::Error) -> Self {
        move |error| Self { stage, error }
    }

    /// The system's error number; `EINVAL` for an error that has none.
    pub(crate) fn errno(&self) -> i32 {
        self.error.raw_os_error().unwrap_or(libc::EINVAL)
    }
}

/// Starts the program as leader of its own process group, in the control group if there is one. Returns its id and
/// the mechanisms that hold it, once the program has been executed.
///
/// The new process reports through a pipe that closes by itself when the program is executed.
pub(crate) fn start(
    command: &[OsString],
    stdin: OwnedFd,
    cgroup: Option<&Cgroup>,
    sandbox: Option<Prepared>,
) -> Result<(Pid, Vec<Mechanism>), Failure> {
    let failed = Failure::at(Stage::Warden);
    let (news, telling) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
    let (forked, grouped) = match cgroup.map(Cgroup::fork) {
        Some(Ok(forked)) => (forked, Some(Mechanism::Cgroup)),
        // A group that cannot be entered is no reason to fail.
        Some(Err(_)) | None => (sys::fork().map_err(&failed)?, None),
    };
    match forked {
        Forked::Parent(pid) => {
            drop((telling, stdin));
            let pid = Pid::from_raw(pid).ok_or_else(|| failed(io::ErrorKind::Other.into()))?;
            let mut words = Vec::new();
            let told = File::from(news).read_to_end(&mut words).map_err(&failed);
            match told.and_then(|_| understand(&words)) {
                Ok(mut mechanisms) => {
                    mechanisms.extend(grouped);
                    Ok((pid, mechanisms))
                }
                Err(failure) => {
                    // Whatever state the process is in, it must not stay.
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                    while sys::wait().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
                    Err(failure)
                }
            }
        }
        Forked::Child => {
            let mut telling = File::from(telling);
            let Err(failure) = become_program(command, &stdin, sandbox, &mut telling);
            // If even this cannot be written, the warden sees a child that exited with this code.
            let _ = telling.write_all(&[FAILED, failure.stage as u8]);
            let _ = telling.write_all(&failure.errno().to_le_bytes());
            std::process::exit(127);
        }
    }
}

/// Runs in the new process, up to the execution of the program.
fn become_program(
    command: &[OsString],
    stdin: &OwnedFd,
    sandbox: Option<Prepared>,
    telling: &mut File,
) -> Result<std::convert::Infallible, Failure> {
    let failed = Failure::at(Stage::Warden);
    let raw = |error: rustix::io::Errno| failed(error.into());
    let warden = rustix::process::getppid();
    rustix::process::setpgid(None, None).map_err(raw)?;
    rustix::stdio::dup2_stdin(stdin).map_err(raw)?;
    if let Some(sandbox) = sandbox {
        let mechanisms = sandbox.enter().map_err(Failure::at(Stage::Sandbox))?;
        let words: Vec<u8> = mechanisms.iter().map(|mechanism| *mechanism as u8).collect();
        telling.write_all(&words).map_err(&failed)?;
    }
    // SIGTERM, because pi ends the shells of its tools when it gets one. After the sandbox, because a change of
    // credentials clears this setting. The next line notices a warden that died before it.
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).map_err(raw)?;
    if rustix::process::getppid() != warden {
        return Err(failed(io::ErrorKind::NotFound.into()));
    }
    sys::unblock_signals();
    Err(Failure::at(Stage::Exec)(sys::exec(command)))
}

/// The byte before a failure; no mechanism has this number.
const FAILED: u8 = 0xff;

fn understand(words: &[u8]) -> Result<Vec<Mechanism>, Failure> {
    let mechanisms = words.iter().map_while(|word| by_number(&MECHANISMS, *word)).collect::<Vec<_>>();
    let Some((&FAILED, [stage, errno @ ..])) = words[mechanisms.len()..].split_first() else {
        return Ok(mechanisms);
    };
    let errno = errno.try_into().map_or(libc::EIO, i32::from_le_bytes);
    let stage = by_number(&STAGES, *stage).unwrap_or(Stage::Warden);
    Err(Failure { stage, error: io::Error::from_raw_os_error(errno) })
}

const MECHANISMS: [Mechanism; 4] =
    [Mechanism::Landlock, Mechanism::MountNamespace, Mechanism::PidNamespace, Mechanism::Cgroup];
const STAGES: [Stage; 4] = [Stage::Warden, Stage::Sandbox, Stage::Namespace, Stage::Exec];

fn by_number<T: Copy>(known: &[T], number: u8) -> Option<T> {
    known.get(usize::from(number)).copied()
}
