//! A workflow as it is stored, and as readers see it, and the result that the store keeps for a key.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::run::{RunDetails, RunOutcome, RunRecord, ToolResult, WorkflowRun, WorkflowState};
use agents::config::Config;
use pi_events::rounded_amount;
use store::HostProcess;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The end of the note that a run replaces the last one of its key.
pub(crate) const RAN_AGAIN: &str = ", so it ran again";

/// The limits of a workflow.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkflowLimits {
    /// The most that all its runs together may cost, in USD.
    pub max_cost: Option<f64>,
    /// The most tokens of all its runs together.
    pub max_tokens: Option<u64>,
    /// The most runs that may start in one execution. Reused results do not count.
    pub max_runs: Option<u64>,
}

/// A workflow. Times are milliseconds since 1970 in UTC.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkflowRecord {
    /// Its id, which is unique in its project.
    pub id: String,
    /// Its name for people.
    pub name: Option<String>,
    /// The directory that it belongs to.
    pub project: PathBuf,
    /// The file of its script.
    pub file: Option<PathBuf>,
    /// The id of the workflow that has started it.
    pub parent: Option<String>,
    /// Its state.
    pub state: WorkflowState,
    /// The error of its script.
    pub error: Option<String>,
    /// The time of its first start.
    pub started_ms: i64,
    /// The time of its last end.
    pub ended_ms: Option<i64>,
    /// The number of times that it was started.
    pub starts: u32,
    /// The phases that it has entered, each once, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<String>,
    /// The phase that it is in.
    pub phase: Option<String>,
    /// Its limits.
    pub limits: WorkflowLimits,
    /// The account of its runs.
    pub account: String,
    /// Spent by its runs, in USD.
    #[serde(serialize_with = "rounded_amount")]
    pub cost: f64,
    /// Tokens of its runs.
    pub tokens: u64,
    /// The process id of its host.
    pub host_pid: Option<u32>,
    /// The current run of each of its keys, the key used first comes first.
    #[serde(skip_deserializing)]
    pub runs: Vec<KeyedRecord>,
}

/// A run of a workflow.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyedRecord {
    /// Its key in the workflow.
    pub key: String,
    /// The id of the run.
    pub run_id: String,
    /// The key of the run in the list of runs.
    pub run_key: String,
    /// The phase in which it has started.
    pub phase: Option<String>,
    /// The agent.
    pub agent: String,
    /// The task, at most its first 4 KiB.
    pub task: String,
    /// `queued`, `starting`, `running`, `retrying` or `awaiting_quota`; `ended` after the end.
    pub state: &'static str,
    /// The outcome. Absent while the run is live.
    pub outcome: Option<RunOutcome>,
    /// The error message.
    pub error: Option<String>,
    /// Spent by the run, in USD.
    #[serde(serialize_with = "rounded_amount")]
    pub cost: f64,
    /// Tokens of the run.
    pub tokens: u64,
    /// The time at which it got its slot.
    pub started_ms: Option<i64>,
    /// The time of its end.
    pub ended_ms: Option<i64>,
}

impl KeyedRecord {
    /// The entry of a run. `is_dead`: its process has ended.
    pub(super) fn of(key: String, run: &RunRecord, is_dead: bool) -> Self {
        Self {
            key,
            run_id: run.run_id.clone(),
            run_key: run.key.clone(),
            phase: run.workflow.as_ref().and_then(|workflow| workflow.phase.clone()),
            agent: run.agent.clone(),
            task: run.task.clone(),
            state: if is_dead { RunRecord::ENDED } else { run.state() },
            outcome: if is_dead { Some(RunOutcome::Interrupted) } else { run.outcome },
            error: run.error.clone(),
            cost: run.progress.usage.cost.total,
            tokens: run.progress.usage.tokens(),
            started_ms: run.started_ms,
            ended_ms: run.ended_ms,
        }
    }
}

