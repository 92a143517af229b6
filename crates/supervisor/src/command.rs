//! A command: finding its program, starting it without a warden, and finding out why it did not start.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{fs, io};

use crate::error::{SpawnError, SpawnStage};
use crate::guardian::Guardian;
use crate::platform;

/// A program with its arguments, directory and environment. It is executed directly, never through a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildCommand {
    /// A path, or a bare name to look up in the `PATH` of [`ChildCommand::env`]. A relative path is relative to
    /// [`ChildCommand::cwd`].
    pub program: PathBuf,
    /// The arguments, without the program itself.
    pub args: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The warden to start it through. Without one, only the child and its process group are followed.
    pub guardian: Option<Guardian>,
}

/// A command whose program was looked up and whose directory was made absolute.
pub(super) struct Located<'a> {
    pub(super) command: &'a ChildCommand,
    pub(super) program: PathBuf,
    pub(super) cwd: PathBuf,
}

impl ChildCommand {
    /// Returns the problem of a NUL byte, which no system can pass on.
    fn nul_byte(&self) -> Option<&'static str> {
        let has = |text: &OsString| text.as_encoded_bytes().contains(&0);
        if self.args.iter().any(has) {
            Some("cannot start: an argument contains a NUL byte")
        } else {
            let is_bad = self.env.iter().any(|(name, value)| has(name) || has(value));
            is_bad.then_some("cannot start: a variable contains a NUL byte")
        }
    }

    /// Looks up the program. Blocks on file system access.
    pub(super) fn locate(&self) -> Result<Located<'_>, SpawnError> {
        let cwd = std::path::absolute(&self.cwd)
            .map_err(|source| SpawnError::new(SpawnStage::Cwd, "cannot be used", &self.cwd, source))?;
        let located = locate(&self.program, &cwd, search_path(&self.env));
        if let (Ok(program), Some(problem)) = (&located, self.nul_byte()) {
            let source = io::ErrorKind::InvalidInput.into();
            return Err(SpawnError::new(SpawnStage::Exec, problem, program, source));
        }
        match located {
            Ok(program) => Ok(Located { command: self, program, cwd }),
            // A missing directory makes everything in it look missing, so it is reported first.
            Err(error) => Err(check_cwd(&cwd).err().unwrap_or(error)),
        }
    }
}

impl Located<'_> {
    /// Starts the program with pipes for its standard streams, as leader of its own process group.
    ///
    /// Blocks until the child has executed the program. The standard library uses `posix_spawn` as long as there is
    /// no `pre_exec` and the program is a path; otherwise it forks, which costs a host with much memory 50 ms and
    /// more. That is why the name is looked up first and no hook is installed.
    pub(super) fn start(&self) -> Result<Child, SpawnError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.command.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        platform::lead_own_group(&mut command);
        command.spawn().map_err(|source| diagnose(&self.program, &self.cwd, source))
    }
}

/// The value of `PATH` in an environment; Windows ignores the case of the name. The last entry wins, as it does when
/// a program is started.
#[must_use]
pub fn search_path(env: &[(OsString, OsString)]) -> Option<&OsStr> {
    let path = env.iter().rev().find(|(name, _)| platform::is_path_variable(name));
    path.map(|(_, value)| value.as_os_str())
}

/// Resolves a program's name to a file. A bare name is searched in `path`, the value of a `PATH` variable.
///
/// A name with a directory in it is used as it is. `None` when there is no such file that may be executed. Blocks on
/// file system access.
///
/// Skips entries of `path` that are not absolute: they would resolve below the child's working directory, and a
/// cloned repository must not be able to supply a program.
#[must_use]
pub fn resolve_program(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if is_bare(Path::new(name)) {
        search(name, path).ok()
    } else {
        platform::is_executable(Path::new(name)).then(|| name.into())
    }
}

