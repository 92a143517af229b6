//! The background runs of an agent directory, as far as they live in this process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::book::Book;
use super::keeper::{remove_snapshot, with_snapshots, write_snapshots};
use super::live::{Ended, Live, Reason};
use super::record::{BackgroundRun, BackgroundState, Cleanup};
use super::spawn::canonical;
use super::view::View;
use crate::config::Config;
use crate::orchestrate::CallOrder;
use crate::orchestrate::single::run_when_admitted;
use crate::run::{HostCallbacks, Ready, ToolResult, blocking};
use crate::store::{Delivery, now_ms};
use crate::transcript::session_id;

/// How long the ends of runs are waited for when the host goes. Their children have two seconds to leave.
const CLOSING: Duration = Duration::from_secs(20);
/// How long they are waited for where nothing else can happen meanwhile.
const LEAVING: Duration = Duration::from_secs(3);
/// How often a keeper tries to keep its run before it ends without.
const FLUSHES: u32 = 600;
/// The pause between two of these.
const FLUSHING: Duration = Duration::from_secs(1);
/// How often what a run has spent is kept while nothing else changes.
const SPENDING: Duration = Duration::from_secs(5);

/// Everything about the background runs of one agent directory. It lives as long as the process: runs go on while
/// conversations come and go.
pub struct Background {
    pub(super) agent_dir: PathBuf,
    pub(super) book: Arc<Book>,
    live: Mutex<HashMap<String, Arc<Live>>>,
    pub(super) views: Mutex<HashMap<String, Arc<View>>>,
    /// Goes up with everything that somebody who looks would see.
    news: watch::Sender<u64>,
    pub(super) is_watching: Mutex<bool>,
}

static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Arc<Background>>>> = LazyLock::new(Mutex::default);

/// Ends every background run that lives in this process because that goes, and waits until their ends are kept.
pub async fn close_all() {
    let known: Vec<_> = KNOWN.lock().values().cloned().collect();
    for engine in &known {
        engine.end_all();
    }
    for engine in &known {
        engine.close().await;
    }
}

/// Waits until the runs that were told to end are over, and that is kept; not for long.
pub async fn ended() {
    let known: Vec<_> = KNOWN.lock().values().cloned().collect();
    let ended = async {
        for engine in &known {
            let mut live = engine.live_of(None);
            live.retain(|live| live.is_ending());
            engine.gone(&live).await;
        }
    };
    // Whatever hangs: what is kept of it says that it was under way.
    let _ = timeout(LEAVING, ended).await;
}

/// The background runs of an agent directory.
#[must_use]
pub fn background(agent_dir: &Path) -> Arc<Background> {
    let agent_dir = canonical(agent_dir);
    let mut known = KNOWN.lock();
    let engine = known.entry(agent_dir).or_insert_with_key(|agent_dir| {
        Arc::new(Background {
            agent_dir: agent_dir.clone(),
            book: Arc::new(Book::new(agent_dir)),
            live: Mutex::default(),
            views: Mutex::default(),
            news: watch::Sender::new(0),
            is_watching: Mutex::default(),
        })
    });
    Arc::clone(engine)
}

