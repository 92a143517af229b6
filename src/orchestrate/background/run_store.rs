//! Stores background runs on disk, or in memory while the store on disk fails, and the snapshots of live runs that outlive their
//! pi. `retention` removes their files.
//!
//! The fallback is a store in memory with the same tables. All data of one run are in one of the two, so that older
//! data never replace newer; [`RunStore::flush`] moves them to disk as soon as that works again.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::live_snapshot::SnapshotDirectory;
use crate::run::{RunRecord, WorkflowRun, charge_others};
use files::layout;
use store::{
    Claim, Delivery, NamedRun, Request, Store, StoreError, StoredDirectory, StoredRun, StoredWorkflow, attach,
};

/// The maximum number of ended runs in a list. The newest count.
const MAX_RUNS: usize = 100;

/// The maximum number of runs whose directories are measured together. This many take up more than the default quota: a
/// session file and its directory have some blocks of a disk each.
const MAX_DIRECTORIES: usize = 100_000;

/// Asks the process that hosts a run to end it.
pub(super) const STOP: &str = "stop";
/// Asks the process that hosts a run to pass a message to its child.
pub(super) const SEND: &str = "send";

/// The notice that runs cannot be stored.
const NOT_STORED: &str = "background runs are kept in memory only, and undelivered results are lost when pi \
                        exits";

/// The reason why nothing is known about workflows.
const NO_STORE: &str = "the store of runs cannot be used, as `/subagents doctor` says";

/// The reason why a workflow cannot be stored or read. It is only on disk.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowStoreError {
    /// There is no store on disk.
    #[error("{NO_STORE}")]
    NoStore,
    /// The store fails.
    #[error("{}", .0.in_full())]
    Store(#[from] StoreError),
}

/// Stores background runs. Every method blocks.
#[derive(Debug)]
pub(super) struct RunStore {
    pub(super) agent_dir: PathBuf,
    /// The progress of live runs that have a host process.
    pub(super) snapshots: SnapshotDirectory,
    state: Mutex<State>,
    /// Held during every write, so that a flush moves a consistent state.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The store on disk, once opened.
    durable: Option<Store>,
    /// The store in memory, while it contains anything.
    fallback: Option<Store>,
    /// Ids of deliveries that the store on disk could not mark as delivered.
    unmarked: Vec<String>,
    /// The number of detected replacements of the store on disk.
    replaced: u32,
    was_warned: bool,
    notices: Vec<String>,
}

impl RunStore {
    pub(super) fn new(agent_dir: &Path) -> Self {
        Self {
            agent_dir: agent_dir.to_owned(),
            snapshots: SnapshotDirectory::new(agent_dir),
            state: Mutex::default(),
            writing: Mutex::default(),
        }
    }

    /// Stores a run.
    pub(super) fn put(&self, run: &RunRecord) {
        self.put_with(run, None, false, None);
    }

    /// Stores a run together with a delivery, both or neither: its end, or its question. With `is_claimed`, this process delivers
    /// it, and no other process is offered the delivery. `result` is the whole result of a completed run of a workflow.
    pub(super) fn put_with(
        &self,
        run: &RunRecord,
        delivery: Option<&Delivery>,
        is_claimed: bool,
        result: Option<&str>,
    ) {
        let write = |store: &Store| {
            let row = stored(run, store);
            // A live run with a question has a delivery, too.
            if row.is_live && delivery.is_none() {
                store.put_run(&row)
            } else {
                store.settle_named_run(&row, delivery, is_claimed, result)
            }
        };
        let _writing = self.writing.lock();
        // A run stays in memory until all of its data can move.
        let durable = if self.is_in_memory(&run.key) { None } else { self.durable() };
        let failure = match durable.map(|store| write(&store)) {
            Some(Ok(())) => return,
            Some(Err(error)) => Some(error),
            None => None,
        };
        let written = self.fallback().map_or_else(Store::in_memory, Ok).and_then(|fallback| {
            write(&fallback)?;
            self.state.lock().fallback = Some(fallback);
            Ok(())
        });
        self.state.lock().warn(failure.or(written.err()).map(|error| error.in_full()).as_deref());
    }

