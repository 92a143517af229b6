//! The workflows that a person sees in a conversation: all of its project, and the running ones of the conversation itself.

use std::collections::BTreeSet;
use std::path::Path;

use super::view::{ConversationScope, ConversationView};
use crate::orchestrate::background::find::may_mean_run;
use crate::orchestrate::background::workflow::{KeyedRecord, WorkflowRecord, workflows, workflows_with_keys};
use crate::present::{ShownWorkflow, WORKFLOW_WORD, can_type_name, can_type_path, exact_word, quoted_word};
use crate::run::{
    CallSettings, RunOutcome, RunRecord, RunState, WorkflowRun, blocking, expand_home, workflow_key,
    workflow_name,
};
use files::canonical;
use sanitizer::Sanitizer;

/// Returns the workflows of the project with their runs, the newest first. Empty if the store cannot be used, which other messages
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

/// Returns the workflow of any project with a key in the store.
pub(crate) async fn workflow_with_key(view: &ConversationView, key: &str) -> Option<ShownWorkflow> {
    let found = workflows_with_keys(&view.scope.context, vec![key.to_owned()]).await;
    shown_of(view, found.unwrap_or_default()).await.pop()
}

async fn shown_of(view: &ConversationView, found: Vec<WorkflowRecord>) -> Vec<ShownWorkflow> {
    let ConversationScope { cwd, context, .. } = view.scope.clone();
    let runs = view.named_runs();
    let shown = move || {
        let settings = CallSettings::read(&cwd, &context);
        let place = Place {
            project: &canonical(&cwd),
            home: context.home.as_deref(),
            runs: &runs,
            sanitizer: settings.sanitizer(),
        };
        found.into_iter().map(|workflow| shown(workflow, &place)).collect()
    };
    blocking(shown).await
}

/// The conversation that workflows are shown in.
struct Place<'a> {
    project: &'a Path,
    home: Option<&'a Path>,
    /// The runs that commands may name.
    runs: &'a [RunRecord],
    sanitizer: &'a Sanitizer,
}

impl Place<'_> {
    fn clean(&self, text: &str) -> String {
        self.sanitizer.sanitize(text).into_string()
    }

    /// Returns the name of a workflow in commands, unless that is its id.
    fn word(&self, WorkflowRecord { id, project, .. }: &WorkflowRecord) -> Option<String> {
        if project != self.project || !can_type_name(id) || self.clean(id) != *id {
            return Some(exact_word(project, id));
        }
        let is_taken = id == "all" || id.starts_with(WORKFLOW_WORD) || may_mean_run(id, self.runs);
        is_taken.then(|| quoted_word(&format!("{WORKFLOW_WORD}{id}")))
    }

    /// Returns the path of a script as it is shown, if a person can type it.
    fn file(&self, WorkflowRecord { file, project, .. }: &WorkflowRecord) -> Option<String> {
        let path = file.as_deref()?;
        let shown = self.clean(&relative(path, project));
        let is_it = project.join(expand_home(shown.as_str().into(), self.home)) == path;
        (is_it && can_type_path(&shown)).then_some(shown)
    }
}

/// Returns a path relative to the project if it is in there.
pub(crate) fn relative(path: &Path, project: &Path) -> String {
    path.strip_prefix(project).unwrap_or(path).to_string_lossy().into_owned()
}

/// Returns a workflow as it is shown. Its names and errors are texts of a script, so they are sanitized. Its id is not: it finds
/// the workflow.
fn shown(workflow: WorkflowRecord, place: &Place<'_>) -> ShownWorkflow {
    let clean = |text: &str| place.clean(text);
    let count = |fits: fn(&KeyedRecord) -> bool| workflow.runs.iter().filter(|run| fits(run)).count();
    let name = workflow.name.as_deref().unwrap_or_else(|| workflow_name(&workflow.id));
    ShownWorkflow {
        name: clean(name),
        word: place.word(&workflow),
        is_other_project: workflow.project != place.project,
        file: place.file(&workflow),
        state: workflow.state,
        phase: workflow.phase.as_deref().map(clean),
        live: count(|run| run.outcome.is_none()),
        completed: count(|run| run.outcome == Some(RunOutcome::Completed)),
        unfinished: count(|run| run.outcome.is_some_and(|outcome| outcome != RunOutcome::Completed)),
        cost: workflow.cost,
        error: workflow.error.as_deref().map(clean),
        started_ms: workflow.started_ms,
        host_pid: workflow.host_pid,
        runs: workflow.runs.iter().map(|run| shown_run(run, &workflow, place.sanitizer)).collect(),
        script: workflow.file,
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
