//! Quotes values that a child or a project has chosen, so that a value cannot pass for a part of our message. Also
//! puts texts on one line.
//!
//! A quoted value is in backticks on one line. It contains no backtick, control character or invisible character, so
//! it cannot end its quotes, begin a line, or reverse the text direction.

use std::borrow::Cow;
use std::fmt;

use super::sanitize::without_controls;

/// The maximum length of a quoted value, in characters.
const VALUE_CHARS: usize = 60;
/// The maximum length of a quoted path, in characters: the longest path that Linux accepts. With a shorter limit, the
/// cut could make a secret unrecognizable.
const PATH_CHARS: usize = 4096;
/// The replacement for a backtick in a value.
const BACKTICK: &str = "\\u{60}";
const DOUBLE_QUOTE: &str = "'";
/// Signs that are frequent in file names and do not separate words.
const SIGNS: &str = "._-/\\@+~=#%^()[]{}$&!*?<>|:";

/// Quotes a value of any kind.
#[must_use]
pub fn quoted(value: &str) -> String {
    quoted_within(value, VALUE_CHARS)
}

/// Quotes a file name.
#[must_use]
pub fn quoted_path(path: &str) -> String {
    quoted_within(path, PATH_CHARS)
}

/// Quotes at most `max_chars` characters of a value. An ellipsis replaces the rest.
#[must_use]
pub fn quoted_within(value: &str, max_chars: usize) -> String {
    format!("`{}`", without_quotes(value, max_chars))
}

/// Quotes the label of a run. It is in double quotes, as in a report's `explorer "find the code"`.
#[must_use]
pub fn quoted_label(label: &str, max_chars: usize) -> String {
    format!("\"{}\"", quoted_content(label, '"', DOUBLE_QUOTE, max_chars))
}

/// Returns the form of a value that can be put between backticks.
#[must_use]
pub fn without_quotes(value: &str, max_chars: usize) -> String {
    quoted_content(value, '`', BACKTICK, max_chars)
}

/// Quotes file names for a sentence, separated by commas.
pub fn quoted_paths<S: AsRef<str>>(paths: impl IntoIterator<Item = S>) -> String {
    let quoted = paths.into_iter().map(|path| quoted_path(path.as_ref()));
    quoted.collect::<Vec<_>>().join(", ")
}

/// Quotes a name if it could look like more than one word of a list. Names of letters, digits and usual signs stay
/// unquoted, because they have a color or a column of their own.
#[must_use]
pub fn quoted_if_unusual(name: &str) -> Cow<'_, str> {
    let is_usual = |letter: char| letter.is_alphanumeric() || SIGNS.contains(letter);
    let is_plain = name.chars().all(is_usual) && !name.starts_with('+') && without_controls(name) == name;
    if is_plain && !name.is_empty() { Cow::Borrowed(name) } else { Cow::Owned(quoted_path(name)) }
}

/// Returns a value on one line without the surrounding quote character.
fn quoted_content(value: &str, quote: char, with: &str, max_chars: usize) -> String {
    // Make one line first, so that the letters of a control sequence stay visible.
    let line = one_line(value, usize::MAX).into_string();
    let line = without_controls(&line).replace(quote, with);
    one_line(&line, max_chars).into_string()
}

/// A text on one line, which may have been cut.
///
/// It does not deref to `str`, because a cut text must not be sanitized: half a secret is not recognized.
/// [`Sanitizer::line`](crate::Sanitizer::line) sanitizes a text before it cuts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line(String);

impl Line {
    /// Returns the text of the line.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Puts a text on one line, without control characters, and cuts it with an ellipsis at `max_chars` characters.
#[must_use]
pub fn one_line(text: &str, max_chars: usize) -> Line {
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
            return Line(cut);
        }
    }
    Line(line)
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
            let line = one_line(text, max).into_string();
            assert_eq!(line, expected, "{label}");
            assert!(line.chars().count() <= max, "{label}");
        }
    }

    /// Each row has a value and its quoted form.
    #[test]
    fn a_quoted_value_cannot_end_its_quotes_or_its_line() {
        for (value, expected) in [
            ("src/main.rs", "`src/main.rs`"),
            ("g, h, all tests passed", "`g, h, all tests passed`"),
            ("a` and `b", "`a\\u{60} and \\u{60}b`"),
            ("n\n+++ b/forged\r\n\u{2028}x", "`n +++ b/forged x`"),
            ("a\u{202e}b\u{200b}\u{1b}[31m", "`ab [31m`"),
            ("\"x\" 'y'", "`\"x\" 'y'`"),
            ("", "``"),
        ] {
            assert_eq!(quoted_path(value), expected);
        }
        assert_eq!(quoted_paths(["a", "b c"]), "`a`, `b c`");
        assert_eq!(quoted_label("a\" (explorer) \"b\n`c", 60), r#""a' (explorer) 'b `c""#);
    }

    #[test]
    fn a_quoted_value_never_exceeds_its_limit() {
        for value in ["`", "é", "a b", "\u{202e}x\n"] {
            let quoted = quoted_within(&value.repeat(200), 20);
            assert!(quoted.chars().count() <= 22 && quoted.ends_with("…`"), "{quoted}");
            assert_eq!(quoted.matches('`').count(), 2, "{quoted}");
        }
    }

    #[test]
    fn only_an_unusual_name_is_quoted() {
        for name in ["src/main.rs", "app/(group)/[id]/page.tsx", "größe.txt", "C:\\a", ".envrc", "日本語"]
        {
            assert_eq!(quoted_if_unusual(name), name);
        }
        for name in ["g, h", "a b", "+3", "a`", "a\"b", "x;y", "…/x", "a\u{3164}b", "a，b", "\u{2800}", ""]
        {
            assert_eq!(quoted_if_unusual(name), quoted_path(name), "{name}");
        }
    }
}
