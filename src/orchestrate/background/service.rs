//! The background runs of an agent directory as this process sees them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{sleep, timeout};

use super::conversation::view::Conversations;
use super::live_run::{EndReason, LiveRun};
use super::registry::RunRegistry;
use super::run_store::{RunStore, sort_newest_first};
use crate::run::{RunRecord, blocking};

/// The maximum time that an ending host waits for its runs to end. Their children have two seconds to exit.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);
/// The same wait while the JavaScript thread is blocked.
const BLOCKED_CLOSE_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum number of attempts of a host process to store its run. After that it exits without having stored it.
const MAX_FLUSHES: u32 = 600;
/// Pause between two of these attempts.
const FLUSH_PAUSE: Duration = Duration::from_secs(1);
/// Everything about the background runs of one agent directory. It lives as long as the process: runs continue while
/// conversations open and close.
pub struct BackgroundService {
    /// The runs hosted by this process.
    pub(super) registry: Arc<RunRegistry>,
    /// The stored records of all runs, their deliveries and their files.
    pub(super) store: RunStore,
    /// The conversations open in this process.
    pub(super) conversations: Conversations,
    /// True while [`super::watch`] is running.
    pub(super) is_watching: Mutex<bool>,
}

static SERVICES: LazyLock<Mutex<HashMap<PathBuf, Arc<BackgroundService>>>> = LazyLock::new(Mutex::default);

/// The background runs of an agent directory; every spelling of its path gives the same service.
#[must_use]
pub fn background(agent_dir: &Path) -> Arc<BackgroundService> {
    let agent_dir = std::fs::canonicalize(agent_dir)
        .or_else(|_| std::path::absolute(agent_dir))
        .unwrap_or_else(|_| agent_dir.to_owned());
    let mut services = SERVICES.lock();
    let service = services.entry(agent_dir).or_insert_with_key(|agent_dir| {
        Arc::new(BackgroundService {
            registry: Arc::default(),
            store: RunStore::new(agent_dir),
            conversations: Conversations::default(),
            is_watching: Mutex::default(),
        })
    });
    Arc::clone(service)
}

/// Returns the services of all agent directories of this process.
pub(super) fn services() -> Vec<Arc<BackgroundService>> {
    SERVICES.lock().values().cloned().collect()
}

/// Waits a few seconds until the runs being ended have ended, and their ends are stored.
pub async fn ended() {
    let services = services();
    let ended = async {
        for service in &services {
            let mut runs = service.registry.background(None);
            runs.retain(|live| live.is_ending());
            service.registry.until_removed(&runs).await;
        }
    };
    // A run that takes longer stays live in the store; the next process treats it as a run whose host has died.
    let _ = timeout(BLOCKED_CLOSE_TIMEOUT, ended).await;
}

impl BackgroundService {
    /// Returns the runs of a session, or of all, newest first: the live state of those hosted here, the stored state of the
    /// others. Ended foreground runs are included, so that a person and a model find the last run of either kind.
    pub async fn runs(self: &Arc<Self>, session: Option<String>) -> Vec<RunRecord> {
        let runs = self.stored_runs(session.clone()).await;
        self.with_hosted(runs, session.as_deref())
    }

    /// Returns the runs of a session, or of all, as stored, with the snapshots of their host processes.
    pub(super) async fn stored_runs(self: &Arc<Self>, session: Option<String>) -> Vec<RunRecord> {
        self.blocking(move |service| service.store.runs(session.as_deref())).await
    }

    /// Replaces the runs hosted by this process by their live state.
    pub(super) fn with_hosted(&self, mut runs: Vec<RunRecord>, session: Option<&str>) -> Vec<RunRecord> {
        let hosted: HashMap<_, _> = self
            .registry
            .all(session)
            .iter()
            .map(|live| live.record())
            .map(|run| (run.key.clone(), run))
            .collect();
        runs.retain(|run| !hosted.contains_key(&run.key));
        runs.extend(hosted.into_values());
        sort_newest_first(&mut runs);
        runs
    }

    /// One run: its live state if it is hosted here, otherwise its stored state.
    pub(super) async fn run(self: &Arc<Self>, key: &str) -> Option<RunRecord> {
        if let Some(live) = self.registry.get(key) {
            return Some(live.record());
        }
        let key = key.to_owned();
        self.blocking(move |service| service.store.run(&key)).await
    }

    /// Does `work` on a thread that may block.
    pub(super) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let service = Arc::clone(self);
        blocking(move || work(&service)).await
    }

    /// The runs that outlive this process, of the conversations that were open in it, newest first.
    pub(super) async fn continuing(self: &Arc<Self>) -> Vec<RunRecord> {
        let sessions = self.conversations.ever_open();
        if sessions.is_empty() {
            return Vec::new();
        }
        let mut runs = self.stored_runs(None).await;
        runs.retain(|run| run.is_detached && run.is_live() && sessions.contains(&run.session));
        runs
    }

    /// Stores the current state of a run.
    pub(super) async fn save(self: &Arc<Self>, live: &LiveRun) {
        let writing = Arc::clone(&live.writing).lock_owned().await;
        let run = live.record();
        let store = self.blocking(move |service| {
            service.store.put(&run);
            drop(writing);
        });
        store.await;
    }

    /// Makes every open conversation read the store again, and look for deliveries if there may be some.
    pub(super) fn invalidate(&self, may_deliver: bool) {
        self.conversations.invalidate(may_deliver);
        self.registry.notify();
    }

    /// Ends all runs hosted by this process because the host is ending, and waits until their ends are stored.
    pub async fn close(self: &Arc<Self>) {
        let runs = self.end_all();
        // Pi must be able to end even if a run does not.
        let _ = timeout(CLOSE_TIMEOUT, self.registry.until_removed(&runs)).await;
        self.blocking(|service| service.store.flush()).await;
    }

    pub(super) fn end_all(&self) -> Vec<Arc<LiveRun>> {
        let runs = self.registry.background(None);
        for live in &runs {
            live.end(EndReason::HostEnds);
        }
        runs
    }

    /// Waits until this process hosts no run, and tries to store all of them.
    pub(super) async fn until_empty(self: &Arc<Self>) {
        self.registry.until_removed(&self.registry.background(None)).await;
        for _ in 0..MAX_FLUSHES {
            if self.blocking(|service| service.store.flush()).await {
                return;
            }
            sleep(FLUSH_PAUSE).await;
        }
    }
}
