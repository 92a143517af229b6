//! A command: finding its program, starting it without a warden, and finding out why it did not start.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{fmt, fs, io};

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
    /// Directories without links in their paths that agents may write. Their programs are neither looked up nor
    /// visible in the child's `PATH`. If there are none, the child gets `PATH` unchanged.
    pub untrusted: Vec<PathBuf>,
    /// The warden to start it through. Without one, only the child and its process group are followed.
    pub guardian: Option<Guardian>,
}

/// A command whose program was looked up and whose directory was made absolute.
pub(super) struct Located<'a> {
    pub(super) command: &'a ChildCommand,
    pub(super) program: PathBuf,
    pub(super) cwd: PathBuf,
    /// The child's environment, with a `PATH` that leads to no untrusted directory.
    pub(super) env: Cow<'a, [(OsString, OsString)]>,
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
        let located = locate(&self.program, &cwd, &self.env, &self.untrusted);
        if let (Ok(program), Some(problem)) = (&located, self.nul_byte()) {
            let source = io::ErrorKind::InvalidInput.into();
            return Err(SpawnError::new(SpawnStage::Exec, problem, program, source));
        }
        match located {
            Ok(program) => {
                Ok(Located { command: self, program, cwd, env: trusted_env(&self.env, &self.untrusted) })
            }
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
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        platform::lead_own_group(&mut command);
        command.spawn().map_err(|source| diagnose(&self.program, &self.cwd, source))
    }
}

/// A name that leads to no program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// The first file of this name that may not be executed.
    refused: Option<PathBuf>,
    /// The first program of this name in a directory that agents may write.
    skipped: Option<PathBuf>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "is in no directory of PATH{}", self.note())
    }
}

impl NotFound {
    /// Returns the end of a message that names the skipped program. Empty if none was skipped.
    #[must_use]
    pub fn note(&self) -> String {
        let skipped = self.skipped.as_ref();
        let note =
            skipped.map(|path| format!("; `{}` is not used, because agents may write there", path.display()));
        note.unwrap_or_default()
    }
}

/// The value of `PATH` in an environment; Windows ignores the case of the name. The last entry wins, as it does when
/// a program is started.
#[must_use]
pub fn search_path(env: &[(OsString, OsString)]) -> Option<&OsStr> {
    let path = env.iter().rev().find(|(name, _)| platform::is_path_variable(name));
    path.map(|(_, value)| value.as_os_str())
}

/// Returns the environment with a `PATH` that leads neither to an untrusted directory nor to one below the working
/// directory. Without such directories, `PATH` stays as it is. Blocks.
#[must_use]
pub fn trusted_env<'a>(
    env: &'a [(OsString, OsString)],
    untrusted: &[PathBuf],
) -> Cow<'a, [(OsString, OsString)]> {
    let Some(path) = search_path(env).filter(|_| !untrusted.is_empty()) else { return env.into() };
    let all: Vec<PathBuf> = std::env::split_paths(path).collect();
    let is_trusted = |entry: &&PathBuf| entry.is_absolute() && !leads_into(entry, untrusted);
    let trusted: Vec<&PathBuf> = all.iter().filter(is_trusted).collect();
    if trusted.len() == all.len() {
        return env.into();
    }
    let mut env: Vec<_> = env.iter().filter(|(name, _)| !platform::is_path_variable(name)).cloned().collect();
    // An empty `PATH` would mean the working directory. Without the variable, programs use the system's directories.
    if !trusted.is_empty()
        && let Ok(path) = std::env::join_paths(trusted)
    {
        env.push(("PATH".into(), path));
    }
    env.into()
}

/// Returns true if a path lies in one of these directories, or if one of its links does. Blocks.
fn leads_into(path: &Path, directories: &[PathBuf]) -> bool {
    /// The maximum number of links that Linux follows.
    const MAX_LINKS: usize = 40;
    let is_inside = |path: &Path| directories.iter().any(|directory| path.starts_with(directory));
    let mut links = 0;
    let mut at = PathBuf::new();
    let mut rest: Vec<OsString> = parts(path);
    while let Some(part) = rest.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(part);
        if is_inside(&at) || links > MAX_LINKS {
            return true;
        }
        if let Ok(target) = fs::read_link(&at) {
            links += 1;
            at.pop();
            rest.extend(parts(&target));
        }
    }
    fs::canonicalize(path).is_ok_and(|real| is_inside(&real))
}

