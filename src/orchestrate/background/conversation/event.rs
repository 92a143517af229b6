//! The events that a conversation's listener receives.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use super::published_run::PublishedRun;
use crate::present::{ANNOUNCEMENT, RunQuestion, announcement_details, questions_details};
use crate::run::RunRecord;
use agents::config::OnRestart;
use sanitizer::{floor_char_boundary, text_enum};

/// The maximum number of bytes of a task in an event.
const TASK_BYTES: usize = 200;

/// A change in the background runs of a conversation. Its JSON has only the fields with something new.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundEvent {
    /// All of its runs, newest first, without their long texts, including foreground runs. `None` if nothing has changed.
    pub runs: Option<Vec<RunRecord>>,
    /// New runs.
    #[serde(skip)]
    pub started: Vec<RunRecord>,
    /// Runs that have ended.
    #[serde(skip)]
    pub ended: Vec<RunRecord>,
    /// Results or questions for the conversation.
    #[serde(rename = "deliveries")]
    pub message: Option<DeliveryMessage>,
    /// The events for other extensions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run_events: Vec<RunEvent>,
    /// Notices for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunEvent {
    /// The kind of the event.
    #[serde(rename = "event")]
    pub kind: RunEventKind,
    /// The run.
    pub run: PublishedRun,
}

/// Results of runs, or their questions, combined into one message for the conversation.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryMessage {
    /// The ids of the deliveries in the message.
    pub delivery_ids: Vec<String>,
    /// The ids of the runs, one for each delivery.
    pub run_ids: Vec<String>,
    /// The runs, with their long texts.
    pub runs: Vec<RunRecord>,
    /// The questions of runs. A message has either results or questions.
    pub questions: Vec<RunQuestion>,
    /// The event for other extensions, once the message is in the conversation.
    pub delivered_event: DeliveredEvent,
    /// The message text for the model.
    pub text: String,
    /// True if it starts a turn of an idle conversation.
    #[serde(rename = "triggerTurn")]
    pub triggers_turn: bool,
    /// The same as pi takes it.
    pub announcement: Announcement,
    /// The interrupted runs in the message, if `background.onRestart` is `ask` or `resume`.
    pub restart: Option<Restart>,
}

/// Interrupted runs that can be resumed after a restart of pi.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restart {
    /// `ask` or `resume`.
    pub mode: OnRestart,
    /// The keys of the runs.
    pub keys: Vec<String>,
}

/// The event `subagent:delivered`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveredEvent {
    /// The ids of the runs.
    pub run_ids: Vec<String>,
    /// The ids of the deliveries, in the same order.
    pub delivery_ids: Vec<String>,
    /// The runs, with the beginnings of their results.
    pub runs: Vec<PublishedRun>,
}

/// A message of pi's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    /// [`ANNOUNCEMENT`].
    pub custom_type: &'static str,
    /// The message text for the model.
    pub content: String,
    /// True: people see it.
    pub display: bool,
    /// The details that a session keeps next to the text.
    pub details: Value,
}

impl DeliveryMessage {
    /// Creates a message with results or questions.
    pub(in super::super) fn new(
        delivery_ids: Vec<String>,
        runs: Vec<RunRecord>,
        questions: Vec<RunQuestion>,
        text: String,
        triggers_turn: bool,
    ) -> Self {
        let asking = questions.iter().map(|question| &question.run_id);
        let run_ids: Vec<_> = runs.iter().map(|run| &run.run_id).chain(asking).cloned().collect();
        let details = if questions.is_empty() {
            announcement_details(&delivery_ids, &runs)
        } else {
            questions_details(&delivery_ids, &questions)
        };
        let content = text.clone();
        let published = runs.iter().map(PublishedRun::of).collect();
        Self {
            delivered_event: DeliveredEvent {
                run_ids: run_ids.clone(),
                delivery_ids: delivery_ids.clone(),
                runs: published,
            },
            announcement: Announcement { custom_type: ANNOUNCEMENT, content, display: true, details },
            delivery_ids,
            run_ids,
            runs,
            questions,
            text,
            triggers_turn,
            restart: None,
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
    (run.result, run.partial, run.output_schema) = (None, None, None);
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
            TaskState::Live(state) => run.state = state,
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
