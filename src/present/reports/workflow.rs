//! Reports on the processes that run the scripts of workflows.

use std::time::Duration;

use super::action::MAX_REASON;
use crate::present::report::{Mark, Report, ReportLine};
use crate::run::AllowedScript;
use sanitizer::{figures, one_line, quoted_if_unusual};

/// The maximum number of lines of output that are shown: the newest ones.
const MAX_OUTPUT_LINES: usize = 40;

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

/// Reports that a script is started.
#[must_use]
pub fn workflow_started_report(script: AllowedScript) -> Report {
    let name = script.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = quoted_if_unusual(&name);
    let text = format!(
        "started the workflow {name}: its output arrives here when it ends. `/subagents stop {name}` ends it"
    );
    Report { workflow: Some(script), ..Report::sentence(Mark::Ok, text) }
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