/// Returns the components of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// Resolves a program's name to a file. A bare name is searched in the `PATH` of `env`.
///
/// A name with a directory in it is used as it is. Blocks on file system access.
///
/// Skips entries of `PATH` that are not absolute: they would resolve below the child's working directory, and a
/// cloned repository must not be able to supply a program. Also skips programs in the directories `untrusted`, which
/// contain no links in their paths: an agent must not be able to supply a program either.
///
/// # Errors
///
/// When there is no such file that may be executed.
pub fn resolve_program(
    name: &OsStr,
    env: &[(OsString, OsString)],
    untrusted: &[PathBuf],
) -> Result<PathBuf, NotFound> {
    if is_bare(Path::new(name)) {
        search(name, search_path(env), untrusted)
    } else if platform::is_executable(Path::new(name)) {
        Ok(name.into())
    } else {
        Err(NotFound::default())
    }
}

/// Returns the path to execute for `program`. Does not check that the path exists.
pub(super) fn locate(
    program: &Path,
    cwd: &Path,
    env: &[(OsString, OsString)],
    untrusted: &[PathBuf],
) -> Result<PathBuf, SpawnError> {
    if !is_bare(program) {
        return Ok(cwd.join(program));
    }
    search(program.as_os_str(), search_path(env), untrusted).map_err(|missing| match &missing.refused {
        Some(path) if missing.skipped.is_none() => {
            SpawnError::not_executable(path, io::ErrorKind::PermissionDenied.into())
        }
        _ => SpawnError::new(
            SpawnStage::Executable,
            missing.to_string(),
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

/// The first executable file of that name outside of the directories `untrusted`.
fn search(name: &OsStr, path: Option<&OsStr>, untrusted: &[PathBuf]) -> Result<PathBuf, NotFound> {
    let mut missing = NotFound::default();
    for directory in std::env::split_paths(path.unwrap_or_default()).filter(|entry| entry.is_absolute()) {
        for candidate in platform::file_names(name).map(|file| directory.join(file)) {
            let (is_usable, unusable) = if platform::is_executable(&candidate) {
                (!leads_into(&candidate, untrusted), &mut missing.skipped)
            } else {
                (false, &mut missing.refused)
            };
            if is_usable {
                return Ok(candidate);
            }
            if unusable.is_none() && candidate.is_file() {
                *unusable = Some(candidate);
            }
        }
    }
    Err(missing)
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
        let resolve = |name: &str, path: Option<&str>| {
            let env: Vec<_> = path.into_iter().map(|path| ("PATH".into(), path.into())).collect();
            resolve_program(name.as_ref(), &env, &[]).ok()
        };
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
    #[test]
    fn programs_of_untrusted_directories_are_skipped() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let root = root.path().canonicalize().expect("the path exists");
        let at = |name: &str| root.join(name);
        for directory in ["tree/bin", "outside", "links", "late"] {
            fs::create_dir_all(at(directory)).expect("the directory is created");
        }
        for program in ["tree/bin/tool", "outside/tool"] {
            fs::copy("/bin/sh", at(program)).expect("the program is copied");
        }
        for (link, target) in [
            ("links/in", "../tree/bin"),
            ("tree/out", "../outside"),
            ("links/through", "../tree/out"),
            ("late/tool", "../tree/bin/tool"),
        ] {
            std::os::unix::fs::symlink(target, at(link)).expect("the link is created");
        }
        let env = |entries: &[&str]| {
            let path = std::env::join_paths(entries.iter().map(|entry| at(entry))).expect("a search path");
            vec![(OsString::from("PATH"), path)]
        };
        let untrusted = [at("tree")];
        // An agent can replace a link in the tree, and create a directory that does not exist.
        for entry in ["tree/bin", "links/in", "tree/out", "links/through", "links/../tree/bin"] {
            let both = env(&[entry, "outside"]);
            let found = resolve_program("tool".as_ref(), &both, &untrusted);
            assert_eq!(found, Ok(at("outside/tool")), "{entry}");
            assert_eq!(trusted_env(&both, &untrusted), env(&["outside"]), "{entry}");
            let missing = resolve_program("tool".as_ref(), &env(&[entry]), &untrusted).expect_err(entry);
            let shown = at(entry).join("tool").display().to_string();
            let message =
                format!("is in no directory of PATH; `{shown}` is not used, because agents may write there");
            assert_eq!(missing.to_string(), message);
            assert!(trusted_env(&env(&[entry]), &untrusted).is_empty(), "{entry}");
        }
        assert_eq!(trusted_env(&env(&["tree/missing", "outside"]), &untrusted), env(&["outside"]));
        // The directory is trusted, but not its link into the tree.
        let linked = env(&["late", "outside"]);
        assert_eq!(resolve_program("tool".as_ref(), &linked, &untrusted), Ok(at("outside/tool")));
        assert_eq!(trusted_env(&linked, &untrusted), linked);
        let relative = vec![(OsString::from("PATH"), OsString::from("bin::/bin"))];
        assert_eq!(trusted_env(&relative, &untrusted)[..], [("PATH".into(), "/bin".into())]);
        assert_eq!(trusted_env(&relative, &[]), relative);
    }
}
