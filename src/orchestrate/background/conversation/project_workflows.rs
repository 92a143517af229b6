//! The workflows that a person sees in a conversation: all of its project, and the running ones of the conversation itself.

use std::collections::BTreeSet;
use std::path::Path;

use super::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::workflow::{KeyedRecord, WorkflowRecord, workflows, workflows_with_keys};
use crate::present::ShownWorkflow;
use crate::run::{
    CallSettings, RunOutcome, RunRecord, RunState, WorkflowRun, blocking, workflow_key, workflow_name,
};
use sanitizer::Sanitizer;

/// Returns the workflows of the project with their runs, the newest first. None if the store cannot be used, which other messages
/// say.
pub(crate) async fn shown_workflows(view: &ConversationView) -> Vec<ShownWorkflow> {
    let shown = project_workflows(view, false).await;
    view.set_workflows(&shown);
    shown
}

/// Returns the workflows of the project, or of all projects, with their runs, the newest first.
pub async fn project_workflows(view: &ConversationView, is_all: bool) -> Vec<ShownWorkflow> {
    let ConversationScope { cwd, context, .. } = &view.scope;
    shown_of(view, workflows(cwd, context, is_all).await.unwrap_or_default()).await
}

/// Returns the running workflows of these runs. `before` are the ones of the last call: a script may be between two runs.
pub(super) async fn running_workflows(
    view: &ConversationView,
    runs: &[RunRecord],
    before: &[ShownWorkflow],
) -> Vec<ShownWorkflow> {
    let of_runs = runs.iter().filter(|run| run.is_live()).filter_map(|run| run.workflow.as_ref());
    let keys: BTreeSet<_> = of_runs.map(WorkflowRun::workflow_key).collect();
    let keys: BTreeSet<_> =
        before.iter().map(|shown| workflow_key(&shown.project, &shown.id)).chain(keys).collect();
    if keys.is_empty() {
        return Vec::new();
    }
    let found = workflows_with_keys(&view.scope.context, keys.into_iter().collect()).await;
    let mut running = shown_of(view, found.unwrap_or_default()).await;
    running.retain(ShownWorkflow::is_running);
    let is_same = running.iter().map(|shown| &shown.id).eq(before.iter().map(|shown| &shown.id));
    if !is_same {
        // Completions name each workflow with its state.
        shown_workflows(view).await;
    }
    running
}

async fn shown_of(view: &ConversationView, found: Vec<WorkflowRecord>) -> Vec<ShownWorkflow> {
    let ConversationScope { cwd, context, .. } = view.scope.clone();
    let settings = blocking(move || CallSettings::read(&cwd, &context)).await;
    found.into_iter().map(|workflow| shown(workflow, settings.sanitizer())).collect()
}

/// Returns a path relative to the project if it is in there.
pub(crate) fn relative(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).to_string_lossy().into_owned()
}

/// Returns a workflow as it is shown. Its names and errors are texts of a script, so they are sanitized.
fn shown(workflow: WorkflowRecord, sanitizer: &Sanitizer) -> ShownWorkflow {
    let clean = |text: &str| sanitizer.sanitize(text).into_string();
    let count = |fits: fn(&KeyedRecord) -> bool| workflow.runs.iter().filter(|run| fits(run)).count();
    let name = workflow.name.as_deref().unwrap_or_else(|| workflow_name(&workflow.id));
    ShownWorkflow {
        name: clean(name),
        file: workflow.file.as_ref().map(|file| relative(file, &workflow.project)),
        state: workflow.state,
        phase: workflow.phase.as_deref().map(clean),
        live: count(|run| run.outcome.is_none()),
        completed: count(|run| run.outcome == Some(RunOutcome::Completed)),
        unfinished: count(|run| run.outcome.is_some_and(|outcome| outcome != RunOutcome::Completed)),
        cost: workflow.cost,
        error: workflow.error.as_deref().map(clean),
        started_ms: workflow.started_ms,
        ended_ms: workflow.ended_ms,
        runs: workflow.runs.iter().map(|run| shown_run(run, &workflow, sanitizer)).collect(),
        id: workflow.id,
        project: workflow.project,
    }
}

/// Returns a run as it is shown below its workflow, also if the list of runs does not have it.
fn shown_run(run: &KeyedRecord, workflow: &WorkflowRecord, sanitizer: &Sanitizer) -> RunRecord {
    let place = WorkflowRun {
        id: workflow.id.clone(),
        key: sanitizer.sanitize(&run.key).into_string(),
        project: workflow.project.clone(),
        phase: run.phase.clone(),
        ..WorkflowRun::default()
    };
    let mut shown = RunRecord {
        key: run.run_key.clone(),
        run_id: run.run_id.clone(),
        agent: run.agent.clone(),
        task: run.task.clone(),
        state: RunState::parse(run.state).unwrap_or_default(),
        outcome: run.outcome,
        error: run.error.clone(),
        created_ms: run.started_ms.unwrap_or(workflow.started_ms),
        started_ms: run.started_ms,
        ended_ms: run.ended_ms,
        is_foreground: true,
        workflow: Some(place),
        ..RunRecord::default()
    };
    shown.progress.usage.cost.total = run.cost;
    shown
}
