//! The runs hosted by this process.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::live_run::LiveRun;

/// The runs hosted by this process, by key, with a signal for those who show runs or wait for them.
#[derive(Default)]
pub(super) struct RunRegistry {
    runs: Mutex<HashMap<String, Arc<LiveRun>>>,
    changes: watch::Sender<u64>,
}

impl RunRegistry {
    /// How many run in the background.
    pub(super) fn len(&self) -> usize {
        self.runs.lock().values().filter(|live| !live.is_foreground()).count()
    }

    pub(super) fn get(&self, key: &str) -> Option<Arc<LiveRun>> {
        self.runs.lock().get(key).cloned()
    }

    /// The background runs of a session, or of all, in no particular order.
    pub(super) fn of_session(&self, session: Option<&str>) -> Vec<Arc<LiveRun>> {
        let mut runs = self.listed(session);
        runs.retain(|live| !live.is_foreground());
        runs
    }

    /// The runs of a session, or of all, those that a call waits for too, in no particular order.
    pub(super) fn listed(&self, session: Option<&str>) -> Vec<Arc<LiveRun>> {
        let of_session =
            |live: &&Arc<LiveRun>| session.is_none_or(|session| live.record().session == session);
        self.runs.lock().values().filter(of_session).cloned().collect()
    }

    /// Adds a run unless there are already `most`, or one has the same key. Returns whether it was added.
    pub(super) fn insert(&self, live: &Arc<LiveRun>, most: usize) -> bool {
        let mut runs = self.runs.lock();
        let key = live.key();
        let is_new = runs.len() < most && !runs.contains_key(&key);
        if is_new {
            runs.insert(key, Arc::clone(live));
        }
        is_new
    }

    pub(super) fn remove(&self, key: &str) {
        self.runs.lock().remove(key);
        self.notify();
    }

    /// Removes this run, unless it was resumed meanwhile, which is another one with its key.
    pub(super) fn remove_this(&self, live: &Arc<LiveRun>) {
        let mut runs = self.runs.lock();
        let is_this = runs.get(&live.key()).is_some_and(|known| Arc::ptr_eq(known, live));
        if is_this {
            runs.remove(&live.key());
            drop(runs);
            self.notify();
        }
    }

    /// Changes whenever a list of runs would show something new.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Waits until these runs are removed, which means that their ends are stored.
    pub(super) async fn until_removed(&self, runs: &[Arc<LiveRun>]) {
        let mut changes = self.changes();
        while runs.iter().any(|live| self.get(&live.key()).is_some()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Removes its run from the registry when dropped.
pub(super) struct Registration<'a> {
    pub registry: &'a RunRegistry,
    pub key: String,
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.registry.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Cancel;
    use crate::run::BackgroundRun;

    fn live(key: &str, session: &str) -> Arc<LiveRun> {
        let run =
            BackgroundRun { key: key.to_owned(), session: session.to_owned(), ..BackgroundRun::default() };
        Arc::new(LiveRun::new(run, &Cancel::new()))
    }

    #[test]
    fn a_run_is_hosted_once_and_only_where_there_is_room() {
        let registry = RunRegistry::default();
        assert!(registry.insert(&live("one", "a"), 2));
        assert!(!registry.insert(&live("one", "a"), 2), "it is hosted already");
        assert!(registry.insert(&live("two", "b"), 2));
        assert!(!registry.insert(&live("three", "b"), 2), "there are two");
        assert_eq!((registry.len(), registry.of_session(Some("b")).len()), (2, 1));
    }

    #[tokio::test]
    async fn waiting_for_a_run_ends_when_its_registration_is_dropped() {
        let registry = RunRegistry::default();
        let one = live("one", "a");
        registry.insert(&one, usize::MAX);
        let registration = Registration { registry: &registry, key: one.key() };
        let runs = [one];
        let mut waiting = std::pin::pin!(registry.until_removed(&runs));
        let is_early =
            std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context).is_ready()));
        assert!(!is_early.await);
        drop(registration);
        waiting.await;
        assert_eq!(registry.len(), 0);
    }
}
