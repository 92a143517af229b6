//! `/subagents list`.

use crate::present::clock::Clock;
use crate::present::report::{Mark, Report, ReportLine};
use crate::present::run_label::{
    MAX_CELL, MAX_NAME, WAITED_FOR, agent_and_label, changes, mark, state_and_time, usage_parts,
};
use crate::present::state_label::reason;
use crate::run::{RunOutcome, RunRecord, RunState};
use sanitizer::{one_line, quoted_within};

/// Lists the runs, given newest first, and says how many older ones there are. `own` is the session that asked. Without
/// it, the runs of all sessions are given. A low terminal shows the end, so the newest runs come last. Numbers count from 1, the
/// newest. The order does not depend on states: the end of a run moves no line.
#[must_use]
pub fn list_report(runs: &[RunRecord], older: usize, own: Option<&str>, clock: &Clock) -> Report {
    let all = own.is_none();
    if runs.is_empty() {
        let reason = if all {
            "no session has a stored run"
        } else {
            "this session has no stored run; `/subagents list all` shows the runs of all sessions"
        };
        return Report::new("Runs: none").with(ReportLine::new(Mark::Info, "", reason));
    }
    let scope = if all { ", all sessions" } else { "" };
    let is_own = |run: &&RunRecord| own.is_none_or(|own| own == run.session);
    let title = [counts(runs)].into_iter().chain(total(runs.iter().filter(is_own)));
    let mut report = Report::new(format!("Runs{scope}: {}", title.collect::<Vec<_>>().join(", ")));
    if older > 0 {
        let more = format!("and {older} older ones; `/subagents info <id>` shows one");
        report.lines.push(ReportLine::new(Mark::Info, "", more));
    }
    report.lines.extend(runs.iter().enumerate().rev().map(|(index, run)| {
        ReportLine::new(mark(run), format!("#{}", index + 1), run_line(run, own, clock))
    }));
    report
}

fn counts(runs: &[RunRecord]) -> String {
    let ended = runs.iter().filter(|run| !run.is_live()).count();
    let queued = runs.iter().filter(|run| run.is_queued()).count();
    let waits = |run: &&RunRecord| run.is_live() && run.state == RunState::AwaitingQuota;
    let waiting = runs.iter().filter(waits).count();
    let running = runs.len() - ended - queued - waiting;
    let counts = [(running, "running"), (waiting, "waiting for quota"), (queued, "queued"), (ended, "ended")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {state}"))
        .collect();
    counts.join(", ")
}

/// Returns the costs of the runs, or the tokens of models without prices. The runs of other sessions in the list of one session
/// are not counted.
fn total<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Option<String> {
    let mut all = RunRecord::default();
    for run in runs {
        all.progress.usage.add(&run.progress.usage);
    }
    usage_parts(&all).pop()
}

/// ``1a2b3c4d · explorer "find the code" · running 5m12s · `$ cargo test` · $0.04``; the task if there is no
/// label, and the error of a run that has ended.
fn run_line(run: &RunRecord, own: Option<&str>, clock: &Clock) -> String {
    let task = run.task.trim().lines().next().filter(|_| run.label.is_none());
    let mut parts = vec![run.run_id.clone(), agent_and_label(run)];
    parts.extend(task.map(|task| quoted_within(task, MAX_NAME)));
    parts.push(state_and_time(run, clock));
    let activity =
        run.progress.pending_question.as_ref().or(run.progress.last_tool.as_ref()).filter(|_| run.is_live());
    parts.extend(activity.map(|activity| quoted_within(activity, MAX_CELL)));
    // The costs, or the tokens of a model without prices.
    parts.extend(usage_parts(run).pop());
    parts.extend(changes(run).map(str::to_owned));
    let session = run.session.split('-').next().unwrap_or_default();
    parts.extend(own.is_none().then(|| format!("session {}", one_line(session, MAX_NAME))));
    parts.extend(own.is_some_and(|own| own != run.session).then(|| "from another session".to_owned()));
    if let Some(workflow) = &run.workflow {
        parts.push(one_line(&format!("workflow {}", workflow.workflow_name()), MAX_NAME).into_string());
    } else if run.is_foreground && run.is_live() {
        parts.push(WAITED_FOR.to_owned());
    }
    // An error may repeat the child's words, so none of our text follows it.
    let state = run.outcome.map_or("", RunOutcome::as_str);
    let error = run.error.as_ref().filter(|_| !run.is_live()).map(|error| reason(state, error));
    let error = error.filter(|error| !error.is_empty());
    parts.extend(error.map(|error| one_line(&error, MAX_CELL).into_string()));
    parts.join(" · ")
}
