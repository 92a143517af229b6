//! Finds private trees again: the trees of runs whose process has died, and the branch that an earlier part of a run
//! made.

use std::fs::{self, File};
use std::path::Path;

use super::create::PrivateTree;
use super::import::Imported;
use super::publish::BRANCH_NAMINGS;
use crate::git::Scope;
use crate::snapshot::{Snapshot, SnapshotError, SnapshotStore, off_thread};
use files::exclusive::{has_no_locks, lock};
use files::layout::PRIVATE_TREE;
use files::{FileError, open, private};

/// Held while the run of the tree is alive.
const LOCK: &str = "private.lock";
/// The largest record that is read.
const MAX_RECORD: u64 = 16 * 1024 * 1024;
/// The maximum number of snapshots that are checked.
const MAX_SNAPSHOTS: usize = 100_000;

/// The sign that the run of a private tree is alive, until this is dropped or the process ends.
#[derive(Debug)]
pub struct TreeLock {
    /// `None` if the file system has no locks. No process imports such a tree after the run's process has died.
    file: Option<File>,
}

impl TreeLock {
    /// Returns the lock file. The warden of a child that also holds it keeps others from importing the tree until that
    /// child has ended.
    #[must_use]
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }
}

impl SnapshotStore {
    /// Marks the private tree that the run `id` is about to get as in use.
    ///
    /// # Errors
    ///
    /// If another process holds it.
    pub async fn lock_tree(&self, id: &str) -> Result<TreeLock, SnapshotError> {
        let path = self.directory(id).join(LOCK);
        let locked = off_thread(move || match lock(&path, true) {
            Ok(Some(file)) => Ok(TreeLock { file: Some(file) }),
            Ok(None) => Err(FileError::at(&path)(std::io::ErrorKind::WouldBlock.into())),
            Err(error) if has_no_locks(&error) => Ok(TreeLock { file: None }),
            Err(error) => Err(FileError::at(&path)(error)),
        });
        Ok(locked.await?)
    }

    /// Writes the record for [`Self::recover_tree`].
    pub(super) async fn note_tree(&self, tree: &PrivateTree) -> Result<(), SnapshotError> {
        let path = self.directory(&tree.snapshot.id).join(PRIVATE_TREE);
        let tree = tree.clone();
        let written = off_thread(move || {
            let text = serde_json::to_vec(&tree).map_err(std::io::Error::other);
            text.and_then(|text| private::write(&path, &text)).map_err(FileError::at(&path))
        });
        Ok(written.await?)
    }

    pub(super) async fn forget_tree(&self, id: &str) {
        let path = self.directory(id).join(PRIVATE_TREE);
        let _ = off_thread(move || fs::remove_file(path)).await;
    }

    /// Imports the work of the run `id` in its private tree, if its process died before it could. Returns `None` if
    /// there is no such tree.
    ///
    /// # Errors
    ///
    /// If its process is alive, or this is unknown.
    pub async fn recover_tree(&self, id: &str) -> Result<Option<Imported>, SnapshotError> {
        let path = self.directory(id).join(PRIVATE_TREE);
        let read = move || -> Option<PrivateTree> {
            let text = open::read(open::regular_no_follow(&path).ok()?, MAX_RECORD).ok()?;
            serde_json::from_slice(&text).ok()
        };
        if off_thread(read.clone()).await.is_none() {
            return Ok(None);
        }
        let tree_lock = self.lock_tree(id).await?;
        if tree_lock.file.is_none() {
            let at = self.directory(id).join(LOCK);
            return Err(FileError::at(&at)(std::io::ErrorKind::Unsupported.into()).into());
        }
        // Another process may have been faster.
        let Some(tree) = off_thread(read).await.filter(|tree| tree.snapshot.id == id) else {
            return Ok(None);
        };
        let imported = self.import(&tree).await;
        if imported.commit.is_none() && imported.kept_tree.is_none() {
            self.release(id).await?;
        }
        drop(tree_lock);
        Ok(Some(imported))
    }

    /// Imports the trees of all runs whose processes have died. Returns the imported changes with the ids of the runs.
    pub async fn recover_trees(&self) -> Vec<(String, Imported)> {
        let place = self.place().to_owned();
        let listed = off_thread(move || noted_trees(&place));
        let mut recovered = Vec::new();
        for id in listed.await {
            if let Ok(Some(imported)) = self.recover_tree(&id).await {
                recovered.push((id, imported));
            }
        }
        recovered
    }

    /// Returns the snapshot of a continued run: the content of its branch, if an earlier part of it has made one.
    /// Changes still count from the tree that the first part `began` with, since all parts are applied together.
    ///
    /// # Errors
    ///
    /// If git fails.
    pub async fn at_branch(
        &self,
        snapshot: Snapshot,
        began: Option<&str>,
    ) -> Result<Snapshot, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let dirs = self.repository(&snapshot.root).await?;
        let writable: &[&Path] = &[&snapshot_dir];
        let scope =
            Scope { git_dir: &dirs.own, writable, reads: &[&dirs.shared], cwd: &snapshot_dir, env: &[] };
        let mut last = None;
        for naming in BRANCH_NAMINGS {
            for branch in naming.names(&snapshot.id) {
                let name = format!("refs/heads/{branch}^{{commit}}");
                let asked = ["rev-parse", "--verify", "--quiet", &name];
                let known = self.program().try_run(scope, &asked, Vec::new()).await?;
                if !known.is_success() {
                    break;
                }
                last = Some((branch, String::from_utf8_lossy(&known.stdout).trim().to_owned()));
            }
        }
        let Some((branch, commit)) = last else { return Ok(snapshot) };
        let mut tree = self.git_text(&snapshot, &["rev-parse", &format!("{commit}^{{tree}}")]).await?;
        if let Some(began) = began
            && self.git_text(&snapshot, &["cat-file", "-t", began]).await.is_ok_and(|kind| kind == "tree")
        {
            began.clone_into(&mut tree);
        }
        let snapshot = Snapshot { tree, base: Some(commit), branch: Some(branch), ..snapshot };
        self.keep(&snapshot).await?;
        Ok(snapshot)
    }
}

/// Returns the ids of the runs with a private tree, from the directory of all snapshots. Blocks.
#[must_use]
pub fn noted_trees(place: &Path) -> Vec<String> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MAX_SNAPSHOTS);
    let noted = entries.filter(|entry| entry.path().join(PRIVATE_TREE).is_file());
    noted.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
