//! Reports on the processes that run the scripts of workflows.

use std::path::Path;
use std::time::Duration;

use super::action::MAX_REASON;
use crate::present::report::{Mark, Report, ReportLine};
use crate::present::run_label::{mark, state};
use crate::present::shown_workflow::{
    ShownWorkflow, WORKFLOW_WORD, can_type_name, can_type_path, quoted_word, runs_again,
};
use crate::present::usage_text;
use crate::run::{AllowedScript, RunRecord, WorkflowState};
use sanitizer::{figures, nearest, one_line, quoted, quoted_if_unusual, suggestion};

/// The maximum number of lines of output that are shown: the newest ones.
const MAX_OUTPUT_LINES: usize = 40;

/// The columns of a tab at the beginning of a line of output, and the most columns that are kept there.
const TAB: usize = 4;
const MAX_INDENT: usize = 40;

/// The maximum length of a row.
const MAX_ROW: usize = 600;

/// The maximum number of workflows listed in an error.
const MAX_NAMED: usize = 8;

/// The end of the process of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowEnd {
    /// The file of its script, relative to the project if it is in there.
    pub file: String,
    /// Its exit code; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// True if the user has stopped it.
    pub was_stopped: bool,
    /// The time since its start.
    pub duration: Duration,
    /// Its output; after a failure its errors.
    pub output: String,
}

/// Lists the workflows of a project, given newest first, as a tree with their runs. A low terminal shows the end, so the newest
/// comes last.
#[must_use]
pub fn workflows_report(workflows: &[ShownWorkflow]) -> Report {
    if workflows.is_empty() {
        let hint = "no workflow of this project is stored; `/subagents workflow FILE` runs a script";
        return Report::new("Workflows: none").with(ReportLine::new(Mark::Info, "", hint));
    }
    let mut report = Report::new(format!("Workflows: {}", workflows.len()));
    report.lines = workflows.iter().rev().flat_map(workflow_lines).collect();
    report
}

/// Shows a workflow with its runs, and the next steps at the end, where they are seen.
#[must_use]
pub fn workflow_report(workflow: &ShownWorkflow) -> Report {
    let mut report = Report::new(format!("Workflow {}", quoted_if_unusual(&workflow.name)));
    report.lines = workflow_lines(workflow);
    report.lines.extend(step_lines(workflow));
    report
}

/// One line for a workflow, and one below it for each of its runs that are shown.
fn workflow_lines(workflow: &ShownWorkflow) -> Vec<ReportLine> {
    let line = |mark, parts: &[String]| ReportLine::new(mark, "", row(parts));
    let run_line = |run: &RunRecord| {
        let key = run.workflow.as_ref().map(|place| quoted_if_unusual(&place.key).into_owned());
        let mut parts = vec![run.run_id.clone()];
        parts.extend(key);
        parts.extend([run.agent.clone(), state(run)]);
        parts.extend(usage_text(&run.progress.usage).cost);
        ReportLine { indent: 1, ..line(mark(run), &parts) }
    };
    let own = line(workflow.mark(), &workflow.parts());
    [own].into_iter().chain(workflow.runs.iter().map(run_line)).collect()
}

fn row(parts: &[String]) -> String {
    one_line(&parts.join(" · "), MAX_ROW).into_string()
}

/// One line for each next step of a workflow.
fn step_lines(workflow: &ShownWorkflow) -> impl Iterator<Item = ReportLine> {
    workflow.next_steps().into_iter().map(ReportLine::below)
}

/// Adds the workflows that have not completed, given newest first, to the list of runs, above them: running and interrupted ones
/// with their next steps, and a number for the others.
#[must_use]
pub fn with_workflows(report: Report, workflows: &[ShownWorkflow]) -> Report {
    let is_open = |workflow: &&ShownWorkflow| {
        matches!(workflow.state, WorkflowState::Running | WorkflowState::Interrupted)
    };
    let (open, others): (Vec<_>, Vec<_>) = workflows.iter().rev().partition(is_open);
    let mut lines = Vec::new();
    if !others.is_empty() {
        let count = figures::counted(others.len(), "stopped or failed workflow");
        lines.push(ReportLine::new(Mark::Info, "", format!("{count}; `/subagents workflow` lists them")));
    }
    for workflow in open {
        lines.extend(workflow_lines(workflow));
        lines.extend(step_lines(workflow));
    }
    lines.extend(report.lines);
    Report { lines, ..report }
}

