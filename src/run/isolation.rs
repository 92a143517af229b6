//! Runs that work in a private tree.

use std::path::Path;

use crate::config::Config;
use crate::files::layout;
use crate::run::blocking::blocking;
use crate::run::context::HostContext;
use crate::run::snapshots::snapshot_store;
use crate::text::chain;
use crate::text::figures::counted;
use crate::workspace::{Imported, PrivateTree, SnapshotError, SnapshotStore, TreeLock, noted_trees, root_of};

/// What an isolated run has left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IsolationReport {
    /// The branch with all that it did; absent when it changed nothing.
    pub branch: Option<String>,
    /// The file with the same as a patch.
    pub patch: Option<String>,
    /// How many commits the child has made itself.
    pub commits: u32,
    /// Files that differ.
    pub files: usize,
    /// Lines that were added.
    pub insertions: u64,
    /// Lines that were removed.
    pub deletions: u64,
    /// The private tree, if it was kept because not everything could be taken over.
    pub kept: Option<String>,
}

/// The private tree of a run under way.
pub(in crate::run) struct Isolated {
    store: SnapshotStore,
    tree: PrivateTree,
    _alive: TreeLock,
}

impl Isolated {
    /// Takes a snapshot of the tree around `cwd`, and makes a private tree of it for the run `id`. One that `goes_on`
    /// begins with the branch that it has made before. Returns also the directory that corresponds to `cwd`.
    ///
    /// # Errors
    ///
    /// The reason, for people.
    pub(in crate::run) async fn create(
        context: &HostContext,
        config: &Config,
        id: &str,
        cwd: &Path,
        goes_on: bool,
    ) -> Result<(Self, std::path::PathBuf), String> {
        let unavailable = |why: String| format!("isolation: private, but unavailable: {why}");
        let store = snapshot_store(context, config).await.map_err(|error| unavailable(chain(&error)))?;
        let at = cwd.to_owned();
        let (cwd, root) = blocking(move || {
            let cwd = crate::agent::canonical(&at);
            let root = root_of(&cwd);
            (cwd, root)
        })
        .await;
        // Its earlier part may have died before its tree was taken over.
        let lost = store.recover_tree(id).await.map_err(|error| unavailable(chain(&error)))?;
        let began = store.open(id).await.ok().filter(|_| goes_on).map(|before| before.tree);
        let snapshot = store.take(id, &root).await.map_err(|error| unavailable(chain(&error)))?;
        let place = layout::private_trees(&context.agent_dir);
        let made = async {
            let alive = store.hold_tree(id).await?;
            let snapshot =
                if goes_on { store.at_branch(snapshot, began.as_deref()).await? } else { snapshot };
            store.note_elsewhere(&snapshot).await?;
            Ok::<_, SnapshotError>((
                alive,
                store.private_tree(&snapshot, &place, &config.isolation.copy).await?,
            ))
        };
        let (alive, mut tree) = match made.await {
            Ok(made) => made,
            Err(error) => {
                let _ = store.release(id).await;
                return Err(unavailable(chain(&error)));
            }
        };
        tree.notices.extend(lost.and_then(|lost| lost.kept).map(|kept| {
            format!(
                "an earlier private tree of this run was kept: `{}`; what is not on its branch is not in this one",
                kept.display()
            )
        }));
        // Joined with nothing, a path would end in a separator.
        let inner: std::path::PathBuf = tree
            .root
            .components()
            .chain(cwd.strip_prefix(&root).unwrap_or(Path::new("")).components())
            .collect();
        let made = inner.clone();
        // Nothing in it may be tracked.
        let _ = blocking(move || std::fs::create_dir_all(made)).await;
        Ok((Self { store, tree, _alive: alive }, inner))
    }

    /// The root of the private tree.
    pub(in crate::run) fn root(&self) -> &Path {
        &self.tree.root
    }

    /// What the tree lacks.
    pub(in crate::run) fn notices(&self) -> &[String] {
        &self.tree.notices
    }

    /// Takes over what was done in it. Returns notices, too.
    pub(in crate::run) async fn import(self) -> (IsolationReport, Vec<String>, Vec<String>) {
        let Imported { branch, commits, patch, changes, insertions, deletions, kept, notices, .. } =
            self.store.import(&self.tree).await;
        if branch.is_none() && kept.is_none() {
            let _ = self.store.release(&self.tree.snapshot.id).await;
        }
        let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        let report = IsolationReport {
            branch,
            patch: patch.map(text),
            commits,
            files: changes.len(),
            insertions,
            deletions,
            kept: kept.map(text),
        };
        let paths = changes.iter().map(|change| change.path.to_string_lossy().into_owned()).collect();
        (report, paths, notices)
    }
}

/// Takes over what runs did in private trees whose process has died. Returns a notice for each.
pub(crate) async fn recover_trees(context: &HostContext, config: &Config) -> Vec<String> {
    let place = layout::snapshots(&context.agent_dir);
    if blocking(move || noted_trees(&place).is_empty()).await {
        // Without a reason no git is started.
        return Vec::new();
    }
    let Ok(store) = snapshot_store(context, config).await else { return Vec::new() };
    let recovered = store.recover_trees().await.into_iter().filter_map(|(id, imported)| {
        let Imported { branch, kept, changes, .. } = imported;
        let branch = branch.map(|branch| {
            format!("what it changed ({}) is on the branch {branch}", counted(changes.len(), "file"))
        });
        let kept = kept.map(|kept| format!("its private tree was kept: {}", kept.display()));
        let left: Vec<_> = branch.into_iter().chain(kept).collect();
        (!left.is_empty()).then(|| format!("run {id} lost its pi; {}", left.join("; ")))
    });
    recovered.collect()
}
