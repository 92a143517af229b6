//! The part of an extension: its calls, and the events that it receives.

use std::sync::Arc;

use parking_lot::Mutex;
use pi_subagent_native::orchestrate::background::{Ack, BackgroundEvent, Listener};
use pi_subagent_native::orchestrate::{BackgroundMove, Call, CallOrder};
use pi_subagent_native::run::{Control, HostCallbacks, RunId, SharedRunId};
use supervisor::Cancel;
use tokio::sync::watch;

/// Returns the next call of this process. It has no update callback, no cancellation and no early child.
pub(crate) fn call(callbacks: Arc<dyn HostCallbacks>) -> Call {
    Call {
        id: SharedRunId::new(RunId::random()),
        callbacks,
        control: Control::default(),
        updates: watch::channel(None).0,
        host_id: None,
        order: CallOrder::now(),
        background_move: BackgroundMove::default(),
        group: None,
        ends_with: Cancel::new(),
    }
}

/// A conversation that records every event.
#[derive(Clone, Default)]
pub(crate) struct EventRecorder(pub(crate) Arc<Mutex<Vec<BackgroundEvent>>>);

impl Listener for EventRecorder {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        self.0.lock().push(event);
        Ack::Accepted
    }
}
