//! `/subagents agents`.

use crate::present::report::{Mark, Report, ReportLine};
use crate::run::{CannotRun, Listed, Listing, ValueSource, WriteReach};
use agents::{DroppedTool, Shadowed, Source, ToolPlan, UnknownAgent};
use sanitizer::{Diagnostic, Severity, figures, one_line, quoted, quoted_if_unusual, suggestion};

/// Longest description, reason or list of tools.
const MAX_TEXT: usize = 1_000;

/// Lists the agents, one line each, then their problems in full, the worst last.
#[must_use]
pub fn agents_report(listing: &Listing) -> Report {
    let agents = &listing.agents;
    let cannot = agents.iter().filter(|listed| listed.plan.is_err()).count();
    let cannot = if cannot > 0 { format!(", {cannot} unavailable") } else { String::new() };
    let mut report = Report::new(format!("Sub-agents: {}{cannot}", figures::counted(agents.len(), "agent")));
    let (can, cannot): (Vec<_>, Vec<_>) = agents.iter().partition(|listed| listed.plan.is_ok());
    report.lines.extend(can.into_iter().chain(cannot).map(row));

    let mut problems: Vec<ReportLine> = listing.shadowed.iter().map(hidden).collect();
    problems.extend(grouped(agents.iter().flat_map(|listed| {
        let name = &listed.agent.name;
        shortfalls(listed).into_iter().map(move |shortfall| (name.as_str(), shortfall))
    })));
    problems.extend(listing.diagnostics.iter().map(diagnostic));
    problems.sort_by_key(|problem| match problem.mark {
        Mark::Error => 2,
        Mark::Warning => 1,
        _ => 0,
    });
    report.lines.extend(problems);
    let hint = "`/subagents agents NAME` shows the file, settings and rights of one";
    report.lines.push(ReportLine::new(Mark::None, "", hint));
    report.lines.extend(listing.off.iter().map(|reason| line(Mark::Error, "off", reason)));
    report
}

/// Reports everything known about an agent. A low terminal shows the end, so its tools, model, rights and problems come
/// last. An unknown name is an error with the nearest one.
#[must_use]
pub fn agent_report(name: &Result<String, UnknownAgent>, listing: &Listing) -> Report {
    let name = match name {
        Ok(name) => name,
        Err(unknown) => return unknown_agent(unknown),
    };
    listing.agents.iter().find(|listed| listed.agent.name == *name).map_or_else(
        || Report::error(format!("there is no agent {}", quoted(name))),
        |listed| details(listed, listing),
    )
}

fn unknown_agent(UnknownAgent { name, nearest, broken, .. }: &UnknownAgent) -> Report {
    if let Some(why) = broken {
        return Report::error(one_line(&format!("{} does not load: {why}", quoted(name)), MAX_TEXT));
    }
    let hint = suggestion(nearest.as_deref());
    Report::error(format!("there is no agent {}{hint}", quoted(name)))
        .with(ReportLine::below("`/subagents agents` lists them"))
}

fn details(listed: &Listed, listing: &Listing) -> Report {
    let Listed { agent, values, plan, permission_hooks, .. } = listed;
    let mut report = Report::new(format!("Agent {}", quoted_if_unusual(&agent.name)));
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            report.lines.push(line(Mark::None, name, text));
        }
    };
    add("purpose", &agent.description);
    add("defaults", &values.defaults().join(", "));
    add("settings", &values.by_source());
    add("hooks", &permission_hooks.join(", "));
    if let Some(path) = &agent.path {
        add("file", &path.to_string_lossy());
    }
    add("model", values.model.value.as_deref().unwrap_or("as in the session"));
    if let Ok(plan) = plan {
        add("tools", &tools(plan));
    }
    add("rights", &format!("{}, {}", agent.source, rights(listed)));
    let of_file = |found: &&Diagnostic| agent.path.is_some() && found.path == agent.path;
    report.lines.extend(listing.shadowed.iter().filter(|shadowed| shadowed.name == agent.name).map(hidden));
    report.lines.extend(listing.diagnostics.iter().filter(of_file).map(diagnostic));
    report.lines.extend(shortfalls(listed).into_iter().map(|(mark, text)| line(mark, "", &text)));
    report.lines.extend(listing.off.iter().map(|reason| line(Mark::Error, "off", reason)));
    match plan {
        Ok(_) if listing.off.is_some() => {}
        Ok(_) => report.lines.push(ReportLine::new(Mark::Ok, "state", "available")),
        Err(_) => report.lines.push(ReportLine::new(mark(listed), "state", "unavailable")),
    }
    report
}

/// Returns the line of an agent in the list. The model is named if it is not the session's.
fn row(listed: &Listed) -> ReportLine {
    let Listed { agent, values, plan, writes, only_reads, notices, .. } = listed;
    let model = &values.model;
    let is_own = !matches!(model.source, ValueSource::Session | ValueSource::Default);
    let model = model.value.as_deref().filter(|_| is_own);
    let mut parts = match plan {
        Ok(plan) => vec![tools(plan)],
        Err(error) => vec![format!("unavailable: {}", brief_reason(error))],
    };
    parts.extend(model.map(str::to_owned));
    if plan.is_ok() {
        let missing: Vec<_> = dropped(listed).map(|dropped| dropped.tool.as_str()).collect();
        parts.extend((!missing.is_empty()).then(|| format!("without {}", missing.join(", "))));
        parts.extend((!notices.is_empty()).then(|| figures::counted(notices.len(), "note")));
        let is_off = !agent.readonly && writes.is_none() && !only_reads;
        parts.extend(is_off.then(|| "`allowWrite` is off".to_owned()));
    }
    line(mark(listed), &agent.name, &parts.join(" · "))
}

