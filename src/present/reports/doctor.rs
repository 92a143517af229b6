//! `/subagents doctor`.

use crate::doctor::{Check, Status};
use crate::present::report::{Mark, Report, ReportLine};
use sanitizer::{figures, one_line};

/// Longest message or hint.
const MAX_TEXT: usize = 4_000;

/// Reports the checks and the fixes of problems, in this order, then the number of problems.
#[must_use]
pub fn doctor_report(checks: &[Check]) -> Report {
    let counted = |status, noun| {
        let count = checks.iter().filter(|check| check.status == status).count();
        (count > 0).then(|| figures::counted(count, noun))
    };
    let (errors, warnings) = (counted(Status::Error, "error"), counted(Status::Warning, "warning"));
    let mark = match (&errors, &warnings) {
        (Some(_), _) => Mark::Error,
        (None, Some(_)) => Mark::Warning,
        (None, None) => Mark::Ok,
    };
    let found: Vec<String> = errors.into_iter().chain(warnings).collect();
    let summary = if found.is_empty() { "all checks passed".to_owned() } else { found.join(", ") };
    let mut report = Report::new(format!("Sub-agents: {summary}"));
    // Problems come last, because a low terminal shows the end.
    let (fine, wrong): (Vec<_>, Vec<_>) =
        checks.iter().partition(|check| matches!(check.status, Status::Ok | Status::Info));
    for Check { area, status, message, hint } in fine.into_iter().chain(wrong) {
        let mark = match status {
            Status::Ok => Mark::Ok,
            Status::Info => Mark::Info,
            Status::Warning => Mark::Warning,
            Status::Error => Mark::Error,
        };
        report.lines.push(ReportLine::new(mark, *area, one_line(message, MAX_TEXT)));
        report
            .lines
            .extend(hint.as_ref().map(|hint| ReportLine::below(format!("→ {}", one_line(hint, MAX_TEXT)))));
    }
    report.with(ReportLine::new(mark, "", summary))
}
