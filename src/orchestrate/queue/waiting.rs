//! Waiting for a slot.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;
use tokio::time::sleep_until;

use super::entrance::Shared;
use super::seat::Seat;
use super::slot::Slot;

/// A place in the queue. Dropping it leaves the queue, and those behind move up.
///
/// It must be awaited or dropped: one that is kept without being awaited keeps its place and what it was given.
#[derive(Debug)]
#[must_use = "dropping this leaves the queue"]
pub struct Waiting {
    shared: Arc<Shared>,
    id: u64,
    seat: Arc<Seat>,
}

impl Waiting {
    pub(super) fn new(shared: Arc<Shared>, id: u64, seat: Arc<Seat>) -> Self {
        Self { shared, id, seat }
    }

    /// The position among all who wait in this process: 1 is the first, `None` has been admitted.
    #[must_use]
    pub fn position(&self) -> watch::Receiver<Option<usize>> {
        self.seat.position()
    }

    /// Until when the provider's rate limit holds this run back; `None` when it does not.
    #[must_use]
    pub fn held_until(&self) -> watch::Receiver<Option<Instant>> {
        self.seat.held_until()
    }

    /// Waits for the slot. Cancel safe: the place in the queue, or the slot, stays with this value. Gives one slot; after
    /// that it never resolves again.
    pub async fn admitted(&mut self) -> Slot {
        let mut position = self.seat.position();
        let mut held = self.seat.held_until();
        loop {
            if let Some(grant) = self.seat.take() {
                return Slot::new(grant);
            }
            let until = *held.borrow_and_update();
            tokio::select! {
                // Neither can fail while the seat, which sends, is here.
                _ = position.changed() => (),
                _ = held.changed() => (),
                () = over(until), if until.is_some() => self.shared.change(|_| ()),
            }
        }
    }
}

async fn over(until: Option<Instant>) {
    if let Some(until) = until {
        sleep_until(until.into()).await;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.shared.change(|state| state.withdraw(self.id));
    }
}
