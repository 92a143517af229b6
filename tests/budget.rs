//! The budgets of runs and sessions: exact numbers, shared accounts, and no refunds.

#![expect(clippy::float_cmp, reason = "the sums are promised to be exact")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::support::program;
use agents::config::Budget;
use pi_events::{Cost, Usage};
use pi_subagent_native::run::{Meter, NextTurn, SessionAccount, Spending, Stage, Used, account_of};

fn cost(total: f64) -> Usage {
    Usage { cost: Cost { total, ..Cost::default() }, ..Usage::default() }
}

fn own(max_cost: f64) -> Budget {
    Budget { max_cost: Some(max_cost), ..Budget::default() }
}

fn shared(account: &SessionAccount, max: f64) -> Meter {
    Meter::new(Budget::default(), Some((account.clone(), max)), "scout")
}

/// Returns a stage in one word, with its numbers.
fn verdict(meter: &Meter) -> String {
    match meter.stage() {
        Stage::Fine => "fine".to_owned(),
        Stage::WrapUp(text) => {
            let numbers = text.split(['(', ')']).nth(1).expect("the numbers are in parentheses");
            format!("wrap up: {numbers}")
        }
        Stage::Exceeded(exceeded) => exceeded.to_string(),
    }
}

fn turns(turns: u64) -> Usage {
    Usage { turns, ..Usage::default() }
}

fn max_turns(max: u64) -> Budget {
    Budget { max_turns: Some(max), ..Budget::default() }
}

fn tokens(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input, output, cache_read, cache_write, ..Usage::default() }
}

fn max_tokens(max: u64) -> Budget {
    Budget { max_tokens: Some(max), ..Budget::default() }
}

/// Bounds of every kind.
const ALL: Budget = Budget { max_cost: Some(1.0), max_tokens: Some(100), max_turns: Some(10) };

/// Each row: the limits, the usage, and the resulting stage.
fn check(cases: &[(&str, Budget, Usage, &str)]) {
    for (label, budget, usage, expected) in cases {
        let mut meter = Meter::new(*budget, None, "scout");
        meter.record(usage);
        assert_eq!(verdict(&meter), *expected, "{label}");
        assert_eq!(meter.refusal(), None, "{label}");
    }
}

#[test]
fn the_earlier_parts_of_a_continued_run_count_only_towards_its_own_bounds() {
    let account = SessionAccount::new(0.0);
    let continued = |earlier: &Usage| {
        Meter::new(max_turns(3), Some((account.clone(), 1.0)), "scout").continuing(Used::of(earlier))
    };
    let cost = Cost { total: 0.9, ..Cost::default() };
    let mut meter = continued(&Usage { cost, ..turns(2) });
    assert_eq!(meter.refusal(), None);
    meter.record(&turns(1));
    meter.next_attempt();
    assert_eq!(verdict(&meter), "`budget.maxTurns` reached: 3 of 3");
    assert_eq!((meter.spent(), account.spent()), (0.0, 0.0));
    let refusal = continued(&turns(3)).refusal().map(|exceeded| exceeded.to_string());
    assert_eq!(refusal.as_deref(), Some("`budget.maxTurns` reached: 3 of 3"));
}

