//! Reports the result of an action on a run, or why it was not done.

use std::path::{Path, PathBuf};

use crate::present::clock::Clock;
use crate::present::report::{Mark, Report, ReportLine, TITLE};
use crate::present::run_label::{name, state_and_time};
use crate::run::{ActionOutcome, RunOutcome, RunRecord, SingleResult, hiding_note};
use sanitizer::{figures, one_line, quoted_if_unusual, quoted_path};
use worktree::Undone;

/// The sentence for the model when its call no longer waits for a run.
pub(crate) const RESULT_ARRIVES: &str = "The result will arrive as a message when it ends. Do not start it \
                                         again, wait or poll for it; continue, or end your turn.";

/// Longest reason.
pub(super) const MAX_REASON: usize = 400;
/// Most files that are named.
const MAX_PATHS: usize = 20;
/// Most runs that are named in a sentence.
const MAX_NAMED: usize = 3;

/// Reports the result of an action.
#[must_use]
pub fn action_report(run: &RunRecord, done: ActionOutcome) -> Report {
    let name = name(run);
    // A check mark is for ended work: the other actions start or continue some.
    let (mark, text) = match done {
        ActionOutcome::Stopped => (Mark::Ok, format!("stopped {name} and everything it had started")),
        ActionOutcome::Stopping => (Mark::Warning, format!("asked {name} to stop; it has not ended yet")),
        ActionOutcome::Steered => {
            (Mark::Started, format!("sent to {name}, which reads it before its next turn"))
        }
        ActionOutcome::Answered => {
            (Mark::Started, format!("answered the question of {name}, which continues"))
        }
        ActionOutcome::PassedOn => (
            Mark::Started,
            format!("forwarded to the process of {name}; its child reads it before its next turn"),
        ),
        ActionOutcome::HandedOver => (Mark::Started, format!("{name} continues in the background")),
        ActionOutcome::TriesQuota => (
            Mark::Started,
            format!("{name} tries its provider's quota now; the other waiting runs follow if it succeeds"),
        ),
        ActionOutcome::Resumed => (Mark::Started, format!("resumed {name}: it continues in its own session")),
        ActionOutcome::Adopted => (
            Mark::Started,
            format!("resumed {name}: it continues in its own session, and its result arrives here"),
        ),
    };
    // The card of a call says it, and the message about the end of a background run.
    let is_on_card = done == ActionOutcome::Stopped;
    Report { is_on_card, ..Report::sentence(mark, text) }
}

/// Reports the restored files of an undo.
#[must_use]
pub fn undone_report(run: &RunRecord, undone: &Undone) -> Report {
    let Undone { restored, changed_since, failed, kept_versions: kept, ignore_files, is_repeated } = undone;
    let name = name(run);
    let mut report = Report { is_error: restored.is_empty() && !failed.is_empty(), ..Report::new(TITLE) };
    if !restored.is_empty() {
        let text = format!("reverted the changes of {name}: {}", listed(restored));
        report.lines.push(ReportLine::new(Mark::Ok, "", text));
    } else if *is_repeated && failed.is_empty() && kept.is_empty() {
        let text = format!("the changes of {name} are already undone");
        return Report::sentence(Mark::Info, text);
    } else if changed_since.is_empty() && failed.is_empty() && ignore_files.is_empty() {
        let text = format!("every file is already as it was before {name}");
        report.lines.push(ReportLine::new(Mark::Info, "", text));
    }
    if !ignore_files.is_empty() {
        report.lines.push(ReportLine::new(Mark::Warning, "", hiding_note(ignore_files)));
    }
    if !changed_since.is_empty() {
        let text = format!("not reverted, because they have changed since: {}", listed(changed_since));
        report.lines.push(ReportLine::new(Mark::Warning, "", text));
    }
    // Without a limit: each may be the only copy of a person's work.
    report.lines.extend(kept.iter().map(|(path, aside)| {
        let text = format!(
            "{} was saved more than once during the undo: compare it with the older version in {}",
            shown(path),
            shown(aside)
        );
        ReportLine::new(Mark::Warning, "", text)
    }));
    report.lines.extend(failed.iter().take(MAX_PATHS).map(|(path, reason)| {
        let text = format!("{} could not be reverted: {}", shown(path), one_line(reason, MAX_REASON));
        ReportLine::new(Mark::Error, "", text)
    }));
    if failed.len() > MAX_PATHS {
        let more = failed.len() - MAX_PATHS;
        report.lines.push(ReportLine::new(Mark::Error, "", format!("and {more} more")));
    }
    report.with(ReportLine::new(Mark::Info, "", "files that git ignores are never reverted"))
}

pub(super) fn listed(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> = paths.iter().take(MAX_PATHS).map(|path| shown(path)).collect();
    if paths.len() > MAX_PATHS {
        names.push(format!("and {} more", paths.len() - MAX_PATHS));
    }
    names.join(", ")
}

