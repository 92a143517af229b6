//! Runs that work in a private tree.

use std::path::Path;

use crate::config::Config;
use crate::files::layout;
use crate::run::blocking::blocking;
use crate::run::context::HostContext;
use crate::run::snapshots::snapshot_store;
use crate::text::chain;
use crate::workspace::{Imported, PrivateTree, SnapshotStore, root_of};

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
}

impl Isolated {
    /// Takes a snapshot of the tree around `cwd`, and makes a private tree of it for the run `id`. Returns also the
    /// directory that corresponds to `cwd`.
    ///
    /// # Errors
    ///
    /// The reason, for people.
    pub(in crate::run) async fn create(
        context: &HostContext,
        config: &Config,
        id: &str,
        cwd: &Path,
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
        let snapshot = store.take(id, &root).await.map_err(|error| unavailable(chain(&error)))?;
        let place = layout::private_trees(&context.agent_dir);
        let tree = match store.note_elsewhere(&snapshot).await {
            Ok(()) => store.private_tree(&snapshot, &place, &config.isolation.copy).await,
            Err(error) => Err(error),
        };
        let mut tree = match tree {
            Ok(tree) => tree,
            Err(error) => {
                let _ = store.release(id).await;
                return Err(unavailable(chain(&error)));
            }
        };
        let earlier = place.join(id);
        if !tree.root.starts_with(&earlier) {
            tree.notices.push(format!(
                "an earlier private tree of this run is still at `{}`; what was done there is not in this one",
                earlier.display()
            ));
        }
        let inner = tree.root.join(cwd.strip_prefix(&root).unwrap_or(Path::new("")));
        let made = inner.clone();
        // Nothing in it may be tracked.
        let _ = blocking(move || std::fs::create_dir_all(made)).await;
        Ok((Self { store, tree }, inner))
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
