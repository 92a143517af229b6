//! The cost of a session: one account in this process, kept in the store so that its budget survives a restart.
//!
//! Money is counted in whole billionths of a dollar, because sums of floats drift: ten times 0.1 is 1.0 here.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::run::context::HostContext;
use store::{Store, attach};

/// Counted units per dollar.
const NANOS: u64 = 1_000_000_000;
/// The number of accounts kept in memory for sessions without an active run. For a dropped session, [`account_of`] asks
/// for its cost again.
const MAX_IDLE_SESSIONS: usize = 64;

/// The maximum number of agents of a session whose turns are counted. Further agents are treated like new ones.
const MAX_AGENTS: usize = 256;

/// The spending of one session, and its turns under way. Clones share one account.
#[derive(Debug, Clone)]
pub struct SessionAccount {
    ledger: Arc<watch::Sender<Ledger>>,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    spent: u64,
    /// The part of it that the store does not have yet: a run without a record adds its cost at its end.
    unstored: u64,
    /// The sum of the turns under way whose size is known.
    reserved: TurnSize,
    /// Turns under way.
    under_way: u32,
    /// Turns under way of an unknown size, which reserve all the rest.
    unsized_turns: u32,
    /// The turns of each agent.
    agents: HashMap<String, TurnSizes>,
    /// The most expensive turn of any agent.
    dearest: Option<u64>,
}

/// The size of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TurnSize {
    /// The mean of the turns before, or the newest turn if that was larger, because a context grows.
    pub expected: u64,
    /// The largest turn before.
    pub largest: u64,
}

/// The sizes of turns. A failed turn says nothing about the next one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TurnSizes {
    sum: u64,
    count: u64,
    newest: u64,
    largest: u64,
}

/// The part of a session's budget that a turn under way needs. Dropping it gives the part back.
#[derive(Debug)]
pub(super) struct Reservation {
    account: SessionAccount,
    size: Option<TurnSize>,
}

impl SessionAccount {
    /// Opens an account with the session's cost so far, in USD.
    #[must_use]
    pub fn new(spent: f64) -> Self {
        let ledger = Ledger { spent: nanos(spent), ..Ledger::default() };
        Self { ledger: Arc::new(watch::Sender::new(ledger)) }
    }

    /// Returns the session's cost so far, in USD.
    #[must_use]
    pub fn spent(&self) -> f64 {
        dollars(self.nanos())
    }

    pub(super) fn nanos(&self) -> u64 {
        self.ledger.borrow().spent
    }

    /// Returns the money spent and the expected cost of the turns under way.
    pub(super) fn committed(&self) -> u64 {
        let ledger = self.ledger.borrow();
        ledger.spent.saturating_add(ledger.reserved.expected)
    }

    pub(super) fn has_turns_under_way(&self) -> bool {
        self.ledger.borrow().under_way > 0
    }

    /// Charges an amount to an agent, and counts the turns that used it. `is_stored`: the store charges it with the record of the
    /// run.
    pub(super) fn charge(&self, agent: &str, amount: u64, turns: u64, is_stored: bool) {
        self.ledger.send_if_modified(|ledger| {
            ledger.spent = ledger.spent.saturating_add(amount);
            if !is_stored {
                ledger.unstored = ledger.unstored.saturating_add(amount);
            }
            if ledger.agents.len() < MAX_AGENTS || ledger.agents.contains_key(agent) {
                let sizes = ledger.agents.entry(agent.to_owned()).or_default();
                sizes.add(amount, turns);
                ledger.dearest = ledger.dearest.max((sizes.count > 0).then_some(sizes.largest));
            }
            amount > 0
        });
    }

    /// Raises the cost to the sum of the store, which counts all processes, and of the costs that are not stored yet.
    fn raise(&self, stored: u64) {
        self.ledger.send_if_modified(|ledger| {
            let spent = stored.saturating_add(ledger.unstored);
            let is_raised = spent > ledger.spent;
            ledger.spent = ledger.spent.max(spent);
            is_raised
        });
    }

    /// Notes that an amount is about to be stored.
    fn note_stored(&self, amount: u64) {
        self.ledger.send_if_modified(|ledger| {
            ledger.unstored = ledger.unstored.saturating_sub(amount);
            false
        });
    }

    /// Returns the cost of the first turn of a run, from its agent's turns, else from the most expensive turn of any
    /// agent.
    pub(super) fn first_turn(&self, agent: &str) -> Option<TurnSize> {
        let ledger = self.ledger.borrow();
        let own = ledger
            .agents
            .get(agent)
            .and_then(|sizes| sizes.mean().map(|expected| TurnSize { expected, largest: sizes.largest }));
        own.or_else(|| ledger.dearest.map(|largest| TurnSize { expected: largest, largest }))
    }

    /// Reserves the largest size of a turn, or all the rest if the size is not known. Returns `None` if the rest of
    /// `max` does not cover the turn: next to other turns, the largest size has to fit; alone, the expected size.
    pub(super) fn reserve(&self, size: Option<TurnSize>, max: Option<u64>) -> Option<Reservation> {
        let mut is_covered = true;
        self.ledger.send_if_modified(|ledger| {
            is_covered = max.is_none_or(|max| ledger.covers(size, max));
            if is_covered {
                ledger.begin(size);
            }
            false
        });
        is_covered.then(|| Reservation { account: self.clone(), size })
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Ledger> {
        self.ledger.subscribe()
    }

    /// Returns true if there is another clone.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.ledger) > 1
    }
}