    /// Stores the end of a run whose process has died. `false`: another process was first.
    pub(super) fn adopt(&self, run: &RunRecord, from: &str, delivery: Option<&Delivery>) -> bool {
        let Some(store) = self.existing() else { return false };
        let is_adopted = store.adopt_run(&stored(run, &store), from, delivery).unwrap_or(false);
        if is_adopted
            && let Some(account) = run.workflow.as_ref().and_then(|workflow| workflow.account.as_deref())
        {
            charge_others(account, store.spent(account).unwrap_or_default());
        }
        is_adopted
    }

    /// Returns the run that has a key in a workflow. `Err`: the store cannot be used.
    pub(super) fn named_run(
        &self,
        workflow: &str,
        key: &str,
    ) -> Result<Option<(RunRecord, NamedRun)>, WorkflowStoreError> {
        let found = self.workflows()?.named_run(workflow, key)?;
        Ok(found.and_then(|found| Some((read(&found.run)?, found))))
    }

    /// Gives a key in a workflow to a run of this process. `false`: another process was first, or the store cannot be used.
    pub(super) fn claim_key(
        &self,
        run: &RunRecord,
        place: &WorkflowRun,
        known: Option<&NamedRun>,
        workflow: &StoredWorkflow,
    ) -> Result<bool, WorkflowStoreError> {
        let store = self.workflows()?;
        let claim = Claim {
            workflow: &workflow.key,
            name: &place.key,
            digest: &place.digest,
            run: &stored(run, &store),
            known,
        };
        Ok(store.claim_name(&claim, workflow)?)
    }

    /// Returns the store of workflows, which is only on disk.
    pub(super) fn workflows(&self) -> Result<Store, WorkflowStoreError> {
        self.durable().ok_or(WorkflowStoreError::NoStore)
    }

    /// Stores a change of an ended run. `Some(false)`: the run was resumed or archived in the meantime, and nothing has changed.
    /// `None`: the store could not be used.
    pub(super) fn amend(&self, run: &RunRecord) -> Option<bool> {
        self.change(&run.key, |store| store.amend_run(&stored(run, &store)))
    }

    /// Changes a run where its newest state is.
    fn change<T>(&self, key: &str, change: impl FnOnce(Store) -> Result<T, StoreError>) -> Option<T> {
        let _writing = self.writing.lock();
        let store = self.fallback_with(key).or_else(|| self.existing())?;
        change(store).ok()
    }

    /// Claims a run that ended at `ended_ms` in order to resume it here. `false`: it was resumed or archived in the meantime.
    pub(super) fn claim(&self, run: &RunRecord, ended_ms: Option<i64>) -> bool {
        let claim = |store: Store| store.resume_run(&stored(run, &store), ended_ms);
        self.change(&run.key, claim).unwrap_or_else(|| {
            // Without a store, the lock of the run's directory still excludes other processes.
            self.put(run);
            true
        })
    }

    /// Returns true if the newest state of a run is only in memory.
    pub(super) fn is_in_memory(&self, key: &str) -> bool {
        self.fallback_with(key).is_some()
    }

    /// Removes a run that only the fallback has.
    pub(super) fn forget(&self, key: &str) {
        let _writing = self.writing.lock();
        if let Some(fallback) = self.fallback_with(key)
            && fallback.forget_run(key).is_ok()
            && fallback.runs(None, 1).is_ok_and(|runs| runs.is_empty())
        {
            self.state.lock().fallback = None;
        }
    }

    /// The live runs of dead processes, each with the id of its process.
    pub(super) fn orphans(&self) -> Vec<(RunRecord, String)> {
        let rows = self.existing().and_then(|store| store.orphans().ok()).unwrap_or_default();
        rows.into_iter().filter_map(|row| Some((read(&row)?, row.process.clone()?))).collect()
    }

