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
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// A repository with one committed file. No configuration of this machine takes part.
    struct Repository(TempDir);

    impl Repository {
        fn new() -> Self {
            let this = Self(tempfile::tempdir().expect("a temporary directory"));
            this.git(&["init", "-q"]);
            this.write("kept.txt", "kept");
            this.commit();
            this
        }

        fn env() -> Vec<(OsString, OsString)> {
            let path = std::env::var_os("PATH").expect("a search path");
            let nothing = [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")];
            nothing
                .map(|(name, value)| (name.into(), value.into()))
                .into_iter()
                .chain([("PATH".into(), path)])
                .collect()
        }

        fn git(&self, args: &[&str]) {
            let done = std::process::Command::new("git")
                .args(["-c", "user.name=n", "-c", "user.email=n@localhost"])
                .args(args)
                .env_clear()
                .envs(Self::env())
                .current_dir(&self.0)
                .output()
                .expect("git runs");
            assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.0.path().join(name), text).expect("written");
        }

        fn commit(&self) {
            self.git(&["add", "--all"]);
            self.git(&["commit", "-qm", "all"]);
        }

        async fn look(&self) -> WorkTree {
            WorkTree::look(self.0.path(), &Self::env()).await.expect("a work tree")
        }
    }

    #[tokio::test]
    async fn a_change_is_whatever_differs_from_the_state_before() {
        let repository = Repository::new();
        repository.write("dirty.txt", "dirty before");
        repository.write("cleaned.txt", "dirty before");
        repository.write("left.txt", "dirty before, and left as it is");
        fs::create_dir(repository.0.path().join("nested")).expect("a folder");
        let before = repository.look().await;

        assert_eq!(repository.look().await.changes().await, Some(vec![]), "nothing has changed");
        repository.write("dirty.txt", "dirty, and longer now");
        repository.write("nested/a  name.txt", "added");
        fs::remove_file(repository.0.path().join("cleaned.txt")).expect("removed");
        fs::remove_file(repository.0.path().join("kept.txt")).expect("removed");
        let expected = ["cleaned.txt", "dirty.txt", "kept.txt", "nested/a  name.txt"].map(str::to_owned);
        assert_eq!(before.changes().await, Some(expected.to_vec()));
    }

    #[tokio::test]
    async fn what_a_run_commits_is_changed_too() {
        let repository = Repository::new();
        let before = repository.look().await;
        repository.write("committed.txt", "by the run");
        repository.commit();
        repository.write("kept.txt", "changed after the commit");
        let expected = ["committed.txt", "kept.txt"].map(str::to_owned);
        assert_eq!(before.changes().await, Some(expected.to_vec()));
    }

    #[tokio::test]
    async fn the_first_commit_of_a_repository_is_changed_too() {
        let empty = Repository(tempfile::tempdir().expect("a temporary directory"));
        empty.git(&["init", "-q"]);
        let before = empty.look().await;
        empty.write("first.txt", "by the run");
        empty.commit();
        empty.write("second.txt", "not committed");
        let expected = ["first.txt", "second.txt"].map(str::to_owned);
        assert_eq!(before.changes().await, Some(expected.to_vec()));
    }

    #[tokio::test]
    async fn a_long_list_of_changes_is_cut_and_says_how_many_more_there_are() {
        for (number, last) in [(MAX_CHANGES, "f199"), (MAX_CHANGES + 2, "and 2 more")] {
            let repository = Repository::new();
            let before = repository.look().await;
            (0..number).for_each(|file| repository.write(&format!("f{file:03}"), ""));
            let changes = before.changes().await.expect("listed");
            assert_eq!(changes.last().map(String::as_str), Some(last));
        }
    }

    #[tokio::test]
    async fn a_look_writes_nothing_and_needs_a_repository() {
        let repository = Repository::new();
        // Its time says that the index is to be refreshed.
        repository.write("kept.txt", "kept");
        let index = repository.0.path().join(".git/index");
        let before = fs::read(&index).expect("an index");
        repository.look().await;
        assert!(fs::read(&index).expect("an index") == before, "git refreshed the index");

        let nothing = tempfile::tempdir().expect("a temporary directory");
        assert!(WorkTree::look(nothing.path(), &Repository::env()).await.is_none());
    }
}