impl Ledger {
    fn covers(&self, size: Option<TurnSize>, max: u64) -> bool {
        let committed = self.spent.saturating_add(self.reserved.largest);
        let is_alone = self.under_way == 0;
        let needed = size.map_or(0, |size| if is_alone { size.expected } else { size.largest });
        self.unsized_turns == 0 && committed < max && needed <= max - committed
    }

    fn begin(&mut self, size: Option<TurnSize>) {
        self.under_way += 1;
        match size {
            Some(size) => self.reserved = self.reserved.zip(size, u64::saturating_add),
            None => self.unsized_turns += 1,
        }
    }

    fn end(&mut self, size: Option<TurnSize>) {
        self.under_way -= 1;
        match size {
            Some(size) => self.reserved = self.reserved.zip(size, u64::saturating_sub),
            None => self.unsized_turns -= 1,
        }
    }
}

impl TurnSize {
    fn zip(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self { expected: with(self.expected, other.expected), largest: with(self.largest, other.largest) }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.account.ledger.send_modify(|ledger| ledger.end(self.size));
    }
}

impl TurnSizes {
    /// Adds turns that used `amount` together.
    pub(super) fn add(&mut self, amount: u64, turns: u64) {
        if turns > 0 {
            self.sum = self.sum.saturating_add(amount);
            self.count = self.count.saturating_add(turns);
            self.newest = amount.div_ceil(turns);
            self.largest = self.largest.max(self.newest);
        }
    }

    fn mean(&self) -> Option<u64> {
        (self.count > 0).then(|| self.sum / self.count)
    }

    /// The size of the next turn.
    pub(super) fn next(&self) -> Option<TurnSize> {
        self.mean().map(|mean| TurnSize { expected: mean.max(self.newest), largest: self.largest })
    }
}

/// Accounts by session, the most recently used at the end.
static ACCOUNTS: Mutex<VecDeque<(String, SessionAccount)>> = Mutex::new(VecDeque::new());

/// Returns the account of a session in this process, shared by all callers. Calls `spent_before` for the session's cost
/// so far, in USD, if this process does not know it: at first, and after 64 other sessions.
pub fn account_of(session: &str, spent_before: impl FnOnce() -> f64) -> SessionAccount {
    if let Some(account) = find(&mut ACCOUNTS.lock(), session) {
        return account;
    }
    // Called without the lock, because `spent_before` may read a file.
    let account = SessionAccount::new(spent_before());
    let mut accounts = ACCOUNTS.lock();
    // Another thread may have created the account first, and may have charged it already.
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

/// Returns the store of an agent directory. Blocks. If it cannot be opened, one of the next runs reports that.
#[must_use]
pub fn store_of(agent_dir: &Path) -> Option<Store> {
    let attached = attach(agent_dir);
    if attached.notice.is_some() {
        *NOTICE.lock() = attached.notice;
    }
    attached.store
}

/// Takes the problem with the store, so that only one run reports it.
pub(crate) fn take_notice() -> Option<String> {
    NOTICE.lock().take()
}

/// Returns the session's earlier cost, in USD; 0 if unknown. Blocks.
pub(crate) fn spent_before(context: &HostContext) -> f64 {
    let store = store_of(&context.agent_dir);
    store.zip(context.account()).and_then(|(store, session)| store.spent(session).ok()).unwrap_or_default()
}

/// Counts the costs of other processes in the account of this process. `spent` is the stored cost of all processes.
pub(crate) fn charge_others(account: &str, spent: f64) {
    let known = find(&mut ACCOUNTS.lock(), account);
    if let Some(known) = known {
        known.raise(nanos(spent));
    }
}

/// Drops an account of this process whose sum was removed from the store.
pub(crate) fn forget_account(account: &str) {
    ACCOUNTS.lock().retain(|(name, _)| name != account);
}

/// Adds the cost of a run. Blocks. A failure makes the session's budget inexact after a restart, but does not fail the
/// run.
pub(crate) fn note(context: &HostContext, cost: f64) {
    if cost > 0.0
        && let Some((store, session)) = store_of(&context.agent_dir).zip(context.account())
    {
        let known = find(&mut ACCOUNTS.lock(), session);
        // Before the store has it: a cost that both have would count twice.
        known.inspect(|known| known.note_stored(nanos(cost)));
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
        reason = "the cast saturates, and NaN becomes 0, as intended"
    )]
    let nanos = nanos as u64;
    nanos
}

pub(super) fn dollars(nanos: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a double holds what anybody spends")]
    let dollars = nanos as f64 / NANOS as f64;
    dollars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_lost_run_is_added_to_costs_that_are_not_stored_yet() {
        let account = account_of("workflow with a lost run", || 0.1);
        account.charge("scout", nanos(0.4), 1, false);
        account.charge("scout", nanos(0.05), 1, true);
        // The store has 0.30 of a run of a dead process, and 0.05 of the run with a record.
        charge_others("workflow with a lost run", 0.45);
        assert_eq!(account.nanos(), nanos(0.85));
        account.note_stored(nanos(0.4));
        charge_others("workflow with a lost run", 0.85);
        assert_eq!(account.nanos(), nanos(0.85), "each cost counts once");
    }
}
