//! Compares the usage of a run and its session with their bounds.
//!
//! A child's reported costs are rounded to whole units of money once, from the sum over its attempt.

use std::fmt;

use tokio::sync::watch;

use super::account::{Ledger, Reservation, SessionAccount, TurnSize, TurnSizes, dollars, nanos};
use agents::config::Budget;
use pi_events::Usage;

/// The share of a bound at which the child gets the message to wrap up: 8 of 10.
const WRAP_UP: (u128, u128) = (8, 10);

/// Compares the usage of a run with its bounds.
#[derive(Debug)]
pub struct Meter {
    /// The bounds of all attempts together.
    budget: Budget,
    /// The account of the session and its bound in USD. Without a bound the account is only charged.
    session: Option<(SessionAccount, Option<u64>)>,
    /// The agent, whose turns give the expected cost of a first turn.
    agent: String,
    /// True if the store charges the account with the record of the run.
    is_charged_by_record: bool,
    /// The costs of the turns of all attempts.
    costs: TurnSizes,
    /// The tokens of the turns of all attempts.
    tokens: TurnSizes,
    /// The part of the session's budget that the turn under way needs.
    reservation: Option<Reservation>,
    /// Usage of the earlier parts of the run that it continues. Their session was charged already.
    earlier: Used,
    /// Usage of the attempts that have ended.
    before: Used,
    /// Usage of the current attempt: the maximum reported so far, for each unit.
    now: Used,
}

/// Watches the account of a session for charges.
#[derive(Debug)]
pub struct Spending(Option<watch::Receiver<Ledger>>);

impl Spending {
    /// Waits until the account was charged, or a turn has ended, since the last call. Cancel safe. Never returns if the
    /// session has no bound.
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

/// An amount of usage, in the units of the bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    nanos: u64,
    tokens: u64,
    turns: u64,
}

/// The decision about the next turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextTurn {
    /// Its expected size is reserved.
    Covered,
    /// The current turns of other runs reserve too much. They may leave enough when they have ended.
    Waits,
    /// The rest of this bound does not cover the turn.
    Exceeded(OverBudget),
}

/// The distance of a run from its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Below 80 % of every bound.
    Fine,
    /// At 80 % of a bound or before the last turn that it covers: the message for the child, with the numbers.
    WrapUp(String),
    /// A bound is reached.
    Exceeded(OverBudget),
}

impl Meter {
    /// Creates the meter of a run that has used nothing yet. `session` is the account of its session and its bound in
    /// USD. A bound that is not above zero does not count.
    #[must_use]
    pub fn new(budget: Budget, session: Option<(SessionAccount, f64)>, agent: &str) -> Self {
        Self {
            budget,
            session: session.map(|(account, max)| (account, amount_bound(max))),
            agent: agent.to_owned(),
            is_charged_by_record: false,
            costs: TurnSizes::default(),
            tokens: TurnSizes::default(),
            reservation: None,
            earlier: Used::default(),
            before: Used::default(),
            now: Used::default(),
        }
    }

    /// Counts the usage of the earlier parts of the run against its own bounds. It is neither charged to the session nor
    /// part of [`spent`](Self::spent).
    #[must_use]
    pub fn continuing(mut self, earlier: Used) -> Self {
        self.costs.add(earlier.nanos, earlier.turns);
        self.tokens.add(earlier.tokens, earlier.turns);
        Self { earlier, ..self }
    }

    /// Leaves it to the record of the run to charge the account in the store.
    #[must_use]
    pub(crate) fn charged_by_record(self, is_charged_by_record: bool) -> Self {
        Self { is_charged_by_record, ..self }
    }

    /// Returns the reason why the run cannot start: its earlier parts have used up its own budget, or its session's
    /// budget does not cover a first turn and no turn is running.
    #[must_use]
    pub fn refusal(&self) -> Option<OverBudget> {
        if self.used_by_attempts() == Used::default()
            && let Some(own) = self.own_exceeded()
        {
            return Some(own);
        }
        let reading = self.session_reading()?;
        (reading.is_reached() || (!reading.covers_next() && !self.has_other_turns())).then_some(reading)
    }

    /// Begins a turn if every bound covers its expected size, which is reserved until the turn has been recorded.
    ///
    /// The first turn of an agent without a known cost reserves all the rest.
    pub fn begin_turn(&mut self) -> NextTurn {
        if self.reservation.is_some() {
            return NextTurn::Covered;
        }
        let session =
            || self.session_reading().filter(|reading| reading.is_reached() && !self.has_other_turns());
        if let Some(exceeded) = self.own_exceeded().or_else(session) {
            return NextTurn::Exceeded(exceeded);
        }
        let Some((account, max)) = &self.session else { return NextTurn::Covered };
        // The last turn of another run may end after the first try.
        for _ in 0..2 {
            self.reservation = account.reserve(self.next_cost(), *max);
            if self.reservation.is_some() {
                return NextTurn::Covered;
            }
            if self.has_other_turns() {
                return NextTurn::Waits;
            }
        }
        self.session_reading().map_or(NextTurn::Waits, NextTurn::Exceeded)
    }