#[test]
fn each_bound_warns_at_80_percent_and_ends_at_100() {
    check(&[
        ("no bound", Budget::default(), turns(u64::MAX), "fine"),
        ("nothing used", ALL, Usage::default(), "fine"),
        ("turns below", max_turns(10), turns(7), "fine"),
        ("turns at 80 %", max_turns(10), turns(8), "wrap up: 8 of 10"),
        ("turns below 100 %", max_turns(10), turns(9), "wrap up: 9 of 10"),
        ("turns at 100 %", max_turns(10), turns(10), "`budget.maxTurns` reached: 10 of 10"),
        ("turns beyond", max_turns(10), turns(12), "`budget.maxTurns` reached: 12 of 10"),
        ("a single turn", max_turns(1), turns(1), "`budget.maxTurns` reached: 1 of 1"),
        ("80 % between two turns", max_turns(12), turns(9), "fine"),
        ("80 % of a number that ten does not divide", max_turns(12), turns(10), "wrap up: 10 of 12"),
        ("tokens of one kind", max_tokens(100), tokens(79, 0, 0, 0), "fine"),
        ("tokens of every kind", max_tokens(100), tokens(20, 20, 20, 20), "wrap up: 80 of 100"),
        ("tokens beyond", max_tokens(100), tokens(25, 25, 25, 25), "`budget.maxTokens` reached: 100 of 100"),
        (
            "absurd tokens",
            max_tokens(100),
            tokens(u64::MAX, 1, u64::MAX, 1),
            "`budget.maxTokens` reached: 18446744073709551615 of 100",
        ),
        (
            "the largest bound",
            max_turns(u64::MAX),
            turns(u64::MAX - 1),
            "wrap up: 18446744073709551614 of 18446744073709551615",
        ),
        ("cost below", own(0.01), cost(0.0079), "fine"),
        ("cost at 80 %", own(0.01), cost(0.008), "wrap up: $0.0080 of $0.0100"),
        ("cost at 100 %", own(0.01), cost(0.01), "`budget.maxCost` reached: $0.0100 of $0.0100"),
        ("a billionth below", own(0.3), cost(0.299_999_999), "wrap up: $0.3000 of $0.3000"),
        (
            "a sum of floats that drifted",
            own(0.3),
            cost(0.1 + 0.2),
            "`budget.maxCost` reached: $0.3000 of $0.3000",
        ),
        ("tiny amounts", own(0.000_02), cost(0.000_000_5), "fine"),
        (
            "tiny bounds",
            own(1e-12),
            cost(0.000_000_5),
            "`budget.maxCost` reached: $0.000000500 of $0.000000001",
        ),
        ("tiny bounds, nothing spent", own(1e-12), cost(0.0), "fine"),
        (
            "an infinite cost",
            own(1.0),
            cost(f64::INFINITY),
            "`budget.maxCost` reached: $18446744073.7096 of $1.0000",
        ),
        (
            "bounds that are none",
            Budget { max_cost: Some(0.0), max_tokens: Some(0), max_turns: Some(0) },
            cost(9.0),
            "fine",
        ),
        ("a bound below zero", own(-1.0), cost(9.0), "fine"),
        ("a bound that is no number", own(f64::NAN), cost(9.0), "fine"),
    ]);
}

#[test]
fn the_child_is_warned_before_its_last_turn_for_any_limit() {
    check(&[
        ("no turn of one", max_turns(1), turns(0), "fine"),
        ("no turn of two", max_turns(2), turns(0), "fine"),
        ("the last turn of two", max_turns(2), turns(1), "wrap up: 1 of 2"),
        ("the second turn of three", max_turns(3), turns(1), "fine"),
        ("the last turn of three", max_turns(3), turns(2), "wrap up: 2 of 3"),
        ("the last token does not make a last turn", max_tokens(3), tokens(2, 0, 0, 0), "fine"),
        ("79 % of a large number", max_tokens(u64::MAX), tokens(u64::MAX / 5 * 4 - 1, 0, 0, 0), "fine"),
        (
            "80 % of a large number",
            max_tokens(u64::MAX),
            tokens(u64::MAX / 5 * 4, 0, 0, 0),
            "wrap up: 14757395258967641292 of 18446744073709551615",
        ),
    ]);
}

#[test]
fn tokens_of_every_kind_count_and_the_sums_of_the_provider_do_not() {
    check(&[
        ("input counts", max_tokens(10), tokens(10, 0, 0, 0), "`budget.maxTokens` reached: 10 of 10"),
        ("output counts", max_tokens(10), tokens(0, 10, 0, 0), "`budget.maxTokens` reached: 10 of 10"),
        (
            "reading the cache counts",
            max_tokens(10),
            tokens(0, 0, 10, 0),
            "`budget.maxTokens` reached: 10 of 10",
        ),
        ("cache writes count", max_tokens(10), tokens(0, 0, 0, 10), "`budget.maxTokens` reached: 10 of 10"),
        ("the provider's own sum does not", max_tokens(10), Usage { total_tokens: 10, ..turns(1) }, "fine"),
        (
            "parts of the cost do not",
            own(1.0),
            Usage { cost: Cost { input: 9.0, output: 9.0, ..Cost::default() }, ..turns(1) },
            "fine",
        ),
    ]);
}

