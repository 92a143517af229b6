//! What a waiting run sees of the lane.

use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::slot::Grant;

/// The place of one waiting run, shared between the lane, which writes, and the run, which reads.
#[derive(Debug)]
pub(super) struct Seat {
    position: watch::Sender<Option<usize>>,
    held_until: watch::Sender<Option<Instant>>,
    grant: Mutex<Option<Grant>>,
}

impl Seat {
    pub(super) fn new() -> Self {
        Self {
            // A position of 0 is never shown: before `enter` returns it is a place in the queue, or admission.
            position: watch::Sender::new(Some(0)),
            held_until: watch::Sender::new(None),
            grant: Mutex::new(None),
        }
    }

    pub(super) fn position(&self) -> watch::Receiver<Option<usize>> {
        self.position.subscribe()
    }

    pub(super) fn held_until(&self) -> watch::Receiver<Option<Instant>> {
        self.held_until.subscribe()
    }

    pub(super) fn move_to(&self, position: usize) {
        replace(&self.position, Some(position));
    }

    pub(super) fn hold(&self, until: Option<Instant>) {
        replace(&self.held_until, until);
    }

    /// The run may start.
    pub(super) fn admit(&self, grant: Grant) {
        *self.grant.lock() = Some(grant);
        replace(&self.held_until, None);
        // Last, because this wakes whoever waits for the grant.
        replace(&self.position, None);
    }

    /// What the run was given, once.
    pub(super) fn take(&self) -> Option<Grant> {
        self.grant.lock().take()
    }
}

/// Shows a value; nobody is woken when it is the same.
fn replace<T: PartialEq>(shown: &watch::Sender<T>, value: T) {
    shown.send_if_modified(|old| {
        let new = *old != value;
        *old = value;
        new
    });
}
