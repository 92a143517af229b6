//! Runs git so that nothing in a tree or its repository decides which program is executed.
//!
//! git reads its configuration from a directory of ours, never from the repository whose tree it reads, and never from
//! the user's configuration. So there are no filters, hooks, monitors, transports or drivers to switch off: none are
//! configured. If the machine has a sandbox, git can write only in our directory, and cannot even change the times of
//! other files. It cannot read hidden files there either, because a child can replace a file by a link while git opens
//! it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use files::Hidden;
use sanitizer::quoted_within;
use supervisor::{
    Cancel, CaptureLimits, Captured, ChildCommand, Guardian, NotFound, Options, Outcome, Sandbox, SpawnError,
    capture_fed, capture_within, resolve_program, search_path, trusted_env,
};

/// The time limit of one git command. Hashing the largest snapshot takes seconds. A hanging file system must not block
/// a run forever.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time limit for git to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum time in which git may wait without any activity. A disk or a network answers sooner; a FIFO never does.
pub const STALL: Duration = Duration::from_secs(2);
/// The maximum number of bytes that one command may print: the names of as many files as a snapshot may have.
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// The oldest git that can ignore the user's configuration, and that ignores links in the place of `.gitignore`.
const OLDEST: (u32, u32) = (2, 32);
/// The maximum length of an error that is shown, in bytes. Only its end is shown.
const MAX_ERROR: usize = 400;
/// The text of an error in the place of git's own message.
const UNSHOWN: &str = "its message is not shown, because git can read hidden files on this machine";
/// Only the search path of the user's environment is passed on.
const VARIABLES: [(&str, &str); 16] = [
    // The author of commits of ours. The child's have their own.
    ("GIT_AUTHOR_NAME", "pi-subagent-native"),
    ("GIT_AUTHOR_EMAIL", "subagent@localhost"),
    ("GIT_COMMITTER_NAME", "pi-subagent-native"),
    ("GIT_COMMITTER_EMAIL", "subagent@localhost"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_PAGER", "cat"),
];
/// Settings that precede any file, in case a file is read anyway.
const SETTINGS: [&str; 15] = [
    // As many as there are processors.
    "checkout.workers=0",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "index.sparse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// The command that changes references.
const UPDATE_REF: &str = "update-ref";
/// The directory for kept objects of a repository, below the first directory that a command may write. Its files are
/// the repository's own, so git must not change their times.
pub(super) const KEPT_OBJECTS: &str = "kept";
/// Our variables with the values that switch off hooks of a configuration.
const NOTHING: &str = "PI_SUBAGENT_NOTHING";
const OFF: &str = "PI_SUBAGENT_OFF";

/// The reason why a git command failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is none.
    #[error("`git` {0}")]
    Missing(NotFound),
    /// It is too old.
    #[error("git {found} is too old: {}.{} or newer is needed", OLDEST.0, OLDEST.1)]
    TooOld {
        /// The reported version.
        found: String,
    },
    /// It could not be started.
    #[error("git could not be started")]
    Spawn(#[source] SpawnError),
    /// It took too long.
    #[error("`git {command}` did not end within {} s", limit.as_secs())]
    TimedOut {
        /// The command, without its options.
        command: String,
        /// The limit.
        limit: Duration,
    },
    /// It waited for a file that does not answer.
    #[error("`git {command}` has waited for {} s for a file that does not answer", STALL.as_secs())]
    Stalled {
        /// The command, without its options.
        command: String,
    },
    /// It was ended together with its run.
    #[error("`git {command}` was ended with its run")]
    Stopped {
        /// The command, without its options.
        command: String,
    },
    /// It failed, or printed more than the limit.
    #[error("`git {command}` failed: {why}")]
    Failed {
        /// The command, without its options.
        command: String,
        /// The end of its message.
        why: String,
    },
}

/// A git program and its sandbox.
#[derive(Clone, Debug)]
pub struct Git {
    program: PathBuf,
    /// The search path, without the directories that agents may write.
    path: Option<OsString>,
    /// The warden's program, and true if it can make a mount namespace. `None` without a sandbox.
    sandbox: Option<(PathBuf, bool)>,
    /// Ends every command at once.
    stop: Cancel,
    /// The files that git cannot read in the sandbox, unless a command needs them.
    hidden: Hidden,
}

/// The directories of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    /// The repository of the command: the project's for its settings and references, our own directory for everything
    /// else.
    pub git_dir: &'a Path,
    /// The directories that may be written, if there is a sandbox. The first is ours.
    pub writable: &'a [&'a Path],
    /// Further directories that are read. Like the others, they may be inside a hidden directory.
    pub reads: &'a [&'a Path],
    /// The working directory.
    pub cwd: &'a Path,
    /// Further variables.
    pub env: &'a [(&'static str, &'a OsStr)],
}

