//! What messages say: where a mistake in a file is, values as people wrote them, causes, and what would have been right.

use std::error::Error;
use std::fmt;
use std::iter::successors;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{Shortage, shortage};

use super::position::Position;
use super::quote::{quoted, quoted_if_odd};
use super::text_enum::text_enum;
use serde::Serialize;

/// Longer input is no typing mistake, and the comparison takes quadratic time.
const MAX_TYPED_CHARS: usize = 64;

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

/// How bad a [`Diagnostic`] is, and its stable code.
pub(crate) type Code = (Severity, &'static str);

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
    /// A diagnostic about a place in a file, as far as they are known.
    pub(crate) fn new(code: Code, message: String, path: Option<&Path>, at: Option<Position>) -> Self {
        let ((severity, code), path) = (code, path.map(Path::to_path_buf));
        Self { severity, code, message, path, line: at.map(|at| at.line), column: at.map(|at| at.column) }
    }
}

/// `path:line:column: message`, with what is known of it.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            // A file may have any name, also one with lines of its own.
            write!(f, "{}", quoted_if_odd(&path.to_string_lossy()))?;
            if let (Some(line), Some(column)) = (self.line, self.column) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)
    }
}

/// The messages of an error and of its sources, joined by `: `. If the machine or this process has run out of something, a
/// sentence says what, and replaces the steps at which that was noticed.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut said = String::new();
    let mut sentence = String::new();
    for error in successors(Some(error), |error| (*error).source()) {
        let short = error.downcast_ref().and_then(shortage);
        if let Some(Shortage { message, is_at_path: false }) = short {
            return message.to_owned();
        }
        let more = short.map_or_else(|| error.to_string(), |short| short.message.to_owned());
        // A wrapper that only forwards the message of its source says nothing new.
        if more != said {
            if !sentence.is_empty() {
                sentence.push_str(": ");
            }
            sentence.push_str(&more);
            said = more;
        }
    }
    sentence
}

/// The end of a message about a misspelled name; empty when nothing is near.
pub(crate) fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|meant| format!("; did you mean {}?", quoted(meant))).unwrap_or_default()
}

/// The candidate with the smallest edit distance to `name`, if that is small enough for a typing mistake.
///
/// Ignores case. The first of several equally near candidates wins.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let chars = name.chars().count();
    if chars == 0 || chars > MAX_TYPED_CHARS {
        return None;
    }
    let name = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = strsim::osa_distance(&name, &candidate.to_lowercase());
        let longer = chars.max(candidate.chars().count());
        // A third of the letters may be wrong, but never so many that nothing typed is left.
        let near = distance <= (longer / 3).max(1) && distance < chars.min(candidate.chars().count());
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_shortage_replaces_the_steps_at_which_it_was_noticed() {
        use std::io;

        use rustix::io::Errno;

        #[derive(Debug, thiserror::Error)]
        #[error("cannot use `/some/path`")]
        struct AtPath(#[source] io::Error);
        #[derive(Debug, thiserror::Error)]
        #[error("the store is closed")]
        struct Outer(#[source] AtPath);

        let nested = |errno: Errno| chain(&Outer(AtPath(errno.into())));
        assert!(nested(Errno::MFILE).starts_with("all files that this process may have open"));
        assert!(
            nested(Errno::NOSPC)
                .starts_with("the store is closed: cannot use `/some/path`: no space is left")
        );
        assert_eq!(
            nested(Errno::NOENT),
            "the store is closed: cannot use `/some/path`: No such file or directory (os error 2)"
        );
        for (errno, begins) in
            [(Errno::MFILE, "all files"), (Errno::DQUOT, "your quota"), (Errno::PERM, "Oper")]
        {
            assert!(chain(&io::Error::from(errno)).starts_with(begins), "{errno}");
        }
    }

    #[test]
    fn a_diagnostic_reads_as_a_place_and_a_message() {
        let reads = |path: Option<&str>, at| {
            let code = (Severity::Error, "CODE");
            Diagnostic::new(code, "wrong".to_owned(), path.map(Path::new), at).to_string()
        };
        let at = Some(Position { line: 3, column: 7 });
        assert_eq!(reads(None, None), "wrong");
        assert_eq!(reads(Some("/a/b.md"), None), "/a/b.md: wrong");
        assert_eq!(reads(Some("/a/b.md"), at), "/a/b.md:3:7: wrong");
        assert_eq!(reads(Some("/a/b\n\u{1b}c.md"), at), "`/a/b c.md`:3:7: wrong");
    }

    #[test]
    fn only_a_slip_of_the_finger_gets_a_suggestion() {
        let names = ["explorer", "researcher", "reviewer", "qa"];
        for (typed, expected) in [
            ("exploer", Some("explorer")),
            ("Explorer", Some("explorer")),
            ("reveiwer", Some("reviewer")),
            ("review", Some("reviewer")),
            ("qa1", Some("qa")),
            ("z", None),
            ("worker", None),
            ("planner", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
        assert_eq!(nearest(&"explorer".repeat(20), names), None);
    }
}
