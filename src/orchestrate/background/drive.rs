//! Drives an accepted run from the queue to its end, and accompanies the work of every run.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::ending::{finish, finish_after_panic};
use super::live_run::LiveRun;
use super::question::ConversationCallbacks;
use super::registry::Registration;
use super::service::BackgroundService;
use crate::orchestrate::CallOrder;
use crate::orchestrate::admission::{Admission, EarlyChildren};
use crate::run::{AdmittedRun, HostCallbacks, RunRecord, ToolResult};

/// The maximum age of unstored usage of a run without a workflow, while nothing else changes. After a crash, usage that was not stored is unknown.
const SPENDING_INTERVAL: Duration = Duration::from_secs(5);
/// The interval at which a host process writes a snapshot of its run.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(500);

/// Drives a run of the registry to its end, stores the end, and delivers it to its conversation.
pub(super) async fn drive(
    service: &Arc<BackgroundService>,
    registration: Registration,
    ready: Result<AdmittedRun, ToolResult>,
    (early, order): (EarlyChildren<'_>, &CallOrder),
    callbacks: &dyn HostCallbacks,
) {
    let live = &registration.live;
    let _guard = PanicGuard { service, live };
    let result = match ready {
        Err(result) => result,
        Ok(ready) => {
            let callbacks = ConversationCallbacks { service, live, host: callbacks };
            execute(service, live, ready, (early, order), &callbacks).await
        }
    };
    finish(service, live, &result).await;
}

/// Ends a run whose task panics.
struct PanicGuard<'a> {
    service: &'a Arc<BackgroundService>,
    live: &'a Arc<LiveRun>,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        finish_after_panic(self.service, self.live);
    }
}

async fn execute(
    service: &Arc<BackgroundService>,
    live: &LiveRun,
    ready: AdmittedRun,
    (early, order): (EarlyChildren<'_>, &CallOrder),
    callbacks: &dyn HostCallbacks,
) -> ToolResult {
    let mut show = |progress| {
        live.update(&progress);
        service.registry.notify();
    };
    let admission = Admission { early, group: None, order };
    let work = Box::pin(admission.run(ready, callbacks, &live.control, &mut show));
    accompany(service, live, work).await
}

/// Waits for the work of a run. In the meantime it stores the states that other processes need, and ends the run with the call
/// that waits for it.
pub(super) async fn accompany<T>(
    service: &Arc<BackgroundService>,
    live: &LiveRun,
    work: impl Future<Output = T>,
) -> T {
    tokio::select! {
        biased;
        result = work => result,
        never = live.follow_call() => match never {},
        never = store_changes(service, live) => match never {},
        never = write_snapshots(service, live), if live.record().has_snapshots() => match never {},
    }
}

/// Stores each state of a background run that another process needs to know if this one crashes.
async fn store_changes(service: &Arc<BackgroundService>, live: &LiveRun) -> Infallible {
    // A run of a workflow is stored before its child starts, so that its process may die.
    if live.record().workflow.is_none() {
        live.until_owned_by_conversation().await;
    }
    let essence = |run: &RunRecord| (run.state, run.transcript.clone(), run.model.clone());
    let mut changes = live.watch();
    let mut run = live.record();
    // The next process must know what a workflow has spent: its budget counts all of it.
    let interval = if run.workflow.is_some() { Duration::ZERO } else { SPENDING_INTERVAL };
    let mut at = Instant::now();
    let mut has_spent = false;
    loop {
        tokio::select! {
            biased;
            result = changes.changed() => if result.is_err() {
                std::future::pending::<()>().await;
            },
            () = sleep_until(at + interval), if has_spent => {}
        }
        let now = changes.borrow_and_update().clone();
        has_spent = now.progress.usage != run.progress.usage;
        if (has_spent && at.elapsed() >= interval) || essence(&now) != essence(&run) {
            (run, at, has_spent) = (now, Instant::now(), false);
            service.save(live).await;
        }
    }
}

/// Writes a snapshot of a run for other processes whenever it changes.
async fn write_snapshots(service: &Arc<BackgroundService>, live: &LiveRun) -> Infallible {
    let mut written = None;
    loop {
        let RunRecord { key, state, progress, .. } = live.record();
        let snapshot = (state, progress);
        if written.as_ref() != Some(&snapshot) {
            written = Some(snapshot.clone());
            // The end of the run removes the snapshot, and waits for this write.
            let writing = Arc::clone(&live.writing).lock_owned().await;
            // If a snapshot cannot be written, readers miss it; the run itself is not affected.
            let write = service.blocking(move |service| {
                let _ = service.store.snapshots.write(&key, snapshot);
                drop(writing);
            });
            write.await;
        }
        sleep(SNAPSHOT_INTERVAL).await;
    }
}