/// Quotes a path: a file may have any name.
pub(super) fn shown(path: &Path) -> String {
    quoted_path(&path.to_string_lossy())
}

/// Reports that a run was started, or that it starts once the user has said that its agent may run (`awaits_consent`); `run`
/// is absent when another process hosts it already.
#[must_use]
pub fn started_report(
    run: Option<&RunRecord>,
    run_id: &str,
    awaits_consent: bool,
    warnings: &[String],
) -> Report {
    let name = run.map_or_else(|| run_id.to_owned(), name);
    let mut report = if awaits_consent {
        let text = format!(
            "{name} waits for your decision about its agent; its result, or the refusal, arrives as a message"
        );
        Report::sentence(Mark::Asking, text)
    } else {
        let text = format!("started {name} in the background: its result arrives as a message");
        Report::sentence(Mark::Started, text)
    };
    report.lines.extend(
        warnings.iter().map(|warning| ReportLine::new(Mark::Warning, "", one_line(warning, MAX_REASON))),
    );
    report
}

/// Reports the runs that were moved to the background, and the reasons why other calls keep waiting.
#[must_use]
pub fn moved_to_background_report(runs: &[RunRecord], refused: &[String]) -> Report {
    let mut report = Report { is_error: runs.is_empty() && !refused.is_empty(), ..Report::new(TITLE) };
    let continuing = runs.iter().map(|run| {
        let notes =
            run.notes.iter().map(|note| ReportLine::new(Mark::Warning, "", one_line(note, MAX_REASON)));
        let mut report = action_report(run, ActionOutcome::HandedOver);
        report.lines.extend(notes);
        report
    });
    let waiting = refused
        .iter()
        .map(|reason| Report::error(format!("a call keeps waiting: {}", one_line(reason, MAX_REASON))));
    report.lines = continuing.chain(waiting).flat_map(|report| report.lines).collect();
    if report.lines.is_empty() {
        return Report::sentence(Mark::Info, "no call waits for a sub-agent in this session");
    }
    report
}

/// Returns the model's text about runs that its call no longer waits for.
pub(crate) fn moved_to_background_text(runs: &[SingleResult]) -> String {
    let names: Vec<String> = runs
        .iter()
        .filter(|run| run.outcome == RunOutcome::Background)
        .map(|run| {
            let id = run.run_id.as_deref().unwrap_or_default();
            format!("{} (run {id})", quoted_if_unusual(&run.agent))
        })
        .collect();
    format!(
        "The user has moved this to the background, where it continues: {}. {RESULT_ARRIVES}",
        names.join(", ")
    )
}

/// Reports what `/stop` or `stop all` has ended: the turn of the conversation, runs that a call waited for, background runs.
/// `unreachable` runs of other processes still work.
#[must_use]
pub fn stopped_report(turn: bool, foreground: usize, background: usize, unreachable: usize) -> Report {
    let some = |count, noun| (count > 0).then(|| figures::counted(count, noun));
    let turn = turn.then(|| "this turn".to_owned());
    let stopped = [turn, some(foreground, "sub-agent"), some(background, "background run")];
    let stopped: Vec<String> = stopped.into_iter().flatten().collect();
    let running = some(unreachable, "background run").map(|runs| {
        let text =
            format!("{runs} of another process cannot be reached; `/subagents list` shows what still runs");
        ReportLine::new(Mark::Warning, "", text)
    });
    let mut report = match (&running, stopped.is_empty()) {
        (None, true) => Report::sentence(Mark::Info, "nothing is running in this session"),
        (Some(_), true) => Report::new(TITLE),
        (_, false) => Report::sentence(Mark::Ok, format!("stopped {}", stopped.join(", "))),
    };
    report.lines.extend(running);
    report
}