#[test]
fn the_first_bound_reached_is_reported_or_else_the_nearest() {
    check(&[
        ("the nearest of several", ALL, Usage { turns: 8, input: 85, ..cost(0.81) }, "wrap up: 85 of 100"),
        ("turns nearest", ALL, Usage { turns: 9, input: 85, ..cost(0.89) }, "wrap up: 9 of 10"),
        ("cost nearest", ALL, Usage { turns: 8, input: 85, ..cost(0.86) }, "wrap up: $0.8600 of $1.0000"),
        (
            "one near, others fine",
            ALL,
            Usage { turns: 7, input: 79, ..cost(0.8) },
            "wrap up: $0.8000 of $1.0000",
        ),
        (
            "two reached: the first of turns, tokens, cost",
            ALL,
            Usage { turns: 9, input: 100, ..cost(2.0) },
            "`budget.maxTokens` reached: 100 of 100",
        ),
        (
            "all reached",
            ALL,
            Usage { turns: 10, input: 200, ..cost(3.0) },
            "`budget.maxTurns` reached: 10 of 10",
        ),
        (
            "one reached, another near",
            ALL,
            Usage { turns: 8, ..cost(1.0) },
            "`budget.maxCost` reached: $1.0000 of $1.0000",
        ),
    ]);
}

/// Rounded to the nearest billionth, and shown with as many decimals as needed.
#[test]
fn an_amount_above_zero_is_never_shown_as_zero() {
    for (spent, shown) in [
        (0.000_000_000_4, "$0.0000"),
        (0.000_000_000_6, "$0.000000001"),
        (0.000_000_001, "$0.000000001"),
        (0.000_000_999, "$0.000000999"),
        (0.000_001, "$0.000001"),
        (0.000_099_999, "$0.000100"),
        (0.000_1, "$0.0001"),
        (12.345_67, "$12.3457"),
    ] {
        let account = SessionAccount::new(spent);
        let mut meter = Meter::new(Budget::default(), Some((account, 1e-12)), "scout");
        meter.record(&Usage::default());
        let expected = if shown == "$0.0000" {
            "fine".to_owned()
        } else {
            format!("`sessionBudget.maxCost` reached: {shown} of $0.000000001")
        };
        assert_eq!(verdict(&meter), expected, "{spent}");
    }
}

#[test]
fn the_child_reads_a_bound_in_words_and_the_caller_its_setting() {
    let every = Usage { turns: 8, input: 80, ..cost(0.8) };
    let only = |change: fn(&mut Budget)| {
        let mut budget = Budget::default();
        change(&mut budget);
        Meter::new(budget, None, "scout")
    };
    let account = SessionAccount::new(0.0);
    let meters = [
        (only(|own| own.max_turns = Some(10)), "the turns of this run (8 of 10)", "budget.maxTurns"),
        (only(|own| own.max_tokens = Some(100)), "the tokens of this run (80 of 100)", "budget.maxTokens"),
        (
            only(|own| own.max_cost = Some(1.0)),
            "the money for this run ($0.8000 of $1.0000)",
            "budget.maxCost",
        ),
        (
            shared(&account, 1.0),
            "the money for all runs of this session ($0.8000 of $1.0000)",
            "sessionBudget.maxCost",
        ),
    ];
    for (mut meter, words, setting) in meters {
        meter.record(&every);
        let Stage::WrapUp(text) = meter.stage() else { panic!("{setting}: {:?}", meter.stage()) };
        assert!(text.starts_with(&format!("Nearly used up: {words}. ")), "{text}");
        assert_eq!(meter.refusal(), None, "{setting}");
        meter.next_attempt();
        meter.record(&every);
        let Stage::Exceeded(exceeded) = meter.stage() else { panic!("{setting}: {:?}", meter.stage()) };
        assert_eq!(exceeded.setting(), setting);
    }
}

#[test]
fn the_warning_names_the_numbers_and_what_to_do() {
    let mut meter = Meter::new(own(0.01), None, "scout");
    meter.record(&cost(0.009));
    let Stage::WrapUp(text) = meter.stage() else { panic!("the meter does not warn near its bound") };
    assert_eq!(
        text,
        "Nearly used up: the money for this run ($0.0090 of $0.0100). Finish now: make no more tool calls \
         unless the answer is worthless without them, then give your final answer from what you have and \
         name what is missing."
    );
}

