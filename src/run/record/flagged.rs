//! Finds the files that a run leaves behind and that run code later, or tell other agents what to do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::changes::listed;
use super::isolation::ImportOutcome;
use crate::run::blocking::blocking;
use crate::run::result::artifacts::MAX_FLAGGED;
use crate::run::result::verdict::Flagged;
use crate::run::sandbox::WriteScope;
use worktree::{Gap, SearchLimits, WatchedFiles, by_danger, is_flagged};

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
pub(crate) fn of_branch(outcome: &ImportOutcome) -> Flagged {
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
