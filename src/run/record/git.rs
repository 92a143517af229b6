//! Runs git in a work tree whose files may attack the programs that read it.
//!
//! A repository's own files can name programs that git runs even for `git status`: filters, a file system monitor,
//! hooks, the helpers of transports and of submodules, and the configuration of a bare repository that is in the work
//! tree like any other file. Options switch all of them off, and options override every file. If this machine has a
//! sandbox, git also runs in a read-only one and cannot read files that are hidden from children. Without a sandbox,
//! the options are the only protection.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::run::blocking::blocking;
use crate::run::context::HostContext;
use crate::run::sandbox::HostCapabilities;
use crate::run::sandbox::hidden::{below_home, private_tree, unreadable};
use agents::config::Config;
use files::Hidden;
use sanitizer::chain;
use supervisor::{Cancel, CaptureLimits, ChildCommand, Guardian, Options, Sandbox, capture_within};
use worktree::{GitError, Obstacle, Place, Reads, STALL, unless_blocked, without_git_variables};

/// The total time limit of the git commands that read the work tree once. A large work tree takes a second. A hanging
/// file system must not block the run.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that `git status` may print. More means a work tree full of untracked files.
pub(crate) const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Settings that a repository must not make.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];
/// The same settings as variables. Missing objects are never fetched, over any transport.
const VARIABLES: [(&str, &str); 4] = [
    // Otherwise `git status` would write: it refreshes the index.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// The user's configuration of git. Our commands do not print its content.
const CONFIGURATION: [&str; 4] =
    ["~/.gitconfig", "~/.config/git/config", "~/.config/git/ignore", "~/.config/git/attributes"];
/// The parts of a filter, each with the value that switches it off.
const FILTER: [(&str, &str); 4] = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
/// The maximum number of filters. A repository with more was written to waste time.
const MAX_FILTERS: usize = 64;

/// git, in one directory.
#[derive(Clone)]
pub(super) struct Git {
    program: PathBuf,
    pub(super) cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    guardian: Option<Guardian>,
    /// The files that it cannot read.
    hidden: Hidden,
    /// Options that switch the filters off.
    filters: Vec<OsString>,
    /// The time at which the current reading must have ended.
    until: Instant,
}

/// The reason why git gave no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It failed, because there is no repository, for example. No notice follows.
    Failed,
    /// It printed more than [`MAX_BYTES`].
    TooMuch,
    /// It would have blocked the run, for this reason.
    Blocked(String),
}

impl From<Obstacle> for NoAnswer {
    fn from(obstacle: Obstacle) -> Self {
        Self::Blocked(chain(&obstacle))
    }
}

impl From<GitError> for NoAnswer {
    fn from(error: GitError) -> Self {
        Self::Blocked(chain(&error))
    }
}

/// Returns the sandbox for git in the work tree around `cwd`, or `None` if the machine has no sandbox. git cannot read
/// hidden files in it, except its own configuration. Blocks.
pub(crate) fn read_only(
    capabilities: &HostCapabilities,
    config: &Config,
    context: &HostContext,
    cwd: &Path,
) -> Option<Guardian> {
    let abilities = capabilities.abilities().ok().filter(|abilities| abilities.landlock.is_ok())?;
    let own = CONFIGURATION.iter().filter_map(|place| below_home(place, context.home.as_deref()));
    // The sandbox follows no links to files that it shows.
    let own = own.filter_map(|path| path.canonicalize().ok());
    let sandbox = Sandbox {
        metadata: abilities.mount_namespace.is_ok(),
        unreadable: unreadable(config, context),
        readable: own.chain(private_tree(context, cwd)).collect(),
        ..Sandbox::default()
    };
    let options = Options { sandbox: Some(sandbox), ..Options::default() };
    Some(Guardian { program: capabilities.warden()?.to_path_buf(), options })
}

