//! What was in the tree of a run before it.

use std::time::SystemTime;

use crate::config::Config;
use crate::process::Outcome;
use crate::run::admit::HostCapabilities;
use crate::run::blocking::spawn_task;
use crate::run::context::HostContext;
use crate::workspace::{Git, GitError, Snapshot, SnapshotError, SnapshotLimits, SnapshotStore, Undone};

/// Files of a work tree that may differ from its last commit.
const MAX_FILES: usize = 200_000;

/// The snapshots of a host's user.
///
/// # Errors
///
/// Without git, or with one that is too old.
pub(crate) async fn snapshot_store(
    context: &HostContext,
    config: &Config,
) -> Result<SnapshotStore, GitError> {
    let capabilities = HostCapabilities::look(context).await;
    let abilities = capabilities.abilities().ok().filter(|abilities| abilities.landlock.is_ok());
    let sandbox = capabilities.warden().zip(abilities);
    let sandbox = sandbox.map(|(warden, abilities)| (warden.to_owned(), abilities.mount_namespace.is_ok()));
    let limits = SnapshotLimits { bytes: config.snapshot.max_bytes, files: MAX_FILES };
    let git = Git::find(&context.env, sandbox).await?;
    Ok(SnapshotStore::new(git, &context.agent_dir, &context.env, limits))
}

/// The snapshot of a run under way.
pub(in crate::run) struct Before {
    store: SnapshotStore,
    snapshot: Snapshot,
}

impl Before {
    /// Takes a snapshot of the tree of the run `id` that begins at `root`. `None` where there is nothing to take it of, or
    /// with.
    ///
    /// # Errors
    ///
    /// A notice for the user.
    pub(in crate::run) async fn take(
        context: &HostContext,
        config: &Config,
        id: &str,
        root: &std::path::Path,
    ) -> Result<Option<Self>, String> {
        let notice = |error: &SnapshotError| {
            Err(format!(
                "the tree cannot be brought back to what it was before this run: {}",
                crate::text::chain(error)
            ))
        };
        let store = match snapshot_store(context, config).await {
            Ok(store) => store,
            Err(GitError::Missing) => return Ok(None),
            Err(error) => return notice(&error.into()),
        };
        match store.take(id, root).await {
            Ok(snapshot) => Ok(Some(Self { store, snapshot })),
            Err(SnapshotError::NoRepository { .. }) => Ok(None),
            Err(error) => notice(&error),
        }
    }

    /// Notes the state of the tree at the end of the run, for an undo, or removes the snapshot of a run that has changed
    /// nothing. After an abort this goes on by itself.
    pub(in crate::run) async fn at_end(self, outcome: &Outcome) {
        let noted = async move {
            if self.store.note_end(&self.snapshot).await.is_ok_and(|has_changed| !has_changed) {
                let _ = self.store.release(&self.snapshot.id).await;
            }
        };
        if matches!(outcome, Outcome::Cancelled(_)) {
            spawn_task(noted);
        } else {
            noted.await;
        }
    }
}

/// Brings back what the run `id` has changed, which has ended at that time. `None`: nothing is known of the tree before it.
///
/// # Errors
///
/// Without git, or when it fails. Nothing has changed then.
pub(crate) async fn undo(
    context: &HostContext,
    config: &Config,
    id: &str,
    ended: SystemTime,
) -> Result<Option<Undone>, SnapshotError> {
    let store = snapshot_store(context, config).await?;
    let snapshot = match store.open(id).await {
        Err(SnapshotError::Unknown { .. }) => return Ok(None),
        found => found?,
    };
    store.undo(&snapshot, ended).await.map(Some)
}
