//! The store as background runs use it, and memory in its place while it cannot be used.

use std::path::{Path, PathBuf};

use parking_lot::{Mutex, MutexGuard};

use super::memory::{DeliveryState, Memory};
use super::record::BackgroundRun;
use crate::files::layout;
use crate::store::{Delivery, Request, Store, StoreError, StoredDirectory, StoredRun, attach};

/// Runs that a look at a session brings at most, newest first.
pub(super) const MAX_RUNS: usize = 100;

/// Runs whose directories are counted together at most.
const MAX_DIRECTORIES: usize = 10_000;

/// What is said when runs cannot be kept.
const NOT_KEPT: &str = "background runs are kept in memory only, and what is not delivered is lost if pi ends before that changes";

/// All that is kept of background runs. Every method blocks.
#[derive(Debug)]
pub(super) struct Book {
    agent_dir: PathBuf,
    state: Mutex<State>,
    /// Held while something is written, so that what is older never replaces what is newer.
    writing: Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Held open, so that it is opened once.
    durable: Option<Store>,
    memory: Memory,
    was_warned: bool,
    notices: Vec<String>,
}

impl Book {
    pub(super) fn new(agent_dir: &Path) -> Self {
        Self { agent_dir: agent_dir.to_owned(), state: Mutex::default(), writing: Mutex::default() }
    }

    /// Keeps a run as it is.
    pub(super) fn put(&self, run: &BackgroundRun) {
        self.keep(run, None);
    }

    /// Keeps the end of a run and what is to be told of it, both or neither. What is `claimed` is told by this process.
    pub(super) fn settle(&self, run: &BackgroundRun, delivery: Option<&Delivery>, is_claimed: bool) {
        let telling = if is_claimed { DeliveryState::Claimed } else { DeliveryState::Free };
        self.keep(run, delivery.map(|delivery| (delivery, telling)));
    }

    /// Keeps the end of a run that a dead process has left. `false`: somebody else was first.
    pub(super) fn adopt(&self, run: &BackgroundRun, from: &str, delivery: Option<&Delivery>) -> bool {
        let adopt = |store: Store| store.adopt_run(&stored(run, &store), from, delivery).ok();
        self.existing().and_then(adopt).unwrap_or(false)
    }

    /// Keeps what becomes of a run that is over. `false`: somebody goes on with it, or it was archived meanwhile. `None`: it
    /// could not be kept.
    pub(super) fn amend(&self, run: &BackgroundRun) -> Option<bool> {
        let _turn = self.turn();
        let kept = self.lock().memory.run(&run.key).cloned();
        if let Some(kept) = kept {
            let is_free = !kept.is_live() && (kept.archived_ms.is_none() || run.archived_ms.is_some());
            if is_free {
                self.lock().memory.keep(run, None);
            }
            return Some(is_free);
        }
        self.existing().and_then(|store| store.amend_run(&stored(run, &store)).ok())
    }

    /// Keeps a run that was over as one that is live here. `false`: somebody else goes on with it, or it was archived.
    pub(super) fn claim(&self, run: &BackgroundRun) -> bool {
        self.amend(run).unwrap_or_else(|| {
            // Its directory can be taken only once, whoever knows of it.
            self.put(run);
            true
        })
    }

    /// Whether the store has not taken a run, in its newest form.
    pub(super) fn is_in_memory(&self, key: &str) -> bool {
        self.lock().memory.run(key).is_some()
    }

    /// Forgets a run that the store has not taken.
    pub(super) fn forget(&self, key: &str) {
        self.lock().memory.forget(key);
    }

    /// The live runs of dead processes, and their processes.
    pub(super) fn orphans(&self) -> Vec<(BackgroundRun, String)> {
        let rows = self.existing().and_then(|store| store.orphans().ok()).unwrap_or_default();
        rows.into_iter().filter_map(|row| Some((read(&row)?, row.process.clone()?))).collect()
    }

    /// The runs of a session, or of all, newest first.
    pub(super) fn runs(&self, session: Option<&str>) -> Vec<BackgroundRun> {
        self.newest(session, MAX_RUNS)
    }

    /// How many runs are under way in all processes, of so many as are looked at.
    pub(super) fn count_live(&self, most: usize) -> usize {
        self.newest(None, most).iter().filter(|run| run.is_live()).count()
    }