#[test]
fn ten_times_ten_cents_are_a_dollar() {
    let mut drifted = 0.0;
    let mut cumulative = Meter::new(own(1.0), None, "scout");
    let mut attempts = Meter::new(own(1.0), None, "scout");
    let account = SessionAccount::new(0.0);
    for turn in 1..=10 {
        drifted += 0.1;
        cumulative.record(&cost(drifted));
        attempts.next_attempt();
        attempts.record(&cost(0.1));
        shared(&account, 1.0).record(&cost(0.1));
        let has_ended = |meter: &Meter| matches!(meter.stage(), Stage::Exceeded(_));
        let expected = turn == 10;
        assert_eq!(has_ended(&cumulative), expected, "turn {turn}");
        assert_eq!(has_ended(&attempts), expected, "attempt {turn}");
        assert_eq!(has_ended(&shared(&account, 1.0)), expected, "run {turn}");
    }
    assert!(drifted < 1.0, "a plain sum of floats stays below the bound");
    assert_eq!((cumulative.spent(), attempts.spent(), account.spent()), (1.0, 1.0, 1.0));
}

#[test]
fn a_lower_usage_report_does_not_refund() {
    let account = SessionAccount::new(0.5);
    let mut meter = Meter::new(own(1.0), Some((account.clone(), 10.0)), "scout");
    for (reported, spent) in [
        (0.25, 0.25),
        (0.125, 0.25),
        (-3.0, 0.25),
        (f64::NAN, 0.25),
        (f64::NEG_INFINITY, 0.25),
        (0.25, 0.25),
        (0.5, 0.5),
    ] {
        meter.record(&cost(reported));
        assert_eq!((meter.spent(), account.spent()), (spent, 0.5 + spent), "after {reported}");
    }
    let mut turns = Meter::new(max_turns(2), None, "scout");
    turns.record(&Usage { turns: 2, ..Usage::default() });
    turns.record(&Usage::default());
    assert_eq!(verdict(&turns), "`budget.maxTurns` reached: 2 of 2");
    for strange in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        assert_eq!(SessionAccount::new(strange).spent(), 0.0, "{strange}");
    }
}

#[test]
fn the_usage_of_all_attempts_is_summed() {
    let account = SessionAccount::new(0.0);
    let budget = Budget { max_turns: Some(5), max_tokens: Some(1000), ..own(1.0) };
    let mut meter = Meter::new(budget, Some((account.clone(), 10.0)), "scout");
    let usage = |turns, input, total| Usage { turns, input, ..cost(total) };
    meter.record(&usage(1, 100, 0.1));
    meter.record(&usage(2, 200, 0.2));
    meter.next_attempt();
    assert_eq!(verdict(&meter), "fine");
    meter.record(&usage(1, 100, 0.1));
    meter.record(&usage(2, 150, 0.15));
    assert_eq!(verdict(&meter), "wrap up: 4 of 5");
    assert_eq!((meter.spent(), account.spent()), (0.35, 0.35));
    meter.next_attempt();
    meter.next_attempt();
    meter.record(&usage(1, 1, 0.0));
    assert_eq!(verdict(&meter), "`budget.maxTurns` reached: 5 of 5");
}

#[test]
fn siblings_share_the_remaining_session_budget() {
    for count in [1u32, 4, 8] {
        let account = SessionAccount::new(0.2);
        let mut meters: Vec<Meter> = (0..count).map(|_| shared(&account, 1.0)).collect();
        let share = 0.8 / f64::from(count);
        for (number, meter) in (1..).zip(&mut meters) {
            assert_eq!(meter.refusal(), None, "{count} siblings, number {number}");
            meter.record(&cost(share / 2.0));
            meter.record(&cost(share));
        }
        for meter in &meters {
            assert_eq!(
                verdict(meter),
                "`sessionBudget.maxCost` reached: $1.0000 of $1.0000",
                "{count} siblings"
            );
            assert!((meter.spent() - share).abs() < 1e-9);
        }
        let refusal = shared(&account, 1.0).refusal().expect("the budget is used up");
        assert_eq!(refusal.to_string(), "`sessionBudget.maxCost` reached: $1.0000 of $1.0000");
        assert_eq!(refusal.setting(), "sessionBudget.maxCost");
        assert_eq!(shared(&account, 1.000_000_01).refusal(), None, "a small rest is enough to start");
        assert_eq!(shared(&account, 0.0).refusal(), None, "a bound of zero is no bound");
    }
}

