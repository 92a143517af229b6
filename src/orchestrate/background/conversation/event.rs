//! The events that a conversation's listener receives.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_with_macros::skip_serializing_none;
use tokio::time::Instant;

use super::published_run::{PublishedRun, RunEvent, RunEventKind};
use crate::present::{ANNOUNCEMENT, RunQuestion, ShownWorkflow, announcement_details, questions_details};
use crate::run::{RunRecord, Settled};
use agents::config::OnRestart;
use sanitizer::floor_char_boundary;

/// The maximum number of bytes of a task in an event.
const TASK_BYTES: usize = 200;
/// The shortest time between two updates of a working run for other extensions.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_secs(1);

/// A change in the background runs of a conversation. Its JSON has only the fields with something new.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundEvent {
    /// All of its runs, newest first, without their long texts, including foreground runs. `None` if nothing has changed.
    pub runs: Option<Vec<RunRecord>>,
    /// The running workflows of the conversation, with their runs. `None` if nothing has changed.
    pub workflows: Option<Vec<ShownWorkflow>>,
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
    /// The runs whose changes a command has applied, discarded or undone, by their ids: of any age, and all steps of
    /// chains. `None` if nothing has changed.
    pub settled: Option<BTreeMap<String, Settled>>,
    /// The changes in the project that wait for the user, once after the opening.
    pub waiting: Option<String>,
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
    pub(crate) fn new(
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
pub(crate) struct RunDiff(Option<HashMap<String, RunRecord>>);

impl RunDiff {
    /// The changes since the last call. The first event reports no run as started or ended.
    pub(crate) fn changes(&mut self, runs: Vec<RunRecord>) -> BackgroundEvent {
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
pub(crate) fn brief(mut run: RunRecord) -> RunRecord {
    (run.result, run.partial, run.structured, run.output_schema) = (None, None, None, None);
    run.structured_file = None;
    (run.notes, run.artifacts) = (Vec::new(), Vec::new());
    if run.task.len() > TASK_BYTES {
        run.task.truncate(floor_char_boundary(&run.task, TASK_BYTES));
    }
    run
}

/// The selection of events for other extensions, with a limited rate of updates.
#[derive(Debug, Default)]
pub(crate) struct EventThrottle {
    /// The last event of each active run, with its time.
    published: HashMap<String, (PublishedRun, Instant)>,
    /// The active runs that have changed since their last event.
    changed: HashMap<String, PublishedRun>,
}

impl EventThrottle {
    /// Returns the events for other extensions. A live run without an earlier event was already live when its session
    /// was opened, and gets an update.
    pub(crate) fn select(&mut self, event: &BackgroundEvent, now: Instant) -> Vec<RunEvent> {
        let mut events = Vec::new();
        for run in &event.started {
            events.push(RunEvent { kind: RunEventKind::Started, run: PublishedRun::of(run) });
            self.published.insert(run.key.clone(), (PublishedRun::of(run), now));
        }
        if let Some(runs) = &event.runs {
            let live = runs.iter().filter(|run| run.is_live() && !run.is_foreground);
            self.changed = live.map(|run| (run.key.clone(), PublishedRun::of(run))).collect();
        }
        self.changed.retain(|key, run| self.published.get(key).is_none_or(|(published, _)| published != run));
        let is_due =
            |key: &String| self.published.get(key).is_none_or(|(_, at)| now >= *at + MIN_UPDATE_INTERVAL);
        for (key, run) in self.changed.extract_if(|key, _| is_due(key)).collect::<Vec<_>>() {
            events.push(RunEvent { kind: RunEventKind::Updated, run: run.clone() });
            self.published.insert(key, (run, now));
        }
        for run in &event.ended {
            self.published.remove(&run.key);
            events.push(RunEvent { kind: RunEventKind::Ended, run: PublishedRun::of(run) });
        }
        events
    }

    /// Returns the time at which the next delayed update is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.changed
            .keys()
            .filter_map(|key| self.published.get(key))
            .map(|(_, at)| *at + MIN_UPDATE_INTERVAL)
            .min()
    }
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

    fn working(turns: u64) -> RunRecord {
        let mut run = RunRecord { key: "k".to_owned(), ..RunRecord::default() };
        run.state = RunState::Running;
        run.progress.usage.turns = turns;
        run
    }

    fn ended_run() -> RunRecord {
        RunRecord { outcome: Some(RunOutcome::Completed), ..working(9) }
    }

    fn runs(run: RunRecord) -> BackgroundEvent {
        BackgroundEvent { runs: Some(vec![run]), ..BackgroundEvent::default() }
    }

    #[test]
    fn a_run_has_at_most_one_update_event_a_second() {
        let mut throttle = EventThrottle::default();
        let start = Instant::now();
        let mut at = |ms, event: BackgroundEvent| {
            let events = throttle.select(&event, start + Duration::from_millis(ms));
            let published: Vec<_> = events.iter().map(|event| (event.kind, event.run.usage.turns)).collect();
            (published, throttle.next().map(|next| (next - start).as_millis()))
        };
        let started = BackgroundEvent { started: vec![working(0)], ..runs(working(0)) };
        assert_eq!(at(0, started), (vec![(RunEventKind::Started, 0)], None));
        assert_eq!(at(200, runs(working(1))), (vec![], Some(1_000)));
        assert_eq!(at(400, runs(working(2))), (vec![], Some(1_000)));
        assert_eq!(at(1_000, BackgroundEvent::default()), (vec![(RunEventKind::Updated, 2)], None));
        assert_eq!(at(1_100, runs(working(2))), (vec![], None), "an unchanged run has no event");
        assert_eq!(at(2_500, runs(working(3))), (vec![(RunEventKind::Updated, 3)], None));
        let ended = BackgroundEvent { ended: vec![ended_run()], ..runs(ended_run()) };
        assert_eq!(at(2_600, ended), (vec![(RunEventKind::Ended, 9)], None));
        assert_eq!(
            at(9_000, BackgroundEvent::default()),
            (vec![], None),
            "an ended run has no further event"
        );
    }

    #[test]
    fn a_run_started_earlier_appears_as_an_update_and_a_foreground_run_never() {
        let now = Instant::now();
        let mut throttle = EventThrottle::default();
        let foreground = RunRecord { is_foreground: true, key: "f".to_owned(), ..working(1) };
        let event =
            BackgroundEvent { runs: Some(vec![working(1), foreground]), ..BackgroundEvent::default() };
        let events = throttle.select(&event, now);
        assert_eq!(events, [RunEvent { kind: RunEventKind::Updated, run: PublishedRun::of(&working(1)) }]);
        assert_eq!((throttle.select(&event, now), throttle.next()), (vec![], None));
        assert_eq!(
            throttle.select(&runs(ended_run()), now),
            [],
            "a run that ended before its first event has no event"
        );
    }
}
