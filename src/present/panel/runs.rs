//! The runs that the panel lists: the session's runs from events, joined with the runs in the store.

use crate::present::runs::{ShownRun, read_runs};
use crate::run::RunRecord;

/// The intervals for reading the store, in milliseconds. Runs of other sessions send no events here, and old runs may be
/// removed.
const ALL_EVERY_MS: u64 = 2_000;
const OWN_EVERY_MS: u64 = 10_000;

/// The listed runs.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the list")]
pub(super) struct Runs {
    /// All listed runs, newest first.
    pub(super) list: Vec<ShownRun>,
    /// The keys of the runs with unread results.
    pub(super) unread: Vec<String>,
    /// The keys of the listed runs of other sessions. Empty for the list of all sessions.
    pub(super) others: Vec<String>,
    /// True for the runs of all sessions.
    pub(super) is_all: bool,
    /// True once the store has answered.
    pub(super) is_complete: bool,
    /// The store's error.
    pub(super) problem: Option<String>,
    own: Vec<ShownRun>,
    stored: Vec<ShownRun>,
    /// The known ends of the session's runs.
    ends: Vec<(String, u32)>,
    read_ms: Option<i64>,
    is_reading: bool,
    /// True if the store was read after the last event.
    is_stored_newer: bool,
    /// True if another read was requested during the current one.
    is_wanted: bool,
}

impl Runs {
    pub(super) fn run(&self, key: &str) -> Option<&ShownRun> {
        self.list.iter().find(|run| run.key == key)
    }

    /// Returns true if an event has reported the run.
    pub(super) fn is_own(&self, key: &str) -> bool {
        self.own.iter().any(|run| run.key == key)
    }

    /// Takes the session's runs.
    pub(super) fn set_own(&mut self, runs: &str, unread: Vec<String>) {
        (self.own, self.unread) = (read_runs(runs), unread);
        self.is_stored_newer = false;
        self.join();
    }

    /// Takes the answer of the store to a read for `is_all`.
    pub(super) fn take_stored(&mut self, answer: Result<&str, &str>, is_all: bool, now_ms: i64) {
        self.is_reading = false;
        match answer {
            // The user has switched to another list; the next read loads it.
            Ok(_) if is_all != self.is_all => return,
            Ok(runs) => {
                self.stored = read_runs(runs);
                self.is_stored_newer = true;
                self.is_complete = true;
                self.problem = None;
            }
            Err(problem) => self.problem = Some(problem.to_owned()),
        }
        self.read_ms = Some(now_ms);
        self.join();
    }

    /// Joins the events with the stored runs. If a run has just ended, requests its result from the store.
    fn join(&mut self) {
        let stored = |run: &ShownRun| self.stored.iter().find(|stored| stored.key == run.key);
        let own = self.own.iter().map(|run| completed(run, stored(run), self.is_stored_newer));
        let others: Vec<_> = self.stored.iter().filter(|run| !self.is_own(&run.key)).cloned().collect();
        let named = others.iter().filter(|_| !self.is_all);
        self.others = named.map(|run| run.key.clone()).collect();
        self.list = own.chain(others).collect();
        self.list.sort_by_key(|run| std::cmp::Reverse(run.created_ms));
        let ended = self.own.iter().filter(|run| !run.is_live());
        let ends: Vec<_> = ended.map(|run| (run.key.clone(), run.times_resumed)).collect();
        if ends != self.ends {
            self.ends = ends;
            self.is_wanted = true;
        }
    }

    /// Switches between the runs of all sessions and the runs of this one.
    pub(super) fn toggle_all(&mut self) {
        self.is_all = !self.is_all;
        if !self.is_all {
            let session = self.own.first().map(|run| run.session.clone());
            self.stored.retain(|run| Some(&run.session) == session.as_ref());
        }
        self.join();
        self.is_wanted = true;
    }

    /// Requests a read of the store, at once.
    pub(super) fn read(&mut self) {
        self.is_wanted = true;
    }

    /// Requests a read if the interval has passed. The system clock may be set back.
    pub(super) fn read_if_due(&mut self, now_ms: i64) {
        let every = if self.is_all { ALL_EVERY_MS } else { OWN_EVERY_MS };
        let is_due = self.read_ms.is_none_or(|read_ms| now_ms.abs_diff(read_ms) >= every);
        self.is_wanted |= is_due && !self.is_reading;
    }

    /// Begins a requested read. Returns true if there is one.
    pub(super) fn begin_read(&mut self) -> bool {
        let begins = self.is_wanted && !self.is_reading;
        if begins {
            (self.is_wanted, self.is_reading) = (false, true);
        }
        begins
    }
}

/// Adds the long texts of the stored run, which events leave out.
///
/// `is_newer`: the store was read after the event. A command may have moved the run's changes in between.
fn completed(own: &ShownRun, stored: Option<&ShownRun>, is_newer: bool) -> ShownRun {
    let mut run = own.clone();
    if let Some(stored) = stored.filter(|stored| stored.is_live() == own.is_live()) {
        let RunRecord { task, result, partial, artifacts, .. } = &**stored;
        run.0.task.clone_from(task);
        run.0.result = result.clone().or(run.0.result);
        run.0.artifacts.clone_from(artifacts);
        run.0.partial = partial.clone().or(run.0.partial);
        if is_newer {
            run.0.changes_state = stored.changes_state;
        }
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use worktree::ChangesState;

    #[test]
    fn the_newer_of_event_and_store_has_the_state_of_the_changes() {
        let json = |state: Option<ChangesState>| {
            let run = RunRecord { key: "k".to_owned(), changes_state: state, ..RunRecord::default() };
            serde_json::to_string(&[run]).expect("the run is serialized")
        };
        let mut runs = Runs::default();
        let state = |runs: &Runs| runs.run("k").and_then(|run| run.changes_state);
        runs.set_own(&json(Some(ChangesState::Unapplied)), Vec::new());
        runs.take_stored(Ok(&json(Some(ChangesState::Applied))), false, 0);
        assert_eq!(state(&runs), Some(ChangesState::Applied), "a command has applied them since the event");
        runs.set_own(&json(None), Vec::new());
        assert_eq!(state(&runs), None, "the run was resumed since the store was read");
    }
}