impl Git {
    /// Fails if the filters that are configured cannot all be switched off.
    pub(super) async fn new(
        program: PathBuf,
        cwd: PathBuf,
        env: &[(OsString, OsString)],
        guardian: Option<Guardian>,
    ) -> Result<Self, NoAnswer> {
        let mut env = without_git_variables(env);
        env.extend(VARIABLES.map(|(name, value)| (name.into(), value.into())));
        let sandbox = guardian.as_ref().and_then(|guardian| guardian.options.sandbox.as_ref());
        let hidden = Hidden::new(sandbox.map(|sandbox| sandbox.unreadable.clone()).unwrap_or_default());
        let until = Instant::now();
        Self { program, cwd, env, guardian, hidden, filters: Vec::new(), until }.renewed().await
    }

    /// Prepares another reading: switches off the filters that are configured now. Fails if a file of the repository
    /// would block git.
    pub(super) async fn renewed(self) -> Result<Self, NoAnswer> {
        let mut git = Self { filters: Vec::new(), until: Instant::now() + READ_TIMEOUT, ..self };
        let cwd = git.cwd.clone();
        let hidden = git.hidden.clone();
        let search = move || Obstacle::in_repository(&cwd, Reads::Everything, &hidden);
        if let Some(obstacle) = blocking(search).await {
            return Err(obstacle.into());
        }
        let keys = match git.run(&["config", "--null", "--name-only", "--get-regexp", r"^filter\."]).await {
            // git fails, too, if there are none.
            Err(NoAnswer::Failed) => String::new(),
            keys => keys?,
        };
        let mut names: Vec<&str> = keys.split('\0').filter_map(filter).collect();
        names.sort_unstable();
        names.dedup();
        // `-c` ends the name of a setting at the first `=`.
        if names.len() > MAX_FILTERS || names.iter().any(|name| name.contains(['=', '\u{fffd}'])) {
            return Err(NoAnswer::Failed);
        }
        let off = names.iter().flat_map(|name| {
            FILTER
                .iter()
                .flat_map(move |(part, value)| ["-c".into(), format!("filter.{name}.{part}={value}").into()])
        });
        git.filters = off.collect();
        Ok(git)
    }

    /// Returns the output of a command.
    pub(super) async fn run(&self, args: &[&str]) -> Result<String, NoAnswer> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]).map(OsString::from);
        let settings = settings.chain(self.filters.iter().cloned());
        let command = ChildCommand {
            program: self.program.clone(),
            args: settings.chain(args.iter().map(OsString::from)).collect(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            untrusted: Vec::new(),
            guardian: self.guardian.clone(),
        };
        let limits = CaptureLimits {
            timeout: self.until.saturating_duration_since(Instant::now()),
            stall: Some(STALL),
            max_bytes: MAX_BYTES,
            cancel: &Cancel::new(),
        };
        // Boxed, so that the futures around it do not have to hold all of it.
        let captured = Box::pin(capture_within(command, Vec::new(), limits, |_| {}));
        let captured = unless_blocked(Place::WorkTree(self.cwd.clone()), &self.hidden, captured).await?;
        let captured = captured.map_err(|error| match error.stage() {
            // A person can change what fills a directory next to a hidden file.
            "sandbox" => NoAnswer::from(GitError::Spawn(error)),
            _ => NoAnswer::Failed,
        })?;
        let name = || args.first().copied().unwrap_or_default().to_owned();
        match GitError::of(&captured, name) {
            // Its commands share the time.
            Some(GitError::TimedOut { command, .. }) => {
                return Err(GitError::TimedOut { command, limit: READ_TIMEOUT }.into());
            }
            Some(error) => return Err(error.into()),
            None => {}
        }
        if !captured.is_success() {
            return Err(NoAnswer::Failed);
        }
        // In a cut listing, modified files would look clean.
        if captured.truncated {
            return Err(NoAnswer::TooMuch);
        }
        Ok(String::from_utf8_lossy(&captured.stdout).into_owned())
    }
}

/// Returns the name of the filter in a setting, such as `lfs` in `filter.lfs.clean`.
fn filter(key: &str) -> Option<&str> {
    key.strip_prefix("filter.")?.rsplit_once('.').map(|(name, _)| name)
}
