//! The warden as a shell: it restricts itself, and becomes the user's shell.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::exit;

use pi_subagent_warden::{OptionsError, ToolShell};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;

use crate::sandbox::enter_tools;
use crate::sys;

/// The exit code of a command that was found and could not be executed.
const NOT_EXECUTED: i32 = 126;

/// The variable with the directories of programs.
const SEARCH_PATH: &str = "PATH";

/// The least room that the standard library reads into without asking for more.
const MIN_READ_BYTES: usize = 32;

/// The reason why the shell was not executed.
#[derive(Debug, thiserror::Error)]
enum ShellError {
    /// The file of options cannot be read.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// The options are invalid.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The tools' sandbox cannot be entered.
    #[error(transparent)]
    Sandbox(io::Error),
    /// The system cannot execute the shell.
    #[error("{}: {source}", shell.display())]
    Execute { shell: PathBuf, source: io::Error },
}

/// Returns true if the program was started by this path to be a shell.
pub(crate) fn is_tool_shell(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new(ToolShell::NAME))
}

/// Becomes the shell that the options next to `program` name, in the tools' sandbox. If anything fails, nothing is executed.
pub(crate) fn become_shell(program: &OsStr, args: impl Iterator<Item = OsString>) -> ! {
    let Err(problem) = try_become(program, args);
    let _ =
        writeln!(io::stderr(), "the tools' sandbox cannot be entered, and nothing was executed: {problem}");
    exit(NOT_EXECUTED)
}

fn try_become(program: &OsStr, args: impl Iterator<Item = OsString>) -> Result<Infallible, ShellError> {
    let mut path = program.to_owned();
    path.push(ToolShell::OPTIONS_SUFFIX);
    let path = PathBuf::from(path);
    let bytes = read(&path).map_err(|source| ShellError::File { path, source })?;
    let options = ToolShell::from_bytes(&bytes)?;
    enter_tools(&options).map_err(ShellError::Sandbox)?;
    if let Some(bytes) = options.file_bytes {
        sys::limit_files(bytes).map_err(ShellError::Sandbox)?;
    }
    sys::reset_broken_pipe_signal();
    if let Some(path) = &options.path {
        let current = std::env::var_os(SEARCH_PATH).unwrap_or_default();
        let path = whole_path(&current, options.child_path.as_deref(), path);
        // SAFETY: the program has one thread.
        unsafe { std::env::set_var(SEARCH_PATH, path) };
    }
    let mut command = vec![options.shell.clone().into_os_string()];
    command.extend(args);
    let source = sys::exec(&command, &options.unset);
    Err(ShellError::Execute { shell: options.shell, source })
}

/// Returns the user's `PATH` with the directories that `current` has in front of the child's `PATH`.
fn whole_path(current: &OsStr, child: Option<&OsStr>, user: &OsStr) -> OsString {
    let (current, user) = (current.as_bytes(), user.as_bytes());
    if current.ends_with(user) {
        return OsStr::from_bytes(current).to_owned();
    }
    let child = child.map_or(&b""[..], OsStr::as_bytes);
    let added = current.strip_suffix(child).unwrap_or(current);
    let added = added.strip_suffix(b":").unwrap_or(added);
    let parts: Vec<&[u8]> = [added, user].into_iter().filter(|part| !part.is_empty()).collect();
    OsString::from_vec(parts.join(&b':'))
}

/// Reads the file of options. The child cannot have replaced it by a link, nor by something that never ends.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path.as_os_str().as_bytes(), flags, Mode::empty())?;
    let found = fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL.into());
    }
    let size = usize::try_from(found.st_size).unwrap_or(0).min(ToolShell::MAX_BYTES);
    // With room for more, reading needs one call, and one to see the end.
    let mut bytes = Vec::with_capacity(size + MIN_READ_BYTES);
    std::fs::File::from(file).take(ToolShell::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > ToolShell::MAX_BYTES { Err(Errno::FBIG.into()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, mknodat};

    use super::*;

    #[test]
    fn the_users_path_replaces_the_childs() {
        let user = "/p/.venv/bin:/usr/bin:/bin";
        let bin = Some("/usr/bin:/bin");
        for (current, child, expected) in [
            ("/usr/bin:/bin", bin, user.to_owned()),
            ("/agent/bin:/usr/bin:/bin", bin, format!("/agent/bin:{user}")),
            ("", None, user.to_owned()),
            ("/agent/bin", None, format!("/agent/bin:{user}")),
            // An extension has added a directory at the end.
            ("/usr/bin:/bin:/ext/bin", bin, format!("/usr/bin:/bin:/ext/bin:{user}")),
            (user, bin, user.to_owned()),
        ] {
            let whole = whole_path(current.as_ref(), child.map(OsStr::new), user.as_ref());
            assert_eq!(whole, OsStr::new(&expected), "{current:?}");
        }
    }

    #[test]
    fn options_are_read_from_a_plain_file_that_is_not_too_long() {
        let place = tempfile::tempdir().expect("a directory");
        let at = |name: &str| place.path().join(name);
        for (name, size) in
            [("empty", 0), ("longest", ToolShell::MAX_BYTES), ("longer", ToolShell::MAX_BYTES + 1)]
        {
            std::fs::write(at(name), vec![b'x'; size]).expect("the file is written");
        }
        std::os::unix::fs::symlink(at("longest"), at("link")).expect("the link is created");
        let owner = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, at("pipe"), FileType::Fifo, owner, 0).expect("the pipe is created");
        for (name, expected) in [
            ("empty", Ok(0)),
            ("longest", Ok(ToolShell::MAX_BYTES)),
            ("longer", Err(Errno::FBIG)),
            ("link", Err(Errno::LOOP)),
            ("pipe", Err(Errno::INVAL)),
            ("missing", Err(Errno::NOENT)),
        ] {
            let found = read(&at(name)).map(|bytes| bytes.len());
            assert_eq!(
                found.map_err(|error| error.raw_os_error()),
                expected.map_err(|error| Some(error.raw_os_error())),
                "{name}"
            );
        }
    }
}
