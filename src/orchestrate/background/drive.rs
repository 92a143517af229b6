//! Drives an accepted run from the queue to its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use super::ending::Ending;
use super::live_run::LiveRun;
use super::question::ConversationCallbacks;
use super::registry::Registration;
use super::service::BackgroundService;
use crate::orchestrate::CallOrder;
use crate::orchestrate::admission::Admission;
use crate::run::{AdmittedRun, Cleanup, HostCallbacks, RunRecord, ToolResult, blocking};
use crate::transcript::session_id;
use agents::config::Config;

/// The maximum age of unstored usage while nothing else changes. After a crash, usage that was not stored is unknown.
const SPENDING_INTERVAL: Duration = Duration::from_secs(5);
/// The interval at which a host process writes a snapshot of its run.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(500);

/// Drives a run of the registry to its end, stores the end, and delivers it to its conversation. The run leaves the
/// registry only after its end is stored and, if its conversation is open here, pending there.
pub(super) async fn drive(
    service: &Arc<BackgroundService>,
    live: &Arc<LiveRun>,
    ready: Result<AdmittedRun, ToolResult>,
    config: &Config,
    order: &CallOrder,
    callbacks: &dyn HostCallbacks,
) {
    let setup_notes = ready.as_ref().map(|ready| ready.notes().to_vec()).unwrap_or_default();
    // Removes the run even if this panics.
    let _registration = Registration { registry: &service.registry, key: live.key() };
    let result = match ready {
        Err(result) => result,
        Ok(ready) => {
            let triggers_turn = config.announce.trigger_turn;
            let callbacks = ConversationCallbacks { service, live, host: callbacks, triggers_turn };
            execute(service, live, ready, order, &callbacks).await
        }
    };
    finish(service, live, &result, config, &setup_notes).await;
}

/// Stores the end of a run, delivers it to its conversation, and removes the run from the registry.
pub(super) async fn finish(
    service: &Arc<BackgroundService>,
    live: &Arc<LiveRun>,
    result: &ToolResult,
    config: &Config,
    setup_notes: &[String],
) {
    let transcript = result.details.results.first().and_then(|single| single.session_file.clone());
    let child_session = blocking(move || session_id(Path::new(&transcript?)).ok().flatten()).await;
    let Ending { run, delivery } = Ending::of_result(live, result, config, child_session, setup_notes);
    let is_silent = delivery.is_none();
    tracing::info!(
        target: "delivery", run = %run.run_id, status = ?run.outcome, session = %run.session, is_silent,
        "the end of a run is stored"
    );
    let writing = Arc::clone(&live.writing).lock_owned().await;
    // Its own conversation takes precedence over other processes that have the same conversation open.
    let is_claimed = service.conversations.is_open(&run.session);
    let ended = Arc::clone(live);
    let finished = run.clone();
    let finish = service.blocking(move |service| {
        service.store.put_with(&finished, delivery.as_ref(), is_claimed);
        if finished.is_detached {
            service.store.snapshots.remove(&finished.key);
        }
        // Only now: an end that is shown before it is stored is another one if this process is killed in between.
        ended.change(|run| *run = finished);
        drop(writing);
        delivery
    });
    let delivery = finish.await;
    // The order matters: a run that is neither live nor pending would count as delivered.
    let undelivered = service.conversations.queue_delivery(&run.session, delivery.filter(|_| is_claimed));
    service.registry.remove(&run.key);
    if let Some(undelivered) = undelivered {
        // The conversation was closed in the meantime.
        service.blocking(move |service| service.store.release(&[undelivered.id])).await;
    }
    if is_silent && run.cleanup == Cleanup::Delete {
        service.blocking(move |service| service.store.archive(&run)).await;
    }
    service.invalidate(!is_claimed);
}

async fn execute(
    service: &Arc<BackgroundService>,
    live: &LiveRun,
    ready: AdmittedRun,
    order: &CallOrder,
    callbacks: &dyn HostCallbacks,
) -> ToolResult {
    let mut show = |progress| {
        live.update(&progress);
        service.registry.notify();
    };
    let admission = Admission { host_id: None, group: None, order };
    tokio::select! {
        biased;
        result = admission.run(ready, callbacks, &live.control, &mut show) => result,
        never = store_changes(service, live) => match never {},
        never = write_snapshots(service, live), if live.record().is_detached => match never {},
    }
}

/// Stores each state of a run that another process needs to know if this one crashes.
pub(super) async fn store_changes(
    service: &Arc<BackgroundService>,
    live: &LiveRun,
) -> std::convert::Infallible {
    let essence = |run: &RunRecord| (run.state, run.transcript.clone(), run.model.clone());
    let mut changes = live.watch();
    let mut run = live.record();
    let mut at = Instant::now();
    let mut has_spent = false;
    loop {
        tokio::select! {
            biased;
            result = changes.changed() => if result.is_err() {
                std::future::pending::<()>().await;
            },
            () = sleep_until(at + SPENDING_INTERVAL), if has_spent => {}
        }
        let now = changes.borrow_and_update().clone();
        has_spent = now.progress.usage != run.progress.usage;
        if (has_spent && at.elapsed() >= SPENDING_INTERVAL) || essence(&now) != essence(&run) {
            (run, at, has_spent) = (now, Instant::now(), false);
            service.save(live).await;
        }
    }
}

/// Writes a snapshot of a run for other processes whenever it changes.
async fn write_snapshots(service: &Arc<BackgroundService>, live: &LiveRun) -> std::convert::Infallible {
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
