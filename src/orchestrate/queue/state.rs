//! The waiting runs, the taken slots, and the next admission.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use super::claims::{Claims, TicketUpdate};
use super::pauses::Pauses;
use super::request::{Group, Request, UserCap, WaitStatus, Writes};
use store::{StoreError, TicketState, WhenFull};

/// The state of a queue. Runs and children have ids in the order of arrival; a run's permit has the id of the run.
#[derive(Debug, Default)]
pub(super) struct State {
    last_id: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// The taken slots of this process: by children, and by runs that wait only for other processes.
    slots: BTreeMap<u64, Slot>,
    pauses: Pauses,
    /// One for each store, of which there is one for each agent directory.
    pub claims: Vec<Claims>,
    /// The reason why the cap on all processes is not active, for the next run that it should have limited.
    notice: Option<String>,
}

/// A run that waits.
#[derive(Debug)]
struct Waiting {
    request: Request,
    status: watch::Sender<WaitStatus>,
}

#[derive(Debug)]
struct Slot {
    lane: Option<String>,
    group: Option<(Group, usize)>,
    /// The store with its claim on the cap on all processes. `None` if no such cap is active.
    store: Option<usize>,
    early: Option<Early>,
    /// The tree that its run writes to. A child that waits for its run writes to none.
    writes: Option<Writes>,
    notice: Option<String>,
    /// True while its run waits for a quota without a slot.
    is_parked: bool,
}

/// The properties of an early permit.
#[derive(Debug)]
struct Early {
    /// True if it was asked to end.
    evicted: watch::Sender<bool>,
    waits_for: WaitsFor,
    /// The maximum number of children in this process while this one waits for its run.
    max_children: usize,
}

/// The run that an early child waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WaitsFor {
    /// The run of any later call.
    AnyCall,
    /// The run of a call that is still arriving.
    ArrivingCall,
    /// A run that cannot start yet. It takes the child when it has a slot of its own, so the child counts towards no limit of this
    /// process.
    NextRun,
}

impl State {
    /// Takes a position at the end of the queue.
    pub(super) fn enter(&mut self, request: Request) -> (u64, watch::Receiver<WaitStatus>) {
        // Position 0 is never seen: before `Queue::enter` returns, it is a position in the queue or admission.
        let (status, seen) = watch::channel(WaitStatus { position: Some(0), ..WaitStatus::default() });
        let id = self.next_id();
        self.waiting.insert(id, Waiting { request, status });
        (id, seen)
    }

    /// Leaves the queue, or gives back the permit that was not handed out.
    pub(super) fn leave(&mut self, id: u64) {
        self.waiting.remove(&id);
        self.release(id);
    }

    /// Frees a slot, if there is one.
    pub(super) fn release(&mut self, id: u64) {
        self.pauses.end_trial(id);
        if let Some(store) = self.slots.remove(&id).and_then(|slot| slot.store) {
            self.claims[store].give_back(id);
        }
    }

    pub(super) fn pause(&mut self, provider: &str, until: Instant, is_quota: bool) {
        tracing::warn!(
            target: "queue", provider, pause = ?until.saturating_duration_since(Instant::now()), is_quota,
            "the provider asks for a pause"
        );
        self.pauses.begin(provider, until, is_quota);
    }

    /// The provider has answered a run.
    pub(super) fn answered(&mut self, provider: &str) {
        if self.pauses.end_quota(provider) {
            tracing::info!(target: "queue", provider, "the provider's quota is available again");
        }
    }

    /// Lets one run of each provider try its quota now. Returns the providers.
    pub(super) fn try_now(&mut self) -> Vec<String> {
        self.pauses.try_now()
    }

    /// Keeps the write lock of a run and frees its slot, while it waits for its provider's quota.
    pub(super) fn park(&mut self, id: u64) {
        self.pauses.end_trial(id);
        let Some(slot) = self.slots.get_mut(&id) else { return };
        slot.is_parked = true;
        if let Some(store) = slot.store.take() {
            self.claims[store].give_back(id);
        }
    }

