//! Slots for children that are booted before they are needed.

use tokio::sync::watch;

use super::slot::{Grant, Slot};

/// The right to have a child that nobody has asked for yet. Dropping it frees the place.
#[derive(Debug)]
pub struct EarlySlot {
    id: u64,
    evicted: watch::Receiver<bool>,
    /// `None` once it has become a slot.
    grant: Option<Grant>,
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
        Self { id, evicted, grant: Some(grant) }
    }

    /// Waits until this place is needed for a run that could not start otherwise; then it has to be dropped, soon. Cancel
    /// safe.
    pub async fn evicted(&mut self) {
        if self.evicted.wait_for(|evicted| *evicted).await.is_err() {
            // Unreachable: the lane remembers the slot as long as it is there.
            std::future::pending::<()>().await;
        }
    }

    /// The run that the child was booted for is here. Never refused, whoever waits: the place is counted already.
    #[must_use]
    pub fn into_slot(mut self) -> Slot {
        let grant = self.leave().expect("only this function takes the grant, and it consumes the slot");
        if let Some(claim) = &grant.claim {
            claim.keep();
        }
        Slot::new(grant)
    }

    /// From now on the lane knows of no early slot here, though the place is still taken.
    fn leave(&mut self) -> Option<Grant> {
        let grant = self.grant.take()?;
        grant.shared.change(|state| state.forget_early(self.id));
        Some(grant)
    }
}

impl Drop for EarlySlot {
    fn drop(&mut self) {
        drop(self.leave());
    }
}
