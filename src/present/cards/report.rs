//! A report, as commands and cards draw it.

use super::stored::read;
use crate::present::paint::{Limit, Page, Span, folded, width_of};
use crate::present::report::{Mark, Report, ReportLine, TITLE};

/// The kind of session entries that hold reports.
const KIND: &str = "subagents-report";
/// The maximum width of the column of names, in columns and as a share of the page. Longer names do not widen it.
const NAME_COLUMNS: usize = 28;
const NAME_SHARE: usize = 3;
/// The space between a name and its text.
const GAP: usize = 2;
/// Columns of one step of indentation, and more steps than any report has.
const STEP: usize = 2;
const MAX_INDENT: u8 = 8;

/// Reads the entry of a session that holds a report. `None` for other data.
#[must_use]
pub fn read_report(data: &str) -> Option<Report> {
    read(data, KIND)
}

/// Draws a report with its title, unless that says nothing.
pub fn draw_report(page: &mut Page, report: &Report) {
    // A one-sentence answer needs no heading.
    if !matches!(report.title.as_str(), "" | TITLE) {
        let title = Span::new("accent", folded(&report.title)).bold();
        page.indented(1, |page| page.wrapped(&[], &[title], Limit::None));
        page.blank();
    }
    draw_lines(page, &report.lines);
}

/// Draws lines of a report, one column in from the left like pi's own messages.
pub(crate) fn draw_lines(page: &mut Page, lines: &[ReportLine]) {
    let has_marks = lines.iter().any(|line| !line.mark.sign().is_empty());
    let widest = NAME_COLUMNS.min(page.width() / NAME_SHARE);
    let named = lines.iter().filter(|line| !line.text.is_empty());
    let column = named.map(|line| width_of(&folded(&line.name))).filter(|columns| *columns <= widest).max();
    page.indented(1, |page| {
        for line in lines {
            draw_line(page, line, has_marks, column.unwrap_or_default());
        }
    });
}

/// `has_marks`: others have one, and names stand below each other. `column`: the columns of the names.
fn draw_line(page: &mut Page, line: &ReportLine, has_marks: bool, column: usize) {
    let ReportLine { mark, name, text, indent } = line;
    let margin = " ".repeat(STEP * usize::from((*indent).min(MAX_INDENT)));
    let mut lead = vec![Span::new("muted", margin)];
    if !mark.sign().is_empty() {
        lead.push(Span::new(mark.color(), format!("{} ", mark.sign())));
    } else if has_marks && *indent == 0 && *mark == Mark::None && !name.is_empty() {
        lead.push(Span::new("muted", " ".repeat(STEP)));
    }
    let text = Span::new(if mark.sign().is_empty() { mark.color() } else { "toolOutput" }, text);
    let name = Span::new("accent", folded(name));
    if name.text.is_empty() {
        page.wrapped(&lead, &[text], Limit::None);
    } else if text.text.is_empty() {
        page.wrapped(&lead, &[name.bold()], Limit::None);
    } else {
        let missing = column.checked_sub(width_of(&name.text));
        let gap = Span::new("accent", " ".repeat(missing.unwrap_or_default() + GAP));
        // If the name fits its column, wrapped lines are aligned with the text; otherwise with the name.
        if missing.is_some() {
            lead.extend([name, gap]);
            page.wrapped(&lead, &[text], Limit::None);
        } else {
            page.wrapped(&lead, &[name, gap, text], Limit::None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns before each name.
    fn leads(lines: &[ReportLine]) -> Vec<usize> {
        let drawn = super::super::tests::lines(|page| draw_lines(page, lines));
        drawn
            .iter()
            .map(|line| line.find(char::is_alphabetic).map_or(0, |at| line[..at].chars().count() - 1))
            .collect()
    }

    #[test]
    fn names_are_aligned_with_and_without_marks() {
        let marked = ReportLine::new(Mark::Running, "state", "running 5s");
        let plain = ReportLine::new(Mark::None, "task", "Look.");
        let below = ReportLine { indent: 1, ..ReportLine::new(Mark::None, "tools", "read") };
        assert_eq!(leads(&[marked.clone(), plain.clone(), below.clone()]), [2, 2, 2]);
        assert_eq!(leads(&[plain.clone(), below]), [0, 2], "without marks no name is moved");
        assert_eq!(
            leads(&[marked, ReportLine::new(Mark::None, "", "words")]),
            [2, 0],
            "a line without a name is not moved"
        );
    }
}
