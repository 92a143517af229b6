//! The error of a child that did not start.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagent_warden::is_transient;

/// The reason why a child did not start. Nothing is left running.
///
/// The source is the operating system's error.
#[derive(Debug, thiserror::Error)]
#[error("{} `{}` {problem}", stage.code_and_label().1, path.display())]
pub struct SpawnError {
    stage: SpawnStage,
    path: PathBuf,
    problem: Cow<'static, str>,
    source: io::Error,
}

/// The stage of a start that failed.
#[derive(Clone, Copy, Debug)]
pub(super) enum SpawnStage {
    Cwd,
    /// Finding the program.
    Executable,
    /// Executing it.
    Exec,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has a sandbox"))]
    Sandbox,
    Warden,
}

impl SpawnStage {
    /// Returns the code of the stage, and the word for the path in its messages.
    fn code_and_label(self) -> (&'static str, &'static str) {
        match self {
            Self::Cwd => ("cwd", "working directory"),
            Self::Executable => ("executable", "program"),
            Self::Exec => ("exec", "program"),
            Self::Sandbox => ("sandbox", "the sandbox of"),
            Self::Warden => ("warden", "the warden"),
        }
    }
}

impl SpawnError {
    pub(crate) fn new(
        stage: SpawnStage,
        problem: impl Into<Cow<'static, str>>,
        path: &Path,
        source: io::Error,
    ) -> Self {
        Self { stage, path: path.into(), problem: problem.into(), source }
    }

    /// The stage that failed: `cwd`, `executable`, `exec`, `sandbox` or `warden`.
    #[must_use]
    pub fn stage(&self) -> &'static str {
        self.stage.code_and_label().0
    }

    /// Returns true if the machine was temporarily short of a resource, so that another attempt may succeed.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        is_transient(&self.source)
    }

    /// Classifies an error of inspecting or entering the working directory.
    pub(super) fn from_cwd(path: &Path, source: io::Error) -> Self {
        let problem = match source.kind() {
            io::ErrorKind::NotFound => "does not exist",
            io::ErrorKind::NotADirectory => "is not a directory",
            io::ErrorKind::PermissionDenied => "may not be entered by this user",
            _ => "cannot be used",
        };
        Self::new(SpawnStage::Cwd, problem, path, source)
    }

    /// The program may not be executed, or not even be looked at.
    pub(super) fn not_executable(path: &Path, source: io::Error) -> Self {
        Self::new(SpawnStage::Executable, "may not be executed by this user", path, source)
    }

    /// Classifies an error of starting `path`, which is an existing file that may be executed.
    pub(super) fn from_exec(path: &Path, source: io::Error) -> Self {
        let problem = match source.kind() {
            _ if super::platform::is_too_many_files(&source) => "cannot start: too many files are open",
            _ if super::platform::is_exec_format(&source) => "has a format that this system cannot execute",
            io::ErrorKind::NotFound => "needs an interpreter that does not exist",
            io::ErrorKind::PermissionDenied => return Self::not_executable(path, source),
            io::ErrorKind::ExecutableFileBusy => "is open for writing",
            io::ErrorKind::WouldBlock => "cannot start: too many processes and threads are running",
            io::ErrorKind::ArgumentListTooLong => "cannot start: its arguments and environment are too large",
            _ => "cannot be started",
        };
        Self::new(SpawnStage::Exec, problem, path, source)
    }

    /// The warden cannot do its work.
    pub(super) fn from_warden(path: &Path, source: io::Error) -> Self {
        Self::new(SpawnStage::Warden, "cannot guard a child", path, source)
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
        let exec = |errno| row(SpawnError::from_exec(Path::new("/opt/pi"), os(errno)));
        let cwd = |errno| row(SpawnError::from_cwd(Path::new("/srv/gone"), os(errno)));
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
        exec: program `/opt/pi` has a format that this system cannot execute
        exec: program `/opt/pi` is open for writing
        exec: program `/opt/pi` cannot start: too many files are open
        exec: program `/opt/pi` cannot start: too many files are open
        exec: program `/opt/pi` cannot start: too many processes and threads are running
        exec: program `/opt/pi` cannot start: its arguments and environment are too large
        exec: program `/opt/pi` cannot be started
        ");
    }
}