    /// Reserves a turn that a child has begun before it was granted, because nothing holds this child.
    pub fn note_turn(&mut self) {
        if self.reservation.is_none()
            && let Some((account, _)) = &self.session
        {
            self.reservation = account.reserve(Some(self.next_cost().unwrap_or_default()), None);
        }
    }

    /// Releases the reservation of the turn under way.
    pub fn end_turn(&mut self) {
        self.reservation = None;
    }

    /// Returns true if a turn of this run is under way.
    #[must_use]
    pub fn has_turn(&self) -> bool {
        self.reservation.is_some()
    }

    /// Returns true if other runs have turns under way, whose cost is not known yet.
    fn has_other_turns(&self) -> bool {
        self.reservation.is_none()
            && self.session.as_ref().is_some_and(|(account, _)| account.has_turns_under_way())
    }

    /// Records the usage of the current attempt, summed from its beginning, and charges the session with the
    /// difference. Usage never shrinks: a smaller value changes nothing.
    pub fn record(&mut self, usage: &Usage) {
        self.count(usage, true);
    }

    /// Records usage like [`record`](Self::record), but of failed turns, whose sizes say nothing about the next turn.
    pub fn record_failed(&mut self, usage: &Usage) {
        self.count(usage, false);
    }

    fn count(&mut self, usage: &Usage, is_typical: bool) {
        let reported = Used::of(usage);
        let new = reported.zip(self.now, u64::saturating_sub);
        self.now = self.now.zip(reported, u64::max);
        let turns = if is_typical { new.turns } else { 0 };
        self.costs.add(new.nanos, turns);
        self.tokens.add(new.tokens, turns);
        if let Some((account, _)) = &self.session {
            account.charge(&self.agent, new.nanos, turns, self.is_charged_by_record);
        }
    }

    /// Begins another attempt. Its usage is added to the usage of the earlier attempts.
    pub fn next_attempt(&mut self) {
        self.before = self.used_by_attempts();
        self.now = Used::default();
    }

    /// Returns the cost of all attempts of the run, in USD.
    #[must_use]
    pub fn spent(&self) -> f64 {
        dollars(self.used_by_attempts().nanos)
    }

    /// Returns the stage of the run now. The first bound that is reached decides, else the nearest one.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let readings = || self.readings().into_iter().flatten();
        if let Some(exceeded) = readings().find(OverBudget::is_reached) {
            return Stage::Exceeded(exceeded);
        }
        match readings().filter(OverBudget::is_near).max_by(OverBudget::nearness) {
            Some(near) => Stage::WrapUp(near.wrap_up()),
            None => Stage::Fine,
        }
    }

    /// Returns the bound that ended the run with its present usage. An interrupted turn does not count as a further
    /// turn.
    #[must_use]
    pub fn refreshed(&self, exceeded: &OverBudget) -> OverBudget {
        let is_same =
            |reading: &OverBudget| reading.bound == exceeded.bound && exceeded.bound != Bound::Turns;
        let used = self.readings().into_iter().flatten().find(is_same).map_or(exceeded.used, |now| now.used);
        OverBudget { used: used.max(exceeded.used), ..exceeded.clone() }
    }

    /// Watches the session's account for charges by any run. Check the [`stage`](Self::stage) after each.
    #[must_use]
    pub fn watch(&self) -> Spending {
        let bound = self.session.as_ref().filter(|(_, max)| max.is_some());
        Spending(bound.map(|(account, _)| account.subscribe()))
    }

    /// Returns the cost of the next turn: the expected cost from this run's turns, else from its agent's, and as the
    /// maximum the most expensive turn of both.
    fn next_cost(&self) -> Option<TurnSize> {
        let agent_turn = self.session.as_ref().and_then(|(account, _)| account.first_turn(&self.agent));
        let Some(own) = self.costs.next() else { return agent_turn };
        let largest = agent_turn.map_or(own.largest, |agent_turn| agent_turn.largest.max(own.largest));
        Some(TurnSize { largest, ..own })
    }

    /// Returns the usage of all attempts.
    fn used_by_attempts(&self) -> Used {
        self.before.zip(self.now, u64::saturating_add)
    }

    fn used(&self) -> Used {
        self.earlier.zip(self.used_by_attempts(), u64::saturating_add)
    }

    /// Returns the first bound of the run itself whose rest does not cover the next turn.
    fn own_exceeded(&self) -> Option<OverBudget> {
        self.readings().into_iter().flatten().find(|reading| {
            reading.bound != Bound::SessionCost && (reading.is_reached() || !reading.covers_next())
        })
    }

    fn readings(&self) -> [Option<OverBudget>; 4] {
        let Budget { max_cost, max_tokens, max_turns } = self.budget;
        let reading = |bound, used, allowed: Option<u64>, next| {
            let allowed = allowed.filter(|&allowed| allowed > 0)?;
            Some(OverBudget { bound, used, committed: used, allowed, next })
        };
        let expected = |size: TurnSize| size.expected;
        let used = self.used();
        let cost = max_cost.and_then(amount_bound);
        [
            reading(Bound::Turns, used.turns, max_turns, Some(1)),
            reading(Bound::Tokens, used.tokens, max_tokens, self.tokens.next().map(expected)),
            reading(Bound::Cost, used.nanos, cost, self.costs.next().map(expected)),
            self.session_reading(),
        ]
    }

    fn session_reading(&self) -> Option<OverBudget> {
        let (account, max) = self.session.as_ref()?;
        Some(OverBudget {
            bound: Bound::SessionCost,
            used: account.nanos(),
            committed: account.committed(),
            allowed: (*max)?,
            next: self.next_cost().map(|size| size.expected),
        })
    }
}

