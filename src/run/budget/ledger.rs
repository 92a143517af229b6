//! The store as runs use it: what a session has spent, kept for the day on which it is opened again.

use std::path::Path;

use parking_lot::Mutex;

use crate::run::context::HostContext;
use crate::store::{Store, attach};

/// What is wrong with the store, until a run has said it.
static NOTICE: Mutex<Option<String>> = Mutex::new(None);

/// The store of an agent directory. Blocks. Where there is none, one of the next runs says so.
#[must_use]
pub fn store_of(agent_dir: &Path) -> Option<Store> {
    let attached = attach(agent_dir);
    if attached.notice.is_some() {
        *NOTICE.lock() = attached.notice;
    }
    attached.store
}

/// What is wrong with the store, if nobody has said it yet.
pub(in crate::run) fn take_notice() -> Option<String> {
    NOTICE.lock().take()
}

/// What the session has spent before, in USD; nothing where nobody can tell. Blocks.
pub(in crate::run) fn spent_before(context: &HostContext) -> f64 {
    let (store, session) = (store_of(&context.agent_dir), context.session());
    store.zip(session).and_then(|(store, session)| store.spent(session).ok()).unwrap_or_default()
}

/// Adds what a run has spent. Blocks. That it could not be kept costs the bound its exactness after a restart, and no run
/// its result.
pub(in crate::run) fn note(context: &HostContext, cost: f64) {
    if cost > 0.0
        && let Some((store, session)) = store_of(&context.agent_dir).zip(context.session())
    {
        drop(store.add_spending(session, cost));
    }
}
