//! What an open conversation is still to be told.

use std::collections::HashSet;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::store::Delivery;

/// The deliveries of an open conversation, on their way into it.
#[derive(Debug, Default)]
pub(super) struct Desk(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    pending: Option<Pending>,
    /// Claimed, and not told.
    queue: Vec<Delivery>,
    /// Told, and not known to stand in the conversation.
    offered: HashSet<String>,
}

/// There may be something to deliver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The first of it came then.
    pub since: Instant,
    /// How often something came.
    count: u64,
}

impl Desk {
    /// A desk at which these are on their way already.
    pub(super) fn with(in_flight: &[String]) -> Self {
        let offered = in_flight.iter().cloned().collect();
        Self(Mutex::new(State { offered, ..State::default() }))
    }

    /// Notes that there may be something to deliver.
    pub(super) fn expect(&self) {
        self.lock().expect();
    }

    /// What may be there to deliver.
    pub(super) fn pending(&self) -> Option<Pending> {
        self.lock().pending
    }

    /// Takes in what was claimed. `false`: the conversation is closed, and somebody else has to tell it.
    pub(super) fn take_in(&self, delivery: Delivery) -> bool {
        let mut state = self.lock();
        if !state.is_closed {
            state.queue.push(delivery);
            state.expect();
        }
        !state.is_closed
    }

    /// Puts `more` behind what waits and hands out up to `most` of all. `None`: the conversation is closed; `more` is left to the
    /// caller.
    pub(super) fn hand_out(&self, more: &mut Vec<Delivery>, most: usize) -> Option<Vec<Delivery>> {
        let mut state = self.lock();
        if state.is_closed {
            return None;
        }
        state.queue.append(more);
        let count = state.queue.len().min(most);
        let out: Vec<_> = state.queue.drain(..count).collect();
        state.offered.extend(out.iter().map(|delivery| delivery.id.clone()));
        Some(out)
    }

    /// Takes back what was handed out and not heard. `false`: the conversation is closed.
    pub(super) fn put_back(&self, deliveries: Vec<Delivery>) -> bool {
        let mut state = self.lock();
        if state.is_closed {
            return false;
        }
        for delivery in &deliveries {
            state.offered.remove(&delivery.id);
        }
        state.queue.splice(0..0, deliveries);
        state.expect();
        true
    }

    /// Notes that what was there by then was told. What came later, or is left, is still to be.
    pub(super) fn told(&self, by_then: Pending) {
        let mut state = self.lock();
        let is_done = state.queue.is_empty();
        if let Some(pending) = &mut state.pending {
            if is_done && pending.count == by_then.count {
                state.pending = None;
            } else {
                pending.since = Instant::now();
            }
        }
    }

    /// Notes that these stand in the conversation.
    pub(super) fn arrived(&self, ids: &[String]) {
        let mut state = self.lock();
        state.queue.retain(|delivery| !ids.contains(&delivery.id));
        state.offered.retain(|id| !ids.contains(id));
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Closes the conversation, and returns what was not told or is not known to have arrived.
    pub(super) fn close(&self) -> Vec<String> {
        let mut state = self.lock();
        state.is_closed = true;
        let State { queue, offered, .. } = &mut *state;
        queue.drain(..).map(|delivery| delivery.id).chain(offered.drain()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl State {
    fn expect(&mut self) {
        let pending = self.pending.get_or_insert_with(|| Pending { since: Instant::now(), count: 0 });
        pending.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(id: &str) -> Delivery {
        let text = |text: &str| text.to_owned();
        Delivery { id: text(id), session: text("s"), key: text("k"), body: text("{}"), created_ms: 0 }
    }

    #[test]
    fn what_comes_while_others_are_told_is_told_next() {
        let desk = Desk::default();
        assert!(desk.take_in(delivery("one")));
        let by_then = desk.pending().expect("something came");
        assert_eq!(desk.hand_out(&mut Vec::new(), 8).expect("open").len(), 1);
        assert!(desk.take_in(delivery("two")));
        desk.told(by_then);
        let by_then = desk.pending().expect("the second came");
        assert_eq!(desk.hand_out(&mut Vec::new(), 8).expect("open")[0].id, "two");
        desk.told(by_then);
        assert!(desk.pending().is_none());
    }

    #[test]
    fn what_did_not_fit_stays_pending() {
        let desk = Desk::default();
        desk.expect();
        let by_then = desk.pending().expect("noted");
        let mut more = vec![delivery("one"), delivery("two")];
        assert_eq!(desk.hand_out(&mut more, 1).expect("open")[0].id, "one");
        desk.told(by_then);
        assert!(desk.pending().is_some());
        assert_eq!(desk.hand_out(&mut Vec::new(), 1).expect("open")[0].id, "two");
    }

    #[test]
    fn a_closed_desk_gives_everything_back_and_takes_nothing() {
        let desk = Desk::with(&["flies".to_owned()]);
        assert!(desk.take_in(delivery("told")));
        assert_eq!(desk.hand_out(&mut Vec::new(), 8).expect("open").len(), 1);
        assert!(desk.take_in(delivery("waits")));
        let mut left = desk.close();
        left.sort();
        assert_eq!(left, ["flies", "told", "waits"]);
        assert!(!desk.take_in(delivery("late")));
        let mut more = vec![delivery("late")];
        assert!(desk.hand_out(&mut more, 8).is_none());
        assert_eq!(more.len(), 1);
    }

    #[test]
    fn what_was_not_heard_is_told_again() {
        let desk = Desk::default();
        assert!(desk.take_in(delivery("one")));
        let out = desk.hand_out(&mut Vec::new(), 8).expect("open");
        assert!(desk.put_back(out));
        assert_eq!(desk.hand_out(&mut Vec::new(), 8).expect("open")[0].id, "one");
        desk.arrived(&["one".to_owned(), "other".to_owned()]);
        assert!(desk.close().is_empty());
    }
}
