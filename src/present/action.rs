//! Reports the result of an action on a run, or why it was not done.

use super::clock::Clock;
use super::report::{Mark, Report, ReportLine};
use super::run_words::{name, standing};
use crate::run::{ActionOutcome, BackgroundRun};
use crate::text::one_line;

/// Longest reason.
const MAX_WHY: usize = 400;

/// Reports the result of an action.
#[must_use]
pub fn action_report(run: &BackgroundRun, done: ActionOutcome) -> Report {
    let name = name(run);
    let (mark, text) = match done {
        ActionOutcome::Stopped => (Mark::Ok, format!("stopped {name} and everything it had started")),
        ActionOutcome::Stopping => (Mark::Warning, format!("{name} was asked to end and has not ended yet")),
        ActionOutcome::Steered => (Mark::Ok, format!("sent to {name}, which reads it before its next turn")),
        ActionOutcome::PassedOn => (
            Mark::Ok,
            format!(
                "passed on to the process that {name} lives in, for its child to read before its next turn"
            ),
        ),
        ActionOutcome::Resumed => (Mark::Ok, format!("resumed {name}: it goes on in its own session")),
    };
    Report::sentence(mark, text)
}

/// Reports how many runs `stop all` has ended.
#[must_use]
pub fn stopped_all_report(count: usize) -> Report {
    match count {
        0 => Report::sentence(Mark::Info, "nothing to stop: no background run of this session is under way"),
        1 => Report::sentence(Mark::Ok, "stopped 1 run and everything it had started"),
        count => Report::sentence(Mark::Ok, format!("stopped {count} runs and everything they had started")),
    }
}

/// Reports that there is nothing to stop.
#[must_use]
pub fn already_finished(run: &BackgroundRun, clock: &Clock) -> Report {
    let text = format!("{} has finished already: {}", name(run), standing(run, clock));
    let resume = format!("`/subagents resume {}` continues it", run.run_id);
    let report = Report::error(text);
    if run.archived_ms.is_some() { report } else { report.with(ReportLine::below(resume)) }
}

/// Reports why something was not done: a run that cannot be `done`, such as `stopped`.
#[must_use]
pub fn refused_report(run: &BackgroundRun, done: &str, why: &str) -> Report {
    Report::error(format!("{} cannot be {done}: {}", name(run), one_line(why, MAX_WHY)))
}
