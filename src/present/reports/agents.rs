//! `/subagents agents`.

use crate::present::report::{Mark, Report, ReportLine};
use crate::run::{CannotRun, Listed, Listing, WriteReach};
use agents::{AgentDefinition, Source};
use sanitizer::{Diagnostic, Severity, figures, one_line, quoted_if_unusual};

/// Longest description, reason or list of tools.
const MAX_TEXT: usize = 1_000;

/// Lists the agents, what each may do, and the mistakes in their definitions.
#[must_use]
pub fn agents_report(listing: &Listing) -> Report {
    let mut report = Report::new(format!("Sub-agents: {}", figures::counted(listing.agents.len(), "agent")));
    report.lines.extend(listing.off.iter().map(|reason| line(Mark::Error, "off", reason)));
    for listed in &listing.agents {
        agent(&mut report, listed);
    }
    let mut defaults: Vec<String> = Vec::new();
    for value in listing.agents.iter().flat_map(|listed| listed.values.defaults()) {
        if !defaults.contains(&value) {
            defaults.push(value);
        }
    }
    if !defaults.is_empty() {
        report.lines.push(line(Mark::None, "otherwise", &defaults.join(", ")));
    }
    if !listing.shadowed.is_empty() {
        report.lines.push(ReportLine::new(Mark::None, "hidden", "by another agent of the same name"));
    }
    for hidden in &listing.shadowed {
        let path =
            hidden.path.as_ref().map(|path| format!(" {}", quoted_if_unusual(&path.to_string_lossy())));
        let path = path.unwrap_or_default();
        let text = format!("({}){path}: the {} agent takes effect", hidden.source, hidden.by);
        report.lines.push(line(Mark::Info, &hidden.name, &text));
    }
    report.lines.extend(listing.diagnostics.iter().map(diagnostic));
    report
}

fn agent(report: &mut Report, listed: &Listed) {
    let Listed { agent, values, plan, writes, only_reads, notices, permission_hooks, model_note, .. } =
        listed;
    let AgentDefinition { name, description, source, readonly, path, .. } = &**agent;
    let traits = match (readonly, writes) {
        (true, _) => format!("{source}, readonly"),
        (false, None) if *only_reads => format!("{source}, has only reading tools"),
        (false, None) => format!("{source}, cannot write here: `allowWrite` is off"),
        (false, Some(WriteReach::Tree)) => format!("{source}, writes in its tree"),
        (false, Some(WriteReach::Anywhere)) => format!("{source}, writes anywhere"),
    };
    let mark = match plan {
        Ok(_) => Mark::Ok,
        Err(CannotRun::Model(_) | CannotRun::Launcher(_)) => Mark::Error,
        // It needs a package that is not installed, which is not a mistake.
        Err(CannotRun::Off(_)) => Mark::Info,
        Err(_) if *source == Source::Builtin => Mark::Info,
        Err(_) => Mark::Error,
    };
    let availability = if plan.is_ok() { "" } else { "unavailable · " };
    report.lines.push(line(mark, name, &format!("({traits}) {availability}{description}")));
    match plan {
        Ok(plan) if plan.tools.is_empty() => report.lines.push(below("tools", "none")),
        Ok(plan) => report.lines.push(below("tools", &plan.tools.join(", "))),
        Err(error) => report.lines.push(below("cannot run", &error.to_string())),
    }
    if !permission_hooks.is_empty() {
        report.lines.push(below("hooks", &permission_hooks.join(", ")));
    }
    // `doctor` reports the tools that builtins lack, once for all of them.
    let is_builtin = *source == Source::Builtin;
    let dropped = plan.iter().flat_map(|plan| &plan.dropped);
    for dropped in dropped.filter(|dropped| !is_builtin || !dropped.is_unavailable()) {
        report.lines.push(below("without", &format!("{}: {}", dropped.tool, dropped.why())));
    }
    report.lines.extend(notices.iter().map(|notice| below("without", notice)));
    report.lines.extend(model_note.iter().map(|note| below("model", note)));
    let settings = values.by_source();
    if !settings.is_empty() {
        report.lines.push(below("settings", &settings));
    }
    if let Some(path) = path {
        report.lines.push(below("file", &path.to_string_lossy()));
    }
}

fn diagnostic(diagnostic: &Diagnostic) -> ReportLine {
    let mark = match diagnostic.severity {
        Severity::Error => Mark::Error,
        Severity::Warning => Mark::Warning,
        Severity::Info => Mark::Info,
    };
    // A code is longer than names are, and would move the column of all of them.
    line(mark, "", &format!("{diagnostic} ({})", diagnostic.code))
}

fn line(mark: Mark, name: &str, text: &str) -> ReportLine {
    ReportLine::new(mark, one_line(name, MAX_TEXT), one_line(text, MAX_TEXT))
}

fn below(name: &str, text: &str) -> ReportLine {
    ReportLine { indent: 1, ..line(Mark::None, name, text) }
}
