//! The background runs of an agent directory, as this process sees them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{sleep, timeout};

use super::conversation::view::Conversations;
use super::live_run::{EndReason, LiveRun};
use super::live_snapshot::SnapshotDirectory;
use super::registry::RunRegistry;
use super::repository::RunRepository;
use super::retention::Retention;
use super::run::{BackgroundRun, sort_newest_first};
use crate::run::blocking;

/// How long the end of the host waits for the ends of its runs. Their children have two seconds to leave.
const CLOSING: Duration = Duration::from_secs(20);
/// The same where the JavaScript thread is blocked meanwhile.
const LEAVING: Duration = Duration::from_secs(3);
/// How often a keeper tries to store its run before it ends without.
const FLUSHES: u32 = 600;
/// The pause between two of these tries.
const FLUSH_PAUSE: Duration = Duration::from_secs(1);

/// Everything about the background runs of one agent directory. It lives as long as the process: runs go on while
/// conversations come and go.
pub struct BackgroundService {
    /// The runs that this process hosts.
    pub(super) registry: RunRegistry,
    /// What is kept of all runs.
    pub(super) repository: Arc<RunRepository>,
    /// How far the runs have come that outlive their pi.
    pub(super) snapshots: SnapshotDirectory,
    /// The files of runs that are over.
    pub(super) retention: Retention,
    /// The conversations that are open here.
    pub(super) conversations: Conversations,
    /// Whether [`super::watch`] is at work.
    pub(super) is_watching: Mutex<bool>,
}

static SERVICES: LazyLock<Mutex<HashMap<PathBuf, Arc<BackgroundService>>>> = LazyLock::new(Mutex::default);

/// The background runs of an agent directory: the same service for each spelling of its path.
#[must_use]
pub fn background(agent_dir: &Path) -> Arc<BackgroundService> {
    let agent_dir = std::fs::canonicalize(agent_dir)
        .or_else(|_| std::path::absolute(agent_dir))
        .unwrap_or_else(|_| agent_dir.to_owned());
    let mut services = SERVICES.lock();
    let service = services.entry(agent_dir).or_insert_with_key(|agent_dir| {
        let repository = Arc::new(RunRepository::new(agent_dir));
        let snapshots = SnapshotDirectory::new(agent_dir);
        Arc::new(BackgroundService {
            registry: RunRegistry::new(),
            retention: Retention::new(agent_dir.clone(), Arc::clone(&repository)),
            repository,
            snapshots,
            conversations: Conversations::default(),
            is_watching: Mutex::default(),
        })
    });
    Arc::clone(service)
}

/// Ends every background run of this process because the process ends, and waits until their ends are kept.
pub async fn close_all() {
    let services: Vec<_> = SERVICES.lock().values().cloned().collect();
    for service in &services {
        service.end_all();
    }
    for service in &services {
        service.close().await;
    }
}

/// Waits a few seconds until the runs that are being ended are over, and their ends are kept.
pub async fn ended() {
    let services: Vec<_> = SERVICES.lock().values().cloned().collect();
    let ended = async {
        for service in &services {
            let mut runs = service.registry.of_session(None);
            runs.retain(|live| live.is_ending());
            service.registry.until_removed(&runs).await;
        }
    };
    // A run that takes longer is stored as live, and found by the next process as one whose host has died.
    let _ = timeout(LEAVING, ended).await;
}

impl BackgroundService {
    /// The runs of a session, or of all, newest first: as they are kept, and as they are now where this process hosts them.
    pub async fn runs(&self, session: Option<String>) -> Vec<BackgroundRun> {
        let runs = self.stored_runs(session.clone()).await;
        self.with_hosted(runs, session.as_deref())
    }

    /// The runs of a session, or of all, as they are kept and as the snapshots of keepers show them.
    pub(super) async fn stored_runs(&self, session: Option<String>) -> Vec<BackgroundRun> {
        let snapshots = self.snapshots.clone();
        self.with_repository(move |repository| snapshots.update(repository.runs(session.as_deref()))).await
    }

    /// Replaces the runs that this process hosts by what they are now.
    pub(super) fn with_hosted(
        &self,
        mut runs: Vec<BackgroundRun>,
        session: Option<&str>,
    ) -> Vec<BackgroundRun> {
        let hosted: HashMap<_, _> = self
            .registry
            .of_session(session)
            .iter()
            .map(|live| live.record())
            .map(|run| (run.key.clone(), run))
            .collect();
        runs.retain(|run| !hosted.contains_key(&run.key));
        runs.extend(hosted.into_values());
        sort_newest_first(&mut runs);
        runs
    }

    /// One run: as it is now where this process hosts it, else as it is kept.
    pub(super) async fn run(&self, key: &str) -> Option<BackgroundRun> {
        if let Some(live) = self.registry.get(key) {
            return Some(live.record());
        }
        let key = key.to_owned();
        self.with_repository(move |repository| repository.run(&key)).await
    }

    /// Uses the repository where blocking is allowed.
    pub(super) async fn with_repository<T: Send + 'static>(
        &self,
        work: impl FnOnce(&RunRepository) -> T + Send + 'static,
    ) -> T {
        let repository = Arc::clone(&self.repository);
        blocking(move || work(&repository)).await
    }

    /// Stores a run as it is now.
    pub(super) async fn store(&self, live: &LiveRun) {
        let writing = Arc::clone(&live.writing).lock_owned().await;
        let run = live.record();
        self.with_repository(move |repository| {
            repository.put(&run);
            drop(writing);
        })
        .await;
    }

    /// Has every open conversation read the store again, and look for deliveries if there may be some.
    pub(super) fn invalidate(&self, may_deliver: bool) {
        self.conversations.invalidate(may_deliver);
        self.registry.notify();
    }

    /// Ends every run that this process hosts because the host ends, and waits until their ends are kept.
    pub async fn close(&self) {
        let runs = self.end_all();
        // Pi has to end, even if a run does not.
        let _ = timeout(CLOSING, self.registry.until_removed(&runs)).await;
        self.with_repository(RunRepository::flush).await;
    }

    fn end_all(&self) -> Vec<Arc<LiveRun>> {
        let runs = self.registry.of_session(None);
        for live in &runs {
            live.end(EndReason::HostEnds);
        }
        runs
    }

    /// Waits until this process hosts no run, and tries to store all of them.
    pub(super) async fn until_empty(&self) {
        self.registry.until_removed(&self.registry.of_session(None)).await;
        for _ in 0..FLUSHES {
            if self.with_repository(RunRepository::flush).await {
                return;
            }
            sleep(FLUSH_PAUSE).await;
        }
    }
}
