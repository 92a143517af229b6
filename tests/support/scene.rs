//! One run whose child is a script.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pi_events::RateLimit;
use pi_subagent_native::run::{
    BoxFuture, Control, Progress, ProviderGate, QuotaWaitTooLong, RunId, RunOverrides, RunSpec, SharedRunId,
    ToolResult, Watchers, prepare,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

use super::child::Child;
use super::stage::{PATIENCE, User, context, stage};

pub(crate) struct Scene {
    pub(crate) root: TempDir,
    pub(crate) spec: RunSpec,
}

/// A run outside of any queue, which cannot wait for a quota.
struct NoQueue;

impl ProviderGate for NoQueue {
    fn limited(&self, _: RateLimit) {}

    fn answered(&self) {}

    fn wait_for_quota<'a>(
        &'a self,
        _: &'a (dyn Fn(Option<Duration>) + Sync),
    ) -> BoxFuture<'a, Result<(), QuotaWaitTooLong>> {
        let (provider, setting) = ("none".to_owned(), "quota.maxWaitMs");
        let refused = QuotaWaitTooLong { provider, next: None, limit: Duration::ZERO, setting };
        Box::pin(async { Err(refused) })
    }
}

impl Scene {
    pub(crate) fn new(child: Child, config: Value) -> Self {
        let root = stage(child);
        let spec = RunSpec {
            agent: "explorer".into(),
            label: None,
            task: "look around".into(),
            cwd: root.path().join("project"),
            context: Arc::new(context(root.path(), config)),
            share: 1,
            siblings: 1,
            overrides: RunOverrides::default(),
        };
        Self { root, spec }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) async fn execute(
        &self,
        user: &User<'_>,
        control: &Control,
        progress: &watch::Sender<Progress>,
    ) -> ToolResult {
        self.execute_spec(self.spec.clone(), user, control, progress, || ()).await
    }

    /// Executes another run on this stage. Calls `changes` once the run is admitted.
    pub(crate) async fn execute_spec(
        &self,
        spec: RunSpec,
        user: &User<'_>,
        control: &Control,
        progress: &watch::Sender<Progress>,
        changes: impl FnOnce(),
    ) -> ToolResult {
        let watchers = Watchers { progress, provider: &NoQueue };
        let run = async {
            match prepare(spec, SharedRunId::new(RunId::random()), user, &control.cancel).await {
                Ok(admitted) => {
                    changes();
                    Box::pin(admitted.run(None, watchers, user, control)).await
                }
                Err(result) => result,
            }
        };
        tokio::time::timeout(PATIENCE, run).await.expect("the run ends")
    }

    /// Returns the result and every observed update. The last update is always observed.
    pub(crate) async fn run_with(&self, user: &User<'_>, control: &Control) -> (ToolResult, Vec<Progress>) {
        let (progress, mut receiver) = watch::channel(Progress::default());
        let updates = tokio::spawn(async move {
            let mut seen = Vec::new();
            while receiver.changed().await.is_ok() {
                seen.push(receiver.borrow_and_update().clone());
            }
            seen
        });
        let result = self.execute(user, control, &progress).await;
        drop(progress);
        (result, updates.await.expect("the updates end"))
    }
}
