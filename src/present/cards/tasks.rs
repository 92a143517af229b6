//! The tasks of a call as its card shows them, whether they are planned, under way or over.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::present::counts::{has_ended, is_active};
use crate::present::paint::Span;
use crate::present::state_label::reason;
use crate::present::{Mark, RunStatus, StateLabel, state_label};
use crate::run::{Mode, Progress, RunOutcome, SingleResult, TaskProgress};
use agents::{Tool, prepare_arguments};
use pi_events::{ContextUse, DisplayItem, Usage};
use sanitizer::figures;

/// A silence shorter than the first limit is not shown. One longer than the second may mean trouble.
const SILENCE_SHOWN_MS: f64 = 2_000.0;
const SILENCE_ODD_MS: f64 = 10_000.0;

/// The arguments of a call. They may still be arriving, so any part can be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlannedTask {
    pub agent: String,
    pub task: String,
}

/// Returns the planned tasks of a call, as far as incomplete or foreign arguments show them.
pub(super) fn plan(mode: Mode, arguments: &str) -> Vec<PlannedTask> {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let tool = match mode {
        Mode::Parallel => Tool::Parallel,
        Mode::Chain => Tool::Chain,
        Mode::Single | Mode::Management => Tool::Subagent,
    };
    // Models send some arguments in other forms. Unknown arguments are shown unchanged.
    let arguments = prepare_arguments(tool, arguments.clone()).unwrap_or(arguments);
    let text = |entry: &Value, name: &str| {
        entry.get(name).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    let task = |entry: &Value| PlannedTask { agent: text(entry, "agent"), task: text(entry, "task") };
    match mode {
        Mode::Parallel | Mode::Chain => {
            let name = if mode == Mode::Chain { "steps" } else { "tasks" };
            arguments.get(name).and_then(Value::as_array).into_iter().flatten().map(task).collect()
        }
        Mode::Single | Mode::Management => vec![task(&arguments)],
    }
}

/// A task as it is shown.
#[derive(Debug)]
pub(super) struct TaskView<'a> {
    pub agent: &'a str,
    pub task: &'a str,
    /// A word of a task's state or outcome, or `planned`.
    pub state: &'a str,
    /// The mark and words of its state.
    pub label: StateLabel,
    /// Absent when the task has not started.
    pub elapsed_ms: Option<f64>,
    /// The time since the child's last event; 0 if no event is expected.
    pub silent_ms: f64,
    pub is_retried: bool,
    pub usage: Option<Usage>,
    pub context: Option<ContextUse>,
    pub model: Option<&'a str>,
    pub error: Option<Cow<'a, str>>,
    /// A note on undoing its changes, until it has ended.
    pub undo_note: Option<&'a str>,
    /// The last text so far, or the answer.
    pub text: &'a str,
    pub items: &'a [DisplayItem],
    pub result: Option<&'a SingleResult>,
}

impl<'a> TaskView<'a> {
    pub(super) fn planned(plan: &'a PlannedTask, now_ms: i64) -> Self {
        let state = "planned";
        let status = RunStatus { state: state.to_owned(), ..RunStatus::default() };
        Self {
            agent: &plan.agent,
            task: &plan.task,
            state,
            label: state_label(&status, now_ms),
            elapsed_ms: None,
            silent_ms: 0.0,
            is_retried: false,
            usage: None,
            context: None,
            model: None,
            error: None,
            undo_note: None,
            text: "",
            items: &[],
            result: None,
        }
    }

    /// A task whose newest update arrived `age` milliseconds ago.
    pub(super) fn live(task: &'a TaskProgress, plan: Option<&'a PlannedTask>, age: f64, now_ms: i64) -> Self {
        let TaskProgress { agent, state, progress, error, text, display_items, .. } = task;
        let Progress { position, rate_limited_for_ms, retry, .. } = progress;
        let (agent, state) = (agent.as_deref().unwrap_or_default(), state.as_str());
        let status = RunStatus {
            state: state.to_owned(),
            position: *position,
            rate_limited_for: rate_limited_for_ms.map(|wait| duration_of(float(wait) - age)),
            blocked_by: progress.blocked_by.as_deref().map(str::to_owned),
            attempt: (!has_ended(state)).then_some(progress.attempt),
            retry: retry.clone(),
            ..RunStatus::default()
        };
        let elapsed = float(progress.elapsed_ms) + if is_active(state) { age } else { 0.0 };
        let counts_silence = state == "running" && retry.is_none();
        Self {
            agent: if agent.is_empty() { plan.map_or("", |plan| &plan.agent) } else { agent },
            task: plan.map_or("", |plan| &plan.task),
            state,
            label: state_label(&status, now_ms),
            elapsed_ms: (!matches!(state, "waiting" | "queued")).then_some(elapsed),
            silent_ms: if counts_silence { float(progress.since_event_ms) + age } else { 0.0 },
            is_retried: retry.is_some(),
            usage: Some(Usage { turns: progress.turn_count, ..progress.usage.clone() }),
            context: progress.context,
            model: progress.model.as_deref(),
            error: shown(state, error.as_deref()),
            undo_note: progress.undo_note.as_deref().filter(|_| !has_ended(state)),
            text: text.as_deref().unwrap_or_default(),
            items: display_items.as_deref().unwrap_or_default(),
            result: None,
        }
    }

