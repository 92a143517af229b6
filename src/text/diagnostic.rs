//! Diagnostics for files that people write: where a mistake is and what would be right.

use std::fmt;
use std::path::{Path, PathBuf};

use super::text_enum::text_enum;
use serde::Serialize;

/// Characters of a value that a message repeats.
const QUOTED_CHARS: usize = 60;

text_enum! {
    /// How bad a [`Diagnostic`] is.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// The file or value is not used at all.
        Error = "error",
        /// A part of it is ignored.
        Warning = "warning",
        /// Everything is used; the user may want to know.
        Info = "info",
    }
}

/// A mistake in a file that a person wrote, or something worth knowing about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable, upper case; for programs.
    pub code: &'static str,
    /// For people: the value as written and what would have been right.
    pub message: String,
    /// The file, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// Counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Counted from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Diagnostic {
    /// A diagnostic without a file or position.
    #[must_use]
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity, code, message: message.into(), path: None, line: None, column: None }
    }

    /// The same, in this file.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.to_path_buf());
        self
    }

    /// The same, at this line and column, both counted from 1.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.line = Some(line);
        self.column = Some(column);
        self
    }
}

/// `path:line:column: message`, with what is known of it.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
            if let (Some(line), Some(column)) = (self.line, self.column) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)
    }
}

/// A person's value in backticks, on one line and short enough to read.
pub(crate) fn quoted(value: &str) -> String {
    format!("`{}`", one_line(value, QUOTED_CHARS))
}

/// The text on one line, without control characters, cut with an ellipsis at `max_chars` characters.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if chars > 0 {
            line.push(' ');
            chars += 1;
        }
        line.push_str(word);
        chars += word.chars().count();
        if chars > max_chars {
            let mut cut: String = line.chars().take(max_chars.saturating_sub(1)).collect();
            cut.truncate(cut.trim_end().len());
            cut.push('…');
            return cut;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_never_exceeds_its_limit_and_never_breaks_a_line() {
        for (label, text, max, expected) in [
            ("fits", "find code", 9, "find code"),
            ("one too many", "find codes", 9, "find cod…"),
            ("no blank before the ellipsis", "find codes", 6, "find…"),
            ("line breaks and tabs", "find\n\t code", 20, "find code"),
            ("escape sequences lose their escape", "a\u{1b}[31mb", 20, "a [31mb"),
            ("whole characters", "äöüäöü", 4, "äöü…"),
            ("empty", " \n ", 4, ""),
        ] {
            let line = one_line(text, max);
            assert_eq!(line, expected, "{label}");
            assert!(line.chars().count() <= max, "{label}");
        }
    }

    #[test]
    fn a_diagnostic_reads_as_a_place_and_a_message() {
        let diagnostic = Diagnostic::new(Severity::Error, "CODE", "wrong");
        assert_eq!(diagnostic.to_string(), "wrong");
        let placed = diagnostic.in_file(Path::new("/a/b.md")).at(3, 7);
        assert_eq!(placed.to_string(), "/a/b.md:3:7: wrong");
    }
}
