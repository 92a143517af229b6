//! Runs git in a work tree that may have been made to harm those who look at it.
//!
//! A repository's own files can name programs that git runs even for `git status`: filters, a file system monitor, hooks,
//! the helpers of transports and of submodules, and the configuration of a bare repository that lies in the work tree
//! like any other file. All of them are switched off by options, which come before every file. Beside that git runs
//! in the read-only sandbox of a child, where this machine has one; where it has none, the options are all there is.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::process::{ChildCommand, Guardian, Options, Sandbox, capture};
use crate::run::admit::HostCapabilities;

/// How long one git command may take. A large work tree takes a second; a hanging file system must not hold up the run.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that `git status` may print. More means a work tree full of untracked files.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Settings that a repository must not make.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];
/// The same as variables. Missing objects are not fetched, whatever the transport.
const VARIABLES: [(&str, &str); 4] = [
    // Otherwise `git status` would write: it refreshes the index.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// The parts of a filter, and what switches each off.
const FILTER: [(&str, &str); 4] = [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];
/// A repository with more filters than this was written to take time.
const MAX_FILTERS: usize = 64;

/// git, in one directory.
#[derive(Clone)]
pub(super) struct Git {
    program: PathBuf,
    pub(super) cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    guardian: Option<Guardian>,
    /// Options that switch the filters off.
    filters: Vec<OsString>,
}

/// The sandbox in which git looks at a work tree; `None` on a machine that has none.
pub(in crate::run) fn read_only(capabilities: &HostCapabilities) -> Option<Guardian> {
    let abilities = capabilities.abilities().ok().filter(|abilities| abilities.landlock.is_ok())?;
    let sandbox = Sandbox { metadata: abilities.mount_namespace.is_ok(), ..Sandbox::default() };
    let options = Options { sandbox: Some(sandbox), ..Options::default() };
    Some(Guardian { program: capabilities.warden()?.to_path_buf(), options })
}

impl Git {
    /// `None` if the filters that are configured cannot all be switched off.
    pub(super) async fn new(
        program: PathBuf,
        cwd: PathBuf,
        env: &[(OsString, OsString)],
        guardian: Option<Guardian>,
    ) -> Option<Self> {
        let mut env = env.to_vec();
        env.extend(VARIABLES.map(|(name, value)| (name.into(), value.into())));
        Self { program, cwd, env, guardian, filters: Vec::new() }.renewed().await
    }

    /// The same, with the filters that are configured now switched off.
    pub(super) async fn renewed(self) -> Option<Self> {
        let mut git = Self { filters: Vec::new(), ..self };
        // An error, too, if there are none.
        let keys = git.run(&["config", "--null", "--name-only", "--get-regexp", r"^filter\."]).await;
        let mut names: Vec<&str> = keys.iter().flat_map(|keys| keys.split('\0')).filter_map(filter).collect();
        names.sort_unstable();
        names.dedup();
        // `-c` ends the name of a setting at the first `=`.
        if names.len() > MAX_FILTERS || names.iter().any(|name| name.contains(['=', '\u{fffd}'])) {
            return None;
        }
        let off = names.iter().flat_map(|name| {
            FILTER
                .iter()
                .flat_map(move |(part, value)| ["-c".into(), format!("filter.{name}.{part}={value}").into()])
        });
        git.filters = off.collect();
        Some(git)
    }

    /// What a command prints; `None` if it fails.
    pub(super) async fn run(&self, args: &[&str]) -> Option<String> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]).map(OsString::from);
        let settings = settings.chain(self.filters.iter().cloned());
        let command = ChildCommand {
            program: self.program.clone(),
            args: settings.chain(args.iter().map(OsString::from)).collect(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            guardian: self.guardian.clone(),
        };
        let captured = capture(command, TIMEOUT, MAX_BYTES).await.ok()?;
        // In a cut listing, modified files would look clean.
        (captured.is_success() && !captured.truncated)
            .then(|| String::from_utf8_lossy(&captured.stdout).into_owned())
    }
}

/// The name of a filter in that of a setting, such as `lfs` in `filter.lfs.clean`.
fn filter(key: &str) -> Option<&str> {
    key.strip_prefix("filter.")?.rsplit_once('.').map(|(name, _)| name)
}
