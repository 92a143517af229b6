//! Reports on the processes that run the scripts of workflows.

use std::time::Duration;

use super::action::MAX_REASON;
use crate::present::report::{Mark, Report, ReportLine};
use crate::run::AllowedScript;
use sanitizer::{figures, one_line, quoted_if_unusual};

/// The maximum number of lines of output that are shown: the newest ones.
const MAX_OUTPUT_LINES: usize = 40;

/// The maximum length of a row.
const MAX_ROW: usize = 600;

/// The end of the process of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowEnd {
    /// The name of its script.
    pub name: String,
    /// Its exit code; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// True if the user has stopped it.
    pub was_stopped: bool,
    /// The time since its start.
    pub duration: Duration,
    /// Its output; after a failure its errors.
    pub output: String,
}

/// A workflow in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowRow {
    /// The mark of its state.
    pub mark: Mark,
    /// Its name.
    pub name: String,
    /// The path of its script.
    pub file: Option<String>,
    /// Its state.
    pub state: &'static str,
    /// The phase that it is in.
    pub phase: Option<String>,
    /// The number of its runs that have not ended.
    pub live: usize,
    /// The number of its runs with a result.
    pub completed: usize,
    /// The number of its other runs.
    pub unfinished: usize,
    /// Spent by its runs, in USD.
    pub cost: f64,
    /// The error of its script.
    pub error: Option<String>,
    /// Its runs, if they are shown.
    pub runs: Vec<WorkflowRunRow>,
}

/// A run of a workflow in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowRunRow {
    /// The mark of its state.
    pub mark: Mark,
    /// Its key in the workflow.
    pub key: String,
    /// Its id.
    pub run_id: String,
    /// Its agent.
    pub agent: String,
    /// Its state or its outcome.
    pub state: &'static str,
    /// Spent by the run, in USD.
    pub cost: f64,
}

/// Lists the workflows of a project, given newest first, as a tree with their runs. A low terminal shows the end, so the newest
/// comes last.
#[must_use]
pub fn workflows_report(rows: Vec<WorkflowRow>) -> Report {
    if rows.is_empty() {
        let hint = "no workflow of this project is stored; `/subagents workflow FILE` runs a script";
        return Report::new("Workflows: none").with(ReportLine::new(Mark::Info, "", hint));
    }
    let mut report = Report::new(format!("Workflows: {}", rows.len()));
    report.lines = workflow_lines(&rows.into_iter().rev().collect::<Vec<_>>());
    report
}

/// One line for each workflow, and one below it for each of its runs that are shown.
#[must_use]
pub fn workflow_lines(rows: &[WorkflowRow]) -> Vec<ReportLine> {
    let mut lines = Vec::new();
    for row in rows {
        let mut parts = vec![format!("workflow {}", quoted_if_unusual(&row.name))];
        parts.extend(row.file.as_deref().filter(|file| *file != row.name).map(str::to_owned));
        parts.push(row.state.to_owned());
        parts.extend(row.phase.as_deref().map(|phase| format!("phase {}", quoted_if_unusual(phase))));
        let counts =
            [(row.live, "running"), (row.completed, "completed"), (row.unfinished, "without a result")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, state)| format!("{count} {state}")).collect();
        if !counts.is_empty() {
            parts.push(format!("runs: {}", counts.join(", ")));
        }
        parts.extend(cost(row.cost));
        parts.extend(row.error.as_deref().map(|error| one_line(error, MAX_REASON).into_string()));
        lines.push(ReportLine::new(row.mark, "", one_line(&parts.join(" · "), MAX_ROW)));
        lines.extend(row.runs.iter().map(|run| {
            let mut parts = vec![run.run_id.clone(), quoted_if_unusual(&run.key).into_owned()];
            parts.extend([run.agent.clone(), run.state.to_owned()]);
            parts.extend(cost(run.cost));
            ReportLine { mark: run.mark, ..ReportLine::below(one_line(&parts.join(" · "), MAX_ROW)) }
        }));
    }
    lines
}

fn cost(amount: f64) -> Option<String> {
    (amount > 0.0).then(|| figures::money(amount))
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

/// Reports the end of a workflow, with the newest lines of its output.
#[must_use]
pub fn workflow_ended_report(end: &WorkflowEnd) -> Report {
    let name = quoted_if_unusual(&end.name);
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
    report.lines.extend(lines[hidden..].iter().map(|line| ReportLine::below(one_line(line, MAX_REASON))));
    report
}
