//! Tests when a child gets the message to wrap up, and when its run is ended.

use super::*;
use crate::run::budget::account::SessionAccount;
use agents::config::Budget;
use pi_events::{Cost, RefusedResults};

const CALLS_A_TOOL: Option<&StopReason> = Some(&StopReason::ToolUse);

/// The usage of a child after a number of messages that cost a dollar each.
fn used(turns: u64) -> Usage {
    #[expect(clippy::cast_precision_loss, reason = "a few turns")]
    let cost = Cost { total: turns as f64, ..Cost::default() };
    Usage { cost, turns, ..Usage::default() }
}

fn live<'a>(usage: &'a Usage, streaming: bool, stop_reason: Option<&'a StopReason>) -> Live<'a> {
    Live {
        code: None,
        text: "",
        display_items: &[],
        usage,
        context: None,
        repeats: None,
        running_tools: 0,
        settled: false,
        finished: false,
        model: None,
        stop_reason,
        streaming,
        turns_begun: 0,
        awaits_turn: false,
        announced_pause: None,
        compacting: false,
        answered: false,
        is_concluded: false,
        has_answer: false,
        refused_results: const { &RefusedResults { count: 0, reason: String::new() } },
        retry: None,
    }
}

/// The enforcer of a run that may spend ten dollars.
fn enforcer() -> BudgetEnforcer {
    let own = Budget { max_cost: Some(10.0), ..Budget::default() };
    BudgetEnforcer::new(Meter::new(own, None, "scout"), Cancel::new())
}

/// Returns true if this message makes the enforcer warn the child.
fn is_warned(enforcer: &BudgetEnforcer, live: &Live<'_>) -> bool {
    let mut warned = false;
    enforcer.check(live, |notice| {
        let BudgetNotice::WrapUp(message) = notice else { return };
        assert!(message.contains('$'), "{message}");
        warned = true;
    });
    warned
}

fn is_cancelled(enforcer: &BudgetEnforcer) -> bool {
    enforcer.cancel.reason().is_some()
}

#[test]
fn a_child_is_warned_once_per_attempt_and_only_between_two_turns() {
    let enforcer = enforcer();
    let few = used(7);
    let many = used(8);
    assert!(
        !is_warned(&enforcer, &live(&few, false, CALLS_A_TOOL)),
        "a child below the warning limit is not warned"
    );
    assert!(!is_warned(&enforcer, &live(&many, true, CALLS_A_TOOL)), "a child in a turn is not warned");
    assert!(
        !is_warned(&enforcer, &live(&many, false, Some(&StopReason::Stop))),
        "a child that has answered is not warned"
    );
    assert!(!is_warned(&enforcer, &live(&many, false, None)), "a child without a message is not warned");
    assert!(is_warned(&enforcer, &live(&many, false, CALLS_A_TOOL)));
    assert!(!is_warned(&enforcer, &live(&many, false, CALLS_A_TOOL)), "a warned child is not warned again");
    enforcer.next_attempt();
    let one = used(1);
    assert!(is_warned(&enforcer, &live(&one, false, CALLS_A_TOOL)), "the next attempt is warned");
    assert!(!is_cancelled(&enforcer));
}

#[test]
fn a_run_ends_at_its_bound_unless_its_child_has_answered() {
    for (label, streaming, stop, ends) in [
        ("continuing", false, CALLS_A_TOOL, true),
        ("in the middle of a turn that was covered", true, CALLS_A_TOOL, false),
        ("failed", false, Some(&StopReason::Error), true),
        ("answered", false, Some(&StopReason::Stop), false),
        ("answered up to its limit", false, Some(&StopReason::Length), false),
    ] {
        let enforcer = enforcer();
        let all = used(10);
        assert!(!is_warned(&enforcer, &live(&all, streaming, stop)), "{label}");
        assert_eq!(is_cancelled(&enforcer), ends, "{label}");
        if ends {
            let reason = enforcer.cancel.reason();
            assert!(
                matches!(&reason, Some(CancelReason::Bound(why)) if why.contains("budget.maxCost")),
                "{reason:?}"
            );
        }
    }
}

