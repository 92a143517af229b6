//! Keeps in the store what a session has spent, so that its budget survives a restart.

use std::path::Path;

use parking_lot::Mutex;

use crate::run::context::HostContext;
use crate::store::{Store, attach};

/// A problem with the store that no run has reported yet.
static NOTICE: Mutex<Option<String>> = Mutex::new(None);

/// The store of an agent directory. Blocks. If it cannot be opened, one of the next runs reports that.
#[must_use]
pub fn store_of(agent_dir: &Path) -> Option<Store> {
    let attached = attach(agent_dir);
    if attached.notice.is_some() {
        *NOTICE.lock() = attached.notice;
    }
    attached.store
}

/// Takes the problem with the store, so that only one run reports it.
pub(in crate::run) fn take_notice() -> Option<String> {
    NOTICE.lock().take()
}

/// What the session has spent before, in USD; 0 when unknown. Blocks.
pub(in crate::run) fn spent_before(context: &HostContext) -> f64 {
    let (store, session) = (store_of(&context.agent_dir), context.session());
    store.zip(session).and_then(|(store, session)| store.spent(session).ok()).unwrap_or_default()
}

/// Adds what a run has spent. Blocks. A failure makes the session's budget inexact after a restart, but does not fail
/// the run.
pub(in crate::run) fn note(context: &HostContext, cost: f64) {
    if cost > 0.0
        && let Some((store, session)) = store_of(&context.agent_dir).zip(context.session())
    {
        drop(store.add_spending(session, cost));
    }
}
