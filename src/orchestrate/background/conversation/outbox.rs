//! The deliveries on their way into an open conversation.

use std::collections::HashSet;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::delivery_ids::is_question;
use store::Delivery;

/// The deliveries of an open conversation that this process has claimed, until the conversation is known to contain
/// them.
#[derive(Debug, Default)]
pub(crate) struct Outbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    pending: Option<Pending>,
    /// Claimed, but not handed out.
    queue: Vec<Delivery>,
    /// Handed out, but not known to be in the conversation.
    offered: HashSet<String>,
    /// Since when the store has not said whether there are more.
    unanswered: Option<Instant>,
    /// The callers that await the end of a run instead of the listener, in order of arrival.
    reserved: Vec<Reserved>,
    last_number: u64,
}

/// A caller that awaits the end of a run.
#[derive(Debug)]
struct Reserved {
    number: u64,
    /// The id of the end.
    end: String,
    delivery: Option<Delivery>,
    /// True if another caller has taken the delivery.
    is_taken: bool,
}

/// The answer to a caller that has awaited the end of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    Delivery(Delivery),
    /// Another caller has the delivery, or the next view of the conversation gets it.
    Elsewhere,
    /// There was no delivery.
    Nothing,
}

/// The mark that there may be something to deliver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// The time at which the first of them arrived.
    pub since: Instant,
    /// The number of arrivals, to detect later ones.
    count: u64,
}

impl Outbox {
    /// An outbox whose listener already has these deliveries.
    pub(crate) fn with(sent: &[String]) -> Self {
        let offered = sent.iter().cloned().collect();
        Self(Mutex::new(State { offered, ..State::default() }))
    }

    /// Marks that there may be something to deliver.
    pub(crate) fn expect(&self) {
        self.0.lock().expect();
    }

    pub(crate) fn pending(&self) -> Option<Pending> {
        self.0.lock().pending
    }

    /// Records whether the store has said which deliveries there are.
    pub(crate) fn note_answer(&self, is_answered: bool) {
        let mut state = self.0.lock();
        let since = state.unanswered.unwrap_or_else(Instant::now);
        state.unanswered = (!is_answered).then_some(since);
    }

    /// Returns true if the listener has received all deliveries. If the store has not answered for `timeout`, only the
    /// deliveries in this queue count.
    pub(crate) fn is_settled(&self, timeout: Duration) -> bool {
        let state = self.0.lock();
        let is_silent = state.unanswered.is_some_and(|since| since.elapsed() >= timeout);
        state.pending.is_none() || (is_silent && state.queue.is_empty())
    }

    /// The deliveries that wait here, and for which no listener has been found yet.
    pub(crate) fn waiting(&self) -> Vec<Delivery> {
        let state = self.0.lock();
        let reserved = state.reserved.iter().filter_map(|reserved| reserved.delivery.as_ref());
        state.queue.iter().chain(reserved).cloned().collect()
    }

