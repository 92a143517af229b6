//! A call as an extension makes it.

use std::sync::Arc;

use pi_subagent_native::orchestrate::{Call, CallOrder, HandOver};
use pi_subagent_native::process::Cancel;
use pi_subagent_native::run::{Control, HostCallbacks, RunId, SharedRunId};
use tokio::sync::watch;

/// The next call of this process. Nobody hears of its progress, nothing cancels it, and no child was booted for it.
pub(crate) fn call(callbacks: Arc<dyn HostCallbacks>) -> Call {
    Call {
        id: SharedRunId::new(RunId::random()),
        callbacks,
        control: Control::default(),
        updates: watch::channel(None).0,
        host_id: None,
        order: CallOrder::now(),
        hand_over: HandOver::default(),
        ends_with: Cancel::new(),
    }
}
