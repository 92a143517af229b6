//! Runs that work in a private tree.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::snapshots::snapshot_store;
use crate::run::admit::resolve::ResolvedRun;
use crate::run::blocking::{blocking, unless_cancelled};
use crate::run::context::HostContext;
use crate::run::facts::IsolationReport;
use crate::run::launcher::{RemoteOutput, RemoteWork};

use crate::run::sandbox::HostCapabilities;
use agents::config::Config;
use files::layout;
use sanitizer::figures::counted;
use sanitizer::{quoted, quoted_path};
use supervisor::{Cancel, CancelReason};
use worktree::{
    Change, FlaggedChanges, Imported, PrivateTree, Snapshot, SnapshotError, SnapshotStore, TreeLock,
    noted_trees, root_of,
};

/// The maximum time from a warden's kill of its tree to its own end. A warden gives up sooner.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);
/// The interval between checks whether the warden has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The imported changes of a private tree.
pub(crate) struct ImportOutcome {
    pub report: IsolationReport,
    /// `None` if they are not known yet.
    pub changes: Option<Vec<Change>>,
    /// The changed files that run code later, or give instructions to agents.
    pub flagged: FlaggedChanges,
    /// The changes that were not imported, with the reason.
    pub notices: Vec<String>,
}

/// The private tree of a run under way.
pub(crate) struct Isolated {
    store: SnapshotStore,
    tree: Tree,
    alive: TreeLock,
}

enum Tree {
    Local(Box<PrivateTree>),
    Remote { work: Arc<RemoteWork>, launcher: String, notices: Vec<String> },
}

/// The reason why a run gets no private tree.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IsolationError {
    /// The run was stopped first.
    #[error("{0}")]
    Stopped(CancelReason),
    /// git or a file cannot be used.
    #[error("a private tree is unavailable")]
    Unavailable(#[from] SnapshotError),
    /// An apply of the run's earlier changes is incomplete.
    #[error(
        "an apply of its earlier changes was interrupted: run `/subagents undo {id}` \
         first, so that none of them is lost"
    )]
    ApplyInterrupted { id: String },
    /// The run's earlier changes are only in our own store.
    #[error(
        "its earlier changes are on no branch, and a continued run would lose them: run `/subagents \
         apply {id}` or \
         `/subagents discard {id} --yes` first"
    )]
    NoBranch { id: String },
}

/// The source of a private tree.
struct Origin {
    store: SnapshotStore,
    /// The run's directory, and the root of the tree around it.
    cwd: PathBuf,
    root: PathBuf,
}

impl Origin {
    async fn find(
        context: &HostContext,
        resolved: &ResolvedRun,
        at: PathBuf,
        stop: &Cancel,
    ) -> Result<Self, IsolationError> {
        let store = snapshot_store(context, &at, &resolved.config, &resolved.capabilities);
        let store = unless_cancelled(stop, store).await;
        let store = store.map_err(IsolationError::Stopped)?.map_err(SnapshotError::from)?;
        let found = blocking(move || {
            let cwd = files::canonical(&at);
            let root = root_of(&cwd);
            Self { store, cwd, root }
        });
        Ok(found.await)
    }
}

/// Returns true if the run's earlier changes are on no branch and were neither applied nor discarded. Then only our own
/// store has them.
fn has_no_branch(before: &Snapshot) -> bool {
    let artifacts = before.artifacts.as_ref().filter(|artifacts| !artifacts.is_discarded);
    artifacts.is_some_and(|artifacts| artifacts.branch.is_none()) && before.applied.is_none()
}