impl Used {
    /// Returns the parts of a usage that count towards a bound.
    #[must_use]
    pub fn of(usage: &Usage) -> Self {
        Self { nanos: nanos(usage.cost.total), tokens: usage.tokens(), turns: usage.turns }
    }

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
    /// Returns the setting, and the bounded quantity.
    fn setting_and_quantity(self) -> (&'static str, &'static str) {
        match self {
            Self::Turns => ("budget.maxTurns", "the turns of this run"),
            Self::Tokens => ("budget.maxTokens", "the tokens of this run"),
            Self::Cost => ("budget.maxCost", "the money for this run"),
            Self::SessionCost => ("sessionBudget.maxCost", "the money for all runs of this session"),
        }
    }
}

/// A bound and its usage, displayed as "`budget.maxTurns` reached: 12 of 12", with the size of the next turn if the
/// rest does not cover it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverBudget {
    bound: Bound,
    used: u64,
    /// The usage including the expected usage of the turns under way.
    committed: u64,
    allowed: u64,
    /// The expected usage of the next turn.
    next: Option<u64>,
}

impl OverBudget {
    /// The setting of the bound.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        self.bound.setting_and_quantity().0
    }

    fn is_reached(&self) -> bool {
        self.used >= self.allowed
    }

    fn covers_next(&self) -> bool {
        self.committed.saturating_add(self.next.unwrap_or_default()) <= self.allowed
    }

    fn is_near(&self) -> bool {
        // With a bound of a few turns, 80 % may be reached only when no turn remains.
        let two = self.next.unwrap_or_default().saturating_mul(2);
        let is_last_turn = self.used > 0 && self.committed.saturating_add(two) > self.allowed;
        is_last_turn || u128::from(self.used) * WRAP_UP.1 >= u128::from(self.allowed) * WRAP_UP.0
    }

    /// Orders two bounds by how much of each is used.
    fn nearness(&self, other: &Self) -> std::cmp::Ordering {
        let cross = |a: &Self, b: &Self| u128::from(a.used) * u128::from(b.allowed);
        cross(self, other).cmp(&cross(other, self))
    }

    fn shown(&self, amount: u64) -> String {
        match self.bound {
            Bound::Turns | Bound::Tokens => amount.to_string(),
            Bound::Cost | Bound::SessionCost => money(amount),
        }
    }

    fn numbers(&self) -> String {
        format!("{} of {}", self.shown(self.used), self.shown(self.allowed))
    }

    fn wrap_up(&self) -> String {
        wrap_up(self.bound.setting_and_quantity().1, &self.numbers())
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` reached: {}", self.setting(), self.numbers())?;
        match self.next.filter(|_| !self.is_reached()) {
            Some(next) => write!(f, ", and the next turn takes about {}", self.shown(next)),
            None => Ok(()),
        }
    }
}

/// Returns the message that tells a child to finish, because most of `bounded` is used.
pub(crate) fn wrap_up(bounded: &str, numbers: &str) -> String {
    format!(
        "Nearly used up: {bounded} ({numbers}). Finish now: make no more tool calls unless the answer is \
         worthless without them, then give your final answer from what you have and name what is missing."
    )
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
