//! The runs hosted by this process.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::live_run::LiveRun;
use crate::run::RunRecord;

type LiveRuns = HashMap<String, Arc<LiveRun>>;

/// The reason why a run is not hosted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotHosted {
    /// A run with its key is already hosted.
    AlreadyHosted,
    /// There is no room for another one.
    TooMany,
}

/// The runs hosted by this process, by key, with a signal for their viewers and waiting callers.
#[derive(Default)]
pub(super) struct RunRegistry {
    runs: Mutex<LiveRuns>,
    changes: watch::Sender<u64>,
}

impl RunRegistry {
    /// Returns the number of background runs.
    pub(super) fn len(&self) -> usize {
        in_background(&self.runs.lock())
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

    /// Returns the runs of a session, or of all, including foreground runs, in no particular order.
    pub(super) fn listed(&self, session: Option<&str>) -> Vec<Arc<LiveRun>> {
        let of_session =
            |live: &&Arc<LiveRun>| session.is_none_or(|session| live.record().session == session);
        self.runs.lock().values().filter(of_session).cloned().collect()
    }

    /// Adds a background run, one of at most `limit`. Foreground runs do not count.
    ///
    /// # Errors
    ///
    /// With the reason why it was not added.
    pub(super) fn host(&self, live: &Arc<LiveRun>, limit: usize) -> Result<(), NotHosted> {
        let mut runs = self.runs.lock();
        let key = live.key();
        if runs.contains_key(&key) {
            return Err(NotHosted::AlreadyHosted);
        }
        if in_background(&runs) >= limit {
            return Err(NotHosted::TooMany);
        }
        runs.insert(key, Arc::clone(live));
        Ok(())
    }

    /// Adds a run that a call waits for.
    pub(super) fn list(&self, live: &Arc<LiveRun>) {
        self.runs.lock().insert(live.key(), Arc::clone(live));
    }

    /// Makes a foreground run a background run with this change, unless there are already `limit` background runs.
    /// Returns true if it did.
    pub(super) fn move_to_background(
        &self,
        live: &LiveRun,
        limit: usize,
        change: impl FnOnce(&mut RunRecord),
    ) -> bool {
        let runs = self.runs.lock();
        let has_room = in_background(&runs) < limit;
        if has_room {
            live.change(|run| {
                run.is_foreground = false;
                change(run);
            });
        }
        has_room
    }

    pub(super) fn remove(&self, key: &str) {
        self.runs.lock().remove(key);
        self.notify();
    }

    /// Removes this run. A resumed run under the same key is another entry, and stays.
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

fn in_background(runs: &LiveRuns) -> usize {
    runs.values().filter(|live| !live.is_foreground()).count()
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
    use supervisor::Cancel;

    fn live(key: &str, session: &str) -> Arc<LiveRun> {
        let run = RunRecord { key: key.to_owned(), session: session.to_owned(), ..RunRecord::default() };
        Arc::new(LiveRun::new(run, &Cancel::new()))
    }

    #[test]
    fn a_run_is_hosted_once_and_only_where_there_is_room() {
        let registry = RunRegistry::default();
        assert_eq!(registry.host(&live("one", "a"), 2), Ok(()));
        assert_eq!(registry.host(&live("one", "a"), 2), Err(NotHosted::AlreadyHosted));
        assert_eq!(registry.host(&live("two", "b"), 2), Ok(()));
        assert_eq!(registry.host(&live("three", "b"), 2), Err(NotHosted::TooMany));
        assert_eq!((registry.len(), registry.of_session(Some("b")).len()), (2, 1));
    }

    #[test]
    fn foreground_runs_take_no_background_slot_until_they_are_moved() {
        let registry = RunRegistry::default();
        let called = ["one", "two"].map(|key| live(key, "a"));
        for live in &called {
            live.change(|run| run.is_foreground = true);
            registry.list(live);
        }
        assert_eq!(registry.host(&live("three", "a"), 2), Ok(()));
        let moves =
            |live: &LiveRun| registry.move_to_background(live, 2, |run| run.label = Some("moved".to_owned()));
        assert_eq!([&called[0], &called[1]].map(|live| moves(live)), [true, false]);
        assert_eq!(called[0].record().label.as_deref(), Some("moved"));
        assert!(
            called[1].is_foreground() && called[1].record().label.is_none(),
            "a run that cannot be moved does not change"
        );
    }

    #[tokio::test]
    async fn waiting_for_a_run_ends_when_its_registration_is_dropped() {
        let registry = RunRegistry::default();
        let one = live("one", "a");
        registry.list(&one);
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
