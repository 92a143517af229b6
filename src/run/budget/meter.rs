//! Measures what a run and its session have spent against their bounds.
//!
//! Money is counted in whole billionths of a dollar, because sums of floats drift: ten times 0.1 is 1.0 here. What a
//! child reports is rounded once, from the sum over its attempt.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::event::Usage;

/// Counted units per dollar.
const NANOS: u64 = 1_000_000_000;
/// Accounts kept in memory for sessions without a run under way. For a session that was dropped, [`account_of`] asks
/// again what it has spent.
const MAX_IDLE_SESSIONS: usize = 64;
/// From this part of a bound on, the child is told to wrap up: 8 of 10.
const WRAP_UP: (u128, u128) = (8, 10);

/// What all attempts of one run may use together. A bound that is not above zero does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Allowance {
    /// In USD.
    pub max_cost: Option<f64>,
    /// Tokens of every kind together: input, output, read from the cache and written to it.
    pub max_tokens: Option<u64>,
    /// Assistant messages.
    pub max_turns: Option<u64>,
}

/// What one session has spent on runs. Clones share one account.
#[derive(Debug, Clone)]
pub struct SessionAccount {
    spent: Arc<watch::Sender<u64>>,
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

    fn nanos(&self) -> u64 {
        *self.spent.borrow()
    }

