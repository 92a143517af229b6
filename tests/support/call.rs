//! A call as an extension makes it.

use std::sync::Arc;

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
        ends_with: Cancel::new(),
    }
}
