//! The lines of a report, as commands and cards draw them.

use serde::Deserialize;

use super::stored::read;
use crate::present::drawing::{Drawing, Fit, Row, Span, folded, indented};
use crate::present::report::{Mark, ReportLine, TITLE};

/// The kind of session entries that hold reports.
const KIND: &str = "subagents-report";
/// Columns of one step of indentation, and more steps than any report has.
const STEP: usize = 2;
const MAX_INDENT: u8 = 8;

/// A report as a session keeps it.
#[derive(Deserialize)]
pub(super) struct StoredReport {
    title: String,
    pub lines: Vec<StoredLine>,
    /// For hosts that draw nothing.
    #[serde(rename = "text")]
    _text: String,
}

/// A line of it. A mark that only a later release knows is drawn as none.
#[derive(Deserialize)]
pub(super) struct StoredLine {
    mark: Option<String>,
    name: Option<String>,
    text: String,
    indent: Option<f64>,
}

impl StoredLine {
    fn line(&self) -> ReportLine {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let indent = self.indent.unwrap_or_default() as u8;
        let mark = self.mark.as_deref().and_then(Mark::parse).unwrap_or_default();
        let name = self.name.clone().unwrap_or_default();
        ReportLine { mark, name, text: self.text.clone(), indent }
    }
}

/// The entry of a session that holds a report, with its title unless that says nothing.
#[must_use]
pub fn entry_drawing(data: &str) -> Option<Drawing> {
    let report: StoredReport = read(data, KIND)?;
    let mut rows = match report.title.as_str() {
        // A one-sentence answer needs no heading.
        "" | TITLE => Drawing::new(),
        title => {
            vec![Row::wrapped(vec![Span::new("accent", folded(title)).bold()]).indented(1), Row::blank()]
        }
    };
    rows.extend(stored_lines(&report.lines));
    Some(rows)
}

pub(super) fn stored_lines(lines: &[StoredLine]) -> Drawing {
    report_drawing(&lines.iter().map(StoredLine::line).collect::<Vec<_>>())
}

/// Lines of a report, one column in from the left like pi's own messages.
#[must_use]
pub fn report_drawing(lines: &[ReportLine]) -> Drawing {
    let has_marks = lines.iter().any(|line| !line.mark.sign().is_empty());
    indented(lines.iter().map(|line| row(line, has_marks)).collect(), 1)
}

/// `has_marks`: others have one, and names stand below each other.
fn row(ReportLine { mark, name, text, indent }: &ReportLine, has_marks: bool) -> Row {
    let margin = " ".repeat(STEP * usize::from((*indent).min(MAX_INDENT)));
    let mut lead = vec![Span::new("muted", margin)];
    if !mark.sign().is_empty() {
        lead.push(Span::new(mark.color(), format!("{} ", mark.sign())));
    } else if has_marks && *indent == 0 && *mark == Mark::None && !name.is_empty() {
        lead.push(Span::new("muted", " ".repeat(STEP)));
    }
    let text = Span::new(if mark.sign().is_empty() { mark.color() } else { "toolOutput" }, text);
    let name = Span::new("accent", folded(name));
    let (label, spans) = match (name.text.is_empty(), text.text.is_empty()) {
        (true, _) => (None, vec![text]),
        (false, true) => (None, vec![name.bold()]),
        (false, false) => (Some(name), vec![text]),
    };
    Fit::Text { lead, label, spans, max_rows: None, more: Vec::new() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns before each name.
    fn leads(lines: &[ReportLine]) -> Vec<usize> {
        let lead = |row: &Row| match &row.fit {
            Fit::Text { lead, .. } => lead.iter().map(|span| span.text.chars().count()).sum(),
            other => panic!("{other:?}"),
        };
        report_drawing(lines).iter().map(lead).collect()
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
