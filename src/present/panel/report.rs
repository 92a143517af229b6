//! A page of text: a command's report, or the keys.

use serde::Deserialize;

use super::actions::Hint;
use super::keys::{KeyNames, PanelAction, moved, scrolled};
use crate::present::cards::draw_lines;
use crate::present::paint::{Page, Theme, folded};
use crate::present::{Mark, Report, ReportLine};

/// The answer to a command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    pub(super) title: String,
    pub(super) is_error: bool,
    lines: Vec<ReportLine>,
    exact: Option<Exact>,
}

/// The lines for the screen of the person who asked.
#[derive(Deserialize)]
struct Exact {
    lines: Vec<ReportLine>,
}

impl Answer {
    /// Reads the answer to the command `name`. An error becomes its text.
    pub(super) fn read(name: &str, answer: Result<&str, &str>) -> Self {
        let read = answer.map_err(str::to_owned).and_then(|json| {
            serde_json::from_str(json).map_err(|error: serde_json::Error| error.to_string())
        });
        read.unwrap_or_else(|problem| {
            let text = folded(&format!("{name} failed: {problem}"));
            let Report { title, lines, .. } = Report::sentence(Mark::Error, text);
            Self { title, is_error: true, lines, exact: None }
        })
    }

    /// Returns its first line, or its title.
    pub(super) fn summary(&self) -> String {
        match self.lines.first() {
            Some(ReportLine { name, text, .. }) => folded(&format!("{name} {text}")),
            None => folded(&self.title),
        }
    }

    fn into_lines(self) -> Vec<ReportLine> {
        self.exact.map_or(self.lines, |exact| exact.lines)
    }
}

/// The content of a page.
#[derive(Debug)]
enum Content {
    Keys,
    Report {
        lines: Vec<ReportLine>,
        /// The command that loads it.
        command: String,
    },
}

/// A page of text, and its visible part.
#[derive(Debug)]
pub(super) struct ReportView {
    pub(super) title: String,
    content: Content,
    top: usize,
    height: usize,
    is_long: bool,
}

impl ReportView {
    pub(super) fn keys() -> Self {
        Self { title: "Keys".to_owned(), content: Content::Keys, top: 0, height: 1, is_long: false }
    }

    /// Shows the report of `command`. `starts_at_end` is for reports with their answer there.
    pub(super) fn new(answer: Answer, command: String, starts_at_end: bool) -> Self {
        let title = answer.title.clone();
        let top = if starts_at_end { usize::MAX } else { 0 };
        Self { title, content: Content::Report { lines: answer.into_lines(), command }, top, ..Self::keys() }
    }

    /// Returns the command that loads the page again.
    pub(super) fn command(&self) -> Option<&str> {
        match &self.content {
            Content::Keys => None,
            Content::Report { command, .. } => Some(command),
        }
    }

    /// Shows a newer report in the same place.
    pub(super) fn replace(&mut self, answer: Answer) {
        self.title.clone_from(&answer.title);
        if let Content::Report { lines, .. } = &mut self.content {
            *lines = answer.into_lines();
        }
    }

    /// Scrolls. Returns false for other actions.
    pub(super) fn press(&mut self, action: PanelAction) -> bool {
        let by = scrolled(action, self.height);
        self.top = by.map_or(self.top, |by| moved(self.top, by));
        by.is_some()
    }

    pub(super) fn hints(&self) -> Vec<Hint> {
        let scroll = self.is_long.then_some((PanelAction::Down, "scroll"));
        let refresh = self.command().map(|_| (PanelAction::Again, "refresh"));
        scroll.into_iter().chain(refresh).collect()
    }

    /// Returns at most `rows` lines.
    pub(super) fn draw(&mut self, theme: Theme, width: usize, rows: usize, keys: KeyNames) -> Vec<String> {
        let mut lines = Page::draw(theme, width, |page| match &self.content {
            Content::Keys => keys.draw(page),
            Content::Report { lines, .. } => draw_lines(page, lines),
        });
        self.height = rows;
        self.is_long = lines.len() > rows;
        self.top = self.top.min(lines.len().saturating_sub(rows));
        lines.drain(..self.top);
        lines
    }
}
