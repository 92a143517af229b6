//! A conversation that records every event.

use std::sync::Arc;

use parking_lot::Mutex;
use pi_subagent_native::orchestrate::background::{Ack, BackgroundEvent, Listener};

/// Records the events that it receives.
#[derive(Clone, Default)]
pub(crate) struct EventRecorder(pub(crate) Arc<Mutex<Vec<BackgroundEvent>>>);

impl Listener for EventRecorder {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        self.0.lock().push(event);
        Ack::Accepted
    }
}
