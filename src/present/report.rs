//! An answer as plain data.

use crate::text::text_enum;
use serde::{Deserialize, Serialize};

/// Names in a report that are longer do not move the texts of all lines.
const MAX_COLUMN: usize = 28;

text_enum! {
    /// What stands before a line.
    #[derive(Default)]
    pub enum Mark {
        /// Nothing.
        #[default]
        None = "none",
        /// It is as it should be.
        Ok = "ok",
        /// It is worth knowing.
        Info = "info",
        /// It may not be what was wanted.
        Warning = "warning",
        /// It went wrong.
        Error = "error",
        /// It is under way.
        Running = "running",
        /// It waits for its turn.
        Queued = "queued",
    }
}

impl Mark {
    fn symbol(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Ok => "✓",
            Self::Info => "·",
            Self::Warning => "⚠",
            Self::Error => "✗",
            Self::Running => "●",
            Self::Queued => "○",
        }
    }
}

/// One line of a report: a name and what there is to say of it. It has no line breaks and no control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportLine {
    /// What stands before it.
    pub mark: Mark,
    /// What it is about; may be empty.
    pub name: String,
    /// What is said.
    pub text: String,
    /// How deep it stands below the lines before it.
    pub indent: u8,
}

impl ReportLine {
    pub(crate) fn new(mark: Mark, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { mark, name: name.into(), text: text.into(), indent: 0 }
    }

    fn is_sentence(&self) -> bool {
        self.mark != Mark::None && self.name.is_empty()
    }

    pub(crate) fn below(text: impl Into<String>) -> Self {
        Self { indent: 1, ..Self::new(Mark::None, "", text) }
    }
}

/// An answer to a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Nothing was done, and the first line says why.
    pub is_error: bool,
    /// What it is about.
    pub title: String,
    /// What is said.
    pub lines: Vec<ReportLine>,
}

impl Report {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Why nothing was done.
    pub(crate) fn error(why: impl Into<String>) -> Self {
        let mut report = Self { is_error: true, ..Self::new(TITLE) };
        report.lines.push(ReportLine::new(Mark::Error, "", why));
        report
    }

    /// One sentence.
    pub(crate) fn sentence(mark: Mark, text: impl Into<String>) -> Self {
        Self::new(TITLE).with(ReportLine::new(mark, "", text))
    }

    pub(crate) fn with(mut self, line: ReportLine) -> Self {
        self.lines.push(line);
        self
    }

    /// The same as text, for where nobody draws: the title, and below it a line for each line. Texts are aligned behind the
    /// longest name; a line that has a mark and no name is a sentence of its own and begins where names do.
    #[must_use]
    pub fn plain(&self) -> String {
        let width = |line: &ReportLine| line.name.chars().count();
        let column = self.lines.iter().map(width).filter(|width| *width <= MAX_COLUMN).max().unwrap_or(0);
        let has_marks = self.lines.iter().any(|line| line.mark != Mark::None);
        let mut text = format!("{}\n", self.title);
        for line in &self.lines {
            let mark = if has_marks { format!("{:1} ", line.mark.symbol()) } else { String::new() };
            let indent = "  ".repeat(usize::from(line.indent));
            let name = if column == 0 || line.is_sentence() {
                String::new()
            } else {
                format!("{:column$}  ", line.name)
            };
            text.push('\n');
            text.push_str(format!("{indent}{mark}{name}{}", line.text).trim_end());
        }
        text
    }
}

/// The title of answers that need none.
const TITLE: &str = "Sub-agents";