/// Returns the user's text when pi exits: the runs that ended with it, and the runs that continue; `None` if there were none.
/// With `is_saved` the session can be opened again: pi saves it with its first answer.
pub(crate) fn exit_message(ended: &[RunRecord], continuing: &[RunRecord], is_saved: bool) -> Option<String> {
    let ended_text = ended.first().map(|first| {
        let location = if is_saved { "Open the session again, and" } else { "In any session" };
        format!(
            "{} ended with pi: {}. {location} `/subagents resume {}` continues where it stopped",
            figures::counted(ended.len(), "background run"),
            named(ended),
            first.run_id,
        )
    });
    let continuing_text = continuing.first().map(|first| {
        let (verb, results) =
            if continuing.len() == 1 { ("continues", "its result") } else { ("continue", "their results") };
        let open = if is_saved {
            format!("Open the session again for {results}; in any pi ")
        } else {
            "In any pi ".to_owned()
        };
        format!(
            "{} {verb} without pi: {}. {open}`/subagents list all` finds running runs, and `/subagents stop {}` ends the first",
            figures::counted(continuing.len(), "background run"),
            named(continuing),
            first.run_id,
        )
    });
    let all: Vec<String> = ended_text.into_iter().chain(continuing_text).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Returns the first runs by name, and the number of the others.
fn named(runs: &[RunRecord]) -> String {
    let mut names: Vec<String> = runs.iter().take(MAX_NAMED).map(name).collect();
    names.extend(
        runs.len().checked_sub(MAX_NAMED).filter(|more| *more > 0).map(|more| format!("{more} more")),
    );
    names.join(", ")
}

/// Reports that there is nothing to stop.
#[must_use]
pub fn already_finished(run: &RunRecord, clock: &Clock) -> Report {
    let text = format!("{} has already ended: {}", name(run), state_and_time(run, clock));
    let resume = format!("`/subagents resume {}` continues it", run.run_id);
    let report = Report::error(text);
    if run.archived_ms.is_some() { report } else { report.with(ReportLine::below(resume)) }
}

/// Reports why something was not done: a run that cannot be `done`, such as `stopped`.
#[must_use]
pub fn refused_report(run: &RunRecord, done: &str, reason: &str) -> Report {
    Report::error(format!("{} cannot be {done}: {}", name(run), one_line(reason, MAX_REASON)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_stopped_run_is_also_in_its_card_or_message() {
        let background = RunRecord { run_id: "1a2b".to_owned(), ..RunRecord::default() };
        let foreground = RunRecord { is_foreground: true, ..background.clone() };
        for (run, done, is_on_card) in [
            (&foreground, ActionOutcome::Stopped, true),
            (&foreground, ActionOutcome::Stopping, false),
            (&background, ActionOutcome::Stopped, true),
            (&background, ActionOutcome::Stopping, false),
            (&background, ActionOutcome::Resumed, false),
        ] {
            assert_eq!(action_report(run, done).is_on_card, is_on_card, "{done:?}");
        }
    }

    #[test]
    fn an_undo_names_the_files_that_stay_and_the_versions_that_were_kept() {
        let run = RunRecord { run_id: "1a2b".to_owned(), agent: "worker".to_owned(), ..RunRecord::default() };
        let undone = Undone {
            restored: vec!["a".into()],
            changed_since: vec!["b\n\u{1b}[31m".into()],
            failed: vec![("c".into(), "a program has it open".to_owned())],
            kept_versions: vec![("b\n\u{1b}[31m".into(), "b\n\u{1b}[31m.kept".into())],
            ignore_files: Vec::new(),
            is_repeated: false,
        };
        let lines: Vec<_> = undone_report(&run, &undone).lines.into_iter().map(|line| line.text).collect();
        let expected = [
            "reverted the changes of 1a2b (worker): `a`",
            "not reverted, because they have changed since: `b [31m`",
            "`b [31m` was saved more than once during the undo: compare it with the older version in `b [31m.kept`",
            "`c` could not be reverted: a program has it open",
            "files that git ignores are never reverted",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_exit_message_lists_ended_and_continuing_runs_with_their_commands() {
        let run = |id: &str| RunRecord {
            run_id: id.to_owned(),
            agent: "explorer".to_owned(),
            ..RunRecord::default()
        };
        assert_eq!(exit_message(&[], &[], true), None);
        let one = exit_message(&[run("1a2b")], &[], true).expect("a continuing run gives a message");
        assert!(one.starts_with("1 background run ended with pi: 1a2b (explorer). "), "{one}");
        assert!(one.contains("`/subagents resume 1a2b`"), "{one}");
        assert!(one.contains("Open the session again"), "{one}");
        let lost = exit_message(&[run("1a2b")], &[], false).expect("a continuing run gives a message");
        assert!(lost.contains("In any session `/subagents resume 1a2b`"), "{lost}");
        let five = exit_message(&["1", "2", "3", "4", "5"].map(run), &[], true)
            .expect("five continuing runs give a message");
        assert!(five.contains("3 (explorer), 2 more. "), "{five}");
        let both = exit_message(&[run("1a2b")], &[run("3c4d")], true).expect("two runs give a message");
        let [ended, continues] = both.lines().collect::<Vec<_>>()[..] else { panic!("{both}") };
        assert_eq!(ended, one);
        assert!(
            continues.starts_with("1 background run continues without pi: 3c4d (explorer). "),
            "{continues}"
        );
        assert!(continues.contains("`/subagents list all`") && continues.contains("`/subagents stop 3c4d`"));
        let two = exit_message(&[], &["1", "2"].map(run), true).expect("two runs give a message");
        assert!(
            two.starts_with("2 background runs continue without pi: 1 (explorer), 2 (explorer). "),
            "{two}"
        );
    }
}