impl Git {
    /// Looks for git in the search path of `env`, outside of the directories `untrusted`, and asks for its version. If
    /// the machine has Landlock, `sandbox` is the warden's program, and true if the program can make a mount namespace.
    ///
    /// # Errors
    ///
    /// If there is none, or one that is too old.
    pub async fn find(
        env: &[(OsString, OsString)],
        untrusted: &[PathBuf],
        sandbox: Option<(PathBuf, bool)>,
    ) -> Result<Self, GitError> {
        let program = resolve_program("git".as_ref(), env, untrusted).map_err(GitError::Missing)?;
        let path = search_path(&trusted_env(env, untrusted)).map(OsStr::to_owned);
        let git = Self { program, path, sandbox, stop: Cancel::new(), hidden: Hidden::default() };
        let command = git.command(vec!["--version".into()], Path::new("/"), &[], &[], &[]);
        let output =
            capture_fed(command, Vec::new(), VERSION_TIMEOUT, MAX_ERROR).await.map_err(GitError::Spawn)?;
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match version(&printed) {
            Some(found) if found >= OLDEST => Ok(git),
            _ => Err(GitError::TooOld { found: printed.trim_start_matches("git version ").to_owned() }),
        }
    }

    /// Returns a git whose commands end with `stop`.
    #[must_use]
    pub fn until(&self, stop: &Cancel) -> Self {
        Self { stop: stop.clone(), ..self.clone() }
    }

