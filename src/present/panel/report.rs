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
    /// True if the panel shows it anyway, as the state of the run.
    #[serde(default)]
    pub(super) is_on_card: bool,
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
            Self { title, is_error: true, is_on_card: false, lines, exact: None }
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
        /// The command that loads it again, if one may.
        command: Option<String>,
        /// The key of the run whose changes it shows or has moved.
        changes_of: Option<String>,
        /// The drawn lines, with their theme and width. A report can be long, and each key draws the screen.
        drawn: Option<(u32, usize, Vec<String>)>,
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

    /// Shows a report, which `command` loads again. `starts_at_end` is for reports with their answer there.
    pub(super) fn new(
        answer: Answer,
        command: Option<String>,
        starts_at_end: bool,
        changes_of: Option<String>,
    ) -> Self {
        let title = answer.title.clone();
        let top = if starts_at_end { usize::MAX } else { 0 };
        let lines = answer.into_lines();
        Self {
            title,
            content: Content::Report { lines, command, changes_of, drawn: None },
            top,
            ..Self::keys()
        }
    }

    /// Returns the key of the run whose changes it shows or has moved.
    pub(super) fn changes_of(&self) -> Option<&str> {
        match &self.content {
            Content::Keys => None,
            Content::Report { changes_of, .. } => changes_of.as_deref(),
        }
    }

    /// Returns the command that loads the page again.
    pub(super) fn command(&self) -> Option<&str> {
        match &self.content {
            Content::Keys => None,
            Content::Report { command, .. } => command.as_deref(),
        }
    }

    /// Shows a newer report in the same place.
    pub(super) fn replace(&mut self, answer: Answer) {
        self.title.clone_from(&answer.title);
        if let Content::Report { lines, drawn, .. } = &mut self.content {
            *lines = answer.into_lines();
            *drawn = None;
        }
    }

    /// Scrolls. Returns false for other actions.
    pub(super) fn press(&mut self, action: PanelAction) -> bool {
        let by = scrolled(action, self.height);
        self.top = by.map_or(self.top, |by| moved(self.top, by));
        by.is_some()
    }

    /// Returns its keys. `of_changes` are the ones for the changes of its run.
    pub(super) fn hints(&self, of_changes: Vec<Hint>) -> Vec<Hint> {
        let scroll = self.is_long.then_some((PanelAction::Down, "scroll"));
        // Next to changes, the same key undoes them.
        let refresh = (self.command().is_some() && self.changes_of().is_none())
            .then_some((PanelAction::Again, "refresh"));
        of_changes.into_iter().chain(scroll).chain(refresh).collect()
    }

    /// Returns at most `rows` lines.
    pub(super) fn draw(
        &mut self,
        theme: Theme,
        version: u32,
        width: usize,
        rows: usize,
        keys: KeyNames,
    ) -> Vec<String> {
        let all = match &mut self.content {
            Content::Keys => &Page::draw(theme, width, |page| keys.draw(page)),
            Content::Report { lines, drawn, .. } => {
                drawn.take_if(|(of, columns, _)| (*of, *columns) != (version, width));
                let draw = || (version, width, Page::draw(theme, width, |page| draw_lines(page, lines)));
                &drawn.get_or_insert_with(draw).2
            }
        };
        self.height = rows;
        self.is_long = all.len() > rows;
        self.top = self.top.min(all.len().saturating_sub(rows));
        all[self.top..].iter().take(rows).cloned().collect()
    }
}
