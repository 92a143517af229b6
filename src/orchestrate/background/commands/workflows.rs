//! The commands about workflows: lists them, stops one, and continues an interrupted one.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::orchestrate::background::conversation::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::workflow::{
    KeyedRecord, WorkflowRecord, WorkflowState, claim_continuations, stop_workflow, workflows,
};
use crate::present::{Mark, Report, WorkflowRow, WorkflowRunRow, workflow_lines, workflows_report};
use crate::run::{
    AllowedScript, CallSettings, HostCallbacks, RunOutcome, allow_script, allowed_script, blocking,
};
use sanitizer::quoted;

/// An interrupted workflow of the project, whose script was a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedWorkflow {
    /// Its id.
    pub id: String,
    /// The path of its script, relative to the project if it is in there.
    pub file: String,
    /// The script, if it may run without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<AllowedScript>,
    /// The reason why it may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Returns the interrupted workflows of the project whose scripts were files, and claims those that may run: of several pis that
/// start at once, one gets a workflow.
pub async fn interrupted_workflows(view: &ConversationView) -> Vec<InterruptedWorkflow> {
    let ConversationScope { cwd, context, .. } = &view.scope;
    let (cwd, context) = (cwd.clone(), Arc::clone(context));
    let mut found = known(view).await;
    found.retain(|workflow| workflow.state == WorkflowState::Interrupted && workflow.parent.is_none());
    let read = move || {
        let interrupted = found.into_iter().filter_map(|WorkflowRecord { id, file, project, .. }| {
            let path = file?;
            let (script, problem) = match allowed_script(&path, &cwd, &context) {
                Ok(script) => (Some(script), None),
                Err(problem) => (None, Some(problem)),
            };
            Some(InterruptedWorkflow { id, file: relative(&path, &project), script, problem })
        });
        interrupted.collect()
    };
    let mut interrupted: Vec<InterruptedWorkflow> = blocking(read).await;
    let may_run = interrupted.iter().filter(|workflow| workflow.script.is_some());
    let claimed =
        claim_continuations(&view.scope, may_run.map(|workflow| workflow.id.clone()).collect()).await;
    interrupted.retain(|workflow| workflow.script.is_none() || claimed.contains(&workflow.id));
    interrupted
}

/// Lists all workflows of the project with their runs.
pub(super) async fn list(view: &ConversationView) -> Report {
    let report = workflows_report(known(view).await.iter().map(|workflow| row(workflow, true)).collect());
    sanitized(view, report).await
}

/// Adds the workflows that run or were interrupted to the list of runs.
pub(super) async fn add_to(view: &ConversationView, mut report: Report) -> Report {
    let rows = known(view)
        .await
        .into_iter()
        .filter(|workflow| matches!(workflow.state, WorkflowState::Running | WorkflowState::Interrupted));
    let rows: Vec<_> = rows.map(|workflow| row(&workflow, false)).collect();
    if rows.is_empty() {
        return report;
    }
    report.lines.splice(0..0, workflow_lines(&rows));
    sanitized(view, report).await
}

/// Sanitizes a report, because names and errors are texts of scripts.
async fn sanitized(view: &ConversationView, report: Report) -> Report {
    let ConversationScope { cwd, context, .. } = view.scope.clone();
    let settings = blocking(move || CallSettings::read(&cwd, &context)).await;
    report.sanitized(settings.sanitizer())
}

/// Stops the workflow with this name. `None`: there is none that runs.
pub(super) async fn stop(view: &ConversationView, name: &str) -> Option<Report> {
    let found = named(view, name, WorkflowState::Running).await?;
    let ConversationScope { context, .. } = &view.scope;
    Some(match stop_workflow(&found.project, context, &found.id).await {
        Ok(true) => {
            Report::sentence(Mark::Ok, format!("stopped the workflow {} and its runs", quoted(&found.id)))
        }
        Ok(false) => Report::error(format!("no process runs the workflow {}", quoted(&found.id))),
        Err(problem) => Report::error(problem),
    })
}

/// Continues the workflow with this name, whose process has ended. `None`: there is none that has a script.
pub(super) async fn resume(
    view: &ConversationView,
    name: &str,
    callbacks: &dyn HostCallbacks,
) -> Option<Result<AllowedScript, String>> {
    let mut found = None;
    for state in [WorkflowState::Interrupted, WorkflowState::Stopped, WorkflowState::Failed] {
        found = found.or(named(view, name, state).await);
    }
    let file = found?.file?;
    let ConversationScope { cwd, context, .. } = &view.scope;
    Some(allow_script(&file.to_string_lossy(), cwd, context, callbacks).await)
}

/// Finds the newest workflow in this state by its id, its name, or the name of its file.
async fn named(view: &ConversationView, name: &str, state: WorkflowState) -> Option<WorkflowRecord> {
    let is_named = |workflow: &WorkflowRecord| {
        let file = workflow.file.as_ref().and_then(|file| file.file_name());
        workflow.id == name
            || workflow.name.as_deref() == Some(name)
            || file.is_some_and(|file| file.to_string_lossy() == name)
    };
    known(view).await.into_iter().find(|workflow| workflow.state == state && is_named(workflow))
}

/// The workflows of the project, the newest first. None if the store cannot be used, which other messages say.
async fn known(view: &ConversationView) -> Vec<WorkflowRecord> {
    let ConversationScope { cwd, context, .. } = &view.scope;
    workflows(cwd, context, false).await.unwrap_or_default()
}

fn relative(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).to_string_lossy().into_owned()
}

fn row(workflow: &WorkflowRecord, with_runs: bool) -> WorkflowRow {
    let runs: &[KeyedRecord] = if with_runs { &workflow.runs } else { &[] };
    let count = |fits: fn(&KeyedRecord) -> bool| workflow.runs.iter().filter(|run| fits(run)).count();
    WorkflowRow {
        mark: match workflow.state {
            WorkflowState::Running => Mark::Running,
            WorkflowState::Completed => Mark::Ok,
            WorkflowState::Failed => Mark::Error,
            WorkflowState::Stopped | WorkflowState::Interrupted => Mark::Warning,
        },
        name: workflow.name.clone().unwrap_or_else(|| workflow.id.clone()),
        file: workflow.file.as_ref().map(|file| relative(file, &workflow.project)),
        state: workflow.state.as_str(),
        phase: workflow.phase.clone(),
        live: count(|run| run.outcome.is_none()),
        completed: count(|run| run.outcome == Some(RunOutcome::Completed)),
        unfinished: count(|run| run.outcome.is_some_and(|outcome| outcome != RunOutcome::Completed)),
        cost: workflow.cost,
        error: workflow.error.clone(),
        runs: runs.iter().map(run_row).collect(),
    }
}

fn run_row(run: &KeyedRecord) -> WorkflowRunRow {
    WorkflowRunRow {
        mark: match run.outcome {
            None => Mark::Running,
            Some(RunOutcome::Completed) => Mark::Ok,
            Some(RunOutcome::Aborted | RunOutcome::Interrupted) => Mark::Warning,
            Some(_) => Mark::Error,
        },
        key: run.key.clone(),
        run_id: run.run_id.clone(),
        agent: run.agent.clone(),
        state: run.outcome.map_or(run.state, RunOutcome::as_str),
        cost: run.cost,
    }
}
