//! Measures what a run and its session have spent against their bounds.
//!
//! What a child reports is rounded to whole units of money once, from the sum over its attempt.

use std::fmt;

use tokio::sync::watch;

use super::account::{SessionAccount, dollars, nanos};
use crate::config::Budget;
use crate::event::Usage;

/// From this part of a bound on, the child is told to wrap up: 8 of 10.
const WRAP_UP: (u128, u128) = (8, 10);

/// Compares what a run has used with its bounds.
#[derive(Debug)]
pub struct Meter {
    /// What all attempts may use together.
    budget: Budget,
    /// The account of the session and its bound in USD. Without a bound the account is only charged.
    session: Option<(SessionAccount, Option<u64>)>,
    /// Usage of the attempts that have ended.
    before: Used,
    /// Usage of the current attempt: the maximum reported so far, for each unit.
    now: Used,
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
    /// USD. A bound that is not above zero does not count.
    #[must_use]
    pub fn new(budget: Budget, session: Option<(SessionAccount, f64)>) -> Self {
        let session = session.map(|(account, max)| (account, amount_bound(max)));
        Self { budget, session, before: Used::default(), now: Used::default() }
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
        if let Some((account, _)) = &self.session {
            account.charge(charge);
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
        let bound = self.session.as_ref().filter(|(_, max)| max.is_some());
        Spending(bound.map(|(account, _)| account.spent.subscribe()))
    }

    fn used(&self) -> Used {
        self.before.zip(self.now, u64::saturating_add)
    }

    fn readings(&self) -> [Option<OverBudget>; 4] {
        let Budget { max_cost, max_tokens, max_turns } = self.budget;
        let reading = |bound, used, allowed: Option<u64>| {
            Some(OverBudget { bound, used, allowed: allowed.filter(|&allowed| allowed > 0)? })
        };
        let used = self.used();
        [
            reading(Bound::Turns, used.turns, max_turns),
            reading(Bound::Tokens, used.tokens, max_tokens),
            reading(Bound::Cost, used.nanos, max_cost.and_then(amount_bound)),
            self.session_reading(),
        ]
    }

    fn session_reading(&self) -> Option<OverBudget> {
        let (account, max) = self.session.as_ref()?;
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

impl Bound {
    /// The setting, and what it bounds.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Turns => ("budget.maxTurns", "the turns of this run"),
            Self::Tokens => ("budget.maxTokens", "the tokens of this run"),
            Self::Cost => ("budget.maxCost", "the money for this run"),
            Self::SessionCost => ("sessionBudget.maxCost", "the money for all runs of this session"),
        }
    }
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
        self.bound.words().0
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
        let shown = match self.bound {
            Bound::Turns | Bound::Tokens => |count: u64| count.to_string(),
            Bound::Cost | Bound::SessionCost => money,
        };
        format!("{} of {}", shown(self.used), shown(self.allowed))
    }

    fn wrap_up(&self) -> String {
        format!(
            "Nearly used up: {} ({}). Come to an end: no more tool calls unless the answer is worthless without them, \
             then give your final answer from what you have and say what is missing.",
            self.bound.words().1,
            self.numbers()
        )
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` reached: {}", self.setting(), self.numbers())
    }
}

/// A bound on money, at least one billionth.
fn amount_bound(dollars: f64) -> Option<u64> {
    (dollars > 0.0).then(|| nanos(dollars).max(1))
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
