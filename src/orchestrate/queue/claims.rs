//! The requests to a store, the handling of its answers, and the time of the next request.

use std::collections::BTreeMap;
use std::mem::{replace, take};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Condvar;

use store::{Store, StoreError, StoredTicket, TicketRequest, TicketState, WhenFull};

/// The interval of checking whether another process has left. A child takes longer than that to boot.
const POLL: Duration = Duration::from_millis(200);
/// The maximum time for which other processes may lock the database before runs start without the cap.
const MAX_BUSY: Duration = Duration::from_secs(5);
/// The time for which a store is not used after it has failed.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The claims of this process on the cap of all processes that share a store.
#[derive(Debug)]
pub(super) struct Claims {
    pub store: Store,
    /// True while the thread that runs the updates exists.
    pub has_thread: bool,
    /// Wakes that thread.
    pub has_work_now: Arc<Condvar>,
    /// By id: oldest first.
    requests: BTreeMap<u64, TicketRequest>,
    /// Tickets to give back to the store.
    leaving: Vec<StoredTicket>,
    /// True if there is new work since the last update began.
    has_work: bool,
    /// Since when the database has been locked by others.
    busy_since: Option<Instant>,
    /// Until when the store is not asked.
    paused_until: Option<Instant>,
    has_warned: bool,
}

/// One update of the tickets in the store: the requests, and the tickets to give back.
#[derive(Debug)]
pub(super) struct TicketUpdate {
    store: Store,
    ids: Vec<u64>,
    requests: Vec<TicketRequest>,
    leaving: Vec<StoredTicket>,
    /// The number of early slots that could be given back.
    spare: usize,
}

impl TicketUpdate {
    /// Runs the update, which blocks. Returns the number of runs of all processes that need early slots of this process.
    pub(super) fn run(&mut self) -> Result<usize, StoreError> {
        self.store.update_tickets(&self.leaving, &mut self.requests, self.spare)
    }
}

