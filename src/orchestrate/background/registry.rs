//! The runs hosted by this process.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

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
    pub(super) fn background_count(&self) -> usize {
        in_background(&self.runs.lock())
    }

    /// Returns true if there is a run that other processes can ask for something: in the background, or of a workflow.
    pub(super) fn has_shared(&self) -> bool {
        self.all(None).iter().any(|live| !live.is_foreground() || live.record().workflow.is_some())
    }

    pub(super) fn get(&self, key: &str) -> Option<Arc<LiveRun>> {
        self.runs.lock().get(key).cloned()
    }

    /// The background runs of a session, or of all, in no particular order.
    pub(super) fn background(&self, session: Option<&str>) -> Vec<Arc<LiveRun>> {
        let mut runs = self.all(session);
        runs.retain(|live| !live.is_foreground());
        runs
    }

    /// Returns the runs of a session, or of all, including foreground runs, in no particular order.
    pub(super) fn all(&self, session: Option<&str>) -> Vec<Arc<LiveRun>> {
        let of_session =
            |live: &&Arc<LiveRun>| session.is_none_or(|session| live.record().session == session);
        self.runs.lock().values().filter(of_session).cloned().collect()
    }

    /// Adds a background run, one of at most `limit`. Foreground runs do not count. The run stays until its end is stored, or
    /// until the registration is dropped.
    ///
    /// # Errors
    ///
    /// With the reason why it was not added.
    pub(super) fn host(
        self: &Arc<Self>,
        live: &Arc<LiveRun>,
        limit: usize,
    ) -> Result<Registration, NotHosted> {
        let mut runs = self.runs.lock();
        let key = live.key();
        if runs.contains_key(&key) {
            return Err(NotHosted::AlreadyHosted);
        }
        if in_background(&runs) >= limit {
            return Err(NotHosted::TooMany);
        }
        runs.insert(key, Arc::clone(live));
        Ok(self.registration(live))
    }

    /// Adds a background run again. If its ended entry is still registered, waits until that is removed, at most `patience`.
    ///
    /// # Errors
    ///
    /// With the reason why it was not added.
    pub(super) async fn host_again(
        self: &Arc<Self>,
        live: &Arc<LiveRun>,
        limit: usize,
        patience: Duration,
    ) -> Result<Registration, NotHosted> {
        let known = self.get(&live.key()).filter(|known| !known.record().is_live());
        if let Some(ended) = known {
            let _ = timeout(patience, self.until_removed(&[ended])).await;
        }
        self.host(live, limit)
    }

    /// Adds a run that a call waits for.
    pub(super) fn list(self: &Arc<Self>, live: &Arc<LiveRun>) -> Registration {
        self.runs.lock().insert(live.key(), Arc::clone(live));
        self.registration(live)
    }

    fn registration(self: &Arc<Self>, live: &Arc<LiveRun>) -> Registration {
        Registration { registry: Arc::clone(self), live: Arc::clone(live) }
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

    /// Removes a run. A resumed run under the same key is another entry, and stays.
    pub(super) fn remove(&self, live: &Arc<LiveRun>) {
        let mut runs = self.runs.lock();
        if hosts(&runs, live) {
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

    /// Waits until these runs are removed, which means that their ends are stored. Their resumptions are other entries.
    pub(super) async fn until_removed(&self, runs: &[Arc<LiveRun>]) {
        let mut changes = self.changes();
        while runs.iter().any(|live| hosts(&self.runs.lock(), live)) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Returns true if this very run is registered, and not only a run with its key.
fn hosts(runs: &LiveRuns, live: &Arc<LiveRun>) -> bool {
    runs.get(&live.key()).is_some_and(|known| Arc::ptr_eq(known, live))
}

fn in_background(runs: &LiveRuns) -> usize {
    runs.values().filter(|live| !live.is_foreground()).count()
}

/// A run in the registry. Dropping this removes it, even after a panic.
pub(super) struct Registration {
    registry: Arc<RunRegistry>,
    pub live: Arc<LiveRun>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.remove(&self.live);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunOutcome;
    use agents::config::Config;
    use supervisor::Cancel;

    fn live(key: &str, session: &str) -> Arc<LiveRun> {
        let run = RunRecord { key: key.to_owned(), session: session.to_owned(), ..RunRecord::default() };
        Arc::new(LiveRun::new(run, Config::default(), &Cancel::new()))
    }

    #[test]
    fn a_run_is_hosted_once_and_only_where_there_is_room() {
        let registry = Arc::new(RunRegistry::default());
        let host = |key, session| registry.host(&live(key, session), 2);
        let one = host("one", "a").expect("there is room");
        assert_eq!(host("one", "a").err(), Some(NotHosted::AlreadyHosted));
        let two = host("two", "b").expect("there is room");
        assert_eq!(host("three", "b").err(), Some(NotHosted::TooMany));
        assert_eq!((registry.background_count(), registry.background(Some("b")).len()), (2, 1));
        drop(one);
        assert!(registry.get("one").is_none() && registry.get("two").is_some());
        drop(two);
    }

    #[tokio::test]
    async fn the_registration_of_an_ended_run_does_not_remove_its_resumption() {
        let registry = Arc::new(RunRegistry::default());
        let first = registry.host(&live("one", "a"), 2).expect("there is room");
        registry.remove(&first.live);
        let again = registry.host(&live("one", "a"), 2).expect("the run has left");
        let ended = [Arc::clone(&first.live)];
        let waiting = tokio::time::timeout(Duration::from_secs(5), registry.until_removed(&ended));
        waiting.await.expect("the wait for the ended run does not include its resumption");
        drop(first);
        assert!(registry.get("one").is_some_and(|live| Arc::ptr_eq(&live, &again.live)));
    }

    #[tokio::test]
    async fn a_run_is_hosted_again_once_its_ended_entry_is_removed() {
        let registry = Arc::new(RunRegistry::default());
        let first = registry.host(&live("one", "a"), 2).expect("there is room");
        let again = live("one", "a");
        let refused = registry.host_again(&again, 2, Duration::from_secs(60)).await.err();
        assert_eq!(refused, Some(NotHosted::AlreadyHosted), "a run at work is not waited for");
        first.live.change(|run| run.outcome = Some(RunOutcome::Completed));
        let (hosted, ()) =
            tokio::join!(registry.host_again(&again, 2, Duration::from_secs(60)), async { drop(first) });
        assert!(hosted.is_ok_and(|hosted| Arc::ptr_eq(&hosted.live, &again)));
    }

    #[test]
    fn foreground_runs_take_no_background_slot_until_they_are_moved() {
        let registry = Arc::new(RunRegistry::default());
        let called = ["one", "two"].map(|key| {
            let live = live(key, "a");
            live.change(|run| run.is_foreground = true);
            registry.list(&live)
        });
        let _hosted = registry.host(&live("three", "a"), 2).expect("foreground runs take no slot");
        let can_move =
            |live: &LiveRun| registry.move_to_background(live, 2, |run| run.label = Some("moved".to_owned()));
        assert_eq!(called.each_ref().map(|called| can_move(&called.live)), [true, false]);
        let [moved, waiting] = called.each_ref().map(|called| called.live.record());
        assert_eq!(moved.label.as_deref(), Some("moved"));
        assert!(
            waiting.is_foreground && waiting.label.is_none(),
            "a run that cannot be moved does not change"
        );
    }

    #[tokio::test]
    async fn waiting_for_a_run_ends_when_its_registration_is_dropped() {
        let registry = Arc::new(RunRegistry::default());
        let registration = registry.list(&live("one", "a"));
        let runs = [Arc::clone(&registration.live)];
        let mut waiting = std::pin::pin!(registry.until_removed(&runs));
        let is_early =
            std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context).is_ready()));
        assert!(!is_early.await);
        drop(registration);
        waiting.await;
        assert_eq!(registry.background_count(), 0);
    }
}
