//! The right to have a child.

use std::sync::Arc;

use tokio::sync::watch;

use super::state::{Grant, Shared};

/// The right to have one child. Dropping it frees the place, for this process and for all others of the user.
#[derive(Debug)]
pub struct Permit {
    pub(super) queue: Arc<Shared>,
    pub(super) grant: Grant,
}

impl Permit {
    /// What the user must know about this permit: that the cap on all processes of this user is not in force. Said once
    /// per process, and taken once.
    pub fn take_notice(&mut self) -> Option<String> {
        self.grant.notice.take()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.queue.change(|state| state.release(&self.grant));
    }
}

/// The right to have a child that no run has asked for yet. Dropping it frees the place.
#[derive(Debug)]
pub struct EarlyPermit {
    pub(super) permit: Permit,
    pub(super) evicted: watch::Receiver<bool>,
}

impl EarlyPermit {
    /// Waits until a run needs this place and could not start otherwise; then the permit has to be dropped, soon. Cancel
    /// safe.
    pub async fn evicted(&mut self) {
        if self.evicted.wait_for(|evicted| *evicted).await.is_err() {
            // Unreachable: the queue holds the sender as long as this permit exists.
            std::future::pending::<()>().await;
        }
    }

    /// The permit of the run that the child was booted for. Never refused, whatever else waits: the place is counted
    /// already.
    #[must_use]
    pub fn into_permit(self) -> Permit {
        let Self { permit, .. } = self;
        permit.queue.change(|state| state.forget_early(&permit.grant));
        if let Some(claim) = &permit.grant.claim {
            claim.keep();
        }
        permit
    }
}