impl Claims {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            has_thread: false,
            has_work_now: Arc::default(),
            requests: BTreeMap::new(),
            leaving: Vec::new(),
            has_work: false,
            busy_since: None,
            paused_until: None,
            has_warned: false,
        }
    }

    /// Makes a claim. `false`: the store failed a short time ago, so no cap is active.
    pub(super) fn add(&mut self, id: u64, cap: usize, when_full: WhenFull) -> bool {
        let is_active = self.pause().is_none();
        if is_active {
            self.requests.insert(id, TicketRequest::new(cap, when_full));
            self.has_work = true;
        }
        is_active
    }

    /// The child of an early claim counts from now on, regardless of the answer.
    pub(super) fn confirm(&mut self, id: u64) {
        if let Some(request) = self.requests.get_mut(&id) {
            request.when_full = WhenFull::Exceed;
            if request.ticket.is_none() {
                request.state = TicketState::Waiting;
                self.has_work = true;
            }
        }
    }

    /// Drops a claim. A slot that the current update takes for it is given back at the end of that update.
    pub(super) fn give_back(&mut self, id: u64) {
        let ticket = self.requests.remove(&id).and_then(|request| request.ticket);
        self.leave(ticket);
    }

    fn leave(&mut self, ticket: Option<StoredTicket>) {
        self.has_work |= ticket.is_some();
        self.leaving.extend(ticket);
    }

    pub(super) fn has_ticket(&self, id: u64) -> bool {
        self.requests.get(&id).is_some_and(|request| request.ticket.is_some())
    }

    pub(super) fn is(&self, id: u64, state: TicketState) -> bool {
        self.requests.get(&id).is_some_and(|request| request.state == state)
    }

    /// Returns the remaining pause of the store, if it is paused.
    fn pause(&self) -> Option<Duration> {
        let rest = self.paused_until?.saturating_duration_since(Instant::now());
        (!rest.is_zero()).then_some(rest)
    }

    /// Returns the time until the next update. `None` if there is no work.
    pub(super) fn due_in(&self) -> Option<Duration> {
        if let Some(rest) = self.pause() {
            return (!self.leaving.is_empty()).then_some(rest);
        }
        if self.has_work {
            return Some(Duration::ZERO);
        }
        let polls = |request: &TicketRequest| request.state == TicketState::Waiting || is_early(request);
        (!self.leaving.is_empty() || self.requests.values().any(polls)).then_some(POLL)
    }

    pub(super) fn begin_update(&mut self) -> TicketUpdate {
        self.has_work = false;
        // Started ones are included, because the store may have lost them, or was not asked for them.
        let asking = self.requests.iter().filter(|(_, request)| request.state != TicketState::Refused);
        let (ids, requests) = asking.map(|(id, request)| (*id, *request)).unzip();
        let spare = self.requests.values().filter(|request| is_early(request)).count();
        TicketUpdate { store: self.store.clone(), ids, requests, leaving: take(&mut self.leaving), spare }
    }

    /// Applies the answers of an update that succeeded.
    pub(super) fn apply(&mut self, update: TicketUpdate) {
        self.busy_since = None;
        for (id, answer) in update.ids.into_iter().zip(update.requests) {
            let is_leaving = answer.ticket.is_some_and(|ticket| self.leaving.contains(&ticket));
            match self.requests.get_mut(&id) {
                Some(request) if !is_leaving => {
                    (request.ticket, request.state) = (answer.ticket, answer.state);
                    // Confirmed during the update.
                    if request.when_full == WhenFull::Exceed && request.ticket.is_none() {
                        request.state = TicketState::Waiting;
                        self.has_work = true;
                    }
                }
                // Dropped during the update, and perhaps added again since, after a short pause.
                _ => self.leave(answer.ticket),
            }
        }
    }

    /// Ends an update that failed. While others lock the database, its claims wait; otherwise, and when that lasts, it
    /// [gives up](Self::give_up).
    pub(super) fn fail(&mut self, update: TicketUpdate, error: &StoreError) -> Option<String> {
        self.leaving.extend(update.leaving);
        if error.is_busy() && self.busy_since.get_or_insert_with(Instant::now).elapsed() < MAX_BUSY {
            return None;
        }
        self.give_up(&error.in_full())
    }

    /// Starts all runs without the cap. Says why, for the user, once.
    pub(super) fn give_up(&mut self, why: &str) -> Option<String> {
        self.busy_since = None;
        self.paused_until = Some(Instant::now() + RETRY_AFTER);
        for request in self.requests.values_mut().filter(|request| request.state == TicketState::Waiting) {
            request.state = TicketState::Started;
            self.leaving.extend(request.ticket.take());
        }
        let is_first = !replace(&mut self.has_warned, true);
        is_first.then(|| format!("`maxConcurrentPerUser` has no effect: {why}"))
    }
}

