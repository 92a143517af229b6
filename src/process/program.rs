//! Finding a program, and finding out why one did not start.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::error::SpawnError;
use super::platform;

/// The file that a program's name stands for, looked up as the system would in `path`, the value of a `PATH` variable.
///
/// A name with a directory in it is taken as it is. `None` when there is no such file that may be executed. Blocking
/// file access.
///
/// Entries of `path` that are not absolute are skipped: they would name a file in whatever directory the child works
/// in, and a cloned repository must not be able to supply a program.
#[must_use]
pub fn resolve_program(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if is_bare(Path::new(name)) {
        search(name, path).ok()
    } else {
        platform::is_executable(Path::new(name)).then(|| name.into())
    }
}

/// The path to execute for `program`, which need not exist when it is a path.
pub(super) fn locate(program: &Path, cwd: &Path, path: Option<&OsStr>) -> Result<PathBuf, SpawnError> {
    if !is_bare(program) {
        return Ok(cwd.join(program));
    }
    search(program.as_os_str(), path).map_err(|candidate| match candidate {
        Some(path) => SpawnError::NotExecutable { path, source: io::ErrorKind::PermissionDenied.into() },
        None => SpawnError::NotInPath { path: program.into(), source: io::ErrorKind::NotFound.into() },
    })
}

fn is_bare(program: &Path) -> bool {
    let mut components = program.components();
    matches!((components.next(), components.next()), (Some(Component::Normal(only)), None) if only == program.as_os_str())
}

/// The first executable file of that name; else the first file of that name, which may not be executed.
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

/// Names what kept `program` from starting. The system reports a missing directory and a missing program with the same
/// error, so the directory is looked at first.
pub(super) fn diagnose(program: &Path, cwd: &Path, error: io::Error) -> SpawnError {
    match check_cwd(cwd).and_then(|()| check_program(program)) {
        Ok(()) => SpawnError::from_exec(program.into(), error),
        Err(found) => found,
    }
}

pub(super) fn check_cwd(cwd: &Path) -> Result<(), SpawnError> {
    match fs::metadata(cwd) {
        Err(error) => Err(SpawnError::from_cwd(cwd.into(), error)),
        Ok(found) if !found.is_dir() => {
            Err(SpawnError::from_cwd(cwd.into(), io::ErrorKind::NotADirectory.into()))
        }
        Ok(_) => platform::may_enter(cwd).map_err(|error| SpawnError::from_cwd(cwd.into(), error)),
    }
}

fn check_program(program: &Path) -> Result<(), SpawnError> {
    let path = || program.to_path_buf();
    match fs::metadata(program) {
        Err(source) if is_missing(&source) => Err(SpawnError::ProgramMissing { path: path(), source }),
        // What may not even be looked at may not be executed either.
        Err(source) => Err(SpawnError::NotExecutable { path: path(), source }),
        Ok(found) if found.is_dir() => {
            Err(SpawnError::ProgramIsDirectory { path: path(), source: io::ErrorKind::IsADirectory.into() })
        }
        Ok(_) if !platform::is_executable(program) => {
            Err(SpawnError::NotExecutable { path: path(), source: io::ErrorKind::PermissionDenied.into() })
        }
        Ok(_) => Ok(()),
    }
}

fn is_missing(error: &io::Error) -> bool {
    // A file taken for a directory on the way: nothing can be there.
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
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
            ("", false),
        ] {
            assert_eq!(is_bare(Path::new(program)), bare, "{program}");
        }
    }

    #[test]
    fn looks_in_absolute_directories_in_order() {
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
        assert_eq!(resolve("passwd", Some("/etc")), None, "not executable");
        assert_eq!(resolve("/bin/sh", None).as_deref(), Some(sh));
        assert_eq!(resolve("/bin", None), None, "a directory");
    }
}
