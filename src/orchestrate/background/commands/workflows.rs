//! The commands about workflows: lists and describes them, stops one, continues an interrupted one, and removes one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parse::RunCommand;
use crate::orchestrate::background::conversation::project_workflows::{
    relative, shown_workflows, workflow_with_key,
};
use crate::orchestrate::background::conversation::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::find::candidate;
use crate::orchestrate::background::workflow::{
    WorkflowRecord, claim_continuations, remove_workflow, stop_workflow, workflows,
};
use crate::present::{
    Report, ShownWorkflow, WORKFLOW_WORD, WorkflowEnd, ambiguous_report, unknown_workflow, with_workflows,
    workflow_continues_text, workflow_discarded_report, workflow_ended_report, workflow_not_stopped,
    workflow_report, workflow_runs_again, workflow_runs_already, workflow_started_report,
    workflow_stopped_report, workflow_stops_report, workflow_unchanged, workflows_report,
};
use crate::run::{
    AllowedScript, CallSettings, HostCallbacks, RunRecord, ScriptRefused, WorkflowState, allow_script,
    allowed_script, blocking,
};
use files::canonical;
use sanitizer::with_cause;

/// A script whose process the host of the conversation has started.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HostScript {
    /// The absolute path of the script.
    pub path: PathBuf,
    /// The id of its process.
    pub pid: u32,
}

/// An interrupted workflow of the project, whose script was a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InterruptedWorkflow {
    /// The next step of the workflow, for the user.
    pub text: String,
    /// The script, if it may run without a question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<AllowedScript>,
}

/// Returns the interrupted workflows of the project that have a script file, and claims each workflow that may run. If several pis
/// start at once, one gets each workflow. `scripts` run already.
pub async fn interrupted_workflows(
    view: &ConversationView,
    scripts: &[HostScript],
) -> Vec<InterruptedWorkflow> {
    let ConversationScope { cwd, context, .. } = &view.scope;
    let (cwd, context) = (cwd.clone(), Arc::clone(context));
    let mut found = known(view).await;
    found.retain(|workflow| workflow.state == WorkflowState::Interrupted && workflow.parent.is_none());
    let read = move || {
        let interrupted = found.into_iter().filter_map(|WorkflowRecord { id, file, .. }| {
            let script = allowed_script(&file?, &cwd, &context);
            Some((id, script))
        });
        interrupted.collect()
    };
    let mut interrupted: Vec<(String, Result<AllowedScript, ScriptRefused>)> = blocking(read).await;
    interrupted.retain(|(_, script)| !script.as_ref().is_ok_and(|script| is_running(scripts, script)));
    let may_run = interrupted.iter().filter(|(_, script)| script.is_ok());
    let claimed = claim_continuations(&view.scope, may_run.map(|(id, _)| id.clone()).collect()).await;
    interrupted.retain(|(id, script)| script.is_err() || claimed.contains(id));
    let shown = shown_workflows(view).await;
    let settings = settings(view).await;
    let of = |(id, script): (String, Result<AllowedScript, ScriptRefused>)| {
        let workflow = shown.iter().find(|workflow| workflow.id == id)?;
        let text = workflow_continues_text(
            workflow,
            script.as_ref().err().map(|refused| with_cause(refused)).as_deref(),
        );
        let text = settings.sanitizer().sanitize(&text).into_string();
        Some(InterruptedWorkflow { text, script: script.ok() })
    };
    interrupted.into_iter().filter_map(of).collect()
}

/// Lists all workflows of the project with their runs.
pub(super) async fn list(view: &ConversationView) -> Report {
    let report = workflows_report(&shown_workflows(view).await);
    report.sanitized(settings(view).await.sanitizer())
}

/// Adds the workflows that have not completed to the list of runs.
pub(super) async fn add_to(view: &ConversationView, report: Report) -> Report {
    let mut workflows = shown_workflows(view).await;
    workflows.retain(|workflow| workflow.state != WorkflowState::Completed);
    for workflow in &mut workflows {
        // The list has them.
        workflow.runs.clear();
    }
    with_workflows(report, &workflows).sanitized(settings(view).await.sanitizer())
}

/// Reports the end of a script's process, with the next step if the script can continue. The output is sanitized before it is
/// cut, because a session stores the report.
pub(super) async fn ended(view: &ConversationView, end: WorkflowEnd) -> Report {
    let settings = settings(view).await;
    let mut workflows = shown_workflows(view).await;
    workflows.retain(|workflow| workflow.script.as_deref() == Some(Path::new(&end.file)));
    let file = relative(Path::new(&end.file), &canonical(&view.scope.cwd));
    let output = settings.sanitizer().sanitize(&end.output).into_string();
    workflow_ended_report(&WorkflowEnd { file, output, ..end }, &workflows).sanitized(settings.sanitizer())
}

/// Reports that a script is started, unless it runs already.
pub(super) fn start(script: AllowedScript, scripts: &[HostScript]) -> Report {
    if is_running(scripts, &script) {
        workflow_runs_already(&script)
    } else {
        workflow_started_report(script)
    }
}

fn is_running(scripts: &[HostScript], script: &AllowedScript) -> bool {
    scripts.iter().any(|running| running.path == script.path)
}

/// The workflows and the scripts with a name.
#[derive(Debug, Default)]
pub(super) struct NamedWorkflows {
    workflows: Vec<ShownWorkflow>,
    /// The scripts that the host can end.
    scripts: Vec<HostScript>,
}