    /// The live runs of a session, or of all, and the newest others, in the background and not; newest first. A run with a host
    /// process is shown as its last snapshot.
    pub(super) fn runs(&self, session: Option<&str>) -> Vec<RunRecord> {
        let mut runs = self.snapshots.update(self.listed(session));
        sort_newest_first(&mut runs);
        runs
    }

    fn listed(&self, session: Option<&str>) -> Vec<RunRecord> {
        self.read_runs(|store| store.runs(session, MAX_RUNS))
    }

    /// Returns the number of stored runs of a session, or of all, that are not in [`Self::runs`].
    pub(super) fn count_older(&self, session: Option<&str>) -> usize {
        let stored: usize = self.stores().filter_map(|store| store.count_runs(session).ok()).sum();
        stored.saturating_sub(self.listed(session).len())
    }

    /// Returns the reason why the store on disk cannot be read. `None` if it can, or if there is none yet.
    pub(super) fn problem(&self) -> Option<String> {
        if !layout::store(&self.agent_dir).exists() {
            return None;
        }
        let Some(store) = self.durable() else {
            return Some("the store of runs cannot be opened".to_owned());
        };
        store.count_runs(None).err().map(|error| error.in_full())
    }

    /// The runs with this id, of all sessions.
    pub(super) fn with_id(&self, run_id: &str) -> Vec<RunRecord> {
        self.read_runs(|store| store.runs_with_id(run_id))
    }

    /// Returns the number of live runs of all processes.
    pub(super) fn count_live(&self) -> usize {
        self.read_runs(|store| store.runs(None, 0)).iter().filter(|run| run.is_live()).count()
    }

    pub(super) fn run(&self, key: &str) -> Option<RunRecord> {
        read(&self.stores().find_map(|store| store.run(key).ok().flatten())?)
    }

    /// Ended runs whose transcripts are due to be archived.
    pub(super) fn due_for_archive(&self, now_ms: i64) -> Vec<RunRecord> {
        self.read_runs(|store| store.due_for_archive(now_ms))
    }

    /// The directories of runs, oldest first.
    pub(super) fn directories(&self) -> Vec<StoredDirectory> {
        self.existing().and_then(|store| store.directories(MAX_DIRECTORIES).ok()).unwrap_or_default()
    }

    /// Drops forgotten directories whose files have been removed.
    pub(super) fn drop_forgotten(&self, directories: &[&str]) {
        if !directories.is_empty() {
            self.existing().map(|store| store.drop_forgotten(directories));
        }
    }

    /// Claims the open deliveries of a session for this process. Also returns whether these are all of them.
    pub(super) fn claim_deliveries(&self, session: &str) -> (Vec<Delivery>, bool) {
        let _writing = self.writing.lock();
        self.query_stores(|store| store.claim_deliveries(session))
    }

    /// Releases claimed deliveries that this process will not deliver.
    pub(super) fn release(&self, ids: &[String]) {
        let _writing = self.writing.lock();
        self.stores().for_each(|store| drop(store.release(ids)));
    }

    /// Marks deliveries as delivered. Returns the runs whose deliveries are newly marked, and whether the marks were
    /// stored: if not, the deliveries are offered again after a restart.
    pub(super) fn mark_delivered(&self, ids: &[String]) -> (Vec<RunRecord>, bool) {
        let writing = self.writing.lock();
        let (keys, has_stored) = self.query_stores(|store| store.mark_delivered(ids));
        if !has_stored {
            self.state.lock().unmarked.extend_from_slice(ids);
        }
        drop(writing);
        (keys.iter().filter_map(|key| self.run(key)).collect(), has_stored)
    }

    /// A number that changes when another process has changed something.
    pub(super) fn version(&self) -> Option<i64> {
        self.existing()?.data_version().ok()
    }

    /// Returns true if the database was replaced by an empty one since the last call.
    pub(super) fn was_replaced(&self) -> bool {
        let store = self.state.lock().durable.clone();
        let Some(Ok(replaced)) = store.map(|store| store.times_replaced()) else { return false };
        std::mem::replace(&mut self.state.lock().replaced, replaced) != replaced
    }

