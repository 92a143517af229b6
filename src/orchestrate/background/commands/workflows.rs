//! The commands about workflows: lists and describes them, stops one, continues an interrupted one, and removes one.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::parse::RunCommand;
use crate::orchestrate::background::conversation::project_workflows::{relative, shown_workflows};
use crate::orchestrate::background::conversation::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::workflow::{
    WorkflowRecord, claim_continuations, remove_workflow, stop_workflow, workflows,
};
use crate::present::{
    Report, ShownWorkflow, WorkflowEnd, with_workflows, workflow_discarded_report, workflow_ended_report,
    workflow_report, workflow_started_report, workflow_stopped_report, workflow_unchanged, workflows_report,
};
use crate::run::{AllowedScript, HostCallbacks, WorkflowState, allow_script, allowed_script, blocking};
use files::canonical;
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
    workflows_report(&shown_workflows(view).await)
}

/// Adds the workflows that have not completed to the list of runs.
pub(super) async fn add_to(view: &ConversationView, report: Report) -> Report {
    let mut workflows = shown_workflows(view).await;
    workflows.retain(|workflow| workflow.state != WorkflowState::Completed);
    for workflow in &mut workflows {
        // The list has them.
        workflow.runs.clear();
    }
    with_workflows(report, &workflows)
}

/// Reports the end of a script's process, with the next step if the script can continue.
pub(super) async fn ended(view: &ConversationView, end: WorkflowEnd) -> Report {
    let ConversationScope { cwd, .. } = &view.scope;
    let end = WorkflowEnd { file: relative(Path::new(&end.file), &canonical(cwd)), ..end };
    let workflows = shown_workflows(view).await;
    let workflow = workflows.iter().find(|workflow| workflow.file.as_ref() == Some(&end.file));
    workflow_ended_report(&end, workflow)
}

/// Carries out a command on the workflow with this name: its id, its name, or the name of its file. `None`: no workflow has it.
pub(super) async fn answer_on(
    view: &ConversationView,
    name: &str,
    command: &RunCommand,
    callbacks: &dyn HostCallbacks,
) -> Option<Report> {
    let mut found = shown_workflows(view).await;
    found.retain(|workflow| {
        let file = workflow.file.as_deref().map(Path::new);
        let file = file.filter(|file| file.to_str() == Some(name) || file.file_name() == Some(name.as_ref()));
        [&workflow.id, &workflow.name].into_iter().any(|known| known == name) || file.is_some()
    });
    let does: fn(&ShownWorkflow) -> bool = match command {
        RunCommand::Stop => ShownWorkflow::can_stop,
        RunCommand::Resume { .. } => ShownWorkflow::can_resume,
        _ => ShownWorkflow::is_running,
    };
    let position = found.iter().position(does).unwrap_or_default();
    let workflow = found.into_iter().nth(position)?;
    let ConversationScope { cwd, context, .. } = &view.scope;
    let changed = |done: Result<bool, String>, report: &dyn Fn() -> Report| match done {
        Ok(true) => report(),
        Ok(false) => Report::error(format!("no process runs the workflow {}", quoted(&workflow.name))),
        Err(problem) => Report::error(problem),
    };
    Some(match command {
        RunCommand::Stop if workflow.can_stop() => {
            let done = stop_workflow(&workflow.project, context, &workflow.id).await;
            let text = if workflow.is_running() {
                format!("stopped the workflow {} and its runs", quoted(&workflow.name))
            } else {
                format!("gave up the workflow {}: it does not continue by itself", quoted(&workflow.name))
            };
            let stopped = ShownWorkflow { state: WorkflowState::Stopped, ..workflow.clone() };
            changed(done, &|| workflow_stopped_report(text.clone(), &stopped))
        }
        RunCommand::Resume { message: None } if workflow.can_resume() => {
            let file = workflow.file.as_deref().unwrap_or_default();
            let file = workflow.project.join(file).to_string_lossy().into_owned();
            let script = allow_script(&file, cwd, context, callbacks).await;
            script.map_or_else(Report::error, workflow_started_report)
        }
        RunCommand::Info { .. } => workflow_report(&workflow),
        RunCommand::Discard { is_sure } if !workflow.is_running() => {
            if !is_sure {
                return Some(workflow_discarded_report(&workflow, false));
            }
            let done = remove_workflow(&workflow.project, context, &workflow.id).await;
            changed(done, &|| workflow_discarded_report(&workflow, true))
        }
        _ => workflow_unchanged(name, &workflow),
    })
}

async fn known(view: &ConversationView) -> Vec<WorkflowRecord> {
    let ConversationScope { cwd, context, .. } = &view.scope;
    workflows(cwd, context, false).await.unwrap_or_default()
}
