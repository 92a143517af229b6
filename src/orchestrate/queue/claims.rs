//! What is asked of the store, what it answered, and when it is asked again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::store::{Bid, Kind, Place, Standing, StoreError};

/// How often we look whether another process has left. A child takes longer than that to boot.
const POLL: Duration = Duration::from_millis(200);
/// How long the database may be held by somebody else before runs start without it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long nobody asks a store again that could not be used.
const PAUSE: Duration = Duration::from_secs(60);

/// The claims of this process on the cap of all.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// By number, which is the order in which they came.
    held: BTreeMap<u64, Held>,
    /// Places that nobody needs any more.
    leaving: Vec<Place>,
    /// Whether something came up since the last turn began.
    is_news: bool,
    /// Whether the thread is there.
    pub is_served: bool,
    /// Since when the database is held by somebody else.
    busy_since: Option<Instant>,
    /// Until when the store is not asked.
    paused_until: Option<Instant>,
    notice: Option<String>,
    warned: bool,
}

#[derive(Debug)]
struct Held {
    bid: Bid,
    /// Whether it has its answer.
    is_settled: bool,
    /// Whether an early one was asked to leave.
    is_evicted: bool,
}

/// What one turn is about.
#[derive(Debug)]
pub(super) struct Turn {
    numbers: Vec<u64>,
    pub bids: Vec<Bid>,
    pub leaving: Vec<Place>,
    /// How many early places could be given back.
    pub spare: usize,
}

/// An answer for the lane.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Whoever waits may start.
    Started(u64),
    /// The early one may not.
    Refused(u64),
}

/// When the next turn is.
pub(super) enum Next {
    Now,
    After(Duration),
    /// When something comes up.
    Idle,
}

impl Claims {
    pub(super) fn add(&mut self, number: u64, cap: usize, kind: Kind) {
        self.held.insert(number, Held { bid: Bid::new(cap, kind), is_settled: false, is_evicted: false });
        self.is_news = true;
    }

    /// An early claim counts from now on, whatever the answer was. Says whether there is something to do.
    pub(super) fn keep(&mut self, number: u64) -> bool {
        let Some(held) = self.held.get_mut(&number) else { return false };
        held.bid.kind = Kind::Certain;
        held.is_settled = held.bid.place.is_some();
        self.is_news |= !held.is_settled;
        !held.is_settled
    }

    /// A claim is given back. Says whether there is something to do; while its turn is under way that turn's end knows.
    pub(super) fn give_back(&mut self, number: u64) -> bool {
        let place = self.held.remove(&number).and_then(|held| held.bid.place);
        self.leave(place);
        place.is_some()
    }

    fn leave(&mut self, place: Option<Place>) {
        self.is_news |= place.is_some();
        self.leaving.extend(place);
    }

    pub(super) fn is_paused(&self) -> bool {
        self.paused_until.is_some_and(|until| until > Instant::now())
    }

    pub(super) fn next(&self) -> Next {
        if let Some(until) = self.paused_until.filter(|_| self.is_paused()) {
            return if self.leaving.is_empty() {
                Next::Idle
            } else {
                Next::After(until.saturating_duration_since(Instant::now()))
            };
        }
        if self.is_news {
            return Next::Now;
        }
        let polls = |held: &Held| !held.is_settled || held.may_be_evicted();
        if !self.leaving.is_empty() || self.held.values().any(polls) { Next::After(POLL) } else { Next::Idle }
    }

    /// Begins a turn.
    pub(super) fn turn(&mut self) -> Turn {
        self.is_news = false;
        // Those that have started too, because the store may have lost them.
        let known = self.held.iter().filter(|(_, held)| !held.is_settled || held.bid.place.is_some());
        let (numbers, bids) = known.map(|(number, held)| (*number, held.bid.clone())).unzip();
        let spare = self.held.values().filter(|held| held.is_early() && held.bid.place.is_some()).count();
        Turn { numbers, bids, leaving: std::mem::take(&mut self.leaving), spare }
    }

    /// Ends a turn, after which so many in all processes wait for our early places.
    pub(super) fn apply(&mut self, turn: Turn, wanting: usize) -> Vec<Answer> {
        self.busy_since = None;
        let mut answers = Vec::new();
        for (number, bid) in turn.numbers.into_iter().zip(turn.bids) {
            let Some(held) = self.held.get_mut(&number) else {
                self.leave(bid.place);
                continue;
            };
            held.bid.place = bid.place;
            held.bid.standing = bid.standing;
            if held.is_settled {
                continue;
            }
            if held.bid.kind == bid.kind {
                held.is_settled = bid.standing != Standing::Waiting;
                match (bid.standing, bid.kind) {
                    (Standing::Started, Kind::Queued) => answers.push(Answer::Started(number)),
                    (Standing::Refused, _) => answers.push(Answer::Refused(number)),
                    _ => (),
                }
            } else {
                held.is_settled = bid.place.is_some();
                self.is_news |= !held.is_settled;
            }
        }
        self.evict(wanting, &mut answers);
        answers
    }

    /// Asks for so many early places back; the newest first, because least has been spent on it.
    fn evict(&mut self, wanted: usize, answers: &mut Vec<Answer>) {
        let asked = self.held.values().filter(|held| held.is_early() && held.is_evicted).count();
        let early = self.held.iter_mut().rev().filter(|(_, held)| held.may_be_evicted());
        for (number, held) in early.take(wanted.saturating_sub(asked)) {
            held.is_evicted = true;
            answers.push(Answer::Refused(*number));
        }
    }

    /// Ends a turn that did not come about. While somebody else holds the database this means to wait; otherwise, and
    /// when that lasts, everybody starts without a cap.
    pub(super) fn fail(&mut self, error: &StoreError, leaving: Vec<Place>) -> Vec<Answer> {
        let now = Instant::now();
        self.leaving.extend(leaving);
        if error.is_busy() && now.duration_since(*self.busy_since.get_or_insert(now)) < PATIENCE {
            return Vec::new();
        }
        self.busy_since = None;
        self.paused_until = Some(now + PAUSE);
        self.warn(&error.in_full());
        let mut answers = Vec::new();
        for (number, held) in self.held.iter_mut().filter(|(_, held)| !held.is_settled) {
            held.is_settled = true;
            self.leaving.extend(held.bid.place.take());
            if held.bid.kind == Kind::Queued {
                answers.push(Answer::Started(*number));
            }
        }
        answers
    }

    pub(super) fn warn(&mut self, why: &str) {
        if !std::mem::replace(&mut self.warned, true) {
            self.notice = Some(format!("`maxConcurrentPerUser` is not in force: {why}"));
        }
    }

    pub(super) fn take_notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    /// Nobody could be told.
    pub(super) fn put_back(&mut self, notice: Option<String>) {
        if notice.is_some() {
            self.notice = notice;
        }
    }
}

impl Held {
    fn is_early(&self) -> bool {
        self.bid.kind == Kind::Early
    }

    fn may_be_evicted(&self) -> bool {
        self.is_early() && self.is_settled && self.bid.place.is_some() && !self.is_evicted
    }
}