impl Isolated {
    /// Takes a snapshot of the tree around `cwd`, and makes a private tree of it for the run `id`. A run that
    /// `continues` begins with its earlier branch. Also returns the directory that corresponds to `cwd`.
    ///
    /// Poll the future to its end. Dropping it would leave an unfinished tree; to end it soon, cancel `stop`.
    /// [`Self::unmake`] removes an unwanted one.
    ///
    /// # Errors
    ///
    /// Fails if the run was stopped, the tree cannot be made, or earlier changes would be lost. Nothing is left then.
    pub(crate) async fn create(
        context: Arc<HostContext>,
        resolved: Arc<ResolvedRun>,
        id: String,
        at: PathBuf,
        continues: bool,
        stop: Cancel,
    ) -> Result<(Self, PathBuf), IsolationError> {
        let context = &*context;
        let id = &*id;
        let Origin { store, cwd, root } = Origin::find(context, &resolved, at, &stop).await?;
        // The later import must not be cancelled with the run.
        let stoppable_store = store.until(&stop);
        let store = store;
        // The earlier part of the run may have died before its tree was imported.
        let lost = recovered(&store, id, resolved.config.grace, &stop).await?;
        let before = if continues { store.open(id).await.ok() } else { None };
        if before.as_ref().and_then(|before| before.applied.as_ref()).is_some_and(|apply| !apply.is_complete)
        {
            return Err(IsolationError::ApplyInterrupted { id: id.to_owned() });
        }
        if before.as_ref().is_some_and(has_no_branch) {
            return Err(IsolationError::NoBranch { id: id.to_owned() });
        }
        store.move_to_earlier(id).await?;
        let place = layout::private_trees(&context.agent_dir);
        let created = async {
            let snapshot = stoppable_store.take(id, &root).await?;
            let alive = stoppable_store.lock_tree(id).await?;
            let began = before.as_ref().map(|before| before.tree.as_str());
            let snapshot =
                if continues { stoppable_store.at_branch(snapshot, began).await? } else { snapshot };
            stoppable_store.note_other_tree(&snapshot).await?;
            Ok::<_, SnapshotError>((
                alive,
                stoppable_store.private_tree(&snapshot, &place, &resolved.config.isolation.copy).await?,
            ))
        };
        let (alive, mut tree) = match created.await {
            Ok(created) => created,
            Err(error) => {
                let _ = store.release(id).await;
                store.restore_earlier(id).await;
                return Err(error.into());
            }
        };
        tree.notices.extend(lost.and_then(|lost| lost.kept_tree).map(|kept| {
            format!(
                "an earlier private tree of this run was kept: {}; this one has only the changes on its branch",
                quoted_path(&kept.to_string_lossy())
            )
        }));
        // Joined with nothing, a path would end in a separator.
        let inner: PathBuf = tree
            .root
            .components()
            .chain(cwd.strip_prefix(&root).unwrap_or(Path::new("")).components())
            .collect();
        let created = inner.clone();
        // Nothing in it may be tracked.
        let _ = blocking(move || std::fs::create_dir_all(created)).await;
        Ok((Self { store, tree: Tree::Local(Box::new(tree)), alive }, inner))
    }

    /// Takes a snapshot like [`Self::create`], for a private tree that a launcher's script makes on a remote machine.
    /// Also returns the input of the script. Must be polled to its end, too.
    ///
    /// # Errors
    ///
    /// Fails if the run was stopped, or the tree cannot be made.
    pub(crate) async fn create_remote(
        context: Arc<HostContext>,
        resolved: Arc<ResolvedRun>,
        id: String,
        at: PathBuf,
        launcher: String,
        stop: Cancel,
    ) -> Result<(Self, Arc<RemoteWork>), IsolationError> {
        let context = &*context;
        let id = &*id;
        let Origin { store, cwd, root } = Origin::find(context, &resolved, at, &stop).await?;
        let stoppable_store = store.until(&stop);
        let snapshot = stoppable_store.take(id, &root).await?;
        let place = layout::private_trees(&context.agent_dir);
        let created = async {
            let alive = store.lock_tree(id).await?;
            store.note_other_tree(&snapshot).await?;
            Ok::<_, SnapshotError>((alive, stoppable_store.remote_tree(&snapshot, &place).await?))
        };
        let (alive, mut tree) = match created.await {
            Ok(created) => created,
            Err(error) => {
                let _ = store.release(id).await;
                return Err(error.into());
            }
        };
        let mut notices = std::mem::take(&mut tree.notices);
        let lacking = [
            (
                "the paths of `isolation.copy` are not in the private tree",
                !resolved.config.isolation.copy.is_empty(),
            ),
            ("`isolation.setup` did not prepare the private tree", resolved.config.isolation.setup.is_some()),
        ];
        let lacking = lacking.into_iter().filter(|(_, is_set)| *is_set);
        notices.extend(lacking.map(|(what, _)| format!("{what}: `{launcher}` makes it on another machine")));
        let inner = cwd.strip_prefix(&root).unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let work = Arc::new(RemoteWork { tree, inner });
        let tree = Tree::Remote { work: Arc::clone(&work), launcher, notices };
        Ok((Self { store, tree, alive }, work))
    }

    /// Records that the run begins. From now on, the artifacts of its earlier part cannot be restored.
    pub(crate) async fn begin(&self) {
        self.store.remove_earlier(self.id()).await;
    }

    /// Removes the tree of a run that has not begun. The artifacts of its earlier part stay unchanged.
    pub(crate) async fn unmake(self) {
        match &self.tree {
            Tree::Local(tree) => self.store.remove_unused_tree(tree).await,
            // If this fails, the next sweep finds the remains.
            Tree::Remote { work, .. } => drop(self.store.release(&work.tree.snapshot.id).await),
        }
    }

    fn id(&self) -> &str {
        match &self.tree {
            Tree::Local(tree) => &tree.snapshot.id,
            Tree::Remote { work, .. } => &work.tree.snapshot.id,
        }
    }

