//! Why a child did not start.

use std::io;
use std::path::{Path, PathBuf};

/// Why a child did not start. Nothing is left running.
///
/// The source of each is the operating system's error.
#[derive(Debug, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "each variant's message says what it is; the fields are the path at fault and the cause"
)]
pub enum SpawnError {
    #[error("working directory `{}` does not exist", path.display())]
    CwdMissing { path: PathBuf, source: io::Error },
    #[error("working directory `{}` is not a directory", path.display())]
    CwdNotDirectory { path: PathBuf, source: io::Error },
    #[error("working directory `{}` may not be entered by this user", path.display())]
    CwdDenied { path: PathBuf, source: io::Error },
    #[error("working directory `{}` cannot be used", path.display())]
    Cwd { path: PathBuf, source: io::Error },

    #[error("program `{}` is in no directory of PATH", path.display())]
    NotInPath { path: PathBuf, source: io::Error },
    #[error("program `{}` does not exist", path.display())]
    ProgramMissing { path: PathBuf, source: io::Error },
    #[error("program `{}` is a directory", path.display())]
    ProgramIsDirectory { path: PathBuf, source: io::Error },
    #[error("program `{}` may not be executed by this user", path.display())]
    NotExecutable { path: PathBuf, source: io::Error },

    #[error("program `{}` needs an interpreter that does not exist", path.display())]
    InterpreterMissing { path: PathBuf, source: io::Error },
    #[error("program `{}` has no format that this system can execute", path.display())]
    ExecFormat { path: PathBuf, source: io::Error },
    #[error("program `{}` is open for writing", path.display())]
    Busy { path: PathBuf, source: io::Error },
    #[error("program `{}` cannot start while so many files are open", path.display())]
    TooManyFiles { path: PathBuf, source: io::Error },
    #[error("program `{}` cannot start while so many processes and threads run", path.display())]
    TooManyProcesses { path: PathBuf, source: io::Error },
    #[error("program `{}` cannot take arguments and an environment of this size", path.display())]
    ArgumentsTooLong { path: PathBuf, source: io::Error },
    #[error("program `{}` cannot take an argument or a variable with a NUL in it", path.display())]
    InvalidArgument { path: PathBuf, source: io::Error },
    #[error("program `{}` cannot be started", path.display())]
    Exec { path: PathBuf, source: io::Error },

    #[error("the read-only sandbox of `{}` cannot be set up", path.display())]
    Sandbox { path: PathBuf, source: io::Error },
    #[error("the warden `{}` cannot guard a child", path.display())]
    Warden { path: PathBuf, source: io::Error },
}

