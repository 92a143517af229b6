//! Waiting for a permit.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{oneshot, watch};
use tokio::time::sleep_until;

use super::permit::Permit;
use super::state::{Grant, Shared, WaitStatus};

/// A place in the queue. Dropping it leaves the queue, and those behind move up.
///
/// It must be awaited or dropped: one that is kept without being awaited keeps its place and what it was given.
#[derive(Debug)]
#[must_use = "dropping this leaves the queue"]
pub struct Ticket {
    pub(super) queue: Arc<Shared>,
    pub(super) id: u64,
    pub(super) status: watch::Receiver<WaitStatus>,
    pub(super) grant: oneshot::Receiver<Grant>,
}

impl Ticket {
    /// How far it has come, from now on.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<WaitStatus> {
        self.status.clone()
    }

    /// Waits for the permit. Cancel safe: the place in the queue, or the permit, stays with this value. Gives one permit;
    /// after that it never resolves again.
    pub async fn admitted(&mut self) -> Permit {
        while !self.grant.is_terminated() {
            let until = self.status.borrow_and_update().held_until;
            tokio::select! {
                biased;
                Ok(grant) = &mut self.grant => return Permit { queue: Arc::clone(&self.queue), grant },
                Ok(()) = self.status.changed() => {}
                // Nothing else happens at the end of a pause.
                () = over(until), if until.is_some() => self.queue.change(|_| ()),
            }
        }
        std::future::pending().await
    }
}

async fn over(until: Option<Instant>) {
    if let Some(until) = until {
        sleep_until(until.into()).await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.queue.change(|state| state.withdraw(self.id));
        // Admitted, but not asked for.
        if let Ok(grant) = self.grant.try_recv() {
            drop(Permit { queue: Arc::clone(&self.queue), grant });
        }
    }
}