#[test]
fn concurrent_charges_of_siblings_are_all_counted() {
    for count in [1u32, 4, 8] {
        let account = SessionAccount::new(0.0);
        std::thread::scope(|scope| {
            for _ in 0..count {
                scope.spawn(|| {
                    let mut meter = shared(&account, 1e6);
                    for attempt in 0..10 {
                        for cents in 1..=100 {
                            meter.record(&cost(f64::from(cents) / 100.0));
                        }
                        assert_eq!(meter.spent(), f64::from(attempt + 1));
                        meter.next_attempt();
                    }
                });
            }
        });
        assert_eq!(account.spent(), f64::from(10 * count), "{count} siblings");
    }
}

/// Returns true if a charge is reported now. Dropping the future loses nothing.
async fn is_notified(spending: &mut Spending) -> bool {
    tokio::time::timeout(Duration::ZERO, spending.changed()).await.is_ok()
}

#[tokio::test]
async fn a_run_is_notified_when_its_siblings_spend() {
    let account = SessionAccount::new(0.0);
    let [mut one, mut other, idle] = [0, 1, 2].map(|_| shared(&account, 1.0));
    let [mut of_one, mut of_other, mut of_idle] = [&one, &other, &idle].map(Meter::watch);
    assert!(!is_notified(&mut of_one).await, "no notice is sent before any spending");
    one.record(&cost(0.5));
    assert!(is_notified(&mut of_other).await);
    assert!(!is_notified(&mut of_other).await, "one charge sends one notice");
    one.record(&cost(0.5));
    assert!(!is_notified(&mut of_other).await, "a repeated report sends no notice");
    other.record(&cost(0.25));
    other.record(&cost(0.5));
    assert!(is_notified(&mut of_one).await);
    assert!(is_notified(&mut of_idle).await, "several charges send one notice");
    assert_eq!(verdict(&idle), "`sessionBudget.maxCost` reached: $1.0000 of $1.0000");

    let waiting = tokio::spawn(async move {
        of_one.changed().await;
        verdict(&one)
    });
    other.record(&cost(0.75));
    let verdict = tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .expect("the task is notified in time")
        .expect("the task is notified in time");
    assert_eq!(verdict, "`sessionBudget.maxCost` reached: $1.2500 of $1.0000");
}

#[tokio::test]
async fn without_a_session_budget_no_notice_is_sent() {
    let account = SessionAccount::new(0.0);
    for session in [None, Some((account.clone(), 0.0))] {
        let mut spending = Meter::new(Budget::default(), session, "scout").watch();
        shared(&account, 1.0).record(&cost(0.5));
        assert!(!is_notified(&mut spending).await);
    }
}

#[test]
fn a_session_has_one_account_in_a_process() {
    let asked = AtomicU32::new(0);
    let account = |session: &str| {
        account_of(session, || {
            asked.fetch_add(1, Ordering::Relaxed);
            2.0
        })
    };
    let first = account("one account");
    shared(&first, 10.0).record(&cost(0.5));
    assert_eq!(account("one account").spent(), 2.5, "the account keeps its spending");
    assert_eq!(asked.load(Ordering::Relaxed), 1, "the stored spending is read once");
    assert_eq!(account("another account").spent(), 2.0);

    let accounts: Vec<SessionAccount> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| account("a contested account"))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the task does not panic")).collect()
    });
    for account in &accounts {
        shared(account, 10.0).record(&cost(0.25));
    }
    assert!(accounts.iter().all(|account| account.spent() == 4.0), "all threads share one account");
}

#[test]
fn accounts_of_unused_sessions_are_dropped_and_those_in_use_are_kept() {
    if program::runs_alone() {
        return;
    }
    let asked = AtomicU32::new(0);
    let used = account_of("in use", || 1.0);
    shared(&used, 10.0).record(&cost(0.5));
    shared(&account_of("idle", || 1.0), 10.0).record(&cost(0.5));
    for number in 0..1000 {
        account_of(&format!("session {number}"), || 0.0);
    }
    let again = |session| {
        account_of(session, || {
            asked.fetch_add(1, Ordering::Relaxed);
            7.0
        })
    };
    assert_eq!(again("in use").spent(), 1.5);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert_eq!(again("idle").spent(), 7.0, "the stored spending is read again");
}

/// Returns the answer to a request for a turn in one word, with the figures of the bound that ends it.
fn next_turn(meter: &mut Meter) -> String {
    match meter.begin_turn() {
        NextTurn::Covered => "covered".to_owned(),
        NextTurn::Waits => "waits".to_owned(),
        NextTurn::Exceeded(exceeded) => exceeded.to_string(),
    }
}