    /// Stores an ended run unless it is stored already, by another process that knows it too.
    pub(super) fn put_missing(&self, run: &RunRecord) {
        if self.run(&run.key).is_none() {
            self.put(run);
        }
    }

    /// Stores a delivery of this process again.
    pub(super) fn put_delivery(&self, delivery: &Delivery) {
        if let Some(run) = self.run(&delivery.key) {
            self.put_with(&run, Some(delivery), true, None);
        }
    }

    /// Sends a request to the process that hosts a run. `false`: no process does, or the store cannot be used.
    pub(super) fn request(&self, key: &str, action: &str, text: &str) -> bool {
        self.existing().is_some_and(|store| store.send_request(key, action, text).unwrap_or(false))
    }

    /// Takes the requests of other processes for runs of this one. `None`: the store cannot be used at the moment.
    pub(super) fn take_requests(&self) -> Option<Vec<Request>> {
        self.existing().map_or(Some(Vec::new()), |store| store.take_requests().ok())
    }

    /// Adds a notice for the user.
    pub(super) fn notify_user(&self, notice: String) {
        self.state.lock().notices.push(notice);
    }

    /// Takes the notices that the user has not seen. They are restored unless they are delivered.
    pub(super) fn take_notices(&self) -> UndeliveredNotices<'_> {
        UndeliveredNotices { store: self, notices: std::mem::take(&mut self.state.lock().notices) }
    }

    /// Moves runs from memory to disk. Returns whether memory is now empty.
    pub(super) fn flush(&self) -> bool {
        let is_empty = |state: &State| state.fallback.is_none() && state.unmarked.is_empty();
        if is_empty(&self.state.lock()) {
            return true;
        }
        let Some(durable) = self.durable() else { return false };
        let _writing = self.writing.lock();
        let unmarked = self.state.lock().unmarked.clone();
        if durable.mark_delivered(&unmarked).is_ok() {
            self.state.lock().unmarked.clear();
        }
        if self.fallback().is_some_and(|fallback| fallback.move_runs_to(&durable).is_ok()) {
            self.state.lock().fallback = None;
        }
        is_empty(&self.state.lock())
    }

    /// Reads runs from memory and disk; for a run in both, memory wins.
    fn read_runs(&self, query: impl Fn(&Store) -> Result<Vec<StoredRun>, StoreError>) -> Vec<RunRecord> {
        let fallback = self.fallback();
        let newer = fallback.as_ref().and_then(|store| query(store).ok()).unwrap_or_default();
        let durable = self.existing().and_then(|store| query(&store).ok()).unwrap_or_default();
        // A flush may have moved a run to disk since memory was read.
        let is_known = |key: &str| newer.iter().any(|row| row.key == key) || has(fallback.as_ref(), key);
        durable.iter().filter(|row| !is_known(&row.key)).chain(&newer).filter_map(read).collect()
    }

    /// Asks memory, then disk. Returns the joined answers, and whether each has answered.
    fn query_stores<T>(&self, query: impl Fn(&Store) -> Result<Vec<T>, StoreError>) -> (Vec<T>, bool) {
        let mut all = Vec::new();
        let mut is_complete = true;
        for store in self.stores() {
            match query(&store) {
                Ok(more) => all.extend(more),
                Err(_) => is_complete = false,
            }
        }
        (all, is_complete)
    }

    /// The stores in use. Memory comes first, because a flush between two reads moves runs from there to disk.
    fn stores(&self) -> impl Iterator<Item = Store> {
        [self.fallback(), self.existing()].into_iter().flatten()
    }

    /// The store on disk; created if it is missing.
    fn durable(&self) -> Option<Store> {
        if let Some(store) = &self.state.lock().durable {
            return Some(store.clone());
        }
        let attached = attach(&self.agent_dir);
        let mut state = self.state.lock();
        match (&attached.store, attached.notice) {
            // One notice per failure.
            (None, Some(notice)) => state.warn(Some(&notice)),
            (_, notice) => state.notices.extend(notice),
        }
        state.durable.clone_from(&attached.store);
        // Others in this process may have had it open before.
        state.replaced =
            attached.store.as_ref().and_then(|store| store.times_replaced().ok()).unwrap_or_default();
        attached.store
    }

    /// The store on disk, if it was ever used: reading creates no files.
    fn existing(&self) -> Option<Store> {
        let is_open = self.state.lock().durable.is_some();
        let exists = is_open || layout::store(&self.agent_dir).exists();
        exists.then(|| self.durable()).flatten()
    }

    fn fallback(&self) -> Option<Store> {
        self.state.lock().fallback.clone()
    }

    /// The fallback, if it contains this run.
    fn fallback_with(&self, key: &str) -> Option<Store> {
        self.fallback().filter(|fallback| has(Some(fallback), key))
    }
}