    /// Returns true once its commands must end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.reason().is_some()
    }

    /// Keeps git from reading these files.
    pub(super) fn hiding(self, hidden: Hidden) -> Self {
        Self { hidden, ..self }
    }

    /// Returns the files that git cannot read.
    pub(super) fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Returns true if the kernel keeps git from reading hidden files.
    pub(super) fn is_sandboxed(&self) -> bool {
        self.sandbox.is_some()
    }

    /// Returns true if git cannot even change the times of files outside of our directory.
    pub(super) fn keeps_times(&self) -> bool {
        self.sandbox.as_ref().is_some_and(|(_, metadata)| *metadata)
    }

    /// Returns the output of a command.
    pub(super) async fn run<A: AsRef<OsStr>>(
        &self,
        scope: Scope<'_>,
        args: &[A],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, GitError> {
        Ok(self.run_captured(scope, args, input).await?.stdout)
    }

    /// Returns the output of a command, and its warnings.
    pub(super) async fn run_captured<A: AsRef<OsStr>>(
        &self,
        scope: Scope<'_>,
        args: &[A],
        input: Vec<u8>,
    ) -> Result<Captured, GitError> {
        let captured = self.try_run(scope, args, input).await?;
        if captured.is_success() { Ok(captured) } else { Err(self.failure(named(args), &captured)) }
    }

    fn failure(&self, command: String, captured: &Captured) -> GitError {
        let why = match captured.stderr.trim() {
            "" => format!("{:?}", captured.outcome),
            // A link in the repository may lead to any file, and git quotes lines that it does not understand.
            _ if !self.is_sandboxed() => format!("{:?}; {UNSHOWN}", captured.outcome),
            // It may name files of a child.
            message => quoted_within(last(message, MAX_ERROR), MAX_ERROR),
        };
        GitError::Failed { command, why }
    }

    /// Runs a command until it ends by itself, with any status. Returns all of its output.
    pub(super) async fn try_run<A: AsRef<OsStr>>(
        &self,
        scope: Scope<'_>,
        args: &[A],
        input: Vec<u8>,
    ) -> Result<Captured, GitError> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]).map(OsString::from);
        let args_of = settings.chain(args.iter().map(|arg| arg.as_ref().to_owned())).collect();
        let mut env = vec![("GIT_DIR", scope.git_dir.as_os_str())];
        env.extend(scope.env);
        let reads: Vec<&Path> =
            [scope.git_dir, scope.cwd].into_iter().chain(scope.reads.iter().copied()).collect();
        let command = self.command(args_of, scope.cwd, scope.writable, &reads, &env);
        let limits =
            CaptureLimits { timeout: TIMEOUT, stall: Some(STALL), max_bytes: MAX_BYTES, cancel: &self.stop };
        let captured = capture_within(command, input, limits, |_| {}).await.map_err(GitError::Spawn)?;
        if let Some(error) = GitError::of(&captured, || named(args)) {
            return Err(error);
        }
        if captured.truncated {
            let why = format!("it printed more than {MAX_BYTES} bytes");
            return Err(GitError::Failed { command: named(args), why });
        }
        Ok(captured)
    }

    /// Runs `git update-ref` in a repository whose configuration is not ours.
    ///
    /// git runs the hook `reference-transaction` for it. `core.hooksPath` disables the hook files. Hooks of the
    /// configuration (`hook.NAME.command`, git 2.54) have to be disabled by their names.
    pub(super) async fn update_ref<A: AsRef<OsStr>>(
        &self,
        scope: Scope<'_>,
        args: &[A],
    ) -> Result<(), GitError> {
        let keys = ["config", "--null", "--name-only", "--get-regexp", r"^hook\."];
        // It fails if there are none.
        let keys = self.try_run(scope, &keys, Vec::new()).await?.stdout;
        let off = hooks(&keys).into_iter().flat_map(|name| {
            // `-c` would end the name at the first `=`.
            let setting = |part: &str, variable: &str| {
                let mut setting = OsString::from("--config-env=hook.");
                setting.push(name_of(name));
                setting.push(format!(".{part}={variable}"));
                setting
            };
            [setting("event", NOTHING), setting("enabled", OFF)]
        });
        let args: Vec<OsString> =
            off.chain([UPDATE_REF.into()]).chain(args.iter().map(|arg| arg.as_ref().to_owned())).collect();
        let env = [&[(NOTHING, OsStr::new("")), (OFF, OsStr::new("false"))], scope.env].concat();
        let done = self.try_run(Scope { env: &env, ..scope }, &args, Vec::new()).await?;
        if done.is_success() { Ok(()) } else { Err(self.failure(UPDATE_REF.to_owned(), &done)) }
    }

    fn command(
        &self,
        args: Vec<OsString>,
        cwd: &Path,
        writable: &[&Path],
        reads: &[&Path],
        env: &[(&'static str, &OsStr)],
    ) -> ChildCommand {
        let fixed = VARIABLES.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        // A place without a configuration, in case an option is unknown.
        let home = writable.first().map_or(Path::new("/dev/null"), |path| *path);
        let home = ["HOME", "XDG_CONFIG_HOME"].map(|name| (name.into(), home.into()));
        let own = env.iter().map(|(name, value)| (OsString::from(name), (*value).to_owned()));
        let guardian = self.sandbox.as_ref().map(|(warden, metadata)| {
            let owned = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect();
            let sandbox = Sandbox {
                metadata: *metadata,
                writable: owned(writable),
                protected: writable
                    .first()
                    .map(|snapshot_dir| snapshot_dir.join(KEPT_OBJECTS))
                    .filter(|path| path.is_dir())
                    .into_iter()
                    .collect(),
                unreadable: self.hidden.paths().to_vec(),
                readable: owned(reads),
                ..Sandbox::default()
            };
            let options = Options { sandbox: Some(sandbox), ..Options::default() };
            Guardian { program: warden.clone(), options }
        });
        ChildCommand {
            program: self.program.clone(),
            args,
            cwd: cwd.to_path_buf(),
            env: self
                .path
                .iter()
                .map(|path| ("PATH".into(), path.clone()))
                .chain(fixed)
                .chain(home)
                .chain(own)
                .collect(),
            untrusted: Vec::new(),
            guardian,
        }
    }
}

impl GitError {
    /// Returns the error for a command that did not end by itself.
    pub fn of(captured: &Captured, command: impl FnOnce() -> String) -> Option<Self> {
        match captured.outcome {
            _ if captured.is_stalled() => Some(Self::Stalled { command: command() }),
            Outcome::HardTimeout { limit } => Some(Self::TimedOut { command: command(), limit }),
            Outcome::Cancelled(_) => Some(Self::Stopped { command: command() }),
            _ => None,
        }
    }
}

/// Returns the name of a command: its first argument that is not an option.
fn named<A: AsRef<OsStr>>(args: &[A]) -> String {
    let args = args.iter().map(|arg| arg.as_ref().to_string_lossy());
    args.filter(|arg| !arg.starts_with('-')).map(std::borrow::Cow::into_owned).next().unwrap_or_default()
}

fn name_of(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec());
    #[cfg(not(unix))]
    OsString::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Returns the names of hooks in the names of settings, such as `lint` in `hook.lint.command`.
fn hooks(keys: &[u8]) -> BTreeSet<&[u8]> {
    let name = |key| -> Option<&[u8]> {
        let rest = <[u8]>::strip_prefix(key, b"hook.")?;
        rest.iter().rposition(|byte| *byte == b'.').map(|end| &rest[..end])
    };
    keys.split(|byte| *byte == 0).filter_map(name).collect()
}

/// Returns the end of a text, at most `bytes` bytes.
fn last(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..text.len()).find(|&at| text.is_char_boundary(at));
    from.map_or("", |from| &text[from..])
}

/// Returns the two leading numbers in `git version 2.47.3 (vendor's words)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_name_may_have_dots_and_other_special_characters() {
        let keys = b"hook.lint.command\0hook.lint.event\0hook.a.b=c.event\0hook.jobs\0";
        assert_eq!(hooks(keys), [b"a.b=c".as_slice(), b"lint"].into());
        assert_eq!(hooks(b""), BTreeSet::new());
    }

    #[test]
    fn a_version_is_two_numbers_with_any_suffix() {
        for (text, expected) in [
            ("git version 2.47.3", Some((2, 47))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39))),
            ("git version 2.49.0.windows.1", Some((2, 49))),
            ("git version 3.0-rc1", None),
            ("fake", None),
        ] {
            assert_eq!(version(text), expected, "{text}");
        }
    }
}
