//! Starts the child.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use pi_subagent_warden::{Mechanism, Report, Stage};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal};

use crate::sandbox::{AtPath, Prepared};
use crate::sys::{self, Forked};
use crate::tree::Cgroup;

/// A start that did not succeed.
pub(crate) struct Failure {
    pub stage: Stage,
    /// The system's error number; `EINVAL` for an error that has none.
    pub errno: i32,
    /// The path of the failure, if it has one.
    pub path: Option<PathBuf>,
}

impl From<Failure> for Report {
    fn from(Failure { stage, errno, path }: Failure) -> Self {
        Self::Failed { stage, errno, path }
    }
}

/// Says at which stage something failed.
pub(crate) trait At<T> {
    fn at(self, stage: Stage) -> Result<T, Failure>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, stage: Stage) -> Result<T, Failure> {
        self.map_err(|error| {
            let error = error.into();
            let about = error.get_ref().and_then(|inner| inner.downcast_ref::<AtPath>());
            let number = about.map_or(&error, |about| &about.source).raw_os_error();
            let path = about.map(|about| about.path.clone());
            Failure { stage, errno: number.unwrap_or(libc::EINVAL), path }
        })
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
    let (report_reader, report_writer) = pipe_with(PipeFlags::CLOEXEC).at(Stage::Warden)?;
    let (forked, grouped) = match cgroup.map(Cgroup::fork) {
        Some(Ok(forked)) => (forked, Some(Mechanism::Cgroup)),
        // A group that cannot be entered is no reason to fail.
        Some(Err(_)) | None => (sys::fork().at(Stage::Warden)?, None),
    };
    match forked {
        Forked::Parent(pid) => {
            drop((report_writer, stdin));
            let mut reports = Vec::new();
            let read = File::from(report_reader).read_to_end(&mut reports).at(Stage::Warden);
            match read.and_then(|_| parse_reports(&reports)) {
                Ok(mut mechanisms) => {
                    mechanisms.extend(grouped);
                    Ok((pid, mechanisms))
                }
                Err(failure) => {
                    // The process must not remain, regardless of its state.
                    let _ = rustix::process::kill_process(pid, Signal::KILL);
                    while sys::wait().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
                    Err(failure)
                }
            }
        }
        Forked::Child => {
            let mut report_writer = File::from(report_writer);
            let Err(failure) = become_program(command, &stdin, sandbox, &mut report_writer);
            // If even this cannot be written, the warden sees a child that exited with this code.
            let _ = write!(report_writer, "{}", Report::from(failure));
            std::process::exit(127);
        }
    }
}

/// Runs in the new process, up to the execution of the program.
fn become_program(
    command: &[OsString],
    stdin: &OwnedFd,
    sandbox: Option<Prepared>,
    report_writer: &mut File,
) -> Result<Infallible, Failure> {
    let warden = rustix::process::getppid();
    rustix::process::setpgid(None, None).at(Stage::Warden)?;
    rustix::stdio::dup2_stdin(stdin).at(Stage::Warden)?;
    let file_bytes = sandbox.as_ref().and_then(Prepared::file_bytes);
    if let Some(sandbox) = sandbox {
        let entered = Report::Started(sandbox.enter().at(Stage::Sandbox)?);
        report_writer.write_all(format!("{entered}\n").as_bytes()).at(Stage::Warden)?;
    }
    // SIGTERM, because pi ends the shells of its tools when it gets one. After the sandbox, because a change of
    // credentials clears this setting. The next line notices a warden that died before it.
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).at(Stage::Warden)?;
    if rustix::process::getppid() != warden {
        return Err(io::ErrorKind::NotFound).at(Stage::Warden);
    }
    sys::unblock_signals();
    if let Some(bytes) = file_bytes {
        sys::limit_files(bytes).at(Stage::Sandbox)?;
    }
    Err(sys::exec(command, &[])).at(Stage::Exec)
}

/// The mechanisms that the new process has entered, unless the last line says that it failed.
fn parse_reports(reports: &[u8]) -> Result<Vec<Mechanism>, Failure> {
    let last = reports.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    match last.map(Report::parse) {
        None => Ok(Vec::new()),
        Some(Some(Report::Started(mechanisms))) => Ok(mechanisms),
        Some(Some(Report::Failed { stage, errno, path })) => Err(Failure { stage, errno, path }),
        Some(_) => Err(Failure { stage: Stage::Warden, errno: libc::EIO, path: None }),
    }
}