/// Counts a turn of this cost as the `number`th of its run.
fn end_turn(meter: &mut Meter, number: u64, total: f64) {
    meter.record(&Usage { turns: number, ..cost(total) });
    meter.end_turn();
}

#[test]
fn the_first_turn_of_a_session_runs_alone_and_the_next_ones_share_the_rest() {
    let account = SessionAccount::new(0.0);
    let mut runs: Vec<Meter> = (0..4).map(|_| shared(&account, 1.0)).collect();
    assert_eq!(next_turn(&mut runs[0]), "covered");
    assert_eq!(next_turn(&mut runs[0]), "covered", "a run in its turn can continue");
    assert_eq!(next_turn(&mut runs[1]), "waits");
    end_turn(&mut runs[0], 1, 0.3);
    // 0.7 dollars remain for turns that take 0.3.
    assert_eq!(next_turn(&mut runs[1]), "covered");
    assert_eq!(next_turn(&mut runs[2]), "covered");
    assert_eq!(next_turn(&mut runs[3]), "waits");
    end_turn(&mut runs[1], 1, 0.1);
    assert_eq!(next_turn(&mut runs[3]), "covered", "a cheap turn leaves budget for another turn");
    drop(runs.remove(2));
    end_turn(&mut runs[2], 1, 0.5);
    assert_eq!(
        next_turn(&mut runs[0]),
        "`sessionBudget.maxCost` reached: $0.9000 of $1.0000, and the next turn takes about $0.3000"
    );
    assert_eq!(next_turn(&mut runs[1]), "covered", "cheap turns of the run itself are covered");
}

#[test]
fn the_expected_size_of_a_turn_is_the_newest_or_the_mean() {
    let rest = |turns: &[f64]| {
        let mut meter = Meter::new(own(1.0), None, "scout");
        let mut total = 0.0;
        for (number, turn) in (1..).zip(turns) {
            total += turn;
            end_turn(&mut meter, number, total);
        }
        next_turn(&mut meter)
    };
    let exceeded = |expected| {
        format!("`budget.maxCost` reached: $0.6000 of $1.0000, and the next turn takes about {expected}")
    };
    assert_eq!(rest(&[]), "covered", "the first turn is covered");
    assert_eq!(
        rest(&[0.1, 0.5]),
        exceeded("$0.5000"),
        "the newest turn counts if it is larger than the mean"
    );
    assert_eq!(rest(&[0.3, 0.3]), "covered");
    assert_eq!(rest(&[0.6]), exceeded("$0.6000"));
    assert_eq!(rest(&[0.5, 0.1]), "covered", "the newest turn counts if it is smaller than the mean");
    let mut failed = Meter::new(own(1.0), None, "scout");
    failed.record_failed(&Usage { turns: 1, ..cost(0.6) });
    assert_eq!(next_turn(&mut failed), "covered", "a failed turn predicts no size");
}

#[test]
fn a_free_model_never_waits() {
    let account = SessionAccount::new(0.5);
    let mut first = shared(&account, 1.0);
    let mut second = shared(&account, 1.0);
    assert_eq!(next_turn(&mut first), "covered");
    end_turn(&mut first, 1, 0.0);
    assert_eq!(next_turn(&mut first), "covered");
    assert_eq!(next_turn(&mut second), "covered");
}

#[test]
fn a_new_agent_is_expected_to_cost_as_much_as_the_most_expensive_turn() {
    let account = SessionAccount::new(0.0);
    let meter = |agent| Meter::new(Budget::default(), Some((account.clone(), 1.0)), agent);
    end_turn(&mut meter("worker"), 1, 0.4);
    end_turn(&mut meter("scout"), 1, 0.1);
    assert_eq!(next_turn(&mut meter("reviewer")), "covered");
    assert_eq!(meter("scout").refusal(), None);
    account_is_spent(&account, 0.2);
    let refusal = |agent| meter(agent).refusal().map(|exceeded| exceeded.to_string());
    assert_eq!(refusal("scout"), None, "cheap turns of the run itself are covered");
    assert_eq!(
        refusal("reviewer").as_deref(),
        Some("`sessionBudget.maxCost` reached: $0.7000 of $1.0000, and the next turn takes about $0.4000")
    );
}

fn account_is_spent(account: &SessionAccount, total: f64) {
    shared(account, 0.0).record(&cost(total));
}