/// Refuses a name that several workflows have, or some workflows and some runs. `runs` are the lines of the runs, and `scripts`
/// the paths of scripts.
#[must_use]
pub fn ambiguous_report(
    name: &str,
    runs: Vec<ReportLine>,
    workflows: &[ShownWorkflow],
    scripts: Vec<String>,
) -> Report {
    let counts = [(runs.len(), "run"), (workflows.len() + scripts.len(), "workflow")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| figures::counted(count, what)).collect();
    let mut report = Report::error(format!("{} matches {}", quoted(name), counts.join(" and ")));
    let line = |mark, name: String, text| ReportLine { indent: 1, ..ReportLine::new(mark, name, text) };
    report.lines.extend(runs.into_iter().take(MAX_NAMED));
    let of =
        |workflow: &ShownWorkflow| line(workflow.mark(), workflow.distinct_word(), row(&workflow.parts()));
    report.lines.extend(workflows.iter().take(MAX_NAMED).map(of));
    report.lines.extend(
        scripts
            .into_iter()
            .map(|path| line(Mark::Running, quoted_if_unusual(&path).into_owned(), "script".to_owned())),
    );
    if workflows.len() > MAX_NAMED {
        let more = format!("and {} more: `/subagents workflow` lists them", workflows.len() - MAX_NAMED);
        report.lines.push(line(Mark::Info, String::new(), more));
    }
    report
}

/// Says that no workflow has a name. `name` is the word of the command.
#[must_use]
pub fn unknown_workflow(name: &str, workflows: &[ShownWorkflow]) -> Report {
    let name = name.strip_prefix(WORKFLOW_WORD).unwrap_or(name);
    let meant = suggestion(nearest(name, workflows.iter().map(|workflow| workflow.id.as_str())));
    Report::error(format!("there is no workflow {}{meant}", quoted(name)))
        .with(ReportLine::below("`/subagents workflow` lists the workflows of this project"))
}

/// Says why a command does nothing to a workflow: its state, with the next steps.
#[must_use]
pub fn workflow_unchanged(workflow: &ShownWorkflow) -> Report {
    let text = format!("the workflow {} {}", quoted_if_unusual(&workflow.name), workflow.sentence());
    with_steps(Report { is_error: true, ..Report::sentence(workflow.mark(), text) }, workflow)
}

fn with_steps(mut report: Report, workflow: &ShownWorkflow) -> Report {
    report.lines.extend(step_lines(workflow));
    report
}

/// Reports that a workflow was stopped or given up. `workflow` is in its earlier state.
#[must_use]
pub fn workflow_stopped_report(workflow: &ShownWorkflow) -> Report {
    let name = quoted_if_unusual(&workflow.name);
    let text = if workflow.is_running() {
        format!("stopped the workflow {name} and its runs")
    } else {
        format!("gave up the workflow {name}: it does not continue by itself")
    };
    let stopped = ShownWorkflow { state: WorkflowState::Stopped, ..workflow.clone() };
    with_steps(Report::sentence(Mark::Ok, text), &stopped)
}

/// Says that a workflow was not stopped, because no process runs its script.
#[must_use]
pub fn workflow_not_stopped(workflow: &ShownWorkflow) -> Report {
    Report::error(format!("no process runs the script of the workflow {}", quoted_if_unusual(&workflow.name)))
}

/// Reports that a script is asked to end. Its end is reported, too.
#[must_use]
pub fn workflow_stops_report(script: &Path) -> Report {
    let report = Report::sentence(Mark::Ok, format!("stops the workflow {}", name_of(script)));
    Report { is_on_card: true, ..report }
}

/// Reports that a workflow was not removed, because another process has continued it since.
#[must_use]
pub fn workflow_runs_again(workflow: &ShownWorkflow) -> Report {
    let name = quoted_if_unusual(&workflow.name);
    let running = ShownWorkflow { state: WorkflowState::Running, ..workflow.clone() };
    with_steps(Report::error(format!("the workflow {name} runs again, so it was not removed")), &running)
}

/// Reports that a workflow was removed. Without `is_sure`, reports the effect that the command would have.
#[must_use]
pub fn workflow_discarded_report(workflow: &ShownWorkflow, is_sure: bool) -> Report {
    let name = quoted_if_unusual(&workflow.name);
    let results = figures::counted(workflow.completed, "result");
    if is_sure {
        return Report::sentence(Mark::Ok, format!("removed the workflow {name} with {results}"));
    }
    let command = format!("`/subagents discard --yes {}` does it", workflow.word());
    let text = format!("this removes the workflow {name} with {results}; the changes of its runs stay");
    Report::sentence(Mark::Info, text).with(ReportLine::below(command))
}

