//! Lists the files that a run changed, according to git.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::process::{ChildCommand, capture, resolve_program, search_path};

/// How long one git command may take. A large work tree takes a second; a hanging file system must not hold up the run.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that `git status` may print. More means a work tree full of untracked files.
const GIT_BYTES: usize = 4 * 1024 * 1024;
/// Options before the command: a repository's own configuration must not name a program to run.
const SAFE: [&str; 2] = ["-c", "core.fsmonitor=false"];
/// The most changed files that a result lists.
const MAX_CHANGES: usize = 200;

/// The state of a work tree at one moment.
pub(in crate::run) struct WorkTree {
    git: PathBuf,
    root: PathBuf,
    env: Vec<(OsString, OsString)>,
    head: String,
    dirty: BTreeMap<String, Fingerprint>,
}

/// Tells whether a file that was already modified has been modified again.
#[derive(PartialEq, Eq)]
struct Fingerprint {
    status: String,
    modified: Option<SystemTime>,
    length: Option<u64>,
}

impl WorkTree {
    /// Records the state of the work tree around `cwd`. `None` without a work tree or without git.
    pub(in crate::run) async fn look(cwd: &Path, env: &[(OsString, OsString)]) -> Option<Self> {
        let git = resolve_program("git".as_ref(), search_path(env))?;
        let mut tree = Self {
            git,
            root: cwd.to_path_buf(),
            env: env.to_vec(),
            head: String::new(),
            dirty: BTreeMap::new(),
        };
        let root = tree.git(&["rev-parse", "--show-toplevel"]).await?;
        tree.root = PathBuf::from(root.trim_end());
        let head = tree.git(&["rev-parse", "--verify", "--quiet", "HEAD"]).await;
        tree.head = head.as_deref().map(str::trim).unwrap_or_default().to_owned();
        tree.dirty = tree.status().await?;
        Some(tree)
    }

    /// The files that differ from the recorded state, relative to the work tree's root, sorted.
    pub(in crate::run) async fn changes(self) -> Option<Vec<String>> {
        let after = Self::look(&self.root, &self.env).await?;
        let touched = after.dirty.iter().filter(|(path, now)| self.dirty.get(*path) != Some(now));
        let cleaned = self.dirty.keys().filter(|path| !after.dirty.contains_key(*path));
        let mut paths: Vec<String> = touched.map(|(path, _)| path).chain(cleaned).cloned().collect();
        if after.head != self.head {
            let before = if self.head.is_empty() { after.empty_tree().await? } else { self.head };
            let committed = after.git(&["diff", "--name-only", "-z", &before, &after.head]).await?;
            paths.extend(committed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned));
        }
        paths.sort_unstable();
        paths.dedup();
        let more = paths.len().saturating_sub(MAX_CHANGES);
        paths.truncate(MAX_CHANGES);
        if more > 0 {
            paths.push(format!("and {more} more"));
        }
        Some(paths)
    }

    /// The name of the tree without files, which depends on how the repository hashes.
    async fn empty_tree(&self) -> Option<String> {
        let name = self.git(&["hash-object", "-t", "tree", "/dev/null"]).await?;
        Some(name.trim().to_owned())
    }

    async fn status(&self) -> Option<BTreeMap<String, Fingerprint>> {
        // `--no-renames` avoids the second path of a rename; `-z` keeps names unquoted.
        let text =
            self.git(&["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"]).await?;
        let entries = text.split('\0').filter_map(|entry| entry.split_at_checked(3));
        Some(entries.map(|(status, path)| (path.to_owned(), self.fingerprint(status, path))).collect())
    }

    fn fingerprint(&self, status: &str, path: &str) -> Fingerprint {
        let metadata = std::fs::symlink_metadata(self.root.join(path)).ok();
        Fingerprint {
            status: status.to_owned(),
            modified: metadata.as_ref().and_then(|metadata| metadata.modified().ok()),
            length: metadata.map(|metadata| metadata.len()),
        }
    }

    async fn git(&self, args: &[&str]) -> Option<String> {
        let mut env = self.env.clone();
        // Otherwise `git status` would write: it refreshes the index.
        env.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        let command = ChildCommand {
            program: self.git.clone(),
            args: SAFE.iter().chain(args).map(OsString::from).collect(),
            cwd: self.root.clone(),
            env,
            guardian: None,
        };
        let captured = capture(command, GIT_TIMEOUT, GIT_BYTES).await.ok()?;
        // In a cut listing, modified files would look clean.
        (captured.is_success() && !captured.truncated)
            .then(|| String::from_utf8_lossy(&captured.stdout).into_owned())
    }
}

#[cfg(test)]
mod tests;