    /// Queues a claimed delivery. Returns it if the conversation is closed; another process must then deliver it.
    pub(crate) fn enqueue(&self, delivery: Delivery) -> Option<Delivery> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Some(delivery);
        }
        if let Some(delivery) = state.unless_reserved(delivery) {
            state.queue.push(delivery);
            state.expect();
        }
        None
    }

    /// Returns true if a question waits here. Its run does nothing in the meantime.
    pub(crate) fn has_question(&self) -> bool {
        self.0.lock().queue.iter().any(is_question)
    }

    /// Keeps the delivery `end` out of the queue. Returns the number of the reservation.
    pub(crate) fn reserve(&self, end: String) -> u64 {
        let mut state = self.0.lock();
        state.last_number += 1;
        let number = state.last_number;
        state.reserved.push(Reserved { number, end, delivery: None, is_taken: false });
        number
    }

    /// Ends a reservation, and hands out its delivery if it has come.
    pub(crate) fn take_reserved(&self, number: u64) -> Awaited {
        let mut state = self.0.lock();
        let Some(own) = state.end_reservation(number) else { return Awaited::Elsewhere };
        let mut others = state.reserved.iter_mut().filter(|other| other.end == own.end);
        let Some(delivery) = own.delivery else {
            let is_elsewhere = own.is_taken || others.any(|other| other.delivery.is_some());
            return if is_elsewhere { Awaited::Elsewhere } else { Awaited::Nothing };
        };
        others.for_each(|other| other.is_taken = true);
        state.offered.insert(delivery.id.clone());
        Awaited::Delivery(delivery)
    }

    /// Ends a reservation. A delivery that has come and was not taken goes to the next caller, or is queued.
    pub(crate) fn give_back(&self, number: u64) {
        let mut state = self.0.lock();
        let delivery = state.end_reservation(number).and_then(|own| own.delivery);
        if let Some(delivery) = delivery.and_then(|delivery| state.unless_reserved(delivery)) {
            state.queue.push(delivery);
            state.expect();
        }
    }

    /// Queues `more` and hands out at most `limit` deliveries, oldest first: questions alone, before all ends. `None`: the
    /// conversation is closed, and the caller keeps `more`.
    pub(crate) fn hand_out(&self, more: &mut Vec<Delivery>, limit: usize) -> Option<Vec<Delivery>> {
        let mut state = self.0.lock();
        if state.is_closed {
            return None;
        }
        for delivery in more.drain(..) {
            let delivery = state.unless_reserved(delivery);
            state.queue.extend(delivery);
        }
        let has_question = state.queue.iter().any(is_question);
        let mut room = limit;
        let out: Vec<_> = state
            .queue
            .extract_if(.., |delivery| {
                let is_selected = room > 0 && is_question(delivery) == has_question;
                room -= usize::from(is_selected);
                is_selected
            })
            .collect();
        state.offered.extend(out.iter().map(|delivery| delivery.id.clone()));
        Some(out)
    }

    /// Puts deliveries that the listener did not take back to the front of the queue. A closed conversation has already
    /// released them.
    pub(crate) fn put_back(&self, deliveries: Vec<Delivery>) {
        let mut state = self.0.lock();
        if state.is_closed {
            return;
        }
        for delivery in &deliveries {
            state.offered.remove(&delivery.id);
        }
        state.queue.splice(0..0, deliveries);
        state.expect();
    }

    /// Clears the mark `seen`, unless deliveries have arrived since then or are still queued.
    pub(crate) fn clear_pending(&self, seen: Pending) {
        let mut state = self.0.lock();
        let is_empty = state.queue.is_empty();
        if let Some(pending) = &mut state.pending {
            if is_empty && pending.count == seen.count {
                state.pending = None;
            } else {
                pending.since = Instant::now();
            }
        }
    }

    /// Marks deliveries as being in the conversation.
    pub(crate) fn mark_delivered(&self, ids: &[String]) {
        let mut state = self.0.lock();
        state.queue.retain(|delivery| !ids.contains(&delivery.id));
        state.offered.retain(|id| !ids.contains(id));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0.lock().is_closed
    }

    /// Closes the outbox. Returns the deliveries not known to be in the conversation.
    pub(crate) fn close(&self) -> Vec<String> {
        let mut state = self.0.lock();
        state.is_closed = true;
        let State { queue, offered, reserved, .. } = &mut *state;
        let reserved = reserved.drain(..).filter_map(|reserved| reserved.delivery);
        queue.drain(..).chain(reserved).map(|delivery| delivery.id).chain(offered.drain()).collect()
    }
}

impl State {
    /// Returns the delivery, or keeps it for the first caller that awaits it.
    fn unless_reserved(&mut self, delivery: Delivery) -> Option<Delivery> {
        match self.reserved.iter_mut().find(|reserved| reserved.end == delivery.id) {
            Some(Reserved { delivery: slot @ None, is_taken: false, .. }) => {
                *slot = Some(delivery);
                None
            }
            _ => Some(delivery),
        }
    }

    fn end_reservation(&mut self, number: u64) -> Option<Reserved> {
        let at = self.reserved.iter().position(|reserved| reserved.number == number)?;
        Some(self.reserved.remove(at))
    }

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
    fn deliveries_that_arrive_during_a_hand_out_come_next() {
        let outbox = Outbox::default();
        assert!(outbox.enqueue(delivery("one")).is_none());
        let seen = outbox.pending().expect("a delivery is pending");
        assert_eq!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open").len(), 1);
        assert!(outbox.enqueue(delivery("two")).is_none());
        outbox.clear_pending(seen);
        let seen = outbox.pending().expect("the second delivery is pending");
        assert_eq!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open")[0].id, "two");
        outbox.clear_pending(seen);
        assert!(outbox.pending().is_none());
    }

    #[test]
    fn a_delivery_expected_during_a_hand_out_stays_pending() {
        let outbox = Outbox::default();
        outbox.expect();
        let seen = outbox.pending().expect("the expected delivery is pending");
        assert!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open").is_empty());
        outbox.expect();
        outbox.clear_pending(seen);
        assert!(outbox.pending().is_some());
    }

