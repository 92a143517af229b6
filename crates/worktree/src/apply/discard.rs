//! Deletes the artifacts of a run.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ApplyError;
use crate::git::Scope;
use crate::private::{PATCH, is_in_use};
use crate::snapshot::{Artifacts, Snapshot, SnapshotError, SnapshotStore, off_thread};

/// The deleted artifacts, or the ones that would be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    /// The branch, if there is one.
    pub branch: Option<String>,
    /// The patch.
    pub patch: PathBuf,
}

impl SnapshotStore {
    /// Deletes the branch and the patch of the isolated run `id`, if the branch is unchanged since the run. Without
    /// `is_sure`, deletes nothing and only returns the artifacts that would be deleted.
    ///
    /// # Errors
    ///
    /// If there is nothing, if the branch has changed since the run, or if a work tree has it checked out, rebases or
    /// bisects it.
    pub async fn discard(&self, id: &str, is_sure: bool) -> Result<Discarded, ApplyError> {
        self.artifacts(id).await?;
        let _lock = self.lock(id).await?;
        let (snapshot, artifacts) = self.artifacts(id).await?;
        let snapshot_dir = self.directory(id);
        let patch = snapshot_dir.join(PATCH);
        let discarded = Discarded { branch: artifacts.branch.clone(), patch: patch.clone() };
        if let Some(branch) = &artifacts.branch {
            self.delete_branch(&snapshot, branch, &artifacts.commit, is_sure).await?;
        }
        if !is_sure {
            return Ok(discarded);
        }
        off_thread(move || drop(fs::remove_file(patch))).await;
        let artifacts = Artifacts { is_discarded: true, ..artifacts };
        self.keep(&Snapshot { artifacts: Some(artifacts), ..snapshot }).await?;
        Ok(discarded)
    }

    /// Deletes the branch of a run. Without `is_sure`, only checks that the branch can be deleted. A missing branch is
    /// not an error.
    async fn delete_branch(
        &self,
        snapshot: &Snapshot,
        branch: &str,
        commit: &str,
        is_sure: bool,
    ) -> Result<(), ApplyError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let dirs = self.repository(&snapshot.root).await?;
        let name = format!("refs/heads/{branch}");
        let writable: &[&Path] = &[&snapshot_dir, &dirs.own, &dirs.shared];
        let scope = Scope { git_dir: &dirs.own, writable, reads: &[], cwd: &snapshot_dir, env: &[] };
        let known = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let known = self.program().try_run(scope, &known, Vec::new()).await.map_err(SnapshotError::from)?;
        if !known.is_success() {
            return Ok(());
        }
        if String::from_utf8_lossy(&known.stdout).trim() != commit {
            return Err(ApplyError::Moved { branch: branch.to_owned() });
        }
        if is_in_use(&dirs, branch).await {
            return Err(ApplyError::CheckedOut { branch: branch.to_owned() });
        }
        if is_sure {
            // Compares once more, so that a commit of this moment is not lost.
            let delete = ["--no-deref", "-d", &name, commit];
            self.program().update_ref(scope, &delete).await.map_err(SnapshotError::from)?;
        }
        Ok(())
    }
}