    /// Takes a slot for a child that no run has asked for, if there is room. While runs wait, only the child of one of them
    /// may start.
    pub(super) fn early(
        &mut self,
        request: &Request,
        waits_for: WaitsFor,
    ) -> Option<(u64, watch::Receiver<bool>)> {
        let lane = request.lane.as_ref();
        let alike = self.early_slots().filter(|(_, early)| early.waits_for == waits_for).count();
        let max_children = request.max_concurrent().saturating_add(request.ahead_limit);
        let has_room = match waits_for {
            WaitsFor::NextRun => {
                let children = self.count_in(lane) + alike;
                request.ahead_limit > 0
                    && children < max_children
                    && request.per_user.as_ref().is_none_or(|user| children < user.cap)
            }
            WaitsFor::AnyCall | WaitsFor::ArrivingCall => {
                !self.waiting.values().any(|run| run.request.lane.as_ref() == lane)
                    && self.count_in(lane) < request.max_concurrent()
                    && (waits_for == WaitsFor::AnyCall || alike < request.early_limit)
            }
        };
        (has_room && self.is_eligible(request, None)).then(|| {
            let id = self.next_id();
            let (evicted, seen) = watch::channel(false);
            self.take_slot(id, request, Some(Early { evicted, waits_for, max_children }));
            (id, seen)
        })
    }

    /// Returns true if a run with this request, or a child for it, could take over the slot of a spare one.
    pub(super) fn may_adopt(&self, request: &Request) -> bool {
        self.is_eligible(request, None)
    }

    /// Lets the spare permit count towards the call of this request from now on. `false` if it was asked to end, or if the call
    /// or its provider has no room now: then nothing has changed.
    pub(super) fn adopt(&mut self, id: u64, request: &Request) -> bool {
        let is_eligible = self.may_adopt(request);
        let Some(slot) = self.slots.get_mut(&id) else { return false };
        let Some(early) = slot.early.as_mut().filter(|early| is_eligible && !*early.evicted.borrow()) else {
            return false;
        };
        early.waits_for = WaitsFor::ArrivingCall;
        slot.group.clone_from(&request.group);
        true
    }

