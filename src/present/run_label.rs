//! The names of runs, and their states in words.

use super::clock::Clock;
use super::report::Mark;
use super::state_label::{RunStatus, StateLabel, now_ms, state_label};
use crate::run::{RunOutcome, RunRecord};
use sanitizer::{figures, one_line, quoted_if_unusual, quoted_label};
use worktree::ChangesState;

/// Longest label or name in a sentence.
pub(super) const MAX_NAME: usize = 60;
/// Longest text in a line of a list.
pub(super) const MAX_CELL: usize = 160;

/// The text that distinguishes a foreground run from a background run.
pub(super) const WAITED_FOR: &str = "a call waits for it";

/// `explorer "find the code"`.
pub(crate) fn agent_and_label(run: &RunRecord) -> String {
    let agent = one_line(&run.agent, MAX_NAME).into_string();
    let agent = quoted_if_unusual(&agent);
    match &run.label {
        Some(label) => format!("{agent} {}", quoted_label(label, MAX_NAME)),
        None => agent.into_owned(),
    }
}

/// `1a2b3c4d (explorer "find the code")`.
pub(super) fn name(run: &RunRecord) -> String {
    format!("{} ({})", run.run_id, agent_and_label(run))
}

/// Returns the label of the run's state.
fn label(run: &RunRecord) -> StateLabel {
    let state = run.outcome.map_or(run.state.as_str(), RunOutcome::as_str).to_owned();
    let pending_question =
        run.progress.pending_question.as_deref().map(|title| one_line(title, MAX_CELL).into_string());
    let retry = run.progress.retry.clone();
    let caveat = run.caveats.first().copied();
    state_label(&RunStatus { state, pending_question, retry, caveat, ..RunStatus::default() }, now_ms())
}

/// The mark of a run's state.
pub(crate) fn mark(run: &RunRecord) -> Mark {
    label(run).mark
}

/// The state in a word or two.
pub(crate) fn state(run: &RunRecord) -> String {
    label(run).word
}

/// `running 5m12s`, `queued, position 3`, `completed after 5m12s, 1h02m ago, changed nothing`.
pub(super) fn state_and_time(run: &RunRecord, clock: &Clock) -> String {
    let queue = match (&run.progress.blocked_by, run.progress.position) {
        (Some(writer), _) => Some(format!(", blocked by {writer}, which writes here")),
        (None, position) => position.map(|position| format!(", position {position}")),
    };
    let queue = queue.filter(|_| run.is_queued());
    let before = if run.is_live() { " " } else { " after " };
    let is_known = run.is_live() || run.ended_ms.is_some();
    let runtime = run.runtime(clock.now_ms()).filter(|_| is_known);
    let runtime = runtime.map(|runtime| format!("{before}{}", figures::duration(runtime)));
    let since = run.ended_ms.map(|ended| format!(", {}", clock.distance(ended)));
    let caveat = run.caveats.first().filter(|_| run.outcome == Some(RunOutcome::Completed));
    let caveat = caveat.map(|caveat| format!(", {}", caveat.note()));
    let more: String = [queue, runtime, since, caveat].into_iter().flatten().collect();
    format!("{}{more}", state(run))
}

/// Returns the state of a run's changes in words. `None` while it works, and if it has none.
pub(super) fn changes(run: &RunRecord) -> Option<&'static str> {
    Some(match run.changes_state.filter(|_| !run.is_live())? {
        ChangesState::Unapplied => "not applied yet",
        ChangesState::HalfApplied => "half applied",
        ChangesState::Applied | ChangesState::AppliedOnly => "applied",
        ChangesState::InPlace => "changed your files",
        ChangesState::Undone => "undone",
        ChangesState::Discarded => "discarded",
    })
}

/// `12.3k tokens`, `$0.04`; zero values are left out.
pub(super) fn usage_parts(run: &RunRecord) -> Vec<String> {
    let usage = &run.progress.usage;
    let all = usage.tokens();
    let tokens = (all > 0).then(|| format!("{} tokens", figures::tokens(all)));
    let cost = (usage.cost.total > 0.0).then(|| figures::money(usage.cost.total));
    tokens.into_iter().chain(cost).collect()
}
