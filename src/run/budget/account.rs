//! What a session has spent: one account in this process, kept in the store so that its budget survives a restart.
//!
//! Money is counted in whole billionths of a dollar, because sums of floats drift: ten times 0.1 is 1.0 here.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::run::context::HostContext;
use crate::store::{Store, attach};

/// Counted units per dollar.
const NANOS: u64 = 1_000_000_000;
/// Accounts kept in memory for sessions without a run under way. For a session that was dropped, [`account_of`] asks
/// again what it has spent.
const MAX_IDLE_SESSIONS: usize = 64;

/// What one session has spent on runs. Clones share one account.
#[derive(Debug, Clone)]
pub struct SessionAccount {
    pub(super) spent: Arc<watch::Sender<u64>>,
}

impl SessionAccount {
    /// Opens an account with what the session has spent, in USD.
    #[must_use]
    pub fn new(spent: f64) -> Self {
        Self { spent: Arc::new(watch::Sender::new(nanos(spent))) }
    }

    /// What the session has spent so far, in USD.
    #[must_use]
    pub fn spent(&self) -> f64 {
        dollars(self.nanos())
    }

    pub(super) fn nanos(&self) -> u64 {
        *self.spent.borrow()
    }

    pub(super) fn charge(&self, amount: u64) {
        self.spent.send_if_modified(|spent| {
            *spent = spent.saturating_add(amount);
            amount > 0
        });
    }

    /// Whether there is another clone.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.spent) > 1
    }
}

/// Accounts by session, the most recently used at the end.
static ACCOUNTS: Mutex<VecDeque<(String, SessionAccount)>> = Mutex::new(VecDeque::new());

/// The account of a session in this process; all callers share it. Calls `spent_before` for what the session has spent
/// so far, in USD, when this process does not know: at first, and after 64 other sessions.
pub fn account_of(session: &str, spent_before: impl FnOnce() -> f64) -> SessionAccount {
    if let Some(account) = find(&mut ACCOUNTS.lock(), session) {
        return account;
    }
    // Without the lock, because `spent_before` may read a file.
    let account = SessionAccount::new(spent_before());
    let mut accounts = ACCOUNTS.lock();
    // Another thread may have been quicker, and its account may have been charged already.
    if let Some(account) = find(&mut accounts, session) {
        return account;
    }
    accounts.push_back((session.to_owned(), account.clone()));
    let mut surplus = accounts.len().saturating_sub(MAX_IDLE_SESSIONS);
    accounts.retain(|(_, account)| {
        let is_dropped = surplus > 0 && !account.is_in_use();
        surplus -= usize::from(is_dropped);
        !is_dropped
    });
    account
}

/// Finds an account, which is then the most recently used one.
fn find(accounts: &mut VecDeque<(String, SessionAccount)>, session: &str) -> Option<SessionAccount> {
    let at = accounts.iter().position(|(name, _)| name == session)?;
    let entry = accounts.remove(at)?;
    let account = entry.1.clone();
    accounts.push_back(entry);
    Some(account)
}

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

/// Converts to billionths of a dollar; 0 for an amount that is not a positive number.
pub(super) fn nanos(dollars: f64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "the constant is exact")]
    let nanos = (dollars * NANOS as f64).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and what is no number becomes 0, as wanted"
    )]
    let nanos = nanos as u64;
    nanos
}

pub(super) fn dollars(nanos: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a double holds what anybody spends")]
    let dollars = nanos as f64 / NANOS as f64;
    dollars
}
