//! Who waits, what is taken, and who is admitted next.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

use super::claims::Answers;
use super::request::{Group, Request};
use super::store_worker::{Claim, StoreListener, StoreWorker};
use crate::store::{Store, WhenFull};

/// How far a run in the queue has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitStatus {
    /// Its position among all that wait in this process: 1 is the first, `None` has been admitted.
    pub position: Option<usize>,
    /// When the pause of its provider ends; `None` when no pause holds it back.
    pub held_until: Option<Instant>,
}

/// What a queue, its tickets and its permits share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// One for each store, of which there is one for each agent directory.
    workers: Mutex<Vec<Arc<StoreWorker>>>,
}

impl Shared {
    /// Changes the queue, then admits every run that may start.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        // The clock of tokio, so that tests can move it.
        let now = tokio::time::Instant::now().into_std();
        let mut state = self.state.lock();
        let result = change(&mut state);
        state.settle(now);
        result
    }

    /// Finds out who asks the store for this request.
    pub(super) fn limited(self: &Arc<Self>, request: Request) -> Limited {
        let cap = request.per_user.as_ref().map(|user| (self.worker(&user.store), user.cap.max(1)));
        Limited { request, cap }
    }

    fn worker(self: &Arc<Self>, store: &Store) -> Arc<StoreWorker> {
        let mut workers = self.workers.lock();
        if let Some(known) = workers.iter().find(|worker| worker.serves(store)) {
            return Arc::clone(known);
        }
        let listener: Arc<dyn StoreListener> = Arc::<Self>::clone(self);
        let worker = StoreWorker::new(store.clone(), Arc::downgrade(&listener));
        workers.push(Arc::clone(&worker));
        worker
    }
}

impl StoreListener for Shared {
    fn answered(&self, answers: Answers) {
        self.change(|state| state.answered(answers));
    }
}

/// A request and the cap on all processes, with the worker that asks for it.
#[derive(Debug)]
pub(super) struct Limited {
    request: Request,
    cap: Option<(Arc<StoreWorker>, usize)>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    last_id: u64,
    /// In the order of arrival, which is that of the ids.
    waiting: VecDeque<Entry>,
    /// Places taken: permits, early permits, and runs that have room here and wait for other processes.
    taken: usize,
    /// Until when providers want no new child.
    pauses: HashMap<String, Instant>,
    /// In the order of booting.
    early: Vec<Early>,
    /// Why the cap on all processes is not in force, for the next run that it should have bounded.
    notice: Option<String>,
}

/// A run that waits.
#[derive(Debug)]
struct Entry {
    id: u64,
    limited: Limited,
    /// Taken while the run has room in this process and waits for the other processes.
    claim: Option<Claim>,
    seen: watch::Sender<WaitStatus>,
    /// `None` once the run is admitted.
    admit: Option<oneshot::Sender<Grant>>,
}

/// An early permit that has not become a run's.
#[derive(Debug)]
struct Early {
    id: u64,
    /// The number of its claim on the cap of all processes.
    claim: Option<u64>,
    evicted: watch::Sender<bool>,
}

/// What is taken for one child. It has to be given back through [`State::release`].
#[derive(Debug)]
pub(super) struct Grant {
    id: u64,
    group: Option<Group>,
    pub claim: Option<Claim>,
    pub notice: Option<String>,
}

impl State {
    /// Takes a place at the end, which is known by its id.
    pub(super) fn enter(
        &mut self,
        limited: Limited,
    ) -> (u64, watch::Receiver<WaitStatus>, oneshot::Receiver<Grant>) {
        let id = self.draw();
        // Position 0 is never seen: before `Queue::enter` returns, it is a position in the queue or admission.
        let (seen, status) = watch::channel(WaitStatus { position: Some(0), held_until: None });
        let (admit, grant) = oneshot::channel();
        self.waiting.push_back(Entry { id, limited, claim: None, seen, admit: Some(admit) });
        (id, status, grant)
    }

    /// Leaves the queue. Does nothing for a run that was admitted.
    pub(super) fn withdraw(&mut self, id: u64) {
        let Ok(at) = self.waiting.binary_search_by_key(&id, |entry| entry.id) else { return };
        let Some(entry) = self.waiting.remove(at) else { return };
        if entry.claim.is_some() {
            self.free(entry.limited.request.group());
        }
    }

    /// The child is gone.
    pub(super) fn release(&mut self, grant: &Grant) {
        self.forget_early(grant);
        self.free(grant.group.as_ref());
    }

    fn free(&mut self, group: Option<&Group>) {
        self.taken -= 1;
        group.inspect(|group| group.remove());
    }

    fn take(&mut self, group: Option<&Group>) {
        self.taken += 1;
        group.inspect(|group| group.add());
    }

