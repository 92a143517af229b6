//! Counts several runs by state.

use super::paint::{Color, Span};
use crate::run::RunState;

/// A word, its colour, and the states that it counts.
const COUNTED: [(&str, Color, &[&str]); 12] = [
    ("completed", "muted", &["completed"]),
    ("in the background", "muted", &["background"]),
    ("failed", "error", &["failed", "idle_timeout", "hard_timeout", "killed"]),
    ("interrupted", "warning", &["interrupted"]),
    ("over budget", "warning", &["budget"]),
    ("stopped", "warning", &["aborted"]),
    ("skipped", "muted", &["skipped"]),
    ("running", "muted", &["starting", "running", "retrying"]),
    ("waiting for quota", "warning", &["awaiting_quota"]),
    ("queued", "muted", &["queued"]),
    ("waiting", "muted", &["waiting"]),
    ("planned", "muted", &["planned"]),
];

/// Returns true if a child is active in this state, or about to be.
pub(crate) fn is_active(state: &str) -> bool {
    matches!(RunState::parse(state), Some(RunState::Starting | RunState::Running | RunState::Retrying))
}

/// Returns true if this state is an end.
pub(crate) fn has_ended(state: &str) -> bool {
    !is_active(state) && !matches!(state, "planned" | "waiting" | "queued" | "awaiting_quota")
}

/// `2 completed`, `1 failed`; `more` as in `2 more completed`.
pub(crate) fn counts(states: &[&str], more: &str) -> Vec<Span> {
    let counted = COUNTED.iter().map(|(word, color, counted)| {
        let count = states.iter().filter(|state| counted.contains(state)).count();
        (count, *color, format!("{count} {more}{word}"))
    });
    counted.filter(|(count, ..)| *count > 0).map(|(_, color, text)| Span::new(color, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunOutcome, TaskState};

    #[test]
    fn each_state_is_counted_once() {
        let states = [&["planned", TaskState::Waiting.as_str()], RunState::TEXTS, RunOutcome::TEXTS].concat();
        for state in states {
            let counted = COUNTED.iter().filter(|(_, _, counted)| counted.contains(&state)).count();
            assert_eq!(counted, 1, "{state}");
        }
    }
}