    #[test]
    fn deliveries_that_did_not_fit_stay_pending() {
        let outbox = Outbox::default();
        outbox.expect();
        let seen = outbox.pending().expect("the expected delivery is pending");
        let mut more = vec![delivery("one"), delivery("two")];
        assert_eq!(outbox.hand_out(&mut more, 1).expect("the outbox is open")[0].id, "one");
        outbox.clear_pending(seen);
        assert!(outbox.pending().is_some());
        assert_eq!(outbox.hand_out(&mut Vec::new(), 1).expect("the outbox is open")[0].id, "two");
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_a_silent_store_is_bounded() {
        let outbox = Outbox::default();
        assert!(outbox.is_settled(Duration::from_secs(1)));
        outbox.expect();
        outbox.note_answer(false);
        assert!(!outbox.is_settled(Duration::from_secs(1)));
        tokio::time::advance(Duration::from_secs(1)).await;
        outbox.note_answer(false);
        assert!(outbox.is_settled(Duration::from_secs(1)));
        outbox.note_answer(true);
        assert!(!outbox.is_settled(Duration::from_secs(1)), "a store that answers again is waited for");
        outbox.note_answer(false);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(outbox.enqueue(delivery("one")).is_none());
        assert!(!outbox.is_settled(Duration::from_secs(1)), "an outbox with a delivery is not settled");
        assert_eq!(outbox.waiting().len(), 1);
    }

    #[test]
    fn a_closed_outbox_returns_all_deliveries_and_accepts_none() {
        let outbox = Outbox::with(&["flies".to_owned()]);
        assert!(outbox.enqueue(delivery("told")).is_none());
        assert_eq!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open").len(), 1);
        assert!(outbox.enqueue(delivery("waits")).is_none());
        let mut undelivered = outbox.close();
        undelivered.sort_unstable();
        assert_eq!(undelivered, ["flies", "told", "waits"]);
        assert!(outbox.enqueue(delivery("late")).is_some());
        let mut more = vec![delivery("late")];
        assert!(outbox.hand_out(&mut more, 8).is_none());
        assert_eq!(more.len(), 1);
    }

    #[test]
    fn a_reserved_delivery_is_announced_only_if_it_is_not_taken() {
        let outbox = Outbox::default();
        let number = outbox.reserve("one".to_owned());
        assert!(outbox.enqueue(delivery("one")).is_none());
        assert!(outbox.pending().is_none());
        assert_eq!(outbox.take_reserved(number), Awaited::Delivery(delivery("one")));
        assert_eq!(outbox.close(), ["one"], "a taken delivery without a confirmation is returned");

        let outbox = Outbox::default();
        let number = outbox.reserve("one".to_owned());
        assert!(
            outbox.hand_out(&mut vec![delivery("one"), delivery("two")], 8).expect("the outbox is open")[0]
                .id
                == "two"
        );
        outbox.give_back(number);
        assert!(outbox.pending().is_some());
        assert_eq!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open")[0].id, "one");
        assert_eq!(outbox.take_reserved(number), Awaited::Elsewhere);
    }

    #[test]
    fn the_first_of_two_callers_gets_an_end_and_the_other_one_learns_that() {
        for takes_first in [true, false] {
            let outbox = Outbox::default();
            let [first, second] = [(); 2].map(|()| outbox.reserve("one".to_owned()));
            assert!(outbox.enqueue(delivery("one")).is_none());
            let taken = Awaited::Delivery(delivery("one"));
            if takes_first {
                assert_eq!(
                    (outbox.take_reserved(first), outbox.take_reserved(second)),
                    (taken, Awaited::Elsewhere)
                );
            } else {
                assert_eq!(
                    (outbox.take_reserved(second), outbox.take_reserved(first)),
                    (Awaited::Elsewhere, taken)
                );
            }
            assert!(outbox.pending().is_none());
        }
    }

    #[test]
    fn a_caller_that_stops_waiting_leaves_the_end_to_the_other_one() {
        for has_come in [true, false] {
            let outbox = Outbox::default();
            let [first, second] = [(); 2].map(|()| outbox.reserve("one".to_owned()));
            if has_come {
                assert!(outbox.enqueue(delivery("one")).is_none());
            }
            outbox.give_back(first);
            if !has_come {
                assert!(outbox.enqueue(delivery("one")).is_none());
            }
            assert_eq!(outbox.take_reserved(second), Awaited::Delivery(delivery("one")));
        }
    }

    #[test]
    fn a_reservation_takes_only_the_end_that_it_names() {
        let outbox = Outbox::default();
        let number = outbox.reserve("k-1".to_owned());
        assert!(outbox.enqueue(delivery("k-0")).is_none());
        assert_eq!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open")[0].id, "k-0");
        assert_eq!(outbox.take_reserved(number), Awaited::Nothing);
    }

    #[test]
    fn questions_are_handed_out_first_and_alone_and_are_never_a_reply() {
        let outbox = Outbox::default();
        let number = outbox.reserve("k-0".to_owned());
        for id in ["k-0-q1", "k-0"] {
            assert!(outbox.enqueue(delivery(id)).is_none());
        }
        assert!(outbox.has_question());
        outbox.give_back(number);
        let next = || {
            let out = outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open");
            out.into_iter().map(|delivery| delivery.id).collect::<Vec<_>>()
        };
        assert_eq!((next(), next()), (vec!["k-0-q1".to_owned()], vec!["k-0".to_owned()]));
        assert!(!outbox.has_question());
    }

    #[test]
    fn rejected_deliveries_are_handed_out_again() {
        let outbox = Outbox::default();
        assert!(outbox.enqueue(delivery("one")).is_none());
        let out = outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open");
        outbox.put_back(out);
        assert_eq!(outbox.hand_out(&mut Vec::new(), 8).expect("the outbox is open")[0].id, "one");
        outbox.mark_delivered(&["one".to_owned(), "other".to_owned()]);
        assert!(outbox.close().is_empty());
    }
}