    pub(super) fn ended(result: &'a SingleResult, plan: Option<&'a PlannedTask>, now_ms: i64) -> Self {
        let status = RunStatus {
            state: result.outcome.as_str().to_owned(),
            attempt: Some(result.attempts),
            stop_reason: result.stop_reason.clone(),
            signal: result.signal.clone(),
            caveat: result.caveats.first().copied(),
            ..RunStatus::default()
        };
        // A task without a start took no time.
        let has_run = result.attempts > 0 || result.duration_ms > 0;
        let planned = plan.map(|plan| plan.task.as_str()).filter(|task| !task.is_empty());
        Self {
            agent: &result.agent,
            task: planned.unwrap_or(&result.task),
            state: result.outcome.as_str(),
            label: state_label(&status, now_ms),
            elapsed_ms: has_run.then_some(float(result.duration_ms)),
            silent_ms: 0.0,
            is_retried: false,
            usage: Some(result.usage.clone()),
            context: result.context,
            model: result.model.as_deref(),
            error: shown(result.outcome.as_str(), result.error.as_deref()),
            undo_note: None,
            text: result.output.as_deref().unwrap_or_default(),
            items: &result.display_items,
            result: Some(result),
        }
    }

    pub(super) fn mark(&self) -> Mark {
        self.label.mark
    }

    /// Returns its outcome, or the reason why it waits. Empty for a running or successful task.
    pub(super) fn note(&self) -> &str {
        self.label.note.as_deref().unwrap_or_default()
    }

    /// Returns the state that a count of tasks has for it. A task that was stopped before it started was skipped.
    pub(super) fn counted_state(&self) -> &str {
        if self.mark() == Mark::Skipped { RunOutcome::Skipped.as_str() } else { self.state }
    }

    /// Returns true if the host knows a fact that its answer may contradict.
    pub(super) fn has_caveat(&self) -> bool {
        self.result.is_some_and(|result| !result.caveats.is_empty())
    }

    pub(super) fn is_completed(&self) -> bool {
        self.state == RunOutcome::Completed.as_str()
    }

    /// Returns true if it continues in the background, without its call.
    pub(super) fn continues(&self) -> bool {
        self.state == RunOutcome::Background.as_str()
    }

    /// Returns the time since the last sign of life of its child: only if it is long enough to mean trouble, or with
    /// `always`.
    pub(super) fn silence(&self, always: bool) -> Span {
        let silent = figures::elapsed(duration_of(self.silent_ms));
        if self.silent_ms > SILENCE_ODD_MS {
            return Span::new("warning", format!("silent for {silent}"));
        }
        let is_shown = always && self.silent_ms >= SILENCE_SHOWN_MS;
        Span::new("muted", if is_shown { format!("{silent} ago") } else { String::new() })
    }

    /// Returns its duration.
    pub(super) fn time(&self) -> String {
        self.elapsed_ms.map(|elapsed| clock(elapsed, !has_ended(self.state))).unwrap_or_default()
    }
}

/// Returns an error as it is shown, unless its state says the same.
fn shown<'a>(state: &str, error: Option<&'a str>) -> Option<Cow<'a, str>> {
    error.map(|error| reason(state, error)).filter(|error| !error.is_empty())
}

/// Returns a duration as text. While it is ticking, it omits the tenths.
pub(crate) fn clock(elapsed_ms: f64, is_ticking: bool) -> String {
    let elapsed = duration_of(elapsed_ms);
    if is_ticking { figures::elapsed(elapsed) } else { figures::duration(elapsed) }
}

fn duration_of(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms.max(0.0) / 1_000.0).unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay below 2^53")]
pub(super) fn float(ms: u64) -> f64 {
    ms as f64
}

/// The model of all that have one, when it is the same.
pub(super) fn common_model<'a>(views: &[TaskView<'a>]) -> Option<&'a str> {
    let models: BTreeSet<&str> = views.iter().filter_map(|view| view.model).collect();
    if models.len() == 1 { models.into_iter().next() } else { None }
}