    fn charge(&self, amount: u64) {
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
    if let Some(account) = find(session) {
        return account;
    }
    // Without the lock, because `spent_before` may read a file.
    let account = SessionAccount::new(spent_before());
    let mut accounts = ACCOUNTS.lock();
    // Another thread may have been quicker, and its account may have been charged already.
    if let Some((_, account)) = accounts.iter().find(|(name, _)| name == session) {
        return account.clone();
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

fn find(session: &str) -> Option<SessionAccount> {
    let mut accounts = ACCOUNTS.lock();
    let at = accounts.iter().position(|(name, _)| name == session)?;
    let entry = accounts.remove(at)?;
    let account = entry.1.clone();
    accounts.push_back(entry);
    Some(account)
}

/// Compares what a run has used with its bounds.
#[derive(Debug)]
pub struct Meter {
    bounds: Bounds,
    session: Option<Session>,
    /// Usage of the attempts that have ended.
    before: Used,
    /// Usage of the current attempt: the maximum reported so far, for each unit.
    now: Used,
}

/// The bounds, in counted units.
#[derive(Debug)]
struct Bounds {
    cost: Option<u64>,
    tokens: Option<u64>,
    turns: Option<u64>,
}

#[derive(Debug)]
struct Session {
    account: SessionAccount,
    /// The bound; without one the account is only charged.
    max: Option<u64>,
}

/// Watches the account of a session for charges.
#[derive(Debug)]
pub struct Spending(Option<watch::Receiver<u64>>);

impl Spending {
    /// Waits until the account was charged since the last call. Cancel safe. Never returns if the session has no bound.
    pub async fn changed(&mut self) {
        if let Some(spent) = &mut self.0
            && spent.changed().await.is_ok()
        {
            return;
        }
        // There is no session, or its account is gone and cannot be charged any more.
        std::future::pending::<()>().await;
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Used {
    nanos: u64,
    tokens: u64,
    turns: u64,
}

/// How close a run is to its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Below 80 % of every bound.
    Fine,
    /// At 80 % of a bound or before the last turn: the message for the child, with the numbers.
    WrapUp(String),
    /// A bound is reached.
    Over(OverBudget),
}

impl Meter {
    /// Creates the meter of a run that has used nothing yet. `session` is the account of its session and its bound in
    /// USD.
    #[must_use]
    pub fn new(own: Allowance, session: Option<(SessionAccount, f64)>) -> Self {
        let bounds = Bounds {
            cost: own.max_cost.and_then(amount_bound),
            tokens: own.max_tokens.filter(|&max| max > 0),
            turns: own.max_turns.filter(|&max| max > 0),
        };
        let session = session.map(|(account, max)| Session { account, max: amount_bound(max) });
        Self { bounds, session, before: Used::default(), now: Used::default() }
    }

    /// Why the run cannot start, if the session has spent its budget.
    #[must_use]
    pub fn refusal(&self) -> Option<OverBudget> {
        self.session_reading().filter(OverBudget::is_over)
    }

    /// Records the usage of the current attempt, summed from its beginning, and charges the session with the
    /// difference. Usage never shrinks: a smaller value changes nothing.
    pub fn record(&mut self, usage: &Usage) {
        let reported = Used { nanos: nanos(usage.cost.total), tokens: usage.tokens(), turns: usage.turns };
        let charge = reported.nanos.saturating_sub(self.now.nanos);
        self.now = self.now.zip(reported, u64::max);
        if let Some(session) = &self.session {
            session.account.charge(charge);
        }
    }

    /// Begins another attempt: usage recorded from here on is added to that of the earlier ones.
    pub fn next_attempt(&mut self) {
        self.before = self.used();
        self.now = Used::default();
    }

    /// What all attempts of the run have spent, in USD.
    #[must_use]
    pub fn spent(&self) -> f64 {
        dollars(self.used().nanos)
    }

    /// The stage of the run now: decided by the first bound that is reached, else by the nearest one.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let readings = || self.readings().into_iter().flatten();
        if let Some(over) = readings().find(OverBudget::is_over) {
            return Stage::Over(over);
        }
        match readings().filter(OverBudget::is_near).max_by(OverBudget::nearness) {
            Some(near) => Stage::WrapUp(near.wrap_up()),
            None => Stage::Fine,
        }
    }

    /// Watches the session's account for charges by any run. Check the [`stage`](Self::stage) after each.
    #[must_use]
    pub fn watch(&self) -> Spending {
        let bound = self.session.as_ref().filter(|session| session.max.is_some());
        Spending(bound.map(|session| session.account.spent.subscribe()))
    }

    fn used(&self) -> Used {
        self.before.zip(self.now, u64::saturating_add)
    }

    fn readings(&self) -> [Option<OverBudget>; 4] {
        let reading = |bound, used, allowed: Option<u64>| Some(OverBudget { bound, used, allowed: allowed? });
        let used = self.used();
        [
            reading(Bound::Turns, used.turns, self.bounds.turns),
            reading(Bound::Tokens, used.tokens, self.bounds.tokens),
            reading(Bound::Cost, used.nanos, self.bounds.cost),
            self.session_reading(),
        ]
    }

    fn session_reading(&self) -> Option<OverBudget> {
        let Session { account, max, .. } = self.session.as_ref()?;
        Some(OverBudget { bound: Bound::SessionCost, used: account.nanos(), allowed: (*max)? })
    }
}

impl Used {
    fn zip(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            nanos: with(self.nanos, other.nanos),
            tokens: with(self.tokens, other.tokens),
            turns: with(self.turns, other.turns),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Turns,
    Tokens,
    Cost,
    SessionCost,
}

/// A bound and its usage, displayed as "`budget.maxTurns` reached: 12 of 12".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverBudget {
    bound: Bound,
    used: u64,
    allowed: u64,
}

impl OverBudget {
    /// The setting of the bound.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        match self.bound {
            Bound::Turns => "budget.maxTurns",
            Bound::Tokens => "budget.maxTokens",
            Bound::Cost => "budget.maxCost",
            Bound::SessionCost => "sessionBudget.maxCost",
        }
    }

    fn is_over(&self) -> bool {
        self.used >= self.allowed
    }

    fn is_near(&self) -> bool {
        // With a bound of a few turns, 80 % may be reached only when no turn is left.
        let is_last_turn = self.bound == Bound::Turns && self.used > 0 && self.used + 1 >= self.allowed;
        is_last_turn || u128::from(self.used) * WRAP_UP.1 >= u128::from(self.allowed) * WRAP_UP.0
    }

    /// Orders two bounds by how much of each is used.
    fn nearness(&self, other: &Self) -> std::cmp::Ordering {
        let cross = |a: &Self, b: &Self| u128::from(a.used) * u128::from(b.allowed);
        cross(self, other).cmp(&cross(other, self))
    }

    fn numbers(&self) -> String {
        match self.bound {
            Bound::Turns | Bound::Tokens => format!("{} of {}", self.used, self.allowed),
            Bound::Cost | Bound::SessionCost => format!("{} of {}", money(self.used), money(self.allowed)),
        }
    }

    fn wrap_up(&self) -> String {
        let what = match self.bound {
            Bound::Turns => "the turns of this run",
            Bound::Tokens => "the tokens of this run",
            Bound::Cost => "the money for this run",
            Bound::SessionCost => "the money for all runs of this session",
        };
        format!(
            "Nearly used up: {what} ({}). Come to an end: no more tool calls unless the answer is worthless without them, \
             then give your final answer from what you have and say what is missing.",
            self.numbers()
        )
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` reached: {}", self.setting(), self.numbers())
    }
}

impl std::error::Error for OverBudget {}

/// Converts to billionths of a dollar; 0 for an amount that is not a positive number.
fn nanos(dollars: f64) -> u64 {
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

/// A bound on money, at least one billionth.
fn amount_bound(dollars: f64) -> Option<u64> {
    (dollars > 0.0).then(|| nanos(dollars).max(1))
}

fn dollars(nanos: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a double holds what anybody spends")]
    let dollars = nanos as f64 / NANOS as f64;
    dollars
}

/// Formats with four decimals, or more where those would all be zero.
fn money(nanos: u64) -> String {
    let decimals = match nanos {
        1..1_000 => 9,
        1_000..100_000 => 6,
        _ => 4,
    };
    format!("${:.decimals$}", dollars(nanos))
}