    /// The run that takes over an early permit writes to the tree of its request from now on. `false` if another run
    /// writes to it or waits for it: then nothing has changed.
    pub(super) fn write(&mut self, id: u64, request: &Request) -> bool {
        let Some(writes) = &request.writes else { return true };
        let waits = || self.waiting.values().any(|run| run.request.writes_with(writes));
        if self.writer_before(request).is_some() || waits() {
            return false;
        }
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.writes = Some(writes.clone());
        }
        true
    }

    /// Turns the early permit into the permit of a run.
    pub(super) fn confirm(&mut self, id: u64) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        slot.early = None;
        if let Some(store) = slot.store {
            self.claims[store].confirm(id);
        }
    }

    /// Returns the call that a permit counts towards, with its limit.
    pub(super) fn group_of(&self, id: u64) -> Option<(Group, usize)> {
        self.slots.get(&id)?.group.clone()
    }

    pub(super) fn take_notice(&mut self, id: u64) -> Option<String> {
        self.slots.get_mut(&id)?.notice.take()
    }

    /// Reads the answers of a store. `result` is the number of runs of all processes that need early slots of this
    /// process.
    pub(super) fn finish_update(
        &mut self,
        store: usize,
        update: TicketUpdate,
        result: Result<usize, StoreError>,
    ) {
        let claims = &mut self.claims[store];
        match result {
            Ok(wanted) => {
                claims.apply(update);
                let claims = &self.claims[store];
                for (_, early) in self.early_slots().filter(|(id, _)| claims.is(*id, TicketState::Refused)) {
                    early.evicted.send_replace(true);
                }
                self.evict(wanted, |id, _| claims.has_ticket(id));
            }
            Err(error) => {
                let notice = claims.fail(update, &error);
                tracing::warn!(target: "queue", reason = %error, "the store does not answer");
                self.notice = notice.or(self.notice.take());
            }
        }
    }

    /// Lets all runs start without the cap on the processes that share a store.
    pub(super) fn give_up(&mut self, store: usize, why: &str) {
        self.notice = self.claims[store].give_up(why).or(self.notice.take());
    }

    /// Admits every run that may start, and shows all others their positions.
    pub(super) fn settle(&mut self, now: Instant) {
        self.end_pauses(now);
        let mut waiting = take(&mut self.waiting);
        // Before anything is admitted, so that runs further ahead find the slots that are given back: a run cannot use
        // its slot while its provider pauses.
        for (id, run) in &waiting {
            let provider = run.request.provider.as_deref();
            let until = self.pauses.until(provider);
            let quota = self.pauses.quota(provider);
            run.show(|status| (status.rate_limited_until, status.quota) = (until, quota));
            if self.pauses.blocks(provider, Some(*id)) {
                self.release(*id);
            }
        }
        // In a full lane, no run overtakes the run that waits for a slot.
        let mut full = Vec::new();
        waiting.retain(|id, run| {
            let lane = &run.request.lane;
            if !full.contains(lane)
                && !self.slots.contains_key(id)
                && self.is_eligible(&run.request, Some(*id))
            {
                if self.count_in(lane.as_ref()) >= run.request.max_concurrent() {
                    full.push(lane.clone());
                } else {
                    self.take_slot(*id, &run.request, None);
                    self.pauses.start_trial(run.request.provider.as_deref(), *id);
                }
            }
            !self.admit(*id, run)
        });
        for (index, (id, run)) in waiting.iter().enumerate() {
            let slot = self.slots.get(id);
            let is_unanswered =
                slot.and_then(|slot| slot.store).is_some_and(|store| !self.claims[store].has_ticket(*id));
            let blocked_by = self.writer_before(&run.request).filter(|_| slot.is_none()).cloned();
            let reason = self.reason(&run.request, is_unanswered, slot.is_some());
            run.show(|status| {
                status.reason = reason;
                (status.position, status.blocked_by, status.is_unanswered) =
                    (Some(shown_position(index + 1)), blocked_by, is_unanswered);
            });
        }
        self.waiting = waiting;
        self.evict(self.wanted_early_slots(), |_, early| early.is_counted());
        self.evict(self.surplus_next_children(), |_, early| !early.is_counted());
    }

    /// Forgets the pauses that have ended.
    pub(super) fn end_pauses(&mut self, now: Instant) {
        self.pauses.end_due(now);
    }

    /// Returns the number of taken slots in a lane.
    fn count_in(&self, lane: Option<&String>) -> usize {
        self.slots.values().filter(|slot| slot.is_counted() && slot.lane.as_ref() == lane).count()
    }

    /// Returns true if the child could start if the process had room. `id` is the run's id, or `None` for a child that
    /// no run has requested.
    fn is_eligible(&self, request: &Request, id: Option<u64>) -> bool {
        !self.pauses.blocks(request.provider.as_deref(), id)
            && self.group_has_room(request, 0)
            && self.writer_before(request).is_none()
    }

    /// The run that writes to the tree of this request.
    fn writer_before(&self, request: &Request) -> Option<&Arc<str>> {
        let writes = self.slots.values().filter_map(|slot| slot.writes.as_ref());
        writes.filter(|writes| request.writes_with(writes)).map(|writes| &writes.by).next()
    }

    /// Returns the reason for the wait of a run.
    fn reason(&self, request: &Request, is_unanswered: bool, has_slot: bool) -> &'static str {
        let provider = request.provider.as_deref();
        if self.pauses.quota(provider).is_some_and(|quota| quota.until.is_none()) {
            "another run tries whether its provider's quota is available again"
        } else if self.pauses.quota(provider).is_some() {
            "its provider's quota is used up"
        } else if self.pauses.until(provider).is_some() {
            "its provider has asked for a pause"
        } else if is_unanswered {
            "the store has not answered yet whether other processes leave a slot"
        } else if has_slot {
            "the processes of this user have as many children as `maxConcurrentPerUser` allows"
        } else if self.writer_before(request).is_some() {
            "another run writes to its tree"
        } else if !self.group_has_room(request, 0) {
            "its call has as many children as `parallelConcurrency` allows"
        } else if request.lane.is_some() {
            "its launcher has as many children as its `maxConcurrent` allows"
        } else {
            "this process has as many children as `maxConcurrent` allows"
        }
    }

    /// Returns true if its call has room for this child and `more` others. A run without a call may always start.
    fn group_has_room(&self, request: &Request, more: usize) -> bool {
        request.group.as_ref().is_none_or(|(group, limit)| {
            let used = self
                .slots
                .values()
                .filter(|slot| {
                    !slot.is_parked && slot.group.as_ref().is_some_and(|(other, _)| other == group)
                })
                .count();
            used + more < (*limit).max(1)
        })
    }

    /// Takes a slot in this process, and claims one of all processes.
    fn take_slot(&mut self, id: u64, request: &Request, early: Option<Early>) {
        let when_full = if early.is_some() { WhenFull::Refuse } else { WhenFull::Wait };
        let store = request.per_user.as_ref().and_then(|UserCap { store, cap }| {
            let known = self.claims.iter().position(|claims| claims.store.is(store));
            let at = known.unwrap_or(self.claims.len());
            if known.is_none() {
                self.claims.push(Claims::new(store.clone()));
            }
            self.claims[at].add(id, (*cap).max(1), when_full).then_some(at)
        });
        let writes = request.writes.clone().filter(|_| early.is_none());
        let lane = request.lane.clone();
        let group = request.group.clone();
        self.slots.insert(id, Slot { lane, group, store, early, writes, notice: None, is_parked: false });
    }

    /// Admits a run that has its slot, unless it still waits for other processes. Returns true if it did.
    fn admit(&mut self, id: u64, run: &Waiting) -> bool {
        let Some(slot) = self.slots.get_mut(&id) else { return false };
        if slot.store.is_some_and(|store| !self.claims[store].is(id, TicketState::Started)) {
            return false;
        }
        slot.notice = run.request.per_user.as_ref().and_then(|_| self.notice.take());
        run.show(|status| *status = WaitStatus::default());
        true
    }

    fn early_slots(&self) -> impl DoubleEndedIterator<Item = (u64, &Early)> {
        self.slots.iter().filter_map(|(id, slot)| Some((*id, slot.early.as_ref()?)))
    }

    /// Asks early permits to end, until `wanted` of those selected by `counts` are about to end. Those that wait for
    /// any call come first, because no call may ever come, then the newest ones, which have cost least.
    fn evict(&self, wanted: usize, counts: impl Fn(u64, &Early) -> bool) {
        let early = self.early_slots().rev().filter(|(id, early)| counts(*id, early)).map(|(_, early)| early);
        let (leaving, mut staying): (Vec<_>, Vec<_>) = early.partition(|early| *early.evicted.borrow());
        staying.sort_by_key(|early| early.waits_for);
        for early in staying.into_iter().take(wanted.saturating_sub(leaving.len())) {
            tracing::debug!(
                target: "early", waits_for = ?early.waits_for,
                "a run needs the slot of an early child"
            );
            early.evicted.send_replace(true);
        }
    }

    /// Returns the number of waiting runs that could start without early permits, at most the number of early permits.
    fn wanted_early_slots(&self) -> usize {
        let early = self.early_slots().filter(|(_, early)| early.is_counted()).count();
        // Only children on this machine are booted early.
        let others = self.count_in(None).saturating_sub(early);
        let mut wanted: Vec<&Request> = Vec::new();
        let waiting = self
            .waiting
            .iter()
            .filter(|(id, run)| run.request.lane.is_none() && !self.slots.contains_key(id));
        for request in waiting.map(|(_, run)| &run.request).filter(|request| self.is_eligible(request, None))
        {
            if wanted.len() == early || others + wanted.len() >= request.max_concurrent() {
                break;
            }
            let siblings = wanted.iter().filter(|other| other.group() == request.group()).count();
            let is_blocked = |writes| wanted.iter().any(|other| other.writes_with(writes));
            if self.group_has_room(request, siblings) && !request.writes.as_ref().is_some_and(is_blocked) {
                wanted.push(request);
            }
        }
        wanted.len()
    }

    /// Returns the number of children of waiting runs that have to end, because other runs have taken slots since they started.
    fn surplus_next_children(&self) -> usize {
        let limits: Vec<usize> = self
            .early_slots()
            .filter(|(_, early)| !early.is_counted())
            .map(|(_, early)| early.max_children)
            .collect();
        // Only children on this machine are booted early.
        limits.iter().min().map_or(0, |max| (self.count_in(None) + limits.len()).saturating_sub(*max))
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}

/// Rounds a position up, from 17 on to steps of at most an eighth of it: each run that leaves a long queue would otherwise
/// wake all others.
fn shown_position(position: usize) -> usize {
    let step = 1 << position.ilog2().saturating_sub(3);
    position.next_multiple_of(step)
}

impl Slot {
    /// Returns true if it counts towards the limit of its lane.
    fn is_counted(&self) -> bool {
        !self.is_parked && self.early.as_ref().is_none_or(Early::is_counted)
    }
}

impl Early {
    fn is_counted(&self) -> bool {
        self.waits_for != WaitsFor::NextRun
    }
}

impl Waiting {
    /// Changes the run's status. Wakes the run only if the status is different.
    fn show(&self, change: impl FnOnce(&mut WaitStatus)) {
        self.status.send_if_modified(|status| {
            let before = status.clone();
            change(status);
            *status != before
        });
    }
}
