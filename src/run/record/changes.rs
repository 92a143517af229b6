//! Lists the files that a run changed, according to git, and those that run code later or tell other agents what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use supervisor::{Guardian, resolve_program, trusted_env};
use tokio::time::timeout;
use worktree::{Change, Gap, Mark, SearchLimits, WatchedFiles, by_danger, is_flagged, mark_of};

use super::git::{Git, NoAnswer};
use super::isolation::ImportOutcome;
use crate::run::blocking::blocking;
use crate::run::result::artifacts::{MAX_CHANGES, MAX_FLAGGED};
use crate::run::result::verdict::Flagged;
use crate::run::sandbox::WriteScope;

/// `--no-renames` avoids the second path of a rename; `-z` keeps names unquoted.
const STATUS: [&str; 6] =
    ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"];

/// Returns the paths that a result lists. If there are more, the last entry gives their number.
pub(crate) fn listed(paths: impl IntoIterator<Item = String>, limit: usize) -> Vec<String> {
    let mut paths = paths.into_iter();
    let mut listed: Vec<String> = paths.by_ref().take(limit).collect();
    let more = paths.count();
    listed.extend((more > 0).then(|| format!("and {more} more")));
    listed
}

/// Returns the paths of changes in a private tree.
pub(crate) fn paths_of(changes: &[Change]) -> impl Iterator<Item = String> + '_ {
    changes.iter().map(|change| change.path.to_string_lossy().into_owned())
}

/// The state of a work tree at one moment.
pub(crate) struct WorkTree {
    /// git, in the work tree's root.
    git: Git,
    head: String,
    dirty: BTreeMap<String, Fingerprint>,
}

/// The changes of a run.
pub(crate) struct Changed {
    root: PathBuf,
    /// The paths relative to the work tree's root. A written file counts, regardless of its content now.
    paths: BTreeSet<String>,
    /// True if the tree is at another commit now.
    pub(crate) is_committed: bool,
}

impl Changed {
    /// Adds changes that git does not see because of flags on the files.
    pub(crate) fn with(mut self, paths: impl IntoIterator<Item = String>) -> Self {
        self.paths.extend(paths);
        self
    }

    /// Returns the paths that a result lists, sorted.
    pub(crate) fn listed(&self) -> Vec<String> {
        listed(self.paths.iter().cloned(), MAX_CHANGES)
    }

    /// Returns the absolute paths of all files that the run has changed and that still exist. Blocks.
    pub(crate) fn existing(&self) -> Vec<PathBuf> {
        let paths = self.paths.iter().map(|path| self.root.join(path));
        paths.filter(|path| std::fs::symlink_metadata(path).is_ok()).collect()
    }
}

/// The facts that show if a file that was already modified has been modified again.
#[derive(PartialEq, Eq)]
struct Fingerprint {
    status: String,
    mark: Option<Mark>,
}

impl WorkTree {
    /// Records the state of the work tree around `cwd`. `guardian` restrains git, which lies outside of the directories
    /// `untrusted`.
    ///
    /// # Errors
    ///
    /// Fails without a work tree, without git, or if git would block the run.
    pub(crate) async fn read(
        cwd: &Path,
        env: &[(OsString, OsString)],
        untrusted: &[PathBuf],
        guardian: Option<Guardian>,
    ) -> Result<Self, NoAnswer> {
        let program = resolve_program("git".as_ref(), env, untrusted).map_err(|_| NoAnswer::Failed)?;
        let env = trusted_env(env, untrusted);
        let mut git = Git::new(program, cwd.to_path_buf(), &env, guardian).await?;
        let root = git.run(&["rev-parse", "--show-toplevel"]).await?;
        git.cwd = PathBuf::from(root.strip_suffix('\n').unwrap_or(&root));
        Self::of(git).await
    }

    async fn of(git: Git) -> Result<Self, NoAnswer> {
        let head = match git.run(&["rev-parse", "--verify", "--quiet", "HEAD"]).await {
            // There is no commit yet.
            Err(NoAnswer::Failed) => String::new(),
            head => head?.trim().to_owned(),
        };
        let mut tree = Self { git, head, dirty: BTreeMap::new() };
        tree.dirty = tree.status().await?;
        Ok(tree)
    }

