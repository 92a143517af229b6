//! How a run is named, and how its state is put into words.

use super::clock::Clock;
use super::report::Mark;
use crate::run::{BackgroundRun, RunOutcome, RunState};
use crate::text::{figures, one_line};

/// Longest label or name in a sentence.
const MAX_NAME: usize = 60;
/// Longest text in a line of a list.
pub(super) const MAX_CELL: usize = 160;

/// What tells a run of a call from one in the background.
pub(super) const WAITED_FOR: &str = "a call waits for it";

/// `explorer "find the code"`.
pub(crate) fn who(run: &BackgroundRun) -> String {
    let agent = one_line(&run.agent, MAX_NAME);
    match &run.label {
        Some(label) => format!("{agent} \"{}\"", one_line(label, MAX_NAME)),
        None => agent,
    }
}

/// `1a2b3c4d (explorer "find the code")`.
pub(super) fn name(run: &BackgroundRun) -> String {
    format!("{} ({})", run.run_id, who(run))
}

/// The mark of a run's state.
pub(crate) fn mark(run: &BackgroundRun) -> Mark {
    mark_and_state(run).0
}

/// The state in a word or two.
pub(crate) fn state(run: &BackgroundRun) -> &'static str {
    mark_and_state(run).1
}

fn mark_and_state(run: &BackgroundRun) -> (Mark, &'static str) {
    let Some(outcome) = run.outcome else {
        let mark = match run.progress.state {
            RunState::Queued => Mark::Queued,
            RunState::Starting | RunState::Running => Mark::Running,
            RunState::Retrying => Mark::Warning,
        };
        return (mark, run.progress.state.as_str());
    };
    match outcome {
        RunOutcome::Completed => (Mark::Ok, "done"),
        RunOutcome::Failed => (Mark::Error, "failed"),
        RunOutcome::IdleTimeout => (Mark::Error, "timed out (silent)"),
        RunOutcome::HardTimeout => (Mark::Error, "timed out"),
        RunOutcome::Killed => (Mark::Error, "killed"),
        // The run did not finish, but its child did not fail.
        RunOutcome::Aborted => (Mark::Warning, "stopped"),
        RunOutcome::Budget => (Mark::Warning, "over budget"),
        RunOutcome::Skipped => (Mark::Warning, "skipped"),
        RunOutcome::Interrupted => (Mark::Warning, "interrupted"),
    }
}

/// `running 5m12s`, `queued, place 3`, `done after 5m12s, 1h02m ago`.
pub(super) fn standing(run: &BackgroundRun, clock: &Clock) -> String {
    let place = run.progress.position.filter(|_| run.is_queued());
    let place = place.map(|place| format!(", place {place}"));
    let lasted = match (run.started_ms, run.ended_ms) {
        (Some(started), None) if run.is_live() => Some(format!(" {}", clock.since(started))),
        (Some(started), Some(ended)) => Some(format!(" after {}", figures::between(started, ended))),
        _ => None,
    };
    let since = run.ended_ms.map(|ended| format!(", {}", clock.distance(ended)));
    let more: String = [place, lasted, since].into_iter().flatten().collect();
    format!("{}{more}", state(run))
}

/// `12.3k tokens`, `$0.04`; zero values are left out.
pub(super) fn spent(run: &BackgroundRun) -> Vec<String> {
    let usage = &run.progress.usage;
    let all = usage.tokens();
    let tokens = (all > 0).then(|| format!("{} tokens", figures::tokens(all)));
    let cost = (usage.cost.total > 0.0).then(|| figures::money(usage.cost.total));
    tokens.into_iter().chain(cost).collect()
}