fn mark(Listed { agent, plan, .. }: &Listed) -> Mark {
    match plan {
        Ok(_) => Mark::Ok,
        Err(CannotRun::Model(_) | CannotRun::Launcher(_)) => Mark::Error,
        // It needs a package that is not installed, which is not a mistake.
        Err(CannotRun::Off(_)) => Mark::Info,
        Err(_) if agent.source == Source::Builtin => Mark::Info,
        Err(_) => Mark::Error,
    }
}

fn brief_reason(error: &CannotRun) -> &'static str {
    match error {
        CannotRun::Tools(_) => "its tools are missing",
        CannotRun::Model(_) => "its model cannot be used",
        CannotRun::Launcher(_) => "its launcher cannot be used",
        CannotRun::Off(_) => "switched off",
    }
}

fn tools(plan: &ToolPlan) -> String {
    if plan.tools.is_empty() { "no tools".to_owned() } else { plan.tools.join(", ") }
}

fn rights(Listed { agent, writes, only_reads, .. }: &Listed) -> &'static str {
    match (agent.readonly, writes) {
        (true, _) => "readonly",
        (false, None) if *only_reads => "has only reading tools",
        (false, None) => "cannot write here: `allowWrite` is off",
        (false, Some(WriteReach::Tree)) => "writes in its tree",
        (false, Some(WriteReach::Anywhere)) => "writes anywhere",
    }
}

/// Returns the requested tools that the agent does not get. `doctor` reports the tools that builtins lack, once for all of
/// them.
fn dropped(listed: &Listed) -> impl Iterator<Item = &DroppedTool> {
    let is_builtin = listed.agent.source == Source::Builtin;
    let dropped = listed.plan.iter().flat_map(|plan| &plan.dropped);
    dropped.filter(move |dropped| !is_builtin || !dropped.is_unavailable())
}

/// Returns the full reasons why an agent cannot run, or runs with less than its file requests.
fn shortfalls(listed: &Listed) -> Vec<(Mark, String)> {
    let mut without: Vec<(String, Vec<&str>)> = Vec::new();
    // The line of the file says it, too.
    for dropped in dropped(listed).filter(|dropped| !listed.has_line_of(dropped)) {
        let why = dropped.why();
        match without.iter_mut().find(|(known, _)| *known == why) {
            Some((_, tools)) => tools.push(&dropped.tool),
            None => without.push((why, vec![&dropped.tool])),
        }
    }
    let without = without.into_iter().map(|(why, tools)| format!("without {} ({why})", tools.join(", ")));
    let notices = listed.notices.iter().cloned();
    let model = listed.model_note.iter().cloned();
    let reason = listed.plan.as_ref().err();
    // The line begins with the name of the agent.
    let name = format!("agent `{}` ", listed.agent.name);
    let reason = reason.map(|error| error.to_string().trim_start_matches(&name).to_owned());
    let reason = reason.map(|text| (mark(listed), text));
    without.chain(notices).chain(model).map(|text| (Mark::Info, text)).chain(reason).collect()
}

/// Returns a line for each different shortfall, with the names of its agents.
fn grouped<'a>(shortfalls: impl Iterator<Item = (&'a str, (Mark, String))>) -> Vec<ReportLine> {
    let mut groups: Vec<(Mark, String, Vec<&str>)> = Vec::new();
    for (name, (mark, text)) in shortfalls {
        match groups.iter_mut().find(|(_, known, _)| *known == text) {
            Some((_, _, names)) => names.push(name),
            None => groups.push((mark, text, vec![name])),
        }
    }
    let line = |(mark, text, names): (Mark, String, Vec<&str>)| {
        line(mark, "", &format!("{}: {text}", names.join(", ")))
    };
    groups.into_iter().map(line).collect()
}

fn hidden(hidden: &Shadowed) -> ReportLine {
    let path = hidden.path.as_ref().map(|path| format!(" {}", quoted_if_unusual(&path.to_string_lossy())));
    let path = path.unwrap_or_default();
    let text = format!("({}){path}: hidden by the {} agent of the same name", hidden.source, hidden.by);
    line(Mark::Info, &hidden.name, &text)
}

fn diagnostic(diagnostic: &Diagnostic) -> ReportLine {
    let mark = match diagnostic.severity {
        Severity::Error => Mark::Error,
        Severity::Warning => Mark::Warning,
        Severity::Info => Mark::Info,
    };
    line(mark, "", &diagnostic.to_string())
}

fn line(mark: Mark, name: &str, text: &str) -> ReportLine {
    ReportLine::new(mark, one_line(name, MAX_TEXT), one_line(text, MAX_TEXT))
}
