//! Slots for children that are booted before they are needed.

use std::sync::Arc;

use tokio::sync::watch;

use super::entrance::Shared;
use super::slot::{Grant, Slot};

/// The right to have a child that nobody has asked for yet. Dropping it frees the place.
#[derive(Debug)]
pub struct EarlySlot {
    // First, so that the lane forgets an early slot before its place is free.
    mark: Mark,
    grant: Grant,
}

/// That a place is that of an early slot, until this is dropped.
#[derive(Debug)]
struct Mark {
    id: u64,
    shared: Arc<Shared>,
    evicted: watch::Receiver<bool>,
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.shared.change(|state| state.forget_early(self.id));
    }
}

/// What the lane remembers of an early slot.
#[derive(Debug)]
pub(super) struct Early {
    pub id: u64,
    /// The number of its claim on the cap of all processes.
    pub claim: Option<u64>,
    pub evicted: watch::Sender<bool>,
}

impl EarlySlot {
    pub(super) fn new(id: u64, evicted: watch::Receiver<bool>, grant: Grant) -> Self {
        Self { mark: Mark { id, shared: Arc::clone(&grant.shared), evicted }, grant }
    }

    /// Waits until this place is needed for a run that could not start otherwise; then it has to be dropped, soon. Cancel
    /// safe.
    pub async fn evicted(&mut self) {
        if self.mark.evicted.wait_for(|evicted| *evicted).await.is_err() {
            // Unreachable: the lane remembers the slot as long as it is there.
            std::future::pending::<()>().await;
        }
    }

    /// The run that the child was booted for is here. Never refused, whoever waits: the place is counted already.
    ///
    /// # Panics
    ///
    /// Never: the place is given up by this function only, and it takes the value.
    #[must_use]
    pub fn into_slot(self) -> Slot {
        let Self { mark, grant } = self;
        drop(mark);
        if let Some(claim) = &grant.claim {
            claim.keep();
        }
        Slot::new(grant)
    }
}
