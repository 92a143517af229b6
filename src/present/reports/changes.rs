//! Reports the changes of a run, and the import of an isolated run's artifacts.

use std::path::PathBuf;

use super::action::{MAX_REASON, listed, shown};
use crate::present::report::{Mark, Report, ReportLine, TITLE};
use crate::present::run_label::name;
use crate::run::{RunRecord, hiding_note};
use sanitizer::{Visible, figures, one_line, quoted};
use worktree::{Applied, Difference, Discarded, Unrecorded};

/// Lines of a difference that are shown: more is read in an editor.
const MAX_LINES: usize = 400;
/// The longest line of a difference.
const MAX_LINE: usize = 500;
/// Most changes without a place in the difference that are shown.
const MAX_UNRECORDED: usize = 50;
/// Most conflicts that are named.
const MAX_CONFLICTS: usize = 50;
/// The columns of a tab.
const TAB: &str = "    ";

/// Shows the changes of a run, as git does.
#[must_use]
pub fn difference_report(run: &RunRecord, difference: &Difference) -> Report {
    let mut report = Report::new(format!(
        "Changes of {}{}",
        name(run),
        difference.branch.as_ref().map_or_else(String::new, |branch| format!(", on {}", quoted(branch)))
    ));
    let mut lines = difference.text.split(|byte| *byte == b'\n');
    let mut in_hunk = false;
    let first = lines.by_ref().filter(|line| !line.is_empty()).take(MAX_LINES);
    report.lines.extend(first.map(|line| difference_line(line, &mut in_hunk)));
    let more = lines.filter(|line| !line.is_empty()).count();
    if more > 0 {
        let text = format!("and {} more", figures::counted(more, "line"));
        report.lines.push(ReportLine::new(Mark::Warning, "", text));
    }
    let unrecorded = &difference.unrecorded;
    let listed_changes = unrecorded.iter().take(MAX_UNRECORDED).map(unrecorded_line);
    report.lines.extend(listed_changes);
    if unrecorded.len() > MAX_UNRECORDED {
        let more = unrecorded.len() - MAX_UNRECORDED;
        let text = format!("and {} of permissions or directories", figures::counted(more, "more change"));
        report.lines.push(ReportLine::new(Mark::Warning, "", text));
    }
    if !difference.ignore_files.is_empty() {
        report.lines.push(ReportLine::new(Mark::Warning, "", hiding_note(&difference.ignore_files)));
    }
    if report.lines.is_empty() {
        report.lines.push(ReportLine::new(Mark::Info, "", "no file differs from the start of the run"));
    }
    if difference.is_until_now {
        let text = "the end of the run was not recorded: these are all changes from its start until now";
        report.lines.push(ReportLine::new(Mark::Warning, "", text));
    }
    if difference.is_undone {
        report.lines.push(ReportLine::new(Mark::Info, "", "already undone"));
    } else if !difference.changed_since.is_empty() {
        let text = format!("changed since the run ended: {}", listed(&difference.changed_since));
        report.lines.push(ReportLine::new(Mark::Warning, "", text));
    }
    let whole = difference.patch.as_deref().map(|patch| {
        let text = format!("the whole diff, with binary files: {}", shown(patch));
        ReportLine::new(Mark::Info, "", text)
    });
    report.lines.extend(whole);
    report.lines.extend(next_steps(run));
    report
}

/// Describes a change that git does not record.
fn unrecorded_line(change: &Unrecorded) -> ReportLine {
    let path = shown(&change.path);
    let directory = if change.is_directory { "the directory " } else { "" };
    let text = match (change.old, change.new) {
        (None, _) => format!("made {directory}{path}"),
        (_, None) => format!("removed {directory}{path}"),
        (Some(old), Some(new)) => format!("permissions of {directory}{path}: {old:03o}, now {new:03o}"),
    };
    ReportLine::new(Mark::None, "", text)
}

/// Returns the line with the commands for the changes of a run.
fn next_steps(run: &RunRecord) -> Option<ReportLine> {
    let id = &run.run_id;
    let steps = [
        (run.can_apply(), "apply: /subagents apply"),
        (run.can_abort_apply() || run.can_undo(), "undo: /subagents undo"),
        (run.can_discard(), "discard: /subagents discard"),
    ];
    let steps: Vec<_> =
        steps.into_iter().filter(|(does, _)| *does).map(|(_, step)| format!("{step} {id}")).collect();
    (!steps.is_empty()).then(|| ReportLine::new(Mark::Info, "", steps.join(" · ")))
}

fn difference_line(line: &[u8], in_hunk: &mut bool) -> ReportLine {
    if line.starts_with(b"diff --git ") {
        *in_hunk = false;
    }
    let mark = match line.first() {
        Some(b'@') => {
            *in_hunk = true;
            Mark::Hunk
        }
        Some(b'+') if *in_hunk => Mark::Added,
        Some(b'-') if *in_hunk => Mark::Removed,
        _ => Mark::None,
    };
    ReportLine::new(mark, "", visible(line))
}

/// Returns a line of a file with every control sequence and invisible character as text.
fn visible(line: &[u8]) -> String {
    let line = Visible::code(line).replace('\t', TAB);
    match line.char_indices().nth(MAX_LINE) {
        None => line,
        Some((end, _)) => format!(
            "{}… and {} more",
            &line[..end],
            figures::counted(line[end..].chars().count(), "character")
        ),
    }
}