    fn newest(&self, session: Option<&str>, most: usize) -> Vec<BackgroundRun> {
        let rows = self.existing().and_then(|store| store.runs(session, most).ok()).unwrap_or_default();
        let state = self.lock();
        let durable = rows.iter().filter(|row| state.memory.run(&row.key).is_none()).filter_map(read);
        let of_session = |run: &&BackgroundRun| session.is_none_or(|session| run.session == session);
        let mut runs: Vec<_> = durable.chain(state.memory.runs().filter(of_session).cloned()).collect();
        runs.sort_by(|one, other| (other.created_ms, &other.key).cmp(&(one.created_ms, &one.key)));
        runs.truncate(most);
        runs
    }

    /// The run with this key.
    pub(super) fn run(&self, key: &str) -> Option<BackgroundRun> {
        let in_memory = self.lock().memory.run(key).cloned();
        in_memory.or_else(|| self.existing()?.run(key).ok().flatten().as_ref().and_then(read))
    }

    /// Ended runs whose transcripts are to be archived by now.
    pub(super) fn due_for_archive(&self, now_ms: i64) -> Vec<BackgroundRun> {
        let due = self.existing().and_then(|store| store.due_for_archive(now_ms).ok()).unwrap_or_default();
        let state = self.lock();
        let is_due = |run: &&BackgroundRun| {
            !run.is_live() && run.archived_ms.is_none() && run.archive_at_ms.is_some_and(|at| at <= now_ms)
        };
        let durable = due.iter().filter(|row| state.memory.run(&row.key).is_none()).filter_map(read);
        durable.chain(state.memory.runs().filter(is_due).cloned()).collect()
    }

    /// The directories of runs, of the oldest first.
    pub(super) fn directories(&self) -> Vec<StoredDirectory> {
        self.existing().and_then(|store| store.directories(MAX_DIRECTORIES).ok()).unwrap_or_default()
    }

    /// Takes what is to be told to a session, and whether that is all; nobody else tells it while this process lives.
    pub(super) fn offer(&self, session: &str) -> (Vec<Delivery>, bool) {
        let _turn = self.turn();
        let mut taken = self.lock().memory.offer(session);
        let offered = self.existing().map_or(Ok(Vec::new()), |store| store.offer(session));
        let is_all = offered.is_ok();
        taken.extend(offered.unwrap_or_default());
        (taken, is_all)
    }

    /// Gives back what was not told.
    pub(super) fn release(&self, ids: &[String]) {
        if ids.is_empty() {
            return;
        }
        let _turn = self.turn();
        self.lock().memory.note(ids, DeliveryState::Free);
        if let Some(store) = self.existing() {
            drop(store.release(ids));
        }
    }

    /// Notes that this was told. Returns the runs that were told of now, and whether it could be kept: else they would be told
    /// of again after a restart.
    pub(super) fn delivered(&self, ids: &[String]) -> (Vec<BackgroundRun>, bool) {
        let turn = self.turn();
        let mut keys = self.lock().memory.note(ids, DeliveryState::Told);
        let kept = self.existing().map_or(Ok(Vec::new()), |store| store.delivered(ids));
        let is_kept = kept.is_ok();
        if !is_kept {
            self.lock().memory.tell_later(ids);
        }
        keys.extend(kept.unwrap_or_default());
        drop(turn);
        (keys.iter().filter_map(|key| self.run(key)).collect(), is_kept)
    }

    /// A number that changes when another process has changed anything.
    pub(super) fn version(&self) -> Option<i64> {
        self.existing()?.data_version().ok()
    }

    /// Asks the process that a run lives in for something. `false`: it cannot be asked.
    pub(super) fn ask(&self, key: &str, action: &str, text: &str) -> bool {
        self.existing().is_some_and(|store| store.ask(key, action, text).unwrap_or(false))
    }

    /// What others ask of runs of this process; `None`: that cannot be known now.
    pub(super) fn requests(&self) -> Option<Vec<Request>> {
        self.existing().map_or(Some(Vec::new()), |store| store.take_requests().ok())
    }

    /// Has the user told something.
    pub(super) fn notice(&self, notice: String) {
        self.lock().notices.push(notice);
    }

