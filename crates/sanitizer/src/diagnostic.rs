//! Builds messages about mistakes in files, with position, value, cause and suggestion.

use std::error::Error;
use std::fmt;
use std::iter::successors;
use std::path::{Path, PathBuf};

use pi_subagent_warden::{Shortage, shortage};

use super::quote::{quoted, quoted_if_unusual};
use crate::lines::Position;
use crate::text_enum;
use serde::{Serialize, Serializer};

/// The maximum length of a misspelled name, in characters. The comparison takes quadratic time, and longer input is
/// not a typing mistake.
const MAX_TYPED_CHARS: usize = 64;

text_enum! {
    /// The severity of a [`Diagnostic`].
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Severity {
        /// The program does not use the file or value at all.
        Error = "error",
        /// The program ignores a part of the file or value.
        Warning = "warning",
        /// The program uses everything, but the user may want to know.
        Info = "info",
    }
}

/// The severity of a [`Diagnostic`] and its stable code.
pub type Code = (Severity, &'static str);

/// A mistake in a file that a person wrote, or a note about the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The stable code for programs, in upper case.
    pub code: &'static str,
    /// The message for people: the value as written and the expected values.
    pub message: String,
    /// The file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "lossy_path")]
    pub path: Option<PathBuf>,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// Writes a path, or nothing, as text. Bytes that are not UTF-8 are replaced: serde would fail for them.
///
/// # Errors
///
/// If the serializer fails.
pub fn lossy_path<'a, P, S: Serializer>(path: &'a P, serializer: S) -> Result<S::Ok, S::Error>
where
    &'a P: Into<Option<&'a PathBuf>>,
{
    path.into().map(|path| path.to_string_lossy()).serialize(serializer)
}

impl Diagnostic {
    /// Creates a diagnostic about a position in a file. The file and the position may be unknown.
    pub fn new(code: Code, message: String, path: Option<&Path>, at: Option<Position>) -> Self {
        let ((severity, code), path) = (code, path.map(Path::to_path_buf));
        Self { severity, code, message, path, line: at.map(|at| at.line), column: at.map(|at| at.column) }
    }
}

/// Writes `path:line:column: message` without the unknown parts.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            // A file name may contain line ends.
            write!(f, "{}", quoted_if_unusual(&path.to_string_lossy()))?;
            if let (Some(line), Some(column)) = (self.line, self.column) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)
    }
}

/// Joins the messages of an error and of its sources with `: `. If the machine or this process has run out of a
/// resource, a sentence about the resource replaces the message of the system. If the shortage does not depend on a
/// path, that sentence replaces the messages of all errors.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut previous = String::new();
    let mut sentence = String::new();
    for error in successors(Some(error), |error| (*error).source()) {
        let short = error.downcast_ref().and_then(shortage);
        if let Some(Shortage { message, is_at_path: false }) = short {
            return message.to_owned();
        }
        let more = short.map_or_else(|| error.to_string(), |short| short.message.to_owned());
        // Some wrappers only repeat the message of their source.
        if more != previous {
            if !sentence.is_empty() {
                sentence.push_str(": ");
            }
            sentence.push_str(&more);
            previous = more;
        }
    }
    sentence
}

/// Returns the message of an error, followed by the [`chain`] of its source. Unlike in `chain`, the message stays if a
/// sentence about a shortage replaces the rest.
pub fn with_cause(error: &(dyn Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", chain(source)))
}

/// Returns the end of a message about a misspelled name, or an empty text if no candidate is near.
#[must_use]
pub fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|meant| format!("; did you mean {}?", quoted(meant))).unwrap_or_default()
}

/// Finds the candidate with the smallest edit distance to `name`, if the distance is small enough for a typing
/// mistake.
///
/// Ignores case. If several candidates are equally near, returns the first.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let chars = name.chars().count();
    if chars == 0 || chars > MAX_TYPED_CHARS {
        return None;
    }
    let name = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = strsim::osa_distance(&name, &candidate.to_lowercase());
        let longer = chars.max(candidate.chars().count());
        // Up to a third of the letters may be wrong, but at least one letter must match.
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
        let outer = with_cause(&Outer(AtPath(Errno::MFILE.into())));
        assert!(outer.starts_with("the store is closed: this process has reached its limit"), "{outer}");
        assert!(nested(Errno::MFILE).starts_with("this process has reached its limit of open files"));
        assert!(
            nested(Errno::NOSPC)
                .starts_with("the store is closed: cannot use `/some/path`: the disk is full")
        );
        assert_eq!(
            nested(Errno::NOENT),
            "the store is closed: cannot use `/some/path`: No such file or directory (os error 2)"
        );
        for (errno, begins) in
            [(Errno::MFILE, "this process"), (Errno::DQUOT, "your disk quota"), (Errno::PERM, "Oper")]
        {
            assert!(chain(&io::Error::from(errno)).starts_with(begins), "{errno}");
        }
    }

    #[test]
    fn a_diagnostic_shows_its_position_and_its_message() {
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
    fn only_a_typing_mistake_gets_a_suggestion() {
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