impl Background {
    /// How many runs live in this process.
    pub(super) fn live_runs(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn live_run(&self, key: &str) -> Option<Arc<Live>> {
        self.lock().get(key).cloned()
    }

    /// The runs of a session that live here, or all of them.
    pub(super) fn live_of(&self, session: Option<&str>) -> Vec<Arc<Live>> {
        let of_session = |live: &&Arc<Live>| session.is_none_or(|session| live.record().session == session);
        self.lock().values().filter(of_session).cloned().collect()
    }

    /// What is new since it was last looked at.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    pub(super) fn tell_news(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Counts a run among those that live here. `false`: it is one of them already.
    pub(super) fn enlist(&self, live: &Arc<Live>) -> bool {
        let mut runs = self.lock();
        let key = live.record().key;
        let is_new = !runs.contains_key(&key);
        if is_new {
            runs.insert(key, Arc::clone(live));
        }
        is_new
    }

    /// Counts a run among those that live here, unless there are `most` already.
    pub(super) fn enlist_within(&self, live: &Arc<Live>, most: usize) -> bool {
        let mut runs = self.lock();
        let has_room = runs.len() < most;
        if has_room {
            runs.insert(live.record().key, Arc::clone(live));
        }
        has_room
    }

    /// No longer counts a run among those that live here.
    pub(super) fn strike(&self, key: &str) {
        self.lock().remove(key);
        self.tell_news();
    }

    /// Keeps a run from now on that was counted among those that live here.
    pub(super) async fn accept(self: &Arc<Self>, live: &Live) {
        self.keep(live).await;
        self.tell_news();
        self.watch_others();
    }

    /// Follows a run that was accepted to its end, and keeps that.
    pub(super) async fn follow(
        self: &Arc<Self>,
        live: &Arc<Live>,
        ready: Result<Ready, ToolResult>,
        config: &Config,
        order: &CallOrder,
        callbacks: &impl HostCallbacks,
    ) {
        // However this ends.
        let enlisted = Enlisted { engine: self, key: live.record().key };
        let result = match ready {
            Err(result) => result,
            Ok(ready) => {
                let show = |progress| {
                    live.show(&progress);
                    self.tell_news();
                };
                let run = run_when_admitted(ready, callbacks, &live.control, order, show);
                let shows = async {
                    if live.record().is_kept {
                        write_snapshots(&self.agent_dir, live).await;
                    }
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    biased;
                    result = run => result,
                    () = self.keep_changes(live) => unreachable!("it keeps changes until the end"),
                    () = shows => unreachable!("it shows them until the end"),
                }
            }
        };
        let transcript = result.details.results.first().and_then(|single| single.session_file.clone());
        let child_session = blocking(move || session_id(Path::new(&transcript?)).ok().flatten()).await;
        let Ended { run, announcement } = live.ended(&result, config, child_session);
        let is_silent = announcement.is_none();
        let delivery = announcement.map(|announcement| Delivery {
            id: Uuid::new_v4().to_string(),
            session: run.session.clone(),
            key: run.key.clone(),
            body: serde_json::to_string(&announcement).expect("texts and numbers are JSON"),
            created_ms: now_ms(),
        });
        let writing = Arc::clone(&live.writing).lock_owned().await;
        let (engine, settled) = (Arc::clone(self), run.clone());
        // Whoever asked for it is told before others who have the same conversation open.
        let is_claimed = self.is_open(&run.session);
        let delivery = blocking(move || {
            // Committed before anybody hears of it.
            engine.book.settle(&settled, delivery.as_ref(), is_claimed);
            if settled.is_kept {
                remove_snapshot(&engine.agent_dir, &settled.key);
            }
            drop(writing);
            delivery
        })
        .await;
        // In this order: while it is neither live nor pending, it would seem to be told.
        let claimed = delivery.filter(|_| is_claimed);
        let left = self.deliver(&run.session, claimed);
        drop(enlisted);
        if let Some(left) = left {
            // The conversation was closed meanwhile.
            let book = Arc::clone(&self.book);
            blocking(move || book.release(&[left.id])).await;
        }
        if is_silent && run.cleanup == Cleanup::Delete {
            self.archive(run).await;
        }
        self.look_again(!is_claimed);
    }

    /// Keeps every state of a run that a restart would have to know, for as long as it is polled.
    async fn keep_changes(&self, live: &Live) {
        let essence = |run: &BackgroundRun| (run.state, run.transcript.clone(), run.model.clone());
        let mut changes = live.watch();
        let (mut kept, mut spent, mut at) = (essence(&live.record()), live.record().usage, Instant::now());
        loop {
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            let run = changes.borrow_and_update().clone();
            let has_spent = run.usage != spent && at.elapsed() >= SPENDING;
            if has_spent || essence(&run) != kept {
                (kept, spent, at) = (essence(&run), run.usage, Instant::now());
                self.keep(live).await;
            }
        }
    }

    /// Keeps a run as it is.
    async fn keep(&self, live: &Live) {
        let (book, writing) = (Arc::clone(&self.book), Arc::clone(&live.writing).lock_owned().await);
        let run = live.record();
        blocking(move || {
            book.put(&run);
            drop(writing);
        })
        .await;
    }

    /// The runs of a session, or of all, newest first: as they are kept, and as they are where they live here.
    pub async fn runs(self: &Arc<Self>, session: Option<String>) -> Vec<BackgroundRun> {
        let (engine, asked) = (Arc::clone(self), session.clone());
        let kept =
            blocking(move || with_snapshots(&engine.agent_dir, engine.book.runs(asked.as_deref()))).await;
        self.overlaid(kept, session.as_deref())
    }

    /// Puts runs that live here in the place of what is kept of them.
    pub(super) fn overlaid(&self, mut runs: Vec<BackgroundRun>, session: Option<&str>) -> Vec<BackgroundRun> {
        let live: HashMap<_, _> = self
            .live_of(session)
            .iter()
            .map(|live| live.record())
            .map(|run| (run.key.clone(), run))
            .collect();
        runs.retain(|run| !live.contains_key(&run.key));
        runs.extend(live.into_values());
        runs.sort_by(|one, other| (other.created_ms, &other.key).cmp(&(one.created_ms, &one.key)));
        runs
    }

    /// Ends every run that lives here because the host goes, and waits until their ends are kept.
    pub async fn close(&self) {
        let live = self.end_all();
        // Whatever hangs: pi is to end.
        let _ = timeout(CLOSING, self.gone(&live)).await;
        let book = Arc::clone(&self.book);
        blocking(move || book.flush()).await;
    }

    fn end_all(&self) -> Vec<Arc<Live>> {
        let live = self.live_of(None);
        for live in &live {
            live.end(Reason::HostEnds);
        }
        live
    }

    /// Waits until no run lives here any more, and all of them are kept if that can be had.
    pub(super) async fn emptied(&self) {
        self.gone(&self.live_of(None)).await;
        for _ in 0..FLUSHES {
            let book = Arc::clone(&self.book);
            if blocking(move || book.flush()).await {
                return;
            }
            sleep(FLUSHING).await;
        }
    }

    /// Waits until these runs are over, and that is kept.
    pub(super) async fn gone(&self, runs: &[Arc<Live>]) {
        let mut news = self.news();
        while runs.iter().any(|live| self.live_run(&live.record().key).is_some()) {
            if news.changed().await.is_err() {
                return;
            }
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Live>>> {
        self.live.lock()
    }
}

/// A run among those that live here; it is none any more when this is dropped.
struct Enlisted<'a> {
    engine: &'a Background,
    key: String,
}

impl Drop for Enlisted<'_> {
    fn drop(&mut self) {
        self.engine.strike(&self.key);
    }
}

/// Whether a run waits for its turn.
pub(super) fn is_queued(run: &BackgroundRun) -> bool {
    run.state == BackgroundState::Queued
}
