//! The tree of a run before its start.

use std::path::{Path, PathBuf};

use crate::run::blocking::blocking;
use crate::run::context::HostContext;
use crate::run::facts::hiding_note;
use crate::run::sandbox::hidden::unreadable;
use crate::run::sandbox::{HostCapabilities, untrusted};
use agents::config::Config;
use worktree::{Git, GitError, Snapshot, SnapshotError, SnapshotLimits, SnapshotStore};

/// The maximum number of files of a work tree that may differ from its last commit.
const MAX_FILES: usize = 200_000;

/// The snapshots of a host's user. git is not taken from the tree around `cwd`.
///
/// # Errors
///
/// Fails if git is missing or too old.
pub(crate) async fn snapshot_store(
    context: &HostContext,
    cwd: &Path,
    config: &Config,
    capabilities: &HostCapabilities,
) -> Result<SnapshotStore, GitError> {
    let abilities = capabilities.abilities().ok().filter(|abilities| abilities.landlock.is_ok());
    let sandbox = capabilities.warden().zip(abilities);
    let sandbox = sandbox.map(|(warden, abilities)| (warden.to_owned(), abilities.mount_namespace.is_ok()));
    let limits = SnapshotLimits { bytes: config.snapshot.max_bytes, files: MAX_FILES };
    let untrusted = {
        let (config, context, cwd) = (config.clone(), context.clone(), cwd.to_path_buf());
        blocking(move || untrusted(&config, &context, &cwd))
    };
    let git = Git::find(&context.env, &untrusted.await, sandbox).await?;
    let config = config.clone();
    let context = context.clone();
    let made = blocking(move || {
        let store = SnapshotStore::new(git, &context.agent_dir, &context.env, limits);
        let agent_dirs = config.project_agent_dirs.iter().map(PathBuf::from).collect();
        store.hiding(&unreadable(&config, &context)).with_agent_dirs(agent_dirs)
    });
    Ok(made.await)
}

/// The tree of a run at its end, compared with its snapshot.
pub(crate) enum TreeAtEnd {
    /// Every file is as it was.
    Same,
    /// The tree has changed. Contains the changed files, as far as they are known, and a notice for the user if the
    /// run may have hidden others.
    Other(Vec<PathBuf>, Option<String>),
    /// The state is unknown. Contains a notice for the user if the state could not be recorded.
    Unknown(Option<String>),
}

impl TreeAtEnd {
    /// Returns the files that are known to have changed.
    pub(crate) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        let paths = if let Self::Other(paths, _) = self { &paths[..] } else { &[] };
        paths.iter().map(|path| path.to_string_lossy().into_owned())
    }

    /// Returns the notice for the user, if there is one.
    pub(crate) fn into_notice(self) -> Option<String> {
        match self {
            Self::Same => None,
            Self::Other(_, notice) | Self::Unknown(notice) => notice,
        }
    }
}

/// The tree of a run could not be recorded before its start.
#[derive(Debug, thiserror::Error)]
#[error("the changes of this run cannot be undone")]
pub(crate) struct NotRecorded(#[from] SnapshotError);

/// The snapshot of a run under way.
pub(crate) struct Before {
    store: SnapshotStore,
    snapshot: Snapshot,
}

impl Before {
    /// Takes a snapshot of the tree at `root` for the run `id`. Returns `None` without a repository or without git, for
    /// which there is no `store`.
    ///
    /// # Errors
    ///
    /// Fails if git cannot be used, or cannot record the tree.
    pub(crate) async fn take(
        store: Result<SnapshotStore, GitError>,
        id: &str,
        root: &std::path::Path,
    ) -> Result<Option<Self>, NotRecorded> {
        let store = match store {
            Ok(store) => store,
            Err(GitError::Missing(_)) => return Ok(None),
            Err(error) => return Err(SnapshotError::from(error).into()),
        };
        match store.take_in_place(id, root).await {
            Ok(snapshot) => Ok(Some(Self { store, snapshot })),
            Err(SnapshotError::NoRepository { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn changes(&self) -> Result<Vec<PathBuf>, SnapshotError> {
        let Snapshot { id, tree, .. } = &self.snapshot;
        let noted = self.store.open(id).await?;
        let changes = self.store.changes(&noted, tree, noted.end.as_deref().unwrap_or(tree)).await?;
        let modes = self.store.changed_modes(&noted, &changes).await;
        Ok(changes.into_iter().map(|change| change.path).chain(modes).collect())
    }

    /// Records the state of the tree at the end of the run, for an undo. Removes the snapshot of a run that has changed
    /// nothing.
    pub(crate) async fn at_end(self) -> TreeAtEnd {
        match self.store.note_end(&self.snapshot).await {
            Ok(true) => {
                let ignore_files = self.store.changed_ignore_files(&self.snapshot).await;
                let notice = (!ignore_files.is_empty()).then(|| hiding_note(&ignore_files));
                let mut changed = self.changes().await.unwrap_or_default();
                changed.extend(ignore_files);
                changed.sort();
                changed.dedup();
                TreeAtEnd::Other(changed, notice)
            }
            Ok(false) => {
                // If this fails, the next sweep finds the remains.
                let _ = self.store.release(&self.snapshot.id).await;
                TreeAtEnd::Same
            }
            Err(error) => TreeAtEnd::Unknown(Some(format!(
                "the changes of this run could not be recorded at its end, so an undo relies on the times \
                 of files: {}",
                sanitizer::chain(&error)
            ))),
        }
    }
}
