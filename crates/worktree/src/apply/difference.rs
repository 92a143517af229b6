//! Shows the changes of a run, in a private tree or in the tree itself.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::ApplyError;
use super::merge::SUBMODULE;
use crate::private::PATCH;
use crate::replace::{Place, probe};
use crate::snapshot::{
    Change, Contents, Snapshot, SnapshotError, SnapshotStore, Unrecorded, batches, both, modified_after,
    off_thread, state,
};

/// The comparison of two trees as a patch, without any program of the repository.
const COMPARE: [&str; 8] = [
    "diff-tree",
    "-r",
    "-p",
    "--no-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--end-of-options",
];

/// The changes of a run, in git's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Its branch, if it has one.
    pub branch: Option<String>,
    /// The changes. Names are quoted as git does; the contents of files are not changed.
    pub text: Vec<u8>,
    /// The file with the same changes as a patch, including binary files.
    pub patch: Option<PathBuf>,
    /// The changes of a run in place that git does not record.
    pub unrecorded: Vec<Unrecorded>,
    /// The ignore files that a run in place has changed. Files that git ignores because of them are missing here.
    pub ignore_files: Vec<PathBuf>,
    /// The files of a run in place that are no longer in the state of its end.
    pub changed_since: Vec<PathBuf>,
    /// True if the end of a run in place was not recorded. The changes are then the ones until now.
    pub is_until_now: bool,
    /// True if an undo has reverted the run.
    pub is_undone: bool,
}

impl SnapshotStore {
    /// Returns the changes of the run `id` since its start. `ended` is the time of its end, for a run in place whose
    /// state was not recorded then: later modifications count as changed since.
    ///
    /// # Errors
    ///
    /// If no changes are stored, or git fails.
    pub async fn difference(&self, id: &str, ended: SystemTime) -> Result<Difference, ApplyError> {
        match self.artifacts(id).await {
            Ok((snapshot, artifacts)) => {
                let text = self.comparison(&snapshot, &artifacts.commit).await?;
                let patch = self.directory(id).join(PATCH);
                let patch = off_thread(move || Some(patch).filter(|patch| patch.exists())).await;
                Ok(Difference { branch: artifacts.branch, text, patch, ..Difference::default() })
            }
            Err(ApplyError::InPlace { .. }) => {
                let snapshot = self.open(id).await?;
                Ok(self.difference_in_place(&snapshot, ended).await?)
            }
            Err(error) => Err(error),
        }
    }

    async fn difference_in_place(
        &self,
        snapshot: &Snapshot,
        ended: SystemTime,
    ) -> Result<Difference, SnapshotError> {
        let end = match &snapshot.end {
            Some(end) => end.clone(),
            None => self.tree_of_now(snapshot).await?,
        };
        let changes = self.changes(snapshot, &snapshot.tree, &end).await?;
        let text = self.comparison(snapshot, &end).await?;
        // The text is complete without it, except for binary files: the disk may be full.
        let patch = if text.is_empty() { None } else { self.patch(snapshot, &end).await.ok() };
        let changed_since = if snapshot.end.is_some() {
            self.changed_since(snapshot, changes.clone()).await?
        } else {
            let (root, changes) = (snapshot.root.clone(), changes.clone());
            off_thread(move || modified_after(&root, &changes, ended)).await.into_iter().collect()
        };
        Ok(Difference {
            branch: None,
            text,
            patch,
            unrecorded: self.unrecorded(snapshot, &changes).await,
            ignore_files: self.changed_ignore_files(snapshot).await,
            changed_since,
            is_until_now: snapshot.end.is_none(),
            is_undone: snapshot.is_undone,
        })
    }

    async fn comparison(&self, snapshot: &Snapshot, to: &str) -> Result<Vec<u8>, SnapshotError> {
        self.git(snapshot, &[&COMPARE[..], &[&snapshot.tree, to]].concat(), Vec::new()).await
    }

    /// Returns the changed files that are no longer in the state of the run's end.
    async fn changed_since(
        &self,
        snapshot: &Snapshot,
        mut changes: Vec<Change>,
    ) -> Result<Vec<PathBuf>, SnapshotError> {
        // A repository in the tree is not compared.
        changes.retain(|Change { old, new, .. }| {
            [old, new].into_iter().flatten().all(|file| file.mode != SUBMODULE)
        });
        // Only the state at the end is compared.
        for change in &mut changes {
            change.old = None;
        }
        let sizes = self.sizes(snapshot, changes.iter().flat_map(both).collect()).await?;
        let mut found = Vec::new();
        for batch in batches(changes, &sizes) {
            let contents = self.contents(snapshot, &batch).await?;
            let root = snapshot.root.clone();
            found.extend(off_thread(move || not_as_recorded(&root, batch, &contents)).await);
        }
        found.sort();
        Ok(found)
    }
}

/// Returns the files that are not in the second state of their change. Blocks.
fn not_as_recorded(root: &Path, changes: Vec<Change>, contents: &Contents) -> Vec<PathBuf> {
    let differs = |change: &Change| {
        let Ok(expected) = state(change.new.as_ref(), contents) else { return false };
        match probe(root, &change.path, expected) {
            Ok(Place::Same) => false,
            Ok(Place::Blocked) => expected.is_some(),
            // A file that cannot be read any more was readable at the end.
            Ok(Place::Different) | Err(_) => true,
        }
    };
    changes.into_iter().filter(differs).map(|change| change.path).collect()
}
