//! The conversations that are open in this process, and what each of them shows.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::outbox::Outbox;
use crate::orchestrate::background::run::BackgroundRun;
use crate::process::Cancel;
use crate::run::HostContext;
use crate::store::Delivery;

/// Where a conversation takes place.
#[derive(Clone, Debug)]
pub struct ConversationScope {
    /// Its working directory.
    pub cwd: PathBuf,
    /// Agent directory, environment and host.
    pub context: Arc<HostContext>,
    /// Cancelled when the host ends, and with it the runs that were resumed from this conversation.
    pub ends_with: Cancel,
}

/// An open conversation.
pub struct ConversationView {
    session: String,
    pub(in super::super) scope: ConversationScope,
    pub(in super::super) outbox: Outbox,
    /// The runs of the newest event.
    runs: Mutex<Vec<BackgroundRun>>,
    /// The keys of the newest list, which numbers refer to.
    listed: Mutex<Vec<String>>,
    has_live: AtomicBool,
    has_kept: AtomicBool,
    /// Runs that a keeper has taken over and that are not known to be over: a pi that would end waits for them.
    handed_over: Mutex<HashSet<String>>,
    /// Whether the store has to be read again.
    is_stale: AtomicBool,
    /// Changes when an event was heard, and when the view is closed.
    changes: watch::Sender<u64>,
}

impl ConversationView {
    pub(in super::super) fn new(session: String, scope: ConversationScope, in_flight: &[String]) -> Self {
        Self {
            session,
            scope,
            outbox: Outbox::with(in_flight),
            runs: Mutex::default(),
            listed: Mutex::default(),
            has_live: AtomicBool::new(false),
            has_kept: AtomicBool::new(false),
            handed_over: Mutex::default(),
            is_stale: AtomicBool::new(true),
            changes: watch::Sender::new(0),
        }
    }

    /// The id of the conversation.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The runs of the newest event, newest first.
    pub(in super::super) fn runs(&self) -> Vec<BackgroundRun> {
        self.runs.lock().clone()
    }

    pub(in super::super) fn set_runs(&self, runs: &[BackgroundRun]) {
        runs.clone_into(&mut self.runs.lock());
    }

    pub(in super::super) fn set_listed(&self, keys: impl Iterator<Item = String>) {
        *self.listed.lock() = keys.collect();
    }

    pub(in super::super) fn listed(&self) -> Vec<String> {
        self.listed.lock().clone()
    }

    pub(in super::super) fn invalidate(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    /// Whether the store has to be read again; it counts as read from now on.
    pub(in super::super) fn take_stale(&self) -> bool {
        self.is_stale.swap(false, Ordering::Relaxed)
    }

    /// Whether one of its runs is live, in any process.
    pub(in super::super) fn has_live(&self) -> bool {
        self.has_live.load(Ordering::Relaxed)
    }

    pub(in super::super) fn set_has_live(&self, has_live: bool) {
        self.has_live.store(has_live, Ordering::Relaxed);
    }

    /// Whether one of its live runs has a keeper, whose snapshots change without the store.
    pub(in super::super) fn has_kept(&self) -> bool {
        self.has_kept.load(Ordering::Relaxed)
    }

    /// Notes that a keeper has taken over a run.
    pub(in super::super) fn note_handed_over(&self, key: String) {
        self.has_kept.store(true, Ordering::Relaxed);
        self.handed_over.lock().insert(key);
    }

    pub(in super::super) fn waits_for_keepers(&self) -> bool {
        !self.handed_over.lock().is_empty()
    }

    /// Takes note of the runs that the store has.
    pub(in super::super) fn note_stored(&self, runs: &[BackgroundRun]) {
        self.has_kept.store(runs.iter().any(|run| run.is_live() && run.is_kept), Ordering::Relaxed);
        let mut handed_over = self.handed_over.lock();
        for run in runs.iter().filter(|run| !run.is_live()) {
            if handed_over.contains(&run.key) {
                // In this order: a run that is over is pending before it is not waited for any more.
                self.outbox.expect();
                handed_over.remove(&run.key);
            }
        }
    }

    pub(in super::super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(in super::super) fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Resolves once it is closed.
    pub(in super::super) async fn closed(&self) {
        let mut changes = self.changes();
        while !self.outbox.is_closed() && changes.changed().await.is_ok() {}
    }

    /// Closes it. Returns the deliveries that are not known to have arrived.
    fn close(&self) -> Vec<String> {
        let left = self.outbox.close();
        self.notify();
        left
    }
}

/// The open conversations of this process, by session.
#[derive(Default)]
pub(in super::super) struct Conversations(Mutex<HashMap<String, Arc<ConversationView>>>);

impl Conversations {
    /// Opens a conversation. Closes the view of the same one that was open, and returns the deliveries that it leaves.
    pub(in super::super) fn open(&self, view: &Arc<ConversationView>) -> Vec<String> {
        let before = self.0.lock().insert(view.session.clone(), Arc::clone(view));
        before.map(|before| before.close()).unwrap_or_default()
    }

    /// Closes a view. Returns the deliveries that it leaves.
    pub(in super::super) fn close(&self, view: &Arc<ConversationView>) -> Vec<String> {
        self.0.lock().retain(|_, open| !Arc::ptr_eq(open, view));
        view.close()
    }

    pub(in super::super) fn get(&self, session: &str) -> Option<Arc<ConversationView>> {
        self.0.lock().get(session).cloned()
    }

    pub(in super::super) fn is_open(&self, session: &str) -> bool {
        self.0.lock().contains_key(session)
    }

    /// One that is open, whichever.
    pub(in super::super) fn any(&self) -> Option<Arc<ConversationView>> {
        self.0.lock().values().next().cloned()
    }

    pub(in super::super) fn is_any(&self, is_so: impl Fn(&ConversationView) -> bool) -> bool {
        self.0.lock().values().any(|view| is_so(view))
    }

    /// Has every view read the store again, and look for deliveries if there may be some.
    pub(in super::super) fn invalidate(&self, may_deliver: bool) {
        for view in self.0.lock().values() {
            view.invalidate();
            if may_deliver {
                view.outbox.expect();
            }
        }
    }

    /// Hands a delivery that this process has claimed to the view of its session. Returns it when the conversation is closed.
    pub(in super::super) fn hand_over(&self, session: &str, delivery: Option<Delivery>) -> Option<Delivery> {
        let Some(view) = self.get(session) else { return delivery };
        view.invalidate();
        delivery.and_then(|delivery| view.outbox.take_in(delivery))
    }
}
