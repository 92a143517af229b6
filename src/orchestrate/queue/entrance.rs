//! The lane itself.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use parking_lot::Mutex;

use super::early::EarlySlot;
use super::seat::Seat;
use super::state::State;
use super::ticket::Ticket;
use super::waiting::Waiting;

/// Bounds how many children there are at once, and lets them start in the order of arrival. Clones speak of the same lane.
#[derive(Clone, Debug, Default)]
pub struct Queue(Arc<Shared>);

/// What everybody in the lane holds on to.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<State>);

impl Shared {
    /// Changes the lane, and lets in whoever may start after that.
    pub(super) fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> R) -> R {
        // Of tokio, so that tests can move it.
        let now = tokio::time::Instant::now().into_std();
        let mut state = self.0.lock();
        let result = change(&mut state);
        state.settle(self, now);
        result
    }
}

impl Queue {
    /// The one lane of this process.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Queue> = LazyLock::new(Queue::new);
        &SHARED
    }

    /// A lane of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a place in the queue, at once and behind everybody who has one. Never blocks.
    pub fn enter(&self, ticket: Ticket) -> Waiting {
        let seat = Arc::new(Seat::new());
        let id = self.0.change(|state| state.queue(ticket, Arc::clone(&seat)));
        Waiting::new(Arc::clone(&self.0), id, seat)
    }

    /// The provider has asked for a pause: until then no new child of it starts. Of two pauses the longer counts. Whoever
    /// was admitted stays admitted.
    pub fn hold(&self, provider: &str, until: Instant) {
        self.0.change(|state| state.hold(provider, until));
    }

    /// A slot for a child that nobody has asked for yet: only while nobody waits, while there is room, and while fewer
    /// than the ticket's `early_limit` are there. Never blocks, so what the cap on all processes says of it comes later, as
    /// an eviction.
    #[must_use]
    pub fn early(&self, ticket: Ticket) -> Option<EarlySlot> {
        self.0.change(|state| state.early(&self.0, ticket))
    }
}
