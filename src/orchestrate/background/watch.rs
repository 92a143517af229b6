//! Watches other processes and due times: runs of dead processes, requests, transcripts to archive.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::conversation::view::{ConversationScope, ConversationView};
use super::deliver::store_again;
use super::ending::adopt_orphans;
use super::live_run::EndReason;
use super::run_store::{SEND, STOP};
use super::service::BackgroundService;
use crate::run::{RunRecord, load_config, recover_trees, spawn_task, sweep_leftovers};
use store::Request;

/// The pause between two polls of the store while runs are live.
const BUSY_PAUSE: Duration = Duration::from_millis(500);
/// Added to that pause while no run is live.
const IDLE_PAUSE: Duration = Duration::from_secs(3);
/// Interval of the search for runs of dead processes. The death of a process changes nothing in the store.
const ORPHAN_INTERVAL: Duration = Duration::from_secs(5);
/// Interval of the search for transcripts to archive.
const ARCHIVE_INTERVAL: Duration = Duration::from_secs(30);
/// Interval of measuring the files of all runs, which opens the directory of each.
const MEASURE_INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Interval of the search for private trees of dead processes. It lists one directory.
const TREE_INTERVAL: Duration = Duration::from_secs(30);

/// The notice after the database was replaced.
const REPLACED: &str = "the list of background runs was removed or damaged while pi was running; a new one \
                        was started with the runs that this pi still knows";

/// The last time of each task, and the last version of the store.
struct Schedule {
    version: Option<i64>,
    orphans: Option<Instant>,
    archive: Option<Instant>,
    measure: Option<Instant>,
    trees: Option<Instant>,
}

/// Starts watching, for as long as a conversation is open or a run is hosted here.
pub(super) fn watch_others(service: &Arc<BackgroundService>) {
    if !std::mem::replace(&mut *service.is_watching.lock(), true) {
        spawn_task(watch(Arc::clone(service)));
    }
}

async fn watch(service: Arc<BackgroundService>) {
    let mut schedule =
        Schedule { version: None, orphans: Some(Instant::now()), archive: None, measure: None, trees: None };
    let mut changes = service.registry.changes();
    while is_needed(&service) {
        changes.mark_unchanged();
        poll(&service, &mut schedule).await;
        sleep(BUSY_PAUSE).await;
        let is_busy =
            service.registry.has_shared() || service.conversations.is_any(ConversationView::has_live);
        if !is_busy {
            // A change since the last poll may be a new run.
            let _ = timeout(IDLE_PAUSE, changes.changed()).await;
        }
    }
}

/// Returns true if another poll is useful. If not, the next call of [`watch_others`] starts again.
fn is_needed(service: &BackgroundService) -> bool {
    let mut is_watching = service.is_watching.lock();
    *is_watching = service.registry.has_shared() || service.conversations.is_any(|_| true);
    *is_watching
}

async fn poll(service: &Arc<BackgroundService>, schedule: &mut Schedule) {
    restore_if_replaced(service).await;
    let before = schedule.version;
    let changes = service.blocking(move |BackgroundService { store, .. }| {
        store.flush();
        let version = store.version();
        let requests = if version == before { Some(Vec::new()) } else { store.take_requests() };
        (version, requests)
    });
    let (version, Some(requests)) = changes.await else { return };
    if version != before {
        schedule.version = version;
        service.invalidate(true);
    } else if service.conversations.is_any(ConversationView::has_detached) {
        service.invalidate(false);
    }
    for request in &requests {
        handle(service, request);
    }
    if is_due(&mut schedule.orphans, ORPHAN_INTERVAL) {
        adopt_orphans(service).await;
    }
    if is_due(&mut schedule.archive, ARCHIVE_INTERVAL) {
        let archive = service.blocking(|BackgroundService { store, .. }| {
            if store.version().is_some() {
                store.snapshots.sweep(|key| store.run(key).is_some_and(|run| run.is_live()));
            }
            store.archive_due();
            sweep_leftovers(&store.agent_dir);
        });
        archive.await;
        service.registry.notify();
    }
    if let Some(view) = service.conversations.any()
        && is_due(&mut schedule.trees, TREE_INTERVAL)
    {
        let ConversationScope { cwd, context, .. } = view.scope.clone();
        let loaded = service.blocking(move |_| (load_config(&cwd, &context), context)).await;
        if let (Ok(loaded), context) = loaded {
            for notice in recover_trees(&context, &loaded.config).await {
                service.store.notify_user(notice);
                service.invalidate(false);
            }
        }
    }
    if is_due(&mut schedule.measure, MEASURE_INTERVAL)
        && let Some(view) = service.conversations.any()
    {
        let ConversationScope { cwd, context, .. } = view.scope.clone();
        let measure = move |service: &BackgroundService| service.store.keep_within_quota(&cwd, &context);
        if service.blocking(measure).await {
            service.invalidate(false);
        }
    }
}

/// If the database was removed, or was set aside because of damage, since the last call: stores the runs and results that this
/// process knows in the new one, and notifies the user. These are its live runs, the ended runs that its conversations show,
/// and the results that wait for them.
pub(super) async fn restore_if_replaced(service: &Arc<BackgroundService>) {
    let check = |service: &BackgroundService| {
        let is_replaced = service.store.was_replaced();
        if is_replaced {
            restore_ended(service);
            service.store.notify_user(REPLACED.to_owned());
        }
        is_replaced
    };
    if service.blocking(check).await {
        for live in service.registry.background(None) {
            service.save(&live).await;
        }
        service.invalidate(false);
    }
}

fn restore_ended(service: &BackgroundService) {
    for view in service.conversations.all() {
        // The last shown state may be newer, but lacks the long texts.
        let shown = view.runs().into_iter().filter(|run| !run.is_live() && !run.is_foreground);
        for run in &view.ended().into_iter().chain(shown).collect::<Vec<RunRecord>>() {
            service.store.put_missing(run);
        }
        store_again(service, &view);
    }
}

/// Returns true if a task was last done at least `interval` ago, or never. If so, it counts as done now.
fn is_due(last: &mut Option<Instant>, interval: Duration) -> bool {
    let is_due = last.is_none_or(|last| last.elapsed() >= interval);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}

fn handle(service: &BackgroundService, Request { key, action, text }: &Request) {
    let Some(live) = service.registry.get(key) else { return };
    tracing::info!(target: "run", run = key, action, "another process asks");
    match action.as_str() {
        STOP => live.end(EndReason::Stopped),
        // The transcript shows whether the child has read it.
        SEND => drop(live.question.answer(text) || live.control.steering.steer(text)),
        _ => {}
    }
}