impl State {
    /// Tells the user once that runs are not stored, and why.
    fn warn(&mut self, why: Option<&str>) {
        if !std::mem::replace(&mut self.was_warned, true) {
            let why = why.unwrap_or(NO_STORE);
            self.notices.push(format!("{NOT_STORED}: {why}"));
        }
    }
}

fn has(fallback: Option<&Store>, key: &str) -> bool {
    fallback.is_some_and(|store| matches!(store.run(key), Ok(Some(_))))
}

fn stored(run: &RunRecord, store: &Store) -> StoredRun {
    let mut record = run.clone();
    record.progress.clear_transient();
    record.changes_state = None;
    record.artifacts.iter_mut().for_each(|artifacts| artifacts.settled = None);
    StoredRun {
        body: serde_json::to_string(&record).expect("a run has texts for keys and no maps"),
        process: run.is_live().then(|| store.process()),
        is_live: run.is_live(),
        key: record.key,
        run_id: record.run_id,
        session_key: record.session_key,
        session: record.session,
        created_ms: run.created_ms,
        ended_ms: run.ended_ms,
        archive_at_ms: run.archive_at_ms,
        archived_ms: run.archived_ms,
        directory: run.directory.as_ref().map(|path| path.to_string_lossy().into_owned()),
        is_foreground: run.is_foreground,
        account: run.workflow.as_ref().and_then(|workflow| workflow.account.clone()),
        cost: run.progress.usage.cost.total,
        tokens: i64::try_from(run.progress.usage.tokens()).unwrap_or(i64::MAX),
    }
}

/// The run in a row; `None` if a newer release wrote it and this one cannot read it.
fn read(row: &StoredRun) -> Option<RunRecord> {
    RunRecord::from_json(&row.body).ok()
}

/// Sorts runs for lists: newest first.
pub(super) fn sort_newest_first(runs: &mut [RunRecord]) {
    runs.sort_unstable_by(|one, other| (other.created_ms, &other.key).cmp(&(one.created_ms, &one.key)));
}

/// Notices on their way to the user; dropping them gives them back.
pub(super) struct UndeliveredNotices<'a> {
    store: &'a RunStore,
    pub notices: Vec<String>,
}

impl UndeliveredNotices<'_> {
    /// Confirms that the user has seen the notices.
    pub(super) fn mark_delivered(mut self) {
        self.notices.clear();
    }
}

