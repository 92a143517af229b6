//! The entrance of the queue.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use super::permit::{EarlyPermit, Permit};
use super::request::Request;
use super::state::Shared;
use super::ticket::Ticket;

/// Bounds how many children exist at once, and lets them start in the order of arrival. Clones share one queue.
#[derive(Clone, Debug, Default)]
pub struct Queue(Arc<Shared>);

impl Queue {
    /// The queue that all runs of this process share.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Queue> = LazyLock::new(Queue::new);
        &SHARED
    }

    /// A queue of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a place at the end of the queue. Never blocks.
    pub fn enter(&self, request: Request) -> Ticket {
        let limited = self.0.limited(request);
        let (id, status, grant) = self.0.change(|state| state.enter(limited));
        Ticket { queue: Arc::clone(&self.0), id, status, grant }
    }

    /// The provider has asked for a pause: no new child of it starts before `until`. Of two pauses the one that ends later
    /// counts. Runs that were admitted already are not affected.
    pub fn hold(&self, provider: &str, until: Instant) {
        self.0.change(|state| state.hold(provider, until));
    }

    /// A permit for a child that no run has asked for yet: only while no run waits, while there is room, and while fewer
    /// than the request's `early_limit` exist. Never blocks: if the cap on all processes has no room, the permit is evicted
    /// later.
    #[must_use]
    pub fn early(&self, request: Request) -> Option<EarlyPermit> {
        let limited = self.0.limited(request);
        let (grant, evicted) = self.0.change(|state| state.early(&limited))?;
        Some(EarlyPermit { permit: Permit { queue: Arc::clone(&self.0), grant }, evicted })
    }
}