    /// The files that differ from the recorded state.
    ///
    /// # Errors
    ///
    /// The same as for [`Self::read`].
    pub(crate) async fn changes(self) -> Result<Changed, NoAnswer> {
        // The run may have configured filters.
        let after = Self::of(self.git.renewed().await?).await?;
        let touched = after.dirty.iter().filter(|(path, now)| self.dirty.get(*path) != Some(now));
        let cleaned = self.dirty.keys().filter(|path| !after.dirty.contains_key(*path));
        let mut paths: BTreeSet<String> = touched.map(|(path, _)| path).chain(cleaned).cloned().collect();
        let is_committed = after.head != self.head;
        if is_committed {
            let before = if self.head.is_empty() { after.empty_tree().await? } else { self.head };
            let committed = after.git.run(&diff(&before, &after.head)).await?;
            paths.extend(committed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned));
        }
        Ok(Changed { root: after.git.cwd, paths, is_committed })
    }

    /// Returns the name of the empty tree, which depends on the repository's hash function.
    async fn empty_tree(&self) -> Result<String, NoAnswer> {
        let name = self.git.run(&["hash-object", "-t", "tree", "/dev/null"]).await?;
        Ok(name.trim().to_owned())
    }

    async fn status(&self) -> Result<BTreeMap<String, Fingerprint>, NoAnswer> {
        let text = self.git.run(&STATUS).await?;
        let entries = text.split('\0').filter_map(|entry| entry.split_at_checked(3));
        Ok(entries.map(|(status, path)| (path.to_owned(), self.fingerprint(status, path))).collect())
    }

    fn fingerprint(&self, status: &str, path: &str) -> Fingerprint {
        let metadata = std::fs::symlink_metadata(self.git.cwd.join(path)).ok();
        Fingerprint { status: status.to_owned(), mark: metadata.as_ref().map(mark_of) }
    }
}

/// Compares two commits without any program of the repository.
fn diff<'a>(before: &'a str, after: &'a str) -> [&'a str; 8] {
    ["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", before, after]
}

/// The time for the search before a run, which waits for it. Files that it misses count as changed at the end.
const TIME_BEFORE: Duration = Duration::from_secs(5);
/// The time for the search after a run. Millions of files take seconds.
pub(crate) const TIME_AFTER: Duration = Duration::from_secs(10);
/// The additional time for a search whose file system does not answer.
const SEARCH_GRACE: Duration = Duration::from_secs(1);

/// The files in the tree of a run at its start whose changes a person should check.
pub(crate) struct Watched {
    scope: WriteScope,
    before: Arc<WatchedFiles>,
    gaps: Vec<String>,
}

impl Watched {
    /// Searches the tree of a run at its start.
    pub(crate) async fn start(scope: WriteScope) -> Self {
        let protection = scope.clone();
        let gaps = blocking(move || protection.find_protected().gaps());
        let (mut gaps, before) = tokio::join!(gaps, search(scope.clone(), TIME_BEFORE));
        gaps.extend(before.gap(None).map(|why| {
            let why = why.message(str::to_owned);
            format!(
                "the search for files that run code later was not complete when the run began ({why}): \
                 files that it missed count as changed"
            )
        }));
        Self { scope, before: Arc::new(before), gaps }
    }

    /// Returns notices about paths that are not protected, and about a search that was not complete.
    pub(crate) fn gaps(&self) -> Vec<String> {
        self.gaps.clone()
    }

    /// Returns the files that have appeared or changed since, including files that git ignores. `known` has the
    /// absolute paths of changed files: the result has them even if `time` ends the search.
    pub(crate) async fn changes(self, known: &[PathBuf], time: Duration) -> Flagged {
        let Self { scope, before, .. } = self;
        let inner = |path: &PathBuf| path.strip_prefix(&scope.root).map(Path::to_path_buf).ok();
        let known: BTreeSet<PathBuf> =
            known.iter().filter_map(inner).filter(|path| is_flagged(path)).collect();
        let later = search(scope, time).await;
        let find = move || {
            let mut paths = before.changes(&later);
            paths.extend(known);
            Flagged { paths: shown(by_danger(paths)), gap: later.gap(Some(&before)) }
        };
        blocking(find).await
    }
}

async fn search(scope: WriteScope, time: Duration) -> WatchedFiles {
    let limits = SearchLimits::within(time);
    let found = timeout(time + SEARCH_GRACE, blocking(move || scope.watched_files(limits))).await;
    found.unwrap_or_else(|_| WatchedFiles::unknown(time))
}

/// Returns the same for a run in a private tree. Only its changes leave that tree, and ignored files are not among
/// them.
pub(crate) fn flagged_in_branch(outcome: &ImportOutcome) -> Flagged {
    let ImportOutcome { report, changes, flagged, notices } = outcome;
    let known = changes.as_deref().unwrap_or_default();
    // Without notices it has commits, and no changed files.
    let is_unlisted = report.branch.is_some() && known.is_empty() && !notices.is_empty();
    let gap = if changes.is_none() {
        Some(Gap::because("its changes are still being imported"))
    } else {
        let unlisted = is_unlisted.then_some("the files of its branch could not be listed");
        unlisted.or(flagged.limit.as_deref()).map(Gap::because)
    };
    Flagged { paths: shown(flagged.paths.clone()), gap }
}

fn shown(paths: Vec<PathBuf>) -> Vec<String> {
    listed(paths.into_iter().map(|path| path.to_string_lossy().into_owned()), MAX_FLAGGED)
}

#[cfg(test)]
mod tests;
