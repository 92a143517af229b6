//! The state that the card of a call keeps between two redraws.

use std::collections::HashMap;

use super::stored::read_details;
use super::tasks::{PlannedTask, float, plan};
use crate::run::{Mode, RunDetails, RunOutcome, Settled, TaskProgress};
use serde::Deserialize;
use serde_json::Value;

/// The requested size of a card, and the time.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// All of it.
    pub is_expanded: bool,
    /// Lines of the terminal, if known.
    pub rows: Option<usize>,
    /// Milliseconds since 1970.
    pub now_ms: i64,
    /// The name of the key that stops the call. Empty without one.
    pub stop_key: String,
    /// The name of the key that moves the call to the background. Empty without one.
    pub background_key: String,
}

/// The state of each run's changes after commands, by the id of the run.
#[derive(Debug, Default)]
pub struct SettledRuns(HashMap<String, SettledRun>);

/// The news about a run since a card or a message was drawn first.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SettledRun {
    /// What a command has done with its changes.
    changes: Option<String>,
    /// The number of times that it was resumed.
    times_resumed: u32,
    /// True if it has ended in the background.
    has_ended: bool,
}

impl SettledRuns {
    /// Reads an object of ids and of the news of the runs, or only of what a command has done with the changes. Words that only a
    /// later release knows are left out.
    #[must_use]
    pub fn read(json: &str) -> Self {
        let runs: HashMap<String, Value> = serde_json::from_str(json).unwrap_or_default();
        let run = |news: Value| match news {
            Value::String(word) => SettledRun { changes: Some(word), ..SettledRun::default() },
            news => serde_json::from_value(news).unwrap_or_default(),
        };
        Self(runs.into_iter().map(|(id, news)| (id, run(news))).collect())
    }

    pub(super) fn of(&self, run_id: &str) -> Option<Settled> {
        self.0.get(run_id).and_then(|run| Settled::parse(run.changes.as_deref()?))
    }

    /// Returns true if the run was resumed after the end that followed this number of resumptions.
    pub(super) fn is_resumed(&self, run_id: &str, times_resumed: u32) -> bool {
        self.0.get(run_id).is_some_and(|run| run.times_resumed > times_resumed)
    }

    fn has_ended(&self, run_id: &str) -> bool {
        self.0.get(run_id).is_some_and(|run| run.has_ended)
    }
}

/// The phase of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Pending,
    Running,
    Done,
}

/// A call of agents as its card knows it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) mode: Mode,
    pub(super) phase: Phase,
    pub(super) plan: Vec<PlannedTask>,
    /// The live text, the answer, or what went wrong.
    pub(super) text: String,
    pub(super) details: Option<RunDetails>,
    /// The newest state of each task, complete: updates omit unchanged parts.
    pub(super) tasks: Option<Vec<TaskProgress>>,
    pub(super) has_failed: bool,
    /// The time of its start, by the clock of this process.
    started_ms: Option<f64>,
    /// The arrival of its result. Absent if this process did not see it run.
    ended_ms: Option<f64>,
    /// The arrival of the newest update.
    updated_ms: Option<f64>,
}

impl Call {
    /// A call of the tool with this name.
    #[must_use]
    pub(super) fn new(tool: &str) -> Self {
        let mode = match tool {
            "subagent_parallel" => Mode::Parallel,
            "subagent_chain" => Mode::Chain,
            _ => Mode::Single,
        };
        Self {
            mode,
            phase: Phase::Pending,
            plan: Vec::new(),
            text: String::new(),
            details: None,
            tasks: None,
            has_failed: false,
            started_ms: None,
            ended_ms: None,
            updated_ms: None,
        }
    }

    /// Sets the arguments as JSON, which can still be arriving.
    pub(super) fn ask(&mut self, arguments: &str) {
        self.plan = plan(self.mode, arguments);
    }

    /// The call is being carried out.
    pub(super) fn start(&mut self, now_ms: i64) {
        if self.phase == Phase::Pending {
            self.phase = Phase::Running;
            self.started_ms.get_or_insert(ms(now_ms));
        }
    }

    /// An update. Details that are not ours change nothing.
    pub(super) fn update(&mut self, details: &str, text: &str, now_ms: i64) {
        text.clone_into(&mut self.text);
        let Some(mut details) = read_details(details) else { return };
        let now = ms(now_ms);
        self.updated_ms = Some(now);
        if !details.tasks.is_empty() {
            let tasks = std::mem::take(&mut details.tasks);
            let mut before = self.tasks.take().unwrap_or_default().into_iter();
            self.tasks = Some(tasks.into_iter().map(|task| completed(task, before.next())).collect());
        }
        if let Some(mut run) = details.streaming.take() {
            self.started_ms = Some(now - float(run.progress.elapsed_ms));
            run.text = Some(if run.has_text == Some(true) { text.into() } else { "".into() });
            self.tasks = Some(vec![run]);
        }
        self.details = Some(details);
    }

    /// The result.
    pub(super) fn finish(&mut self, details: &str, text: &str, has_failed: bool, now_ms: i64) {
        text.clone_into(&mut self.text);
        if let Some(details) = read_details(details) {
            self.details = Some(details);
        }
        if self.phase == Phase::Running {
            self.ended_ms = Some(ms(now_ms));
        }
        self.phase = Phase::Done;
        self.has_failed = has_failed;
        self.tasks = None;
    }

    /// Takes what commands have done with the changes of runs.
    pub(super) fn settle(&mut self, settled: &SettledRuns) {
        for result in self.details.iter_mut().flat_map(|details| &mut details.results) {
            let Some(id) = result.run_id.as_deref() else { continue };
            result.settled = settled.of(id);
            result.has_later_end = match result.outcome {
                RunOutcome::Background => settled.has_ended(id),
                _ => settled.is_resumed(id, 0),
            };
        }
    }

    /// Returns true if its clock ticks.
    #[must_use]
    pub(super) fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Returns the duration of the call. For an ended run, the duration in its result.
    #[must_use]
    pub(super) fn elapsed_ms(&self, now_ms: i64) -> Option<f64> {
        if self.phase != Phase::Done {
            return self.started_ms.map(|started| ms(now_ms) - started);
        }
        let details = self.details.as_ref()?;
        let first = details.results.first()?;
        if details.mode == Mode::Single {
            return Some(float(first.duration_ms));
        }
        if let (Some(started), Some(ended)) = (self.started_ms, self.ended_ms) {
            return Some(ended - started);
        }
        // Of a call from a resumed session only this is known: steps follow each other, tasks overlap.
        (details.mode == Mode::Chain)
            .then(|| details.results.iter().map(|result| float(result.duration_ms)).sum())
    }

    /// Returns the age of the newest update.
    pub(super) fn since_update_ms(&self, now_ms: i64) -> f64 {
        self.updated_ms.map_or(0.0, |updated| ms(now_ms) - updated)
    }
}

fn completed(mut task: TaskProgress, before: Option<TaskProgress>) -> TaskProgress {
    if let Some(before) = before {
        task.text = task.text.or(before.text);
        task.display_items = task.display_items.or(before.display_items);
    }
    task
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 stay below 2^53")]
fn ms(now_ms: i64) -> f64 {
    now_ms as f64
}
