//! The facts that are needed to read the tree of a repository as the repository does. None of them can name a program.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::error::SnapshotError;
use crate::git::{Git, Scope};
use crate::obstacle::{Place, unless_blocked};
use crate::root::RepositoryDirs;
use files::{Hidden, open};

/// The settings that are queried: the file comparison on this file system, and the naming of objects.
const QUERIED: &str =
    r"^(core\.(filemode|ignorecase|symlinks|precomposeunicode|excludesfile)|extensions\.objectformat)$";
/// The queried settings that are copied if they are `true` or `false`.
const COPIED: [&str; 4] = ["core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode"];
/// The largest file with names to ignore that is read.
const MAX_EXCLUDES: u64 = 1024 * 1024;

/// A repository's settings for reading its tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The commit that is checked out, if there is one.
    pub head: Option<String>,
    /// True if objects are named by SHA-256 instead of SHA-1.
    pub is_sha256: bool,
    /// Settings as lines of a configuration file.
    settings: Vec<(&'static str, bool)>,
    /// The ignore rules besides the `.gitignore` files, the weakest first.
    pub excludes: Vec<u8>,
    /// The part of it that a child may read. A repository may name any file of the user's, by a setting or a link.
    pub shown: Vec<u8>,
}

impl Facts {
    /// Reads the facts of a repository. `snapshot_dir` is a directory that git may write.
    pub(super) async fn of(
        git: &Git,
        dirs: &RepositoryDirs,
        snapshot_dir: &Path,
        env: &[(OsString, OsString)],
    ) -> Result<Self, SnapshotError> {
        let scope = Scope {
            git_dir: &dirs.own,
            writable: &[snapshot_dir],
            reads: &[&dirs.shared],
            cwd: snapshot_dir,
            env: &[],
        };
        let place = || Place::References(dirs.own.clone());
        let asked = ["rev-parse", "--verify", "--quiet", "HEAD"];
        let head =
            unless_blocked(place(), git.hidden(), Box::pin(git.try_run(scope, &asked, Vec::new()))).await??;
        let head = Some(head).filter(supervisor::Captured::is_success);
        let head = head.map(|head| String::from_utf8_lossy(&head.stdout).trim().to_owned());
        // Only the repository's files: options set the same values for all.
        let config = dirs.shared.join("config");
        let args = [OsStr::new("config"), "--file".as_ref(), config.as_ref(), "--null".as_ref()];
        let args = args.into_iter().chain(["--get-regexp".as_ref(), OsStr::new(QUERIED)]).collect::<Vec<_>>();
        let output =
            unless_blocked(place(), git.hidden(), Box::pin(git.try_run(scope, &args, Vec::new()))).await??;
        let mut facts = Self { head: head.filter(|head| !head.is_empty()), ..Self::default() };
        let mut of_repository = None;
        // In `git config --null` a line break separates name and value.
        for setting in String::from_utf8_lossy(&output.stdout).split('\0') {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            if let Some(copied) = COPIED.iter().find(|copied| **copied == name) {
                facts.settings.retain(|(known, _)| known != copied);
                facts.settings.push((copied, !matches!(value, "false" | "no" | "off" | "0" | "")));
            } else if name == "core.excludesfile" {
                of_repository = Some(value.to_owned());
            } else if name == "extensions.objectformat" {
                facts.is_sha256 = value == "sha256";
            }
        }
        let user = User::of(env);
        let is_users = of_repository.is_none();
        let named = match of_repository {
            Some(named) => Some(user.expand(&named)),
            None => user.excludes_file(git, scope).await?,
        };
        let own = dirs.shared.join("info/exclude");
        let hidden = git.hidden().showing(&dirs.shared);
        let read = move || {
            let named = named.map(|named| lines(hidden.regular(&named))).unwrap_or_default();
            // Opened once: a child may put a link in its place between two steps.
            let (lines, is_shown) = match hidden.no_follow(&own) {
                Ok(file) => (lines(Ok(file)), true),
                Err(_) => (lines(hidden.regular(&own)), false),
            };
            let shown =
                [(is_users, &named), (is_shown, &lines)].map(|(is, lines)| if is { &lines[..] } else { b"" });
            (shown.concat(), [&named[..], &lines].concat())
        };
        (facts.shown, facts.excludes) = off_thread(read).await;
        Ok(facts)
    }

    /// Returns the configuration for a directory of ours that reads such a tree.
    pub(super) fn config(&self) -> String {
        let (version, format) =
            if self.is_sha256 { (1, "[extensions]\n\tobjectFormat = sha256\n") } else { (0, "") };
        let settings = self
            .settings
            .iter()
            .map(|(name, value)| format!("\t{} = {value}\n", name.strip_prefix("core.").unwrap_or(name)));
        let settings: String = settings.collect();
        format!("[core]\n\trepositoryformatversion = {version}\n\tbare = false\n{settings}{format}")
    }
}

/// The paths of the user's own configuration.
struct User {
    home: Option<PathBuf>,
    xdg: Option<PathBuf>,
    named: Option<PathBuf>,
}

impl User {
    fn of(env: &[(OsString, OsString)]) -> Self {
        let variable = |name: &str| {
            let found = env.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| PathBuf::from(value)).filter(|path| path.is_absolute())
        };
        let home = variable("HOME");
        let xdg = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        Self { home, xdg, named: variable("GIT_CONFIG_GLOBAL") }
    }

    fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(relative), Some(home)) => home.join(relative),
            _ => PathBuf::from(path),
        }
    }

    /// Returns the file of global ignore rules that the user's or the system's configuration names, or git's default.
    async fn excludes_file(&self, git: &Git, scope: Scope<'_>) -> Result<Option<PathBuf>, SnapshotError> {
        let xdg = self.xdg.as_ref().map(|xdg| xdg.join("git"));
        let own = [
            self.home.as_ref().map(|home| home.join(".gitconfig")),
            xdg.as_ref().map(|xdg| xdg.join("config")),
        ];
        let own = match &self.named {
            Some(named) => vec![named.clone()],
            None => own.into_iter().flatten().collect(),
        };
        for file in own.into_iter().chain([PathBuf::from("/etc/gitconfig")]) {
            let searched = file.clone();
            let hidden = git.hidden().clone();
            if !off_thread(move || may_name_excludes(&searched, &hidden)).await {
                continue;
            }
            let args = [OsStr::new("config"), "--file".as_ref(), file.as_ref(), "--includes".as_ref()];
            let args =
                args.into_iter().chain(["--get", "core.excludesFile"].map(OsStr::new)).collect::<Vec<_>>();
            let output = git.try_run(scope, &args, Vec::new()).await?;
            if output.is_success() {
                return Ok(Some(self.expand(String::from_utf8_lossy(&output.stdout).trim())));
            }
        }
        Ok(xdg.map(|xdg| xdg.join("ignore")))
    }
}

/// Returns true if git must be asked. Most files name none.
fn may_name_excludes(file: &Path, hidden: &Hidden) -> bool {
    let text = String::from_utf8_lossy(&lines(hidden.regular(file))).to_ascii_lowercase();
    text.contains("excludesfile") || text.contains("[include")
}

/// Returns the content of a file with a line break at its end, or nothing if the file is hidden, unreadable or too
/// large.
fn lines(opened: io::Result<File>) -> Vec<u8> {
    let mut bytes = opened.and_then(|file| open::read(file, MAX_EXCLUDES)).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Runs blocking code outside of the runtime's tasks.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
