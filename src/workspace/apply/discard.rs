//! Shows and deletes what a run has left.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ApplyError;
use crate::workspace::git::Scope;
use crate::workspace::private::PATCH;
use crate::workspace::root::RepositoryDirs;
use crate::workspace::snapshot::{Left, Snapshot, SnapshotError, SnapshotStore, off_thread};

/// The longest file that says what is checked out.
const MAX_HEAD: u64 = 4096;

/// What a run has changed, as git shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its branch.
    pub branch: String,
    /// The changes. Names are quoted as git does; the contents of files are not changed.
    pub text: Vec<u8>,
    /// The file with the same as a patch, binary files included.
    pub patch: PathBuf,
}

/// What was deleted, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    /// The branch.
    pub branch: String,
    /// The patch.
    pub patch: PathBuf,
}

impl SnapshotStore {
    /// What the isolated run `id` has changed, from what it began with.
    ///
    /// # Errors
    ///
    /// When it has left nothing, or git fails.
    pub async fn difference(&self, id: &str) -> Result<Difference, ApplyError> {
        let (snapshot, left) = self.left(id).await?;
        let args = ["diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"];
        let args = [&args[..], &["--end-of-options", &snapshot.tree, &left.commit]].concat();
        let text = self.git(&snapshot, &args, Vec::new()).await?;
        Ok(Difference { branch: left.branch, text, patch: self.directory(id).join(PATCH) })
    }

    /// Deletes the branch and the patch of the isolated run `id`, if the branch is what the run has left. `is_sure`: without
    /// it nothing is deleted, only said what would be.
    ///
    /// # Errors
    ///
    /// When there is nothing, when somebody has added to the branch, or when it is checked out.
    pub async fn discard(&self, id: &str, is_sure: bool) -> Result<Discarded, ApplyError> {
        self.left(id).await?;
        let _lock = self.lock(id).await?;
        let (snapshot, left) = self.left(id).await?;
        let ours = self.directory(id);
        let patch = ours.join(PATCH);
        let dirs = self.repository(&snapshot.root).await?;
        let name = format!("refs/heads/{}", left.branch);
        let writable: &[&Path] = &[&ours, &dirs.own, &dirs.shared];
        let scope = Scope { git_dir: &dirs.own, writable, reads: &[], cwd: &ours, env: &[] };
        let known = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let known = self.program().try_run(scope, &known, Vec::new()).await.map_err(SnapshotError::from)?;
        if known.is_success() {
            if String::from_utf8_lossy(&known.stdout).trim() != left.commit {
                return Err(ApplyError::Moved { branch: left.branch });
            }
            let (looked, wanted) = (dirs.clone(), name.clone());
            if off_thread(move || is_checked_out(&looked, &wanted)).await {
                return Err(ApplyError::CheckedOut { branch: left.branch });
            }
        }
        let discarded = Discarded { branch: left.branch.clone(), patch: patch.clone() };
        if !is_sure {
            return Ok(discarded);
        }
        if known.is_success() {
            // Compares once more, so that a commit of this moment is not lost.
            let delete = ["update-ref", "--no-deref", "-d", &name, &left.commit];
            self.program().run(scope, &delete, Vec::new()).await.map_err(SnapshotError::from)?;
        }
        off_thread(move || drop(fs::remove_file(patch))).await;
        let left = Left { is_discarded: true, ..left };
        self.keep(&Snapshot { left: Some(left), ..snapshot }).await?;
        Ok(discarded)
    }
}

/// Whether a work tree of the repository is at a branch.
fn is_checked_out(dirs: &RepositoryDirs, name: &str) -> bool {
    let linked = fs::read_dir(dirs.shared.join("worktrees")).into_iter().flatten().flatten();
    let all = linked.map(|entry| entry.path()).chain([dirs.own.clone(), dirs.shared.clone()]);
    let is_at = |directory: PathBuf| {
        let head = directory.join("HEAD");
        let text =
            crate::files::open::regular(&head).and_then(|file| crate::files::open::read(file, MAX_HEAD));
        let text = text.unwrap_or_default();
        String::from_utf8_lossy(&text).strip_prefix("ref:").is_some_and(|at| at.trim() == name)
    };
    let mut all = all;
    all.any(is_at)
}