    /// Returns the root of the private tree, if it is on this machine.
    pub(crate) fn root(&self) -> Option<&Path> {
        match &self.tree {
            Tree::Local(tree) => Some(&tree.root),
            Tree::Remote { .. } => None,
        }
    }

    /// Returns the lock that marks the run as alive.
    pub(crate) fn lock(&self) -> Option<&File> {
        self.alive.file()
    }

    /// Returns notices about the parts that the tree lacks.
    pub(crate) fn notices(&self) -> &[String] {
        match &self.tree {
            Tree::Local(tree) => &tree.notices,
            Tree::Remote { notices, .. } => notices,
        }
    }

    /// Imports the changes of the tree. `remote_output` holds the changes of a remote one.
    pub(crate) async fn import(self, remote_output: Option<Box<RemoteOutput>>) -> ImportOutcome {
        let (imported, snapshot) = match &self.tree {
            Tree::Local(tree) => (self.store.import(tree).await, &tree.snapshot),
            Tree::Remote { work, launcher, .. } => {
                // Without a child nothing was changed.
                let (remote_changes, remaining) =
                    remote_output.map_or((Ok(None), None), |remote_output| remote_output.into_changes());
                let mut imported = self.store.import_remote(&work.tree, remote_changes).await;
                imported.notices.extend(remaining.map(|directory| {
                    let directory = quoted_path(&directory);
                    format!("it is unknown if {directory} was removed where `{launcher}` starts children")
                }));
                (imported, &work.tree.snapshot)
            }
        };
        let Imported {
            branch,
            commit,
            commits,
            patch,
            changes,
            insertions,
            deletions,
            kept_tree: kept,
            notices,
        } = imported;
        tracing::info!(
            target: "tree", branch, commits, files = changes.len(), ?kept,
            "the private tree is imported"
        );
        if commit.is_none() && kept.is_none() {
            let _ = self.store.release(&snapshot.id).await;
        }
        let paths = changes.iter().map(|change| change.path.clone()).collect();
        let flagged = self.store.flagged(&snapshot.root, paths).await;
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let report = IsolationReport {
            branch,
            patch: patch.map(text),
            commits,
            files: changes.len(),
            insertions,
            deletions,
            kept_tree: kept.map(text),
        };
        ImportOutcome { report, changes: Some(changes), flagged, notices }
    }

    /// Returns the report on the work while [`Self::import`] still runs.
    pub(crate) fn import_pending(&self) -> ImportOutcome {
        let id = self.id();
        let kept = self.root().map(|root| root.to_string_lossy().into_owned());
        let notice = format!(
            "its work is still being imported: `/subagents diff {id}` shows it once its branch \
             `subagent/{id}` exists"
        );
        let report = IsolationReport { kept_tree: kept, ..IsolationReport::default() };
        ImportOutcome { report, changes: None, flagged: FlaggedChanges::default(), notices: vec![notice] }
    }
}

/// Imports the private tree that the run `id` has left. If its process was killed a moment ago, waits for the warden,
/// which may still be ending the child.
async fn recovered(
    store: &SnapshotStore,
    id: &str,
    grace: Duration,
    stop: &Cancel,
) -> Result<Option<Imported>, SnapshotError> {
    let until = Instant::now() + grace + KILL_TIMEOUT;
    loop {
        match store.recover_tree(id).await {
            Err(SnapshotError::File(error))
                if error.source.kind() == io::ErrorKind::WouldBlock
                    && Instant::now() < until
                    && stop.reason().is_none() =>
            {
                sleep(POLL_INTERVAL).await;
            }
            recovered => return recovered,
        }
    }
}

/// Imports the private trees of runs whose process has died. Returns a notice for each.
pub(crate) async fn recover_trees(context: &HostContext, config: &Config) -> Vec<String> {
    let place = layout::snapshots(&context.agent_dir);
    if blocking(move || noted_trees(&place).is_empty()).await {
        // Without a tree to import, git is not started.
        return Vec::new();
    }
    let capabilities = HostCapabilities::probe(context).await;
    let cwd = context.host.cwd.as_deref().unwrap_or(Path::new("/"));
    let Ok(store) = snapshot_store(context, cwd, config, &capabilities).await else { return Vec::new() };
    let recovered = store.recover_trees().await.into_iter().filter_map(|(id, imported)| {
        let Imported { branch, kept_tree: kept, changes, .. } = imported;
        let branch = branch.map(|branch| {
            let files = counted(changes.len(), "file");
            format!("its changes ({files}) are on the branch {}", quoted(&branch))
        });
        let kept =
            kept.map(|kept| format!("its private tree was kept: {}", quoted_path(&kept.to_string_lossy())));
        let artifacts: Vec<_> = branch.into_iter().chain(kept).collect();
        (!artifacts.is_empty())
            .then(|| format!("run {id} was interrupted because its pi ended; {}", artifacts.join("; ")))
    });
    recovered.collect()
}