    /// What the user must know, and has not been told.
    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().notices)
    }

    /// Writes what is in memory into the store, which may take it by now. Whether nothing is left.
    pub(super) fn flush(&self) -> bool {
        if self.lock().memory.is_empty() {
            return true;
        }
        let Some(store) = self.durable() else { return false };
        let _turn = self.turn();
        let told = self.lock().memory.told();
        if !told.is_empty() && store.delivered(&told).is_ok() {
            self.lock().memory.forget_told(&told);
        }
        loop {
            let next = self.lock().memory.any();
            let Some((run, deliveries)) = next else { return self.lock().memory.is_empty() };
            if write(&store, &run, &deliveries).is_err() {
                return false;
            }
            self.lock().memory.forget(&run.key);
        }
    }

    /// Writes into the store, or else into memory.
    fn keep(&self, run: &BackgroundRun, delivery: Option<(&Delivery, DeliveryState)>) {
        let _turn = self.turn();
        // What is in memory stays together there until the store takes all of it.
        let is_in_memory = self.lock().memory.run(&run.key).is_some();
        let store = if is_in_memory { None } else { self.durable() };
        let deliveries: Vec<_> =
            delivery.iter().map(|(delivery, telling)| ((*delivery).clone(), *telling)).collect();
        let error = match store.map(|store| write(&store, run, &deliveries)) {
            Some(Ok(())) => return,
            Some(Err(error)) => Some(error.in_full()),
            None => None,
        };
        let mut state = self.lock();
        state.memory.keep(run, delivery);
        if !is_in_memory {
            state.warn(error.as_deref());
        }
    }

    /// The store, which is made when it is missing.
    fn durable(&self) -> Option<Store> {
        if let Some(store) = &self.lock().durable {
            return Some(store.clone());
        }
        let attached = attach(&self.agent_dir);
        let mut state = self.lock();
        match (&attached.store, attached.notice) {
            // One notice for what is one failure.
            (None, Some(notice)) => state.warn(Some(&notice)),
            (_, notice) => state.notices.extend(notice),
        }
        state.durable.clone_from(&attached.store);
        attached.store
    }

    /// The store, if anybody has ever used it: whoever only looks makes nothing.
    fn existing(&self) -> Option<Store> {
        let is_open = self.lock().durable.is_some();
        let is_there = is_open || layout::store(&self.agent_dir).exists();
        is_there.then(|| self.durable()).flatten()
    }

    /// Nothing else is written, told or taken meanwhile: what is in memory goes into the store as it is then.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.writing.lock()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// Says once that runs are not kept, and why.
    fn warn(&mut self, why: Option<&str>) {
        if !std::mem::replace(&mut self.was_warned, true) {
            let why = why.unwrap_or("the store of runs cannot be used, as `/subagents doctor` says");
            self.notices.push(format!("{NOT_KEPT}: {why}"));
        }
    }
}

/// Writes a run and what is to be told of it, which may have been told meanwhile. Writing it again changes nothing.
fn write(
    store: &Store,
    run: &BackgroundRun,
    deliveries: &[(Delivery, DeliveryState)],
) -> Result<(), StoreError> {
    if deliveries.is_empty() {
        return store.put_run(&stored(run, store));
    }
    for (delivery, telling) in deliveries {
        match telling {
            DeliveryState::Free => store.settle_run(&stored(run, store), Some(delivery))?,
            DeliveryState::Claimed | DeliveryState::Told => {
                store.settle_claimed(&stored(run, store), delivery)?;
            }
        }
        if *telling == DeliveryState::Told {
            store.delivered(std::slice::from_ref(&delivery.id))?;
        }
    }
    Ok(())
}

fn stored(run: &BackgroundRun, store: &Store) -> StoredRun {
    StoredRun {
        key: run.key.clone(),
        run_id: run.run_id.clone(),
        session_key: run.session_key.clone(),
        session: run.session.clone(),
        process: run.is_live().then(|| store.process()),
        is_live: run.is_live(),
        created_ms: run.created_ms,
        ended_ms: run.ended_ms,
        archive_at_ms: run.archive_at_ms,
        archived_ms: run.archived_ms,
        directory: run.directory.as_ref().map(|path| path.to_string_lossy().into_owned()),
        body: serde_json::to_string(run).expect("a record has texts for keys and no maps"),
    }
}

/// A row that a newer release has written in a way that is not known here is passed over.
fn read(row: &StoredRun) -> Option<BackgroundRun> {
    serde_json::from_str(&row.body).ok()
}
