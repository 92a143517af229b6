//! Finds the run that a name refers to.

use super::parse::Target;
use crate::present::{Mark, Report, ReportLine, agent_and_label, mark, state};
use crate::run::RunRecord;
use sanitizer::{nearest, one_line, quoted, suggestion, without_controls};

/// The maximum number of runs listed in an error.
const MAX_NAMED: usize = 8;
/// The minimum number of characters of a UUID that name a run. Fewer do not distinguish runs.
const MIN_KEY_CHARS: usize = 4;

/// Finds a run among `runs`, newest first. A number is a position in the list shown last, whose keys are in `shown`. If
/// no list was shown, it is a position in `runs`. If several runs have the name, `live` prefers one that has not ended.
///
/// # Errors
///
/// If no run matches, or several do. The report lists the candidates.
pub fn resolve<'a>(
    target: &Target,
    runs: &'a [RunRecord],
    shown: &[String],
    live: bool,
) -> Result<&'a RunRecord, Report> {
    let name = &target.0;
    if is_blank(name) {
        return Err(unnamed());
    }
    if runs.is_empty() {
        return Err(Report::error(format!("there is no run {}: none was started", quoted(name))));
    }
    if target.is_last() {
        // The newest run may have ended, but only a live run can be stopped.
        return Ok(runs.iter().find(|run| live && run.is_live()).unwrap_or(&runs[0]));
    }
    let number = target.number();
    let listed = if shown.is_empty() { runs.len() } else { shown.len() };
    if let Some(number) = number {
        let index = number.parse().ok().filter(|index| (1..=listed).contains(index));
        if let Some(index) = index {
            let found = match shown.get(index - 1) {
                Some(key) => runs.iter().find(|run| run.key == *key),
                None => runs.get(index - 1),
            };
            return found.ok_or_else(|| {
                some_of(format!("run {} of the list no longer exists", quoted(name)), runs.iter())
            });
        }
    }
    match named(name, runs, live) {
        Err(_) if number.is_some() && matching(name, runs).is_empty() => {
            let runs = if listed == 1 { "1 run" } else { &format!("{listed} runs") };
            Err(Report::error(format!("there is no run {}: the list has {runs}", quoted(name))))
        }
        found => found,
    }
}

/// Finds a run among `runs` by an id or its label. If several runs have the name, `live` prefers one that has not
/// ended.
///
/// # Errors
///
/// If no run matches, or several do. The report lists the candidates.
pub(in super::super) fn named<'a>(
    name: &str,
    runs: &'a [RunRecord],
    live: bool,
) -> Result<&'a RunRecord, Report> {
    if is_blank(name) {
        return Err(unnamed());
    }
    if runs.is_empty() {
        return Err(Report::error(format!("there is no run {}: none was started", quoted(name))));
    }
    let mut found = matching(name, runs);
    if live && found.len() > 1 && found.iter().any(|run| run.is_live()) {
        found.retain(|run| run.is_live());
    }
    match found[..] {
        [run] => Ok(run),
        [] => Err(unknown(name, runs)),
        _ => Err(some_of(format!("{} matches {} runs", quoted(name), found.len()), found.into_iter())),
    }
}

/// Returns true if a name has no visible character. Every id begins with an empty text, so such a name would match any run.
fn is_blank(name: &str) -> bool {
    without_controls(name).trim().is_empty()
}

fn unnamed() -> Report {
    Report::error("the name of the run is empty: give its ID, its label or its session key")
}

/// The runs that match a name, by the strictest kind of match that finds any.
fn matching<'a>(name: &str, runs: &'a [RunRecord]) -> Vec<&'a RunRecord> {
    let lower = name.to_lowercase();
    let is_long = lower.len() >= MIN_KEY_CHARS;
    let ways: [&dyn Fn(&RunRecord) -> bool; 5] = [
        &|run| run.run_id == lower || run.key == lower || run.session_key == name,
        &|run| run.child_session_id.as_deref() == Some(name),
        &|run| run.label.as_deref().is_some_and(|label| label.trim() == name),
        &|run| run.label.as_deref().is_some_and(|label| label.trim().to_lowercase() == lower),
        &|run| run.run_id.starts_with(&lower) || (is_long && run.key.starts_with(&lower)),
    ];
    let found = ways.iter().map(|way| runs.iter().filter(|run| way(run)).collect::<Vec<_>>());
    found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

fn unknown(name: &str, runs: &[RunRecord]) -> Report {
    let names = runs.iter().flat_map(|run| run.label.as_deref().into_iter().chain([run.run_id.as_str()]));
    let meant = suggestion(nearest(name, names));
    some_of(format!("there is no run {}{meant}", quoted(name)), runs.iter())
}

/// A report of why the name is not clear, with the candidates.
fn some_of<'a>(why: String, runs: impl ExactSizeIterator<Item = &'a RunRecord>) -> Report {
    let mut report = Report::error(why);
    let more = runs.len().saturating_sub(MAX_NAMED);
    for run in runs.take(MAX_NAMED) {
        let text = format!("{} · {} · {}", agent_and_label(run), state(run), one_line(&run.session_key, 120));
        report.lines.push(ReportLine { indent: 1, ..ReportLine::new(mark(run), run.run_id.clone(), text) });
    }
    if more > 0 {
        let text = format!("and {more} more: /subagents list");
        report.lines.push(ReportLine { indent: 1, ..ReportLine::new(Mark::Info, "", text) });
    }
    report
}
