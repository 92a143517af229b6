//! What is asked of the store, how its answers are read, and when it is asked again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::store::{StoreError, StoredTicket, TicketRequest, TicketState, WhenFull};

/// How often we look whether another process has left. A child takes longer than that to boot.
const POLL: Duration = Duration::from_millis(200);
/// How long the database may be locked by others before runs start without the cap.
const MAX_BUSY: Duration = Duration::from_secs(5);
/// How long a store that could not be used is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The claims of this process on the cap on all processes.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// By number: oldest first.
    held: BTreeMap<u64, Held>,
    /// Tickets to give back to the store.
    leaving: Vec<StoredTicket>,
    /// Whether something came up since the last batch.
    has_work: bool,
    /// Whether the thread that talks to the store is there.
    pub has_thread: bool,
    /// Since when the database has been locked by others.
    busy_since: Option<Instant>,
    /// Until when the store is not asked.
    paused_until: Option<Instant>,
    notice: Option<String>,
    has_warned: bool,
}

#[derive(Debug)]
struct Held {
    request: TicketRequest,
    /// Whether an early one was asked to leave.
    is_evicted: bool,
}

/// What one turn at the store is about.
#[derive(Debug)]
pub(super) struct Batch {
    numbers: Vec<u64>,
    pub requests: Vec<TicketRequest>,
    pub leaving: Vec<StoredTicket>,
    /// How many early places could be given back.
    pub spare: usize,
}

/// What the queue has to do after a turn, by the numbers of the claims.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answers {
    /// Runs that may start.
    pub started: Vec<u64>,
    /// Early children that have to go.
    pub refused: Vec<u64>,
    /// Why the cap is not in force, in words for the user.
    pub notice: Option<String>,
}

impl Claims {
    pub(super) fn add(&mut self, number: u64, cap: usize, when_full: WhenFull) {
        self.held.insert(number, Held { request: TicketRequest::new(cap, when_full), is_evicted: false });
        self.has_work = true;
    }

    /// An early claim counts from now on, whatever the answer was. Says whether there is something to do.
    pub(super) fn keep(&mut self, number: u64) -> bool {
        let Some(held) = self.held.get_mut(&number) else { return false };
        held.request.when_full = WhenFull::Exceed;
        let is_missing = held.ask_again();
        self.has_work |= is_missing;
        is_missing
    }

    /// A claim is dropped. Says whether there is something to do. A place that the turn under way takes for it is given
    /// back at that turn's end.
    pub(super) fn give_back(&mut self, number: u64) -> bool {
        let ticket = self.held.remove(&number).and_then(|held| held.request.ticket);
        self.leave(ticket);
        ticket.is_some()
    }

    fn leave(&mut self, ticket: Option<StoredTicket>) {
        self.has_work |= ticket.is_some();
        self.leaving.extend(ticket);
    }

    /// Whether the store could not be used a short time ago.
    pub(super) fn is_paused(&self) -> bool {
        self.paused_until.is_some_and(|until| until > Instant::now())
    }

    /// When the next turn is due; `None` when there is nothing to do.
    pub(super) fn due_in(&self) -> Option<Duration> {
        if let Some(until) = self.paused_until.filter(|_| self.is_paused()) {
            let rest = until.saturating_duration_since(Instant::now());
            return (!self.leaving.is_empty()).then_some(rest);
        }
        if self.has_work {
            return Some(Duration::ZERO);
        }
        let polls = |held: &Held| held.is_waiting() || held.may_be_evicted();
        (!self.leaving.is_empty() || self.held.values().any(polls)).then_some(POLL)
    }

    /// Begins a turn.
    pub(super) fn batch(&mut self) -> Batch {
        self.has_work = false;
        // Those that have started are included, because the store may have lost them.
        let known = self.held.iter().filter(|(_, held)| held.is_waiting() || held.request.ticket.is_some());
        let (numbers, requests) = known.map(|(number, held)| (*number, held.request.clone())).unzip();
        let spare =
            self.held.values().filter(|held| held.is_early() && held.request.ticket.is_some()).count();
        Batch { numbers, requests, leaving: std::mem::take(&mut self.leaving), spare }
    }

    /// Ends a turn, after which `wanting` runs of all processes need early places of ours.
    pub(super) fn apply(&mut self, batch: Batch, wanting: usize) -> Answers {
        self.busy_since = None;
        let mut answers = Answers { notice: self.take_notice(), ..Answers::default() };
        for (number, request) in batch.numbers.into_iter().zip(batch.requests) {
            let Some(held) = self.held.get_mut(&number) else {
                self.leave(request.ticket);
                continue;
            };
            let was_waiting = held.is_waiting();
            (held.request.ticket, held.request.state) = (request.ticket, request.state);
            if held.request.when_full != request.when_full {
                // Kept while the turn was under way.
                self.has_work |= held.ask_again();
            } else if was_waiting && request.state == TicketState::Refused {
                answers.refused.push(number);
            } else if was_waiting
                && request.state == TicketState::Started
                && request.when_full == WhenFull::Wait
            {
                answers.started.push(number);
            }
        }
        self.evict(wanting, &mut answers.refused);
        answers
    }

    /// Asks for early places back; the newest first, because least was spent on it.
    fn evict(&mut self, wanting: usize, refused: &mut Vec<u64>) {
        let asked = self.held.values().filter(|held| held.is_early() && held.is_evicted).count();
        let early = self.held.iter_mut().rev().filter(|(_, held)| held.may_be_evicted());
        for (number, held) in early.take(wanting.saturating_sub(asked)) {
            held.is_evicted = true;
            refused.push(*number);
        }
    }

    /// Ends a turn that failed. While others lock the database, its claims wait; otherwise, and when that lasts, all runs
    /// start without the cap.
    pub(super) fn fail(&mut self, error: &StoreError, leaving: Vec<StoredTicket>) -> Answers {
        let now = Instant::now();
        self.leaving.extend(leaving);
        if error.is_busy() && now.duration_since(*self.busy_since.get_or_insert(now)) < MAX_BUSY {
            return Answers::default();
        }
        self.busy_since = None;
        self.paused_until = Some(now + RETRY_AFTER);
        self.warn(&error.in_full());
        let mut answers = Answers { notice: self.take_notice(), ..Answers::default() };
        for (number, held) in self.held.iter_mut().filter(|(_, held)| held.is_waiting()) {
            held.request.state = TicketState::Started;
            self.leaving.extend(held.request.ticket.take());
            if held.request.when_full == WhenFull::Wait {
                answers.started.push(*number);
            }
        }
        answers
    }

    /// Tells the user why the cap is not in force, once.
    pub(super) fn warn(&mut self, why: &str) {
        if !std::mem::replace(&mut self.has_warned, true) {
            self.notice = Some(format!("`maxConcurrentPerUser` is not in force: {why}"));
        }
    }

    pub(super) fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }
}

impl Held {
    fn is_early(&self) -> bool {
        self.request.when_full == WhenFull::Refuse
    }

    fn is_waiting(&self) -> bool {
        self.request.state == TicketState::Waiting
    }

    fn may_be_evicted(&self) -> bool {
        self.is_early() && self.request.ticket.is_some() && !self.is_evicted
    }

    /// Has the next turn take a place if there is none. Says whether that is so.
    fn ask_again(&mut self) -> bool {
        if self.request.ticket.is_none() {
            self.request.state = TicketState::Waiting;
        }
        self.request.ticket.is_none()
    }
}