/// Reports the applied files, and the conflicts that a person must decide.
#[must_use]
pub fn applied_report(run: &RunRecord, Applied { written, conflicts }: &Applied) -> Report {
    let name = name(run);
    let id = &run.run_id;
    let mut report = Report::new(TITLE);
    if written.is_empty() {
        let text = match conflicts.len() {
            0 => format!(
                "your tree already has all changes of {name}: nothing was written, and it counts as applied"
            ),
            _ => format!("no change of {name} could be written"),
        };
        report.lines.push(ReportLine::new(Mark::Info, "", text));
    } else {
        let (mark, with) = match conflicts.len() {
            0 => (Mark::Ok, String::new()),
            1 => (Mark::Warning, ", with a conflict".to_owned()),
            many => (Mark::Warning, format!(", with {many} conflicts")),
        };
        let text = format!("applied {name} to your tree{with}: {}", listed(written));
        report.lines.push(ReportLine::new(mark, "", text));
    }
    report.lines.extend(conflicts.iter().take(MAX_CONFLICTS).map(|(path, reason)| {
        let text = format!("CONFLICT in {}: {}", shown(path), one_line(reason, MAX_REASON));
        ReportLine::new(Mark::Warning, "", text)
    }));
    if conflicts.len() > MAX_CONFLICTS {
        let more = format!("and {} more", conflicts.len() - MAX_CONFLICTS);
        report.lines.push(ReportLine::new(Mark::Warning, "", more));
    }
    if written.is_empty() {
        return report;
    }
    let back = format!("git's index is unchanged; `/subagents undo {id}` restores your files");
    report.with(ReportLine::new(Mark::Info, "", back))
}

/// Reports the restored files.
#[must_use]
pub fn apply_undone_report(run: &RunRecord, paths: &[PathBuf]) -> Report {
    let name = name(run);
    let text = if paths.is_empty() {
        format!("your tree is as it was before {name} was applied: nothing had been written")
    } else {
        format!("undid the apply of {name}: {}", listed(paths))
    };
    Report::sentence(Mark::Ok, text)
}

/// Reports the deleted artifacts. Asks, unless `is_done`.
#[must_use]
pub fn discarded_report(run: &RunRecord, discarded: &Discarded, is_applied: bool, is_done: bool) -> Report {
    let id = &run.run_id;
    let deleted = match &discarded.branch {
        Some(branch) => format!("the branch {} and its patch", quoted(branch)),
        None => "its patch".to_owned(),
    };
    if is_done {
        return Report::sentence(Mark::Ok, format!("deleted {deleted}"));
    }
    let name = name(run);
    let text = if is_applied {
        format!("this deletes {deleted}; the changes of {name} were applied")
    } else {
        format!("this deletes {deleted}, the only copy of the changes of {name}")
    };
    let sure = format!("`/subagents discard {id} --yes` does it");
    Report::sentence(Mark::Warning, text).with(ReportLine::new(Mark::Info, "", sure))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model reads invisible characters, which may also reorder a line for the person who judges it.
    #[test]
    fn invisible_characters_in_a_diff_are_shown() {
        let line = |text: &str| difference_line(text.as_bytes(), &mut true).text;
        assert_eq!(line("+if \u{202e}admin\u{2066}"), "+if <U+202E>admin<U+2066>");
        assert_eq!(line("+a\u{200b}b\u{feff}\u{e0041}"), "+a<U+200B>b<U+FEFF><U+E0041>");
        assert_eq!(
            line("+👍\u{fe0f} هٔ\u{200c}م"),
            "+👍\u{fe0f} هٔ\u{200c}م",
            "a character that changes the visible text stays"
        );
    }

    #[test]
    fn a_diff_is_coloured_bounded_and_cannot_control_the_terminal() {
        let many = "+x\n".repeat(MAX_LINES);
        let text = format!(
            "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-\told\r\n+\u{1b}[31mnew\n \u{9b}same\n{many}"
        );
        let mut text = text.into_bytes();
        text.extend(b"+\xff\n");
        let difference = Difference {
            branch: Some("subagent/1a2b".into()),
            text,
            patch: Some(PathBuf::from("/p/changes.patch")),
            ..Difference::default()
        };
        let report = difference_report(&RunRecord::default(), &difference);
        let first: Vec<_> = report.lines.iter().take(7).map(|line| (line.mark, line.text.as_str())).collect();
        assert_eq!(
            first,
            [
                (Mark::None, "diff --git a/f b/f"),
                (Mark::None, "--- a/f"),
                (Mark::None, "+++ b/f"),
                (Mark::Hunk, "@@ -1 +1 @@"),
                (Mark::Removed, "-    old<U+000D>"),
                (Mark::Added, "+<U+001B>[31mnew"),
                (Mark::None, " <U+009B>same"),
            ]
        );
        assert_eq!(report.lines.len(), MAX_LINES + 2);
        assert_eq!(report.lines[MAX_LINES].text, "and 8 lines more");
        assert!(report.lines[MAX_LINES + 1].text.contains("/p/changes.patch"));
    }
}