/// Returns true if it is a slot that could be given back.
fn is_early(request: &TicketRequest) -> bool {
    request.when_full == WhenFull::Refuse && request.ticket.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        Claims::new(Store::in_memory().expect("the store is opened in memory"))
    }

    fn update_tickets(claims: &mut Claims) {
        let mut update = claims.begin_update();
        update.run().expect("the store grants tickets");
        claims.apply(update);
    }

    /// Returns the number of slots that a new claim finds taken in the store.
    fn used(claims: &mut Claims) -> usize {
        let is_free = |max: usize| {
            let mut probe = [TicketRequest::new(max, WhenFull::Refuse)];
            claims.store.update_tickets(&[], &mut probe, 0).expect("the store grants tickets");
            claims
                .store
                .update_tickets(&Vec::from_iter(probe[0].ticket), &mut [], 0)
                .expect("the store grants tickets");
            probe[0].state == TicketState::Started
        };
        (1..9).find(|max| is_free(*max)).expect("a limit below nine has a free slot") - 1
    }

    fn locked() -> StoreError {
        StoreError::Busy("runs.db".into())
    }

    #[test]
    fn a_ticket_retained_by_a_failed_update_is_released_by_the_next() {
        let mut claims = claims();
        assert!(claims.add(1, 1, WhenFull::Wait));
        update_tickets(&mut claims);
        assert!(claims.is(1, TicketState::Started));
        claims.give_back(1);
        let update = claims.begin_update();
        assert_eq!(claims.fail(update, &locked()), None);
        assert_eq!((claims.due_in(), used(&mut claims)), (Some(POLL), 1));
        update_tickets(&mut claims);
        assert_eq!((claims.due_in(), used(&mut claims)), (None, 0));
    }

    #[test]
    fn a_claim_that_is_dropped_during_an_update_leaves_no_ticket() {
        let mut claims = claims();
        claims.add(1, 1, WhenFull::Wait);
        let mut update = claims.begin_update();
        claims.give_back(1);
        update.run().expect("the store grants tickets");
        claims.apply(update);
        assert_eq!((claims.due_in(), used(&mut claims)), (Some(Duration::ZERO), 1));
        update_tickets(&mut claims);
        assert_eq!((claims.due_in(), used(&mut claims)), (None, 0));
    }

    #[test]
    fn a_claim_that_is_made_again_during_an_update_gets_a_ticket_of_its_own() {
        let mut claims = claims();
        for (id, cap) in [(1, 9), (2, 1)] {
            claims.add(id, cap, WhenFull::Wait);
        }
        update_tickets(&mut claims);
        assert!(claims.is(1, TicketState::Started) && claims.is(2, TicketState::Waiting));
        let mut update = claims.begin_update();
        claims.give_back(2);
        claims.add(2, 2, WhenFull::Wait);
        update.run().expect("the store grants tickets");
        claims.apply(update);
        assert!(!claims.has_ticket(2), "the old ticket is not the new claim's ticket");
        update_tickets(&mut claims);
        assert!(claims.is(2, TicketState::Started));
        assert_eq!(used(&mut claims), 2);
    }

    #[test]
    fn a_child_adopted_during_an_update_counts_for_any_result_of_it() {
        let mut claims = claims();
        claims.add(1, 1, WhenFull::Wait);
        update_tickets(&mut claims);
        claims.add(2, 1, WhenFull::Refuse);
        let mut update = claims.begin_update();
        claims.confirm(2);
        update.run().expect("the store grants tickets");
        claims.apply(update);
        assert!(claims.is(2, TicketState::Waiting));
        update_tickets(&mut claims);
        assert!(claims.is(2, TicketState::Started));
        assert_eq!(used(&mut claims), 2);
    }

    #[test]
    fn claims_wait_for_a_locked_database_and_then_start_without_the_limit() {
        let mut claims = claims();
        claims.add(1, 1, WhenFull::Wait);
        let update = claims.begin_update();
        assert_eq!(claims.fail(update, &locked()), None);
        assert!(claims.is(1, TicketState::Waiting));
        assert_eq!(claims.due_in(), Some(POLL));
        claims.busy_since = Instant::now().checked_sub(MAX_BUSY);
        let update = claims.begin_update();
        let notice = claims.fail(update, &locked()).expect("the user gets a notice");
        assert_eq!(notice, "`maxConcurrentPerUser` has no effect: `runs.db` is held by another process");
        assert!(claims.is(1, TicketState::Started));
        assert!(!claims.add(2, 1, WhenFull::Wait), "a claim does not use the store during the pause");
        assert_eq!((claims.due_in(), claims.give_up("again")), (None, None));
    }

    #[test]
    fn children_that_started_without_the_cap_are_counted_once_the_store_works() {
        let mut claims = claims();
        claims.add(1, 1, WhenFull::Wait);
        claims.give_up("for a moment");
        claims.paused_until = None;
        assert_eq!(used(&mut claims), 0);
        claims.add(2, 1, WhenFull::Wait);
        update_tickets(&mut claims);
        assert!(claims.is(1, TicketState::Started) && claims.is(2, TicketState::Waiting));
        claims.give_back(1);
        update_tickets(&mut claims);
        assert!(claims.is(2, TicketState::Started));
    }
}
