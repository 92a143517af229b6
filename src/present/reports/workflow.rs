//! Reports on the processes that run the scripts of workflows.

use std::path::Path;
use std::time::Duration;

use super::action::MAX_REASON;
use crate::present::report::{Mark, Report, ReportLine};
use crate::present::run_label::{mark, state};
use crate::present::shown_workflow::ShownWorkflow;
use crate::present::usage_text;
use crate::run::{AllowedScript, RunRecord};
use sanitizer::{figures, one_line, quoted_if_unusual};

/// The maximum number of lines of output that are shown: the newest ones.
const MAX_OUTPUT_LINES: usize = 40;

/// The columns of a tab at the beginning of a line of output, and the most columns that are kept there.
const TAB: usize = 4;
const MAX_INDENT: usize = 40;

/// The maximum length of a row.
const MAX_ROW: usize = 600;

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
    let line = |mark, parts: &[String]| ReportLine::new(mark, "", one_line(&parts.join(" · "), MAX_ROW));
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

/// One line for each next step of a workflow.
fn step_lines(workflow: &ShownWorkflow) -> impl Iterator<Item = ReportLine> {
    workflow.next_steps().into_iter().map(ReportLine::below)
}

/// Adds the workflows that have not completed, given newest first, to the list of runs, each with its next steps.
#[must_use]
pub fn with_workflows(mut report: Report, workflows: &[ShownWorkflow]) -> Report {
    for workflow in workflows.iter().rev() {
        report.lines.extend(workflow_lines(workflow));
        report.lines.extend(step_lines(workflow));
    }
    report
}

/// Says why a command does nothing to a workflow: its state, with the next steps. `name` is the name that the user has given.
#[must_use]
pub fn workflow_unchanged(name: &str, workflow: &ShownWorkflow) -> Report {
    let text = format!("the workflow {} {}", quoted_if_unusual(name), workflow.sentence());
    let mut report = Report { is_error: true, ..Report::sentence(workflow.mark(), text) };
    report.lines.extend(step_lines(workflow));
    report
}

/// Reports that a workflow was stopped or given up. `workflow` is in its new state.
#[must_use]
pub fn workflow_stopped_report(text: String, workflow: &ShownWorkflow) -> Report {
    let mut report = Report::sentence(Mark::Ok, text);
    report.lines.extend(step_lines(workflow));
    report
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

/// Reports that a script is started.
#[must_use]
pub fn workflow_started_report(script: AllowedScript) -> Report {
    let name = script.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = quoted_if_unusual(&name);
    let text = format!(
        "started the workflow {name}: its output arrives here when it ends. `/subagents stop {name}` ends it"
    );
    Report { workflow: Some(Box::new(script)), ..Report::sentence(Mark::Started, text) }
}

/// Reports the end of a workflow, with the newest lines of its output. `workflow` is the stored workflow of the script.
#[must_use]
pub fn workflow_ended_report(end: &WorkflowEnd, workflow: Option<&ShownWorkflow>) -> Report {
    let name = Path::new(&end.file).file_name().unwrap_or_default().to_string_lossy();
    let name = quoted_if_unusual(&name);
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
    match workflow.filter(|workflow| workflow.can_resume()) {
        _ if has_succeeded => {}
        Some(workflow) => report.lines.extend(step_lines(workflow)),
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
