//! Home directories become `~`, at a path boundary only.

use super::edits::Edit;

/// Names in the place of a user that are no user's home.
const SHARED: [&str; 4] = ["Shared", "Public", "Default", "All"];

/// The home directories that are known by name.
pub(in crate::text) struct Homes(Vec<String>);

impl Homes {
    /// Trailing separators are dropped, and what is shorter than three bytes is nobody's home.
    pub(in crate::text) fn new(homes: &[String]) -> Self {
        let trimmed =
            homes.iter().map(|home| home.trim_end_matches(['/', '\\'])).filter(|home| home.len() > 2);
        let mut names: Vec<String> = Vec::new();
        for home in trimmed {
            names.push(home.to_owned());
            if home.contains('\\') {
                names.push(home.replace('\\', "\\\\"));
            }
        }
        Self(names)
    }

    pub(in crate::text) fn literals(&self) -> &[String] {
        &self.0
    }

    /// The edit for an actual home found at `start..end`.
    pub(in crate::text) fn actual(text: &str, start: usize, end: usize) -> Option<Edit> {
        let ends = is_path_end(text, end);
        (ends && is_path_start(text, start)).then(|| Edit::new(start..end, "~", "home_directory"))
    }

    /// The edit for `/home/`, `/Users/` or `C:\Users\` found at `start..end`, whatever user follows.
    pub(in crate::text) fn of_user(text: &str, start: usize, end: usize) -> Option<Edit> {
        let name: &str = &text[end..];
        let length = name
            .char_indices()
            .find(|&(_, character)| !(character.is_alphanumeric() || matches!(character, '.' | '_' | '-')))
            .map_or(name.len(), |(at, _)| at);
        let name = name[..length].trim_end_matches('.');
        if name.is_empty() || SHARED.contains(&name) || !is_path_start(text, start) {
            return None;
        }
        Some(Edit::new(start..end + name.len(), "~", "home_directory"))
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