/// Returns the name of a script in a sentence.
fn name_of(script: &Path) -> String {
    quoted_if_unusual(&script.file_name().unwrap_or_default().to_string_lossy()).into_owned()
}

/// Returns the command that ends a script, in a sentence after another one. Empty if no one can type its name.
fn stop_step(script: &Path) -> String {
    let name = script.file_name().and_then(|name| name.to_str()).filter(|name| can_type_name(name));
    name.map(|name| format!(". `/subagents stop {}` ends it", quoted_word(name))).unwrap_or_default()
}

/// Reports that a script is started.
#[must_use]
pub fn workflow_started_report(script: AllowedScript) -> Report {
    let (name, stop) = (name_of(&script.path), stop_step(&script.path));
    let text = format!("started the workflow {name}: its output arrives here when it ends{stop}");
    Report { workflow: Some(Box::new(script)), ..Report::sentence(Mark::Started, text) }
}

/// Says that a script is not started, because it runs already.
#[must_use]
pub fn workflow_runs_already(script: &AllowedScript) -> Report {
    let (name, stop) = (name_of(&script.path), stop_step(&script.path));
    Report::error(format!("the workflow {name} runs already{stop}"))
}

/// Says that an interrupted workflow continues, or why it does not: `problem`.
#[must_use]
pub fn workflow_continues_text(workflow: &ShownWorkflow, problem: Option<&str>) -> String {
    let name = quoted_if_unusual(&workflow.name);
    match (problem, &workflow.file) {
        (None, _) => format!(
            "continues the workflow {name}, which ended with an earlier pi. `/subagents stop {}` ends it",
            workflow.word()
        ),
        (Some(problem), Some(file)) => format!(
            "the workflow {name} ended with an earlier pi, and {problem}. `/subagents workflow {file}` continues it"
        ),
        (Some(problem), None) => format!("the workflow {name} ended with an earlier pi, and {problem}"),
    }
}

/// Reports the end of a workflow, with the newest lines of its output. `workflows` are the stored workflows of the script.
#[must_use]
pub fn workflow_ended_report(end: &WorkflowEnd, workflows: &[ShownWorkflow]) -> Report {
    let name = name_of(Path::new(&end.file));
    let time = figures::duration(end.duration);
    let (mark, text) = match end.exit_code {
        _ if end.was_stopped => (Mark::Ok, format!("stopped the workflow {name} after {time}")),
        Some(0) => (Mark::Ok, format!("the workflow {name} has ended after {time}")),
        Some(code) => (Mark::Error, format!("the workflow {name} failed after {time} (exit code {code})")),
        None => (Mark::Error, format!("a signal ended the workflow {name} after {time}")),
    };
    let mut report = Report::sentence(mark, text);
    let lines: Vec<&str> = end.output.lines().filter(|line| !line.trim().is_empty()).collect();
    let hidden = lines.len().saturating_sub(MAX_OUTPUT_LINES);
    if hidden > 0 {
        let earlier = figures::counted(hidden, "earlier line");
        report.lines.push(ReportLine::below(format!("… {earlier} not shown")));
    }
    report.lines.extend(lines[hidden..].iter().map(|line| ReportLine::below(output_line(line))));
    let has_succeeded = end.exit_code == Some(0) && !end.was_stopped;
    match workflows.iter().find(|workflow| workflow.can_resume()) {
        _ if has_succeeded => {}
        Some(workflow) => report.lines.extend(step_lines(workflow)),
        None if !can_type_path(&end.file) => {}
        None if workflows.iter().any(|workflow| workflow.completed > 0) => {
            report.lines.push(ReportLine::below(runs_again(&end.file)));
        }
        None => {
            let again = format!("`/subagents workflow {}` runs it again from its beginning", end.file);
            report.lines.push(ReportLine::below(again));
        }
    }
    report
}

/// Returns a line of output in one line, with the blanks before it: they show its place in a structure.
fn output_line(line: &str) -> String {
    let text = line.trim_start();
    let indent = &line[..line.len() - text.len()];
    let blanks: usize = indent.chars().map(|blank| if blank == '\t' { TAB } else { 1 }).sum();
    let blanks = " ".repeat(blanks.min(MAX_INDENT));
    format!("{blanks}{}", one_line(text, MAX_REASON))
}
