//! The user's own home directories become `~`, at a path boundary only. Those of others stay: `~/app` would be a lie about
//! `/home/alice/app`, and an edit of that line would not match.

use std::ops::Range;

use crate::text::redact::cursor::Cursor;
use crate::text::redact::rule::{Edit, Found, Rule};
use crate::text::redact::triggers::Trigger;

const RULE: &str = "home_directory";

/// The home directories that are known by name.
pub(crate) struct KnownHome(Vec<String>);

impl KnownHome {
    /// Trailing separators are dropped, and what is shorter than three bytes is nobody's home.
    pub(crate) fn new(homes: &[String]) -> Self {
        let trimmed =
            homes.iter().map(|home| home.trim_end_matches(['/', '\\'])).filter(|home| home.len() > 2);
        // As it stands, and as a string in code or JSON has it.
        let spellings = |home: &str| [home.to_owned(), home.replace('\\', "\\\\")];
        let mut names: Vec<String> = trimmed.flat_map(spellings).collect();
        names.dedup();
        Self(names)
    }
}

impl Rule for KnownHome {
    fn triggers(&self) -> Vec<Trigger> {
        self.0.iter().cloned().map(Trigger::exact).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        if is_path_start(cursor.text, trigger.start) && is_path_end(cursor.text, trigger.end) {
            Ok(Edit::new(trigger, "~", RULE))
        } else {
            Err(trigger.start + 1)
        }
    }
}

/// Whether an absolute path can begin here: after nothing, after what is no part of a path, after `file://`, after a
/// compiler flag such as `-I`, or after an escaped line end.
fn is_path_start(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let Some(last) = before.chars().next_back() else { return true };
    if last == '/' {
        return before.ends_with("file://");
    }
    if last.is_ascii_alphabetic() {
        let bytes = before.as_bytes();
        return match bytes[..bytes.len() - 1] {
            [.., b'\\'] => matches!(last, 'n' | 'r' | 't'),
            [.., b'-'] => bytes.len() < 3 || !bytes[bytes.len() - 3].is_ascii_alphanumeric(),
            _ => false,
        };
    }
    !(last.is_alphanumeric() || matches!(last, '_' | '-' | '.' | '~' | '\\' | '}' | '$' | '*'))
}

/// Whether a path component ends here; a final full stop does not continue it.
fn is_path_end(text: &str, end: usize) -> bool {
    let mut rest = text[end..].chars();
    match rest.next() {
        None => true,
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        Some(character) => !(character.is_alphanumeric() || matches!(character, '_' | '-')),
    }
}