    pub(super) fn hold(&mut self, provider: &str, until: Instant) {
        let known = self.pauses.entry(provider.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// Takes a place for a child that no run has asked for, if no run waits and there is room.
    pub(super) fn early(&mut self, limited: &Limited) -> Option<(Grant, watch::Receiver<bool>)> {
        let request = &limited.request;
        let has_room = self.waiting.is_empty()
            && self.taken < request.max_concurrent()
            && self.early.len() < request.early_limit
            && self.held_until(request).is_none()
            && request.group_has_room(0);
        if !has_room {
            return None;
        }
        let claim = self.claim(limited, WhenFull::Refuse);
        let (id, group) = (self.draw(), request.group().cloned());
        self.take(group.as_ref());
        let (evicted, is_evicted) = watch::channel(false);
        self.early.push(Early { id, claim: claim.as_ref().map(Claim::number), evicted });
        Some((Grant { id, group, claim, notice: None }, is_evicted))
    }

    /// The early permit is a run's now. Its place stays taken.
    pub(super) fn forget_early(&mut self, grant: &Grant) {
        self.early.retain(|early| early.id != grant.id);
    }

    /// What the store says to the claims.
    fn answered(&mut self, Answers { started, refused, notice }: Answers) {
        self.notice = notice.or(self.notice.take());
        for number in started {
            let has_it = |entry: &Entry| entry.claim.as_ref().is_some_and(|claim| claim.number() == number);
            // The run may have left since.
            if let Some(mut entry) =
                self.waiting.iter().position(has_it).and_then(|at| self.waiting.remove(at))
            {
                let claim = entry.claim.take();
                self.admit(&mut entry, claim);
            }
        }
        for early in self.early.iter().filter(|early| early.claim.is_some_and(|it| refused.contains(&it))) {
            early.evicted.send_replace(true);
        }
    }

    /// Admits every run that may start, and shows all others their positions.
    fn settle(&mut self, now: Instant) {
        self.pauses.retain(|_, until| *until > now);
        let mut waiting = std::mem::take(&mut self.waiting);
        // Before anything is admitted, so that runs further ahead find the places that are given back.
        for entry in &mut waiting {
            self.hold_back(entry);
        }
        let mut is_full = false;
        waiting.retain_mut(|entry| {
            let request = &entry.limited.request;
            if is_full || !self.is_eligible(entry) {
                return true;
            }
            is_full = self.taken >= request.max_concurrent();
            is_full || !self.start(entry)
        });
        for (index, entry) in waiting.iter().enumerate() {
            entry.show(|seen| seen.position = Some(index + 1));
        }
        self.waiting = waiting;
        self.evict();
    }

    /// Shows whether the run's provider is pausing. If so, the place that it took while it waits for other processes is
    /// given back, because it cannot be used meanwhile.
    fn hold_back(&mut self, entry: &mut Entry) {
        let request = &entry.limited.request;
        let held = self.held_until(request);
        entry.show(|seen| seen.held_until = held);
        if held.is_some() && entry.claim.take().is_some() {
            self.free(request.group());
        }
    }

    fn held_until(&self, request: &Request) -> Option<Instant> {
        self.pauses.get(request.provider.as_deref()?).copied()
    }

    /// Whether the run could start if the process had room.
    fn is_eligible(&self, entry: &Entry) -> bool {
        let request = &entry.limited.request;
        entry.claim.is_none() && self.held_until(request).is_none() && request.group_has_room(0)
    }

    /// Takes a place in this process. Says whether that admits the run; otherwise it waits for the other processes.
    fn start(&mut self, entry: &mut Entry) -> bool {
        self.take(entry.limited.request.group());
        entry.claim = self.claim(&entry.limited, WhenFull::Wait);
        if entry.claim.is_some() {
            return false;
        }
        self.admit(entry, None);
        true
    }

    fn admit(&mut self, entry: &mut Entry, claim: Option<Claim>) {
        let Limited { request, cap } = &entry.limited;
        let notice = cap.as_ref().and_then(|_| self.notice.take());
        let grant = Grant { id: entry.id, group: request.group().cloned(), claim, notice };
        entry.show(|seen| *seen = WaitStatus { position: None, held_until: None });
        if let Some(admit) = entry.admit.take() {
            // A ticket leaves the queue before it stops receiving.
            let _ = admit.send(grant);
        }
    }

    /// Asks for a part of the cap on all processes. `None` when none is in force.
    fn claim(&mut self, Limited { cap, .. }: &Limited, when_full: WhenFull) -> Option<Claim> {
        let (worker, cap) = cap.as_ref()?;
        match worker.claim(*cap, when_full) {
            Ok(claim) => Some(claim),
            Err(notice) => {
                self.notice = notice.or(self.notice.take());
                None
            }
        }
    }

    /// Asks for the early permits that keep runs from starting; the newest first, because least was spent on it.
    fn evict(&self) {
        let evicted = self.early.iter().filter(|early| *early.evicted.borrow()).count();
        let more = self.wanted_of_early().saturating_sub(evicted);
        let rest = self.early.iter().rev().filter(|early| !*early.evicted.borrow());
        for early in rest.take(more) {
            early.evicted.send_replace(true);
        }
    }

    /// How many of the runs that wait could start if there were no early permits; no more than there are of those.
    fn wanted_of_early(&self) -> usize {
        let others = self.taken - self.early.len();
        let mut wanted: Vec<&Request> = Vec::new();
        for entry in self.waiting.iter().filter(|entry| self.is_eligible(entry)) {
            let request = &entry.limited.request;
            if wanted.len() == self.early.len() || others + wanted.len() >= request.max_concurrent() {
                break;
            }
            let siblings = wanted.iter().filter(|other| other.group() == request.group()).count();
            if request.group_has_room(siblings) {
                wanted.push(request);
            }
        }
        wanted.len()
    }

    fn draw(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

impl Entry {
    /// Changes what the run sees; wakes it only if that makes a difference.
    fn show(&self, change: impl FnOnce(&mut WaitStatus)) {
        self.seen.send_if_modified(|seen| {
            let before = *seen;
            change(seen);
            *seen != before
        });
    }
}