/// Returns the path to execute for `program`. Does not check that the path exists.
pub(super) fn locate(program: &Path, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, SpawnError> {
    if !is_bare(program) {
        return Ok(cwd.join(program));
    }
    search(program.as_os_str(), path).map_err(|candidate| match candidate {
        Some(path) => SpawnError::not_executable(&path, io::ErrorKind::PermissionDenied.into()),
        None => SpawnError::new(
            SpawnStage::Executable,
            "is in no directory of PATH",
            program,
            io::ErrorKind::NotFound.into(),
        ),
    })
}

/// Returns true if this is a bare name to look up in `PATH`. The empty name counts as one: as a path it would mean the
/// working directory.
fn is_bare(program: &Path) -> bool {
    let mut components = program.components();
    match (components.next(), components.next()) {
        (None, _) => true,
        (Some(Component::Normal(only)), None) => only == program.as_os_str(),
        _ => false,
    }
}

/// The first executable file of that name. The error holds the first file of that name that may not be executed.
fn search(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, Option<PathBuf>> {
    let mut refused = None;
    for directory in std::env::split_paths(path.unwrap_or_default()).filter(|entry| entry.is_absolute()) {
        for candidate in platform::file_names(name).map(|file| directory.join(file)) {
            if platform::is_executable(&candidate) {
                return Ok(candidate);
            }
            if refused.is_none() && candidate.is_file() {
                refused = Some(candidate);
            }
        }
    }
    Err(refused)
}

/// Finds out what kept `program` from starting. The system reports a missing directory and a missing program with the
/// same error, so the directory is checked first.
pub(super) fn diagnose(program: &Path, cwd: &Path, error: io::Error) -> SpawnError {
    check_cwd(cwd).err().unwrap_or_else(|| blame_program(program, error))
}

/// Checks that a directory can be the working directory of a child.
///
/// # Errors
///
/// If it does not exist, is not a directory, or may not be entered.
pub fn check_cwd(cwd: &Path) -> Result<(), SpawnError> {
    let usable = fs::metadata(cwd).and_then(|found| {
        if found.is_dir() { platform::may_enter(cwd) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    usable.map_err(|error| SpawnError::from_cwd(cwd, error))
}

fn blame_program(path: &Path, error: io::Error) -> SpawnError {
    match fs::metadata(path).map_err(|refused| (refused.kind(), refused)) {
        // `NotADirectory`: a file stands where the path needs a directory, so nothing can exist below it.
        Err((io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, missing)) => {
            SpawnError::new(SpawnStage::Executable, "does not exist", path, missing)
        }
        // A file that may not even be looked at may not be executed either.
        Err((_, refused)) => SpawnError::not_executable(path, refused),
        Ok(found) if found.is_dir() => SpawnError::new(SpawnStage::Executable, "is a directory", path, error),
        Ok(_) => SpawnError::from_exec(path, error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_single_name_is_looked_up() {
        for (program, bare) in [
            ("pi", true),
            ("pi.cmd", true),
            ("./pi", false),
            ("bin/pi", false),
            ("/bin/pi", false),
            ("..", false),
            ("pi/", false),
            ("", true),
        ] {
            assert_eq!(is_bare(Path::new(program)), bare, "{program}");
        }
    }

    #[test]
    fn absolute_directories_are_searched_in_order() {
        let sh = Path::new("/bin/sh");
        let resolve = |name: &str, path: Option<&str>| resolve_program(name.as_ref(), path.map(OsStr::new));
        assert_eq!(resolve("sh", Some("/nonexistent:/bin")).as_deref(), Some(sh));
        assert_eq!(
            resolve("sh", Some("bin:.::../../../../../../../bin")),
            None,
            "relative entries are skipped"
        );
        assert_eq!(resolve("sh", None), None);
        assert_eq!(resolve("no-such-program", Some("/bin")), None);
        assert_eq!(resolve("passwd", Some("/etc")), None, "a file that is not executable is skipped");
        assert_eq!(resolve("/bin/sh", None).as_deref(), Some(sh));
        assert_eq!(resolve("/bin", None), None, "a directory is not a program");
    }
}
