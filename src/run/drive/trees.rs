//! The tree that a run works in: its private tree, and the record of its state before and after the run.

use std::sync::Arc;

use super::active_run::ActiveRun;
use crate::run::admit::prepare::AdmittedRun;
use crate::run::blocking::{blocking, spawn_task, unless_cancelled};
use crate::run::facts::StoredChanges;
use crate::run::record::changes::{Watched, WorkTree};
use crate::run::record::git::{NoAnswer, read_only};
use crate::run::record::isolation::{Isolated, IsolationError};
use crate::run::record::snapshots::{Before, NotRecorded, TreeAtEnd, snapshot_store};
use crate::run::result::verdict::Verdict;
use crate::run::sandbox::WriteScope;
use files::canonical;
use sanitizer::with_cause;
use worktree::root_of;

impl ActiveRun<'_> {
    /// Gives the run a private tree, if it needs one, and moves it there.
    pub(super) async fn isolate(&mut self) -> Result<(), Verdict> {
        let AdmittedRun { spec, resolved, builder, .. } = &self.admitted;
        if !resolved.is_isolated {
            return Ok(());
        }
        let id = builder.run_id.get();
        let continues = spec.overrides.resumes.is_some();
        let context = Arc::clone(&spec.context);
        let cwd = spec.cwd.clone();
        let stop = self.stop.clone();
        let resolved = Arc::clone(resolved);
        if let Some(launcher) = resolved.launcher.remote_name().map(str::to_owned) {
            let creation =
                Box::pin(Isolated::create_remote(context, resolved, id.into(), cwd, launcher, stop));
            let (isolated, work) = self.unless_stopped(creation).await?;
            isolated.begin().await;
            self.admitted.builder.diagnostics.extend(isolated.notices().iter().cloned());
            self.admitted.remote_work = Some(work);
            self.isolated = Some(isolated);
            return Ok(());
        }
        let creation = Box::pin(Isolated::create(context, resolved, id.into(), cwd, continues, stop));
        let (isolated, cwd) = self.unless_stopped(creation).await?;
        isolated.begin().await;
        tracing::info!(target: "tree", root = ?isolated.root(), "the run has a private tree");
        let AdmittedRun { spec, resolved, builder, .. } = &mut self.admitted;
        builder.diagnostics.extend(isolated.notices().iter().cloned());
        let scope = resolved.scope.as_ref().zip(isolated.root()).map(|(scope, root)| scope.in_private(root));
        Arc::make_mut(resolved).scope = scope;
        Arc::make_mut(spec).cwd = cwd;
        self.isolated = Some(isolated);
        Ok(())
    }

    /// Waits for a private tree until the run is stopped, which also ends git. Then an unfinished tree is removed in
    /// the background.
    async fn unless_stopped<T: Send + 'static>(
        &self,
        mut creation: impl Future<Output = Result<(Isolated, T), IsolationError>> + Send + Unpin + 'static,
    ) -> Result<(Isolated, T), Verdict> {
        if let Ok(result) = unless_cancelled(&self.stop, &mut creation).await {
            return result.map_err(|error| Verdict::failed(1, with_cause(&error)));
        }
        spawn_task(async move {
            if let Ok((unwanted, _)) = creation.await {
                unwanted.unmake().await;
            }
        });
        Err(self.stopped())
    }

    /// Records the state of the tree before the child gets its task: for the list of changed files, and for an undo.
    pub(super) async fn record_tree(&mut self) -> (Option<WorkTree>, Option<Before>) {
        // Both run concurrently, because the same file may block git in both.
        let (work_tree, snapshot) = tokio::join!(
            unless_cancelled(&self.stop, Box::pin(self.work_tree())),
            unless_cancelled(&self.stop, Box::pin(self.snapshot())),
        );
        let (before, not_listed) = match work_tree {
            Ok(Ok(before)) => (Some(before), None),
            Ok(Err(NoAnswer::Blocked(why))) => {
                (None, Some(format!("the files that this run changes are not listed: {why}")))
            }
            Ok(Err(NoAnswer::Failed | NoAnswer::TooMuch)) | Err(_) => (None, None),
        };
        let (snapshot, not_recorded) = match snapshot.unwrap_or(Ok(None)) {
            Ok(snapshot) => (snapshot, None),
            Err(error) => (None, Some(with_cause(&error))),
        };
        self.is_unrecorded = not_recorded.is_some();
        self.admitted.builder.diagnostics.extend(not_recorded.into_iter().chain(not_listed));
        (before, snapshot)
    }

    async fn work_tree(&self) -> Result<WorkTree, NoAnswer> {
        let AdmittedRun { spec, resolved, .. } = &self.admitted;
        if !resolved.may_write_here() || self.isolated.is_some() {
            return Err(NoAnswer::Failed);
        }
        let spec_of = Arc::clone(spec);
        let resolved = Arc::clone(resolved);
        let untrusted = resolved.untrusted.clone();
        let guardian = blocking(move || {
            read_only(&resolved.capabilities, &resolved.config, &spec_of.context, &spec_of.cwd)
        })
        .await;
        WorkTree::read(&spec.cwd, &spec.context.env, &untrusted, guardian).await
    }

    /// Returns the state of the tree before the child gets its task.
    async fn snapshot(&self) -> Result<Option<Before>, NotRecorded> {
        let AdmittedRun { spec, resolved, builder, .. } = &self.admitted;
        if !resolved.may_write_here() || self.isolated.is_some() {
            return Ok(None);
        }
        let cwd = spec.cwd.clone();
        let root = blocking(move || root_of(&canonical(&cwd))).await;
        let store = snapshot_store(&spec.context, &spec.cwd, &resolved.config, &resolved.capabilities).await;
        Before::take(store, &builder.run_id.get(), &root).await
    }

    pub(super) async fn watched(&self) -> Option<Watched> {
        let AdmittedRun { spec, resolved, .. } = self.admitted.clone();
        if !resolved.may_write_here() || self.isolated.is_some() {
            return None;
        }
        let confined = resolved.scope.clone();
        // A child that may write everywhere is also watched in its tree, unless the tree is more than a project.
        let of_tree =
            move || WriteScope::of(&resolved.config, &spec.context, &spec.cwd).ok().map(|(scope, _)| scope);
        let scope = blocking(move || confined.or_else(of_tree)).await?;
        Some(Watched::start(scope).await)
    }

    /// Ends the snapshot of a run that gets no further child. The snapshot is removed unless an earlier child has
    /// changed something.
    pub(super) async fn end_snapshot(&self, snapshot: Option<Before>) {
        // If the end cannot be recorded, an undo is less exact. The result is complete already.
        let _ = self.tree_since(snapshot).await;
    }

    /// Returns the stored changes of a run that worked in place, or the reason why there are none.
    pub(super) fn stored_in_place(
        &self,
        tree: &TreeAtEnd,
        is_committed: bool,
        is_recorded: bool,
    ) -> Option<StoredChanges> {
        match tree {
            _ if self.is_unrecorded => Some(StoredChanges::NotRecorded),
            TreeAtEnd::Same => (!is_committed).then_some(StoredChanges::Nothing),
            TreeAtEnd::Other(..) => Some(StoredChanges::Snapshot),
            TreeAtEnd::Unknown(_) => is_recorded.then_some(StoredChanges::Snapshot),
        }
    }
}
