//! The events that a conversation's listener receives.

use std::collections::HashMap;

use serde_json::Value;

use crate::present::{RunQuestion, announcement_details, questions_details};
use crate::run::RunRecord;
use agents::config::OnRestart;
use sanitizer::{floor_char_boundary, text_enum};

/// The maximum number of bytes of a task in an event.
const TASK_BYTES: usize = 200;

/// A change in the background runs of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BackgroundEvent {
    /// All of its runs, newest first, without their long texts, including foreground runs. `None` if nothing has changed.
    pub runs: Option<Vec<RunRecord>>,
    /// New runs.
    pub started: Vec<RunRecord>,
    /// Runs that have ended.
    pub ended: Vec<RunRecord>,
    /// Results or questions for the conversation.
    pub message: Option<DeliveryMessage>,
    /// The events for other extensions.
    pub run_events: Vec<RunEvent>,
    /// Notices for the user.
    pub notices: Vec<String>,
}

text_enum! {
    /// The kinds of events of a run.
    pub enum RunEventKind {
        /// It was accepted, or resumed.
        Started = "subagent:started",
        /// Something about a run under way has changed.
        Updated = "subagent:update",
        /// It has ended.
        Ended = "subagent:ended",
    }
}

/// An event of a run, as other extensions receive it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// The kind of the event.
    pub kind: RunEventKind,
    /// The run, with only the fields that [`published_run`](super::event_throttle::published_run) keeps.
    pub run: RunRecord,
}

/// Results of runs, or their questions, combined into one message for the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryMessage {
    /// The ids of the deliveries in the message.
    pub delivery_ids: Vec<String>,
    /// The runs, with their long texts.
    pub runs: Vec<RunRecord>,
    /// The questions of runs. A message has either results or questions.
    pub questions: Vec<RunQuestion>,
    /// The message text for the model.
    pub text: String,
    /// True if it starts a turn of an idle conversation.
    pub triggers_turn: bool,
    /// The interrupted runs in the message, if `background.onRestart` is `ask` or `resume`.
    pub restart: Option<Restart>,
}

/// Interrupted runs that can be resumed after a restart of pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// `ask` or `resume`.
    pub mode: OnRestart,
    /// The keys of the runs.
    pub keys: Vec<String>,
}

impl DeliveryMessage {
    /// The ids of the runs, one for each delivery.
    #[must_use]
    pub fn run_ids(&self) -> Vec<String> {
        let asking = self.questions.iter().map(|question| &question.run_id);
        self.runs.iter().map(|run| &run.run_id).chain(asking).cloned().collect()
    }

    /// Returns the details that a session keeps next to the text.
    #[must_use]
    pub fn details(&self) -> Value {
        if self.questions.is_empty() {
            announcement_details(&self.delivery_ids, &self.runs)
        } else {
            questions_details(&self.delivery_ids, &self.questions)
        }
    }
}

/// A listener's answer to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    /// The listener took the event.
    Accepted,
    /// The listener failed. The deliveries in the event are offered again.
    Rejected,
    /// The listener is gone, so the conversation is closed.
    Closed,
}

/// Receives the events of a conversation.
pub trait Listener: Send + 'static {
    /// Handles an event. The next one is sent after the answer.
    fn notify(&mut self, event: BackgroundEvent) -> impl Future<Output = Ack> + Send;
}

/// Computes the changes since the previous event.
#[derive(Debug, Default)]
pub(in super::super) struct RunDiff(Option<HashMap<String, RunRecord>>);

impl RunDiff {
    /// The changes since the last call. The first event reports no run as started or ended.
    pub(in super::super) fn changes(&mut self, runs: Vec<RunRecord>) -> BackgroundEvent {
        let mut event = BackgroundEvent::default();
        if let Some(before) = &self.0 {
            for run in runs.iter().filter(|run| !run.is_foreground) {
                let was_live = before.get(&run.key).map(RunRecord::is_live);
                if was_live.is_none() || (was_live == Some(false) && run.is_live()) {
                    event.started.push(run.clone());
                }
                if was_live != Some(false) && !run.is_live() {
                    event.ended.push(run.clone());
                }
            }
        }
        let before = self.0.get_or_insert_default();
        if runs.len() != before.len() || runs.iter().any(|run| before.get(&run.key) != Some(run)) {
            *before = runs.iter().map(|run| (run.key.clone(), run.clone())).collect();
            event.runs = Some(runs);
        }
        event
    }
}

/// A run without its long texts.
pub(in super::super) fn brief(mut run: RunRecord) -> RunRecord {
    (run.result, run.partial) = (None, None);
    run.notes = Vec::new();
    if run.task.len() > TASK_BYTES {
        run.task.truncate(floor_char_boundary(&run.task, TASK_BYTES));
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunOutcome, RunState, TaskState};

    fn run(state: TaskState) -> RunRecord {
        let mut run = RunRecord { key: "k".to_owned(), ..RunRecord::default() };
        match state {
            TaskState::Waiting => {}
            TaskState::Live(state) => run.progress.state = state,
            TaskState::Ended(outcome) => run.outcome = Some(outcome),
        }
        run
    }

    #[test]
    fn a_run_starts_and_ends_once_and_starts_again_when_it_is_resumed() {
        let mut diff = RunDiff::default();
        let mut counts = |runs| {
            let event = diff.changes(runs);
            (event.runs.map_or(0, |runs| runs.len()), event.started.len(), event.ended.len())
        };
        assert_eq!(counts(Vec::new()), (0, 0, 0));
        for (state, expected) in [
            (TaskState::Waiting, (1, 1, 0)),
            (TaskState::Waiting, (0, 0, 0)),
            (TaskState::Live(RunState::Running), (1, 0, 0)),
            (TaskState::Ended(RunOutcome::Completed), (1, 0, 1)),
            (TaskState::Live(RunState::Running), (1, 1, 0)),
        ] {
            assert_eq!(counts(vec![run(state)]), expected, "{state:?}");
        }
    }

    #[test]
    fn a_brief_run_has_short_texts_that_end_with_a_whole_character() {
        let long =
            RunRecord { task: "é".repeat(150), result: Some("x".to_owned()), ..run(TaskState::Waiting) };
        let brief = brief(RunRecord { task: format!("x{}", long.task), ..long });
        assert_eq!((brief.task.len(), brief.result), (199, None));
    }
}