/// Finds the workflow with this id, or else all workflows with this name or file. The command can end `scripts`.
pub(super) async fn named(view: &ConversationView, name: &str, scripts: &[HostScript]) -> NamedWorkflows {
    if let Some(name) = name.strip_prefix(WORKFLOW_WORD) {
        let mut workflows = Vec::from_iter(workflow_with_key(view, name).await);
        if workflows.is_empty() {
            workflows = shown_workflows(view).await;
            workflows.retain(|workflow| workflow.id == name);
        }
        return NamedWorkflows { workflows, scripts: Vec::new() };
    }
    let project = canonical(&view.scope.cwd);
    let is_file = |path: &Path| {
        let is_name = path.file_name() == Some(name.as_ref());
        is_name || path == Path::new(name) || relative(path, &project) == name
    };
    let mut workflows = shown_workflows(view).await;
    let is_id = workflows.iter().any(|workflow| workflow.id == name);
    workflows.retain(|workflow| {
        let has_name = || workflow.name == name || workflow.script.as_deref().is_some_and(is_file);
        workflow.id == name || (!is_id && has_name())
    });
    let mut scripts = scripts.to_vec();
    scripts.retain(|script| is_file(&script.path));
    // They end with their script.
    workflows.retain(|workflow| scripts.iter().all(|script| workflow.script.as_ref() != Some(&script.path)));
    NamedWorkflows { workflows, scripts }
}

impl NamedWorkflows {
    pub(super) fn is_empty(&self) -> bool {
        self.workflows.is_empty() && self.scripts.is_empty()
    }

    /// Refuses a name that these and some runs have, with all of them.
    pub(super) async fn ambiguous(&self, view: &ConversationView, name: &str, runs: &[RunRecord]) -> Report {
        let scripts = self.scripts.iter().map(|script| script.path.to_string_lossy().into_owned()).collect();
        let line = |run: &RunRecord| {
            let mut line = candidate(run);
            if run.run_id == name {
                line.name.clone_from(&run.key);
            }
            line
        };
        let report = ambiguous_report(name, runs.iter().map(line).collect(), &self.workflows, scripts);
        report.sanitized(settings(view).await.sanitizer())
    }

    /// Carries out a command on the only workflow or script. `scripts` are all that the host can end.
    pub(super) async fn answer(
        mut self,
        view: &ConversationView,
        name: &str,
        command: &RunCommand,
        scripts: &[HostScript],
        callbacks: &dyn HostCallbacks,
    ) -> Report {
        let report = match (self.workflows.len(), self.scripts.as_slice()) {
            (0, []) => unknown_workflow(name, &shown_workflows(view).await),
            (0, [script]) => Report { stops: [script.pid].into(), ..workflow_stops_report(&script.path) },
            (1, []) => {
                let workflow = self.workflows.remove(0);
                Box::pin(answer_on(view, workflow, command, scripts, callbacks)).await
            }
            _ => return self.ambiguous(view, name, &[]).await,
        };
        report.sanitized(settings(view).await.sanitizer())
    }
}

async fn answer_on(
    view: &ConversationView,
    workflow: ShownWorkflow,
    command: &RunCommand,
    scripts: &[HostScript],
    callbacks: &dyn HostCallbacks,
) -> Report {
    let ConversationScope { cwd, context, .. } = &view.scope;
    match command {
        RunCommand::Stop if workflow.can_stop() => {
            match stop_workflow(&workflow.project, context, &workflow.id).await {
                Ok(true) => {}
                Ok(false) => return workflow_not_stopped(&workflow),
                Err(problem) => return Report::error(problem.to_string()),
            }
            let is_its =
                |script: &&HostScript| workflow.is_running() && workflow.host_pid == Some(script.pid);
            let stops: Box<[u32]> = scripts.iter().filter(is_its).map(|script| script.pid).collect();
            // The end of the script is reported, too.
            Report { is_on_card: !stops.is_empty(), stops, ..workflow_stopped_report(&workflow) }
        }
        RunCommand::Resume { message: None } if workflow.can_resume() => {
            let file = workflow.script.unwrap_or_default().to_string_lossy().into_owned();
            let script = allow_script(&file, cwd, context, callbacks).await;
            script.map_or_else(|refused| Report::error(with_cause(&refused)), |script| start(script, scripts))
        }
        RunCommand::Info { .. } => workflow_report(&workflow),
        RunCommand::Discard { is_sure: false } if !workflow.is_running() => {
            workflow_discarded_report(&workflow, false)
        }
        RunCommand::Discard { is_sure: true } if !workflow.is_running() => {
            match remove_workflow(&workflow.project, context, &workflow.id).await {
                Ok(true) => workflow_discarded_report(&workflow, true),
                Ok(false) => workflow_runs_again(&workflow),
                Err(problem) => Report::error(problem.to_string()),
            }
        }
        _ => workflow_unchanged(&workflow),
    }
}

async fn known(view: &ConversationView) -> Vec<WorkflowRecord> {
    let ConversationScope { cwd, context, .. } = &view.scope;
    workflows(cwd, context, false).await.unwrap_or_default()
}

async fn settings(view: &ConversationView) -> CallSettings {
    let ConversationScope { cwd, context, .. } = view.scope.clone();
    blocking(move || CallSettings::read(&cwd, &context)).await
}