#[test]
fn each_turn_of_each_attempt_counts() {
    let enforcer = enforcer();
    for turns in 1..=3 {
        enforcer.check(&live(&used(turns), false, CALLS_A_TOOL), |_| {});
    }
    assert!((enforcer.spent() - 3.0).abs() < f64::EPSILON, "{}", enforcer.spent());
    enforcer.next_attempt();
    enforcer.check(&live(&used(3), false, CALLS_A_TOOL), |_| {});
    assert!((enforcer.spent() - 6.0).abs() < f64::EPSILON, "the turns of both attempts count");
    // The usage after the last checked message.
    enforcer.record(&used(4));
    assert!((enforcer.spent() - 7.0).abs() < f64::EPSILON, "{}", enforcer.spent());
}

#[test]
fn optional_work_fits_below_the_warning_and_during_the_run() {
    let enforcer = enforcer();
    assert!(enforcer.has_room());
    enforcer.record(&used(8));
    assert!(!enforcer.has_room(), "a run above the warning limit has no room");
    let cancelled = self::enforcer();
    cancelled.cancel.cancel(CancelReason::Dropped);
    assert!(!cancelled.has_room());
}

#[tokio::test]
async fn the_budget_of_the_session_refuses_new_runs_and_wakes_running_ones() {
    let account = SessionAccount::new(0.0);
    let run = || {
        let meter = Meter::new(Budget::default(), Some((account.clone(), 5.0)), "scout");
        BudgetEnforcer::new(meter, Cancel::new())
    };
    let first = run();
    let second = run();
    assert_eq!(second.refusal(), None);
    let mut spending = second.watch();
    first.record(&used(5));
    spending.changed().await;
    let refusal = second.refusal().expect("the second run is refused");
    assert_eq!(refusal.setting(), "sessionBudget.maxCost");
    second.check(&live(&used(0), false, CALLS_A_TOOL), |_| {});
    assert!(is_cancelled(&second));
}

/// A child that asks for a turn after so many messages.
fn asking(usage: &Usage, turns_begun: u64, streaming: bool) -> Live<'_> {
    Live { turns_begun, awaits_turn: !streaming, ..live(usage, streaming, CALLS_A_TOOL) }
}

/// The turns that a check grants, if it grants any.
fn granted(enforcer: &BudgetEnforcer, live: &Live<'_>) -> Option<u64> {
    let mut granted = None;
    enforcer.check(live, |notice| {
        if let BudgetNotice::Granted(turns) = notice {
            granted = Some(turns);
        }
    });
    granted
}

#[test]
fn each_turn_is_granted_once_while_the_budget_covers_it() {
    let enforcer = enforcer();
    assert_eq!(
        granted(&enforcer, &live(&used(0), false, None)),
        None,
        "a child before its first turn gets no grant"
    );
    assert_eq!(granted(&enforcer, &asking(&used(0), 1, false)), Some(1));
    assert_eq!(granted(&enforcer, &asking(&used(0), 1, false)), None, "a turn is granted once");
    assert_eq!(granted(&enforcer, &asking(&used(9), 2, false)), Some(2));
    assert!(!is_cancelled(&enforcer));
    assert_eq!(granted(&enforcer, &asking(&used(10), 3, false)), None);
    assert!(is_cancelled(&enforcer));
}

#[test]
fn a_child_waits_while_others_have_reserved_the_rest() {
    let account = SessionAccount::new(0.0);
    let run = || {
        let meter = Meter::new(Budget::default(), Some((account.clone(), 5.0)), "scout");
        BudgetEnforcer::new(meter, Cancel::new())
    };
    let first = run();
    let second = run();
    let unheld = run();
    let none = used(0);
    assert_eq!(granted(&first, &asking(&none, 1, false)), Some(1));
    assert_eq!(granted(&second, &asking(&none, 1, false)), None);
    assert!(second.is_waiting());
    assert_eq!(
        granted(&unheld, &asking(&none, 1, true)),
        Some(1),
        "a turn that has already begun is granted"
    );
    assert!(!unheld.is_waiting());
    first.record(&used(1));
    unheld.record(&used(4));
    assert_eq!(granted(&second, &asking(&none, 1, false)), None);
    assert!(is_cancelled(&second), "a run without remaining budget is cancelled");
    let reason = second.cancel.reason().expect("the second run is cancelled");
    assert_eq!(reason.to_string(), "`sessionBudget.maxCost` reached: $5.0000 of $5.0000");
    // A turn that no one could hold ends later.
    run().record(&used(2));
    let refreshed = second.refreshed(&reason).expect("the reason is the budget");
    assert_eq!(refreshed.to_string(), "`sessionBudget.maxCost` reached: $7.0000 of $5.0000");
    assert_eq!(second.refreshed(&CancelReason::Dropped), None);
}
