//! What is asked of a store, how its answers are read, and when it is asked again.

use std::collections::BTreeMap;
use std::mem::{replace, take};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Condvar;

use crate::store::{Store, StoreError, StoredTicket, TicketRequest, TicketState, WhenFull};

/// How often we look whether another process has left. A child takes longer than that to boot.
const POLL: Duration = Duration::from_millis(200);
/// How long the database may be locked by others before runs start without the cap.
const MAX_BUSY: Duration = Duration::from_secs(5);
/// How long a store that could not be used is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The claims of this process on the cap of all processes that share a store.
#[derive(Debug)]
pub(super) struct Claims {
    pub store: Store,
    /// Whether the thread that takes the turns is there.
    pub has_thread: bool,
    /// Wakes that thread.
    pub has_work_now: Arc<Condvar>,
    /// By id: oldest first.
    held: BTreeMap<u64, TicketRequest>,
    /// Tickets to give back to the store.
    leaving: Vec<StoredTicket>,
    /// Whether something came up since the last turn began.
    has_work: bool,
    /// Since when the database has been locked by others.
    busy_since: Option<Instant>,
    /// Until when the store is not asked.
    paused_until: Option<Instant>,
    has_warned: bool,
}

/// What one turn at the store is about.
#[derive(Debug)]
pub(super) struct Turn {
    store: Store,
    ids: Vec<u64>,
    requests: Vec<TicketRequest>,
    leaving: Vec<StoredTicket>,
    /// How many early places could be given back.
    spare: usize,
}

impl Turn {
    /// Takes the turn, which blocks. Returns how many runs of all processes need early places of ours.
    pub(super) fn take(&mut self) -> Result<usize, StoreError> {
        self.store.take_turn(&self.leaving, &mut self.requests, self.spare)
    }
}

impl Claims {
    pub(super) fn new(store: Store) -> Self {
        Self {
            store,
            has_thread: false,
            has_work_now: Arc::default(),
            held: BTreeMap::new(),
            leaving: Vec::new(),
            has_work: false,
            busy_since: None,
            paused_until: None,
            has_warned: false,
        }
    }

    /// Makes a claim. `false`: the store could not be used a short time ago, so no cap is in force.
    pub(super) fn add(&mut self, id: u64, cap: usize, when_full: WhenFull) -> bool {
        let is_in_force = self.pause().is_none();
        if is_in_force {
            self.held.insert(id, TicketRequest::new(cap, when_full));
            self.has_work = true;
        }
        is_in_force
    }

    /// The child of an early claim counts from now on, whatever the answer was.
    pub(super) fn keep(&mut self, id: u64) {
        if let Some(held) = self.held.get_mut(&id) {
            held.when_full = WhenFull::Exceed;
            if held.ticket.is_none() {
                held.state = TicketState::Waiting;
                self.has_work = true;
            }
        }
    }

    /// Drops a claim. A place that the turn under way takes for it is given back at that turn's end.
    pub(super) fn give_back(&mut self, id: u64) {
        let ticket = self.held.remove(&id).and_then(|held| held.ticket);
        self.leave(ticket);
    }

    fn leave(&mut self, ticket: Option<StoredTicket>) {
        self.has_work |= ticket.is_some();
        self.leaving.extend(ticket);
    }

    pub(super) fn has_ticket(&self, id: u64) -> bool {
        self.held.get(&id).is_some_and(|held| held.ticket.is_some())
    }

    pub(super) fn is(&self, id: u64, state: TicketState) -> bool {
        self.held.get(&id).is_some_and(|held| held.state == state)
    }

    /// How long the store is still left alone.
    fn pause(&self) -> Option<Duration> {
        let rest = self.paused_until?.saturating_duration_since(Instant::now());
        (!rest.is_zero()).then_some(rest)
    }

    /// When the next turn is due; `None` when there is nothing to do.
    pub(super) fn due_in(&self) -> Option<Duration> {
        if let Some(rest) = self.pause() {
            return (!self.leaving.is_empty()).then_some(rest);
        }
        if self.has_work {
            return Some(Duration::ZERO);
        }
        let polls = |held: &TicketRequest| held.state == TicketState::Waiting || is_early(held);
        (!self.leaving.is_empty() || self.held.values().any(polls)).then_some(POLL)
    }

    pub(super) fn begin_turn(&mut self) -> Turn {
        self.has_work = false;
        // Those that have started are included, because the store may have lost them.
        let asks = |held: &TicketRequest| held.state == TicketState::Waiting || held.ticket.is_some();
        let asking = self.held.iter().filter(|(_, held)| asks(held));
        let (ids, requests) = asking.map(|(id, held)| (*id, *held)).unzip();
        let spare = self.held.values().filter(|held| is_early(held)).count();
        Turn { store: self.store.clone(), ids, requests, leaving: take(&mut self.leaving), spare }
    }

    /// Ends a turn that was taken.
    pub(super) fn apply(&mut self, turn: Turn) {
        self.busy_since = None;
        for (id, answer) in turn.ids.into_iter().zip(turn.requests) {
            let is_leaving = answer.ticket.is_some_and(|ticket| self.leaving.contains(&ticket));
            match self.held.get_mut(&id) {
                Some(held) if !is_leaving => {
                    (held.ticket, held.state) = (answer.ticket, answer.state);
                    // Kept while the turn was under way.
                    if held.when_full == WhenFull::Exceed && held.ticket.is_none() {
                        held.state = TicketState::Waiting;
                        self.has_work = true;
                    }
                }
                // Dropped while the turn was under way, and perhaps made again since: a pause has come and gone.
                _ => self.leave(answer.ticket),
            }
        }
    }

    /// Ends a turn that failed. While others lock the database, its claims wait; otherwise, and when that lasts, it
    /// [gives up](Self::give_up).
    pub(super) fn fail(&mut self, turn: Turn, error: &StoreError) -> Option<String> {
        self.leaving.extend(turn.leaving);
        if error.is_busy() && self.busy_since.get_or_insert_with(Instant::now).elapsed() < MAX_BUSY {
            return None;
        }
        self.give_up(&error.in_full())
    }

    /// Starts all runs without the cap. Says why, for the user, once.
    pub(super) fn give_up(&mut self, why: &str) -> Option<String> {
        self.busy_since = None;
        self.paused_until = Some(Instant::now() + RETRY_AFTER);
        for held in self.held.values_mut().filter(|held| held.state == TicketState::Waiting) {
            held.state = TicketState::Started;
            self.leaving.extend(held.ticket.take());
        }
        let is_news = !replace(&mut self.has_warned, true);
        is_news.then(|| format!("`maxConcurrentPerUser` is not in force: {why}"))
    }
}

/// Whether it is a place that could be given back.
fn is_early(held: &TicketRequest) -> bool {
    held.when_full == WhenFull::Refuse && held.ticket.is_some()
}