impl WorkflowRecord {
    /// The workflow of a run that belongs to no script: its state follows from its runs.
    pub(super) fn of_runs(place: &WorkflowRun, started_ms: i64) -> Self {
        Self {
            id: place.id.clone(),
            project: place.project.clone(),
            state: WorkflowState::Completed,
            started_ms,
            account: place.account.clone().unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Returns the text that the store keeps.
    pub(super) fn to_json(&self) -> String {
        let kept = Self { runs: Vec::new(), ..self.clone() };
        serde_json::to_string(&kept).expect("a workflow has texts for keys")
    }

    /// Adds its runs. State, cost and tokens follow from them, from its host, and from a request to end it (`is_stopping`).
    pub(super) fn with_runs(mut self, host: HostProcess, is_stopping: bool, runs: Vec<KeyedRecord>) -> Self {
        let is_any = |outcome: Option<RunOutcome>| runs.iter().any(|run| run.outcome == outcome);
        self.state = match (self.state, host) {
            // Its process was killed before its script had handled the request.
            (WorkflowState::Running, HostProcess::None | HostProcess::Dead) if is_stopping => {
                WorkflowState::Stopped
            }
            (WorkflowState::Running, HostProcess::None | HostProcess::Dead) => WorkflowState::Interrupted,
            (WorkflowState::Completed, HostProcess::None) if is_any(None) => WorkflowState::Running,
            // No script has started it, so only its runs say how it has ended.
            (WorkflowState::Completed, _) if self.starts == 0 => {
                if is_any(Some(RunOutcome::Interrupted)) {
                    WorkflowState::Interrupted
                } else if runs.iter().all(|run| run.outcome == Some(RunOutcome::Completed)) {
                    WorkflowState::Completed
                } else if is_any(Some(RunOutcome::Aborted)) {
                    WorkflowState::Stopped
                } else {
                    WorkflowState::Failed
                }
            }
            (state, _) => state,
        };
        self.cost = self.cost.max(runs.iter().map(|run| run.cost).sum());
        self.tokens = runs.iter().map(|run| run.tokens).sum();
        self.runs = runs;
        self
    }
}

/// Returns the time at which a workflow is removed unless something happens in it before that.
pub(super) fn expiry(now_ms: i64, config: &Config) -> i64 {
    match config.workflows.retention_days {
        0 => i64::MAX,
        days => now_ms.saturating_add(i64::from(days).saturating_mul(DAY_MS)),
    }
}

/// A result that the store keeps for the key of its run, without the fields that only one process needs.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptResult {
    text: String,
    details: RunDetails,
}

impl KeptResult {
    /// Returns the text that the store keeps of a result.
    pub(crate) fn of(result: &ToolResult) -> String {
        let kept = Self { text: result.text.clone(), details: result.details.clone() };
        serde_json::to_string(&kept).expect("texts and numbers are JSON")
    }

    /// Returns the result again, for a call that pays nothing for it. It has the usage of the stored run, with the usage of
    /// messages that continued the run after its result. `None` if a file with a part of it was removed, or if a newer release
    /// wrote it. Blocks.
    pub(crate) fn read(text: &str, run: &RunRecord) -> Option<ToolResult> {
        let Self { text, mut details } = serde_json::from_str(text).ok()?;
        let single = details.results.first_mut()?;
        let files = [&single.full_output_file, &single.structured_file];
        if !files.into_iter().flatten().all(|file| Path::new(file).is_file()) {
            return None;
        }
        single.reused = true;
        // It is about the call that ran.
        single.diagnostics.retain(|note| !note.ends_with(RAN_AGAIN));
        single.run_id = Some(run.run_id.clone());
        single.usage = run.progress.usage.clone();
        Some(ToolResult { text, is_error: false, usage: None, details })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_workflow_whose_process_dies_is_stopped_and_not_interrupted() {
        let state =
            |host, is_stopping| WorkflowRecord::default().with_runs(host, is_stopping, Vec::new()).state;
        assert_eq!(state(HostProcess::Dead, true), WorkflowState::Stopped);
        assert_eq!(state(HostProcess::Dead, false), WorkflowState::Interrupted);
        assert_eq!(state(HostProcess::Other, true), WorkflowState::Running, "its script still runs");
    }

    #[test]
    fn a_workflow_without_a_script_has_the_state_of_its_runs() {
        let state = |outcomes: &[Option<RunOutcome>]| {
            let run = |outcome: &Option<RunOutcome>| {
                let run = RunRecord { outcome: *outcome, ..RunRecord::default() };
                KeyedRecord::of("key".to_owned(), &run, false)
            };
            let workflow = WorkflowRecord::of_runs(&WorkflowRun::default(), 0);
            workflow.with_runs(HostProcess::None, false, outcomes.iter().map(run).collect()).state
        };
        let [completed, failed, aborted, interrupted] =
            [RunOutcome::Completed, RunOutcome::Failed, RunOutcome::Aborted, RunOutcome::Interrupted]
                .map(Some);
        assert_eq!(state(&[completed]), WorkflowState::Completed);
        assert_eq!(state(&[completed, failed]), WorkflowState::Failed);
        assert_eq!(state(&[failed, aborted]), WorkflowState::Stopped);
        assert_eq!(state(&[aborted, interrupted]), WorkflowState::Interrupted);
        assert_eq!(state(&[interrupted, None]), WorkflowState::Running);
    }
}