impl Drop for UndeliveredNotices<'_> {
    fn drop(&mut self) {
        if !self.notices.is_empty() {
            self.store.state.lock().notices.splice(0..0, self.notices.drain(..));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::RunOutcome;

    fn run(key: &str) -> RunRecord {
        RunRecord { key: key.to_owned(), session: "s".to_owned(), ..RunRecord::default() }
    }

    fn ended_run(key: &str) -> RunRecord {
        let mut run = run(key);
        run.outcome = Some(RunOutcome::Completed);
        run.archive_at_ms = Some(1);
        run
    }

    fn delivery(key: &str) -> Delivery {
        Delivery { id: key.to_owned(), session: "s".to_owned(), key: key.to_owned(), ..Delivery::default() }
    }

    fn ids(run_store: &RunStore) -> Vec<String> {
        run_store.claim_deliveries("s").0.into_iter().map(|delivery| delivery.id).collect()
    }

    #[test]
    fn without_a_store_runs_work_in_memory_and_the_user_is_notified_once() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        fs::create_dir_all(agent_dir.path().join("subagents/runs.db")).expect("the directory is created");
        let run_store = RunStore::new(agent_dir.path());
        run_store.put(&run("one"));
        run_store.put_with(&ended_run("one"), Some(&delivery("one")), false, None);
        run_store.put_with(&ended_run("two"), Some(&delivery("two")), true, None);
        assert_eq!(run_store.take_notices().notices.len(), 1);
        assert_eq!(
            run_store.take_notices().notices.len(),
            1,
            "notices that were not delivered are returned again"
        );
        run_store.take_notices().mark_delivered();
        assert!(run_store.take_notices().notices.is_empty());
        assert!(run_store.is_in_memory("one") && !run_store.flush());
        assert_eq!(run_store.runs(Some("s")).len(), 2);
        assert_eq!(run_store.due_for_archive(2).len(), 2);
        assert_eq!(ids(&run_store), ["one"], "a claimed delivery is not offered");
        run_store.release(&["one".to_owned(), "two".to_owned()]);
        assert_eq!(ids(&run_store), ["one", "two"]);
        let (runs, has_stored) = run_store.mark_delivered(&["one".to_owned()]);
        assert_eq!((runs.len(), &runs[0].key, has_stored), (1, &"one".to_owned(), true));
        run_store.release(&["one".to_owned(), "two".to_owned()]);
        assert_eq!(ids(&run_store), ["two"], "a delivered message is not offered again");
        let archived = RunRecord { archived_ms: Some(5), ..ended_run("one") };
        assert_eq!(run_store.amend(&archived), Some(true));
        assert_eq!(
            run_store.amend(&ended_run("one")),
            Some(false),
            "an older state does not replace the archived run"
        );
        run_store.forget("two");
        assert!(!run_store.is_in_memory("two") && ids(&run_store).is_empty());
        run_store.forget("one");
        assert!(run_store.flush(), "a store without runs in memory is flushed");
    }

    #[test]
    fn runs_in_memory_take_precedence_until_the_store_works_again() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        let run_store = RunStore::new(agent_dir.path());
        run_store.put(&RunRecord { task: "older".to_owned(), ..run("one") });
        // The state after a failed write.
        let fallback = Store::in_memory().expect("the store is opened in memory");
        fallback.put_run(&stored(&run("one"), &fallback)).expect("the run is stored");
        run_store.state.lock().fallback = Some(fallback);
        run_store.put_with(&ended_run("one"), Some(&delivery("one")), false, None);
        assert!(run_store.is_in_memory("one"), "the run stays in memory with its newest state");
        assert_eq!(run_store.runs(None), [ended_run("one")]);
        assert_eq!(run_store.count_live(), 0);
        assert!(run_store.flush() && !run_store.is_in_memory("one"));
        assert_eq!(run_store.runs(None), [ended_run("one")]);
        assert_eq!(ids(&run_store), ["one"]);
        assert_eq!(ids(&run_store), [""; 0], "a claimed delivery is not offered again");
    }

    /// Two that have seen the same end may come one after the other, too.
    #[test]
    fn an_end_is_resumed_once_even_if_the_run_ends_again_before_the_second_claim() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        let run_store = RunStore::new(agent_dir.path());
        let ended = RunRecord { ended_ms: Some(10), ..ended_run("one") };
        run_store.put(&ended);
        assert!(run_store.claim(&run("one"), ended.ended_ms));
        assert!(!run_store.claim(&run("one"), ended.ended_ms), "a running run cannot be claimed");
        let again = RunRecord { ended_ms: Some(20), times_resumed: 1, ..ended_run("one") };
        run_store.put(&again);
        assert!(!run_store.claim(&run("one"), ended.ended_ms), "a claim for an older end is refused");
        assert_eq!(run_store.run("one"), Some(again.clone()));
        assert!(run_store.claim(&run("one"), again.ended_ms));
    }
}