impl SpawnError {
    /// The stage that failed: `cwd`, `executable`, `exec`, `sandbox` or `warden`.
    #[must_use]
    pub fn stage(&self) -> &'static str {
        match self {
            Self::CwdMissing { .. }
            | Self::CwdNotDirectory { .. }
            | Self::CwdDenied { .. }
            | Self::Cwd { .. } => "cwd",
            Self::NotInPath { .. }
            | Self::ProgramMissing { .. }
            | Self::ProgramIsDirectory { .. }
            | Self::NotExecutable { .. } => "executable",
            Self::InterpreterMissing { .. }
            | Self::ExecFormat { .. }
            | Self::Busy { .. }
            | Self::TooManyFiles { .. }
            | Self::TooManyProcesses { .. }
            | Self::ArgumentsTooLong { .. }
            | Self::InvalidArgument { .. }
            | Self::Exec { .. } => "exec",
            Self::Sandbox { .. } => "sandbox",
            Self::Warden { .. } => "warden",
        }
    }

    /// The directory or program at fault; a bare name if the program is in no directory of `PATH`.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.parts().0
    }

    /// The operating system's error.
    #[must_use]
    pub fn os_error(&self) -> &io::Error {
        self.parts().1
    }

    fn parts(&self) -> (&Path, &io::Error) {
        match self {
            Self::CwdMissing { path, source }
            | Self::CwdNotDirectory { path, source }
            | Self::CwdDenied { path, source }
            | Self::Cwd { path, source }
            | Self::NotInPath { path, source }
            | Self::ProgramMissing { path, source }
            | Self::ProgramIsDirectory { path, source }
            | Self::NotExecutable { path, source }
            | Self::InterpreterMissing { path, source }
            | Self::ExecFormat { path, source }
            | Self::Busy { path, source }
            | Self::TooManyFiles { path, source }
            | Self::TooManyProcesses { path, source }
            | Self::ArgumentsTooLong { path, source }
            | Self::InvalidArgument { path, source }
            | Self::Exec { path, source }
            | Self::Sandbox { path, source }
            | Self::Warden { path, source } => (path, source),
        }
    }

    /// Classifies an error of inspecting or entering the working directory.
    pub(super) fn from_cwd(path: PathBuf, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::CwdMissing { path, source },
            io::ErrorKind::NotADirectory => Self::CwdNotDirectory { path, source },
            io::ErrorKind::PermissionDenied => Self::CwdDenied { path, source },
            _ => Self::Cwd { path, source },
        }
    }

    /// Classifies an error of starting `path`, which is an existing file that may be executed.
    pub(super) fn from_exec(path: PathBuf, source: io::Error) -> Self {
        if super::platform::is_too_many_files(&source) {
            return Self::TooManyFiles { path, source };
        }
        if super::platform::is_exec_format(&source) {
            return Self::ExecFormat { path, source };
        }
        match source.kind() {
            io::ErrorKind::NotFound => Self::InterpreterMissing { path, source },
            io::ErrorKind::PermissionDenied => Self::NotExecutable { path, source },
            io::ErrorKind::ExecutableFileBusy => Self::Busy { path, source },
            io::ErrorKind::WouldBlock => Self::TooManyProcesses { path, source },
            io::ErrorKind::ArgumentListTooLong => Self::ArgumentsTooLong { path, source },
            io::ErrorKind::InvalidInput => Self::InvalidArgument { path, source },
            _ => Self::Exec { path, source },
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn each_system_error_has_its_stage_and_message() {
        let os = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        let row = |error: SpawnError| format!("{}: {error}\n", error.stage());
        let exec = |errno| row(SpawnError::from_exec("/opt/pi".into(), os(errno)));
        let cwd = |errno| row(SpawnError::from_cwd("/srv/gone".into(), os(errno)));
        let table = [
            cwd(Errno::NOENT),
            cwd(Errno::NOTDIR),
            cwd(Errno::ACCESS),
            cwd(Errno::LOOP),
            exec(Errno::NOENT),
            exec(Errno::ACCESS),
            exec(Errno::PERM),
            exec(Errno::NOEXEC),
            exec(Errno::TXTBSY),
            exec(Errno::MFILE),
            exec(Errno::NFILE),
            exec(Errno::AGAIN),
            exec(Errno::TOOBIG),
            exec(Errno::IO),
        ];
        insta::assert_snapshot!(table.concat(), @r"
        cwd: working directory `/srv/gone` does not exist
        cwd: working directory `/srv/gone` is not a directory
        cwd: working directory `/srv/gone` may not be entered by this user
        cwd: working directory `/srv/gone` cannot be used
        exec: program `/opt/pi` needs an interpreter that does not exist
        executable: program `/opt/pi` may not be executed by this user
        executable: program `/opt/pi` may not be executed by this user
        exec: program `/opt/pi` has no format that this system can execute
        exec: program `/opt/pi` is open for writing
        exec: program `/opt/pi` cannot start while so many files are open
        exec: program `/opt/pi` cannot start while so many files are open
        exec: program `/opt/pi` cannot start while so many processes and threads run
        exec: program `/opt/pi` cannot take arguments and an environment of this size
        exec: program `/opt/pi` cannot be started
        ");
    }
}
