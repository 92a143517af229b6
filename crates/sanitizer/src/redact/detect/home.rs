//! Replaces home directories with `~`, only at path boundaries.
//!
//! By default these are the user's own home directories, and not in code, where an edit would not match the line in
//! the file. Home directories of other users stay, because `~/app` would be wrong for `/home/alice/app`. The setting
//! `all` hides all names: it replaces every home directory everywhere.

use std::ops::Range;

use crate::redact::cursor::Cursor;
use crate::redact::rule::{Edit, Found, Rule};
use crate::redact::search::Trigger;
use crate::text_enum;

const RULE: &str = "home_directory";

/// Directory names next to the users' homes that do not belong to a user.
const SHARED: [&str; 4] = ["Shared", "Public", "Default", "All"];

text_enum! {
    /// The home directories that become `~`.
    #[derive(Default)]
    pub enum HomePaths {
        /// The user's own home directories, outside of code.
        #[default]
        Own = "own",
        /// The home directories of all users, in code too.
        All = "all",
        /// No home directories.
        Off = "off",
    }
}

/// The user's home directories, and the setting that selects the replaced ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    pub(crate) own: Vec<String>,
    pub(crate) paths: HomePaths,
}

/// Returns the rules for these homes.
pub(crate) fn rules(homes: &Homes) -> Vec<Box<dyn Rule>> {
    match homes.paths {
        HomePaths::Own => vec![Box::new(KnownHome::new(homes))],
        HomePaths::All => vec![Box::new(KnownHome::new(homes)), Box::new(UserHome)],
        HomePaths::Off => Vec::new(),
    }
}

/// The rule for home directories with known paths.
struct KnownHome {
    names: Vec<String>,
    in_code: bool,
}

impl KnownHome {
    /// Creates the rule. Drops trailing separators, and ignores paths shorter than three bytes.
    fn new(homes: &Homes) -> Self {
        let trimmed =
            homes.own.iter().map(|home| home.trim_end_matches(['/', '\\'])).filter(|home| home.len() > 2);
        // The plain path, and the path as a string in code or JSON.
        let spellings = |home: &str| [home.to_owned(), home.replace('\\', "\\\\")];
        let mut names: Vec<String> = trimmed.flat_map(spellings).collect();
        names.dedup();
        Self { names, in_code: homes.paths == HomePaths::All }
    }
}

impl Rule for KnownHome {
    fn triggers(&self) -> Vec<Trigger> {
        self.names.iter().cloned().map(Trigger::exact).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let is_home = is_path_start(cursor.text, trigger.start) && is_path_end(cursor.text, trigger.end);
        if is_home && (self.in_code || !cursor.is_code(trigger.start)) {
            Ok(Edit::new(trigger, "~", RULE))
        } else {
            Err(trigger.start + 1)
        }
    }
}

/// The rule for `/home/ann`, `/Users/ann` and `C:\Users\ann`, for any user.
struct UserHome;

impl Rule for UserHome {
    fn triggers(&self) -> Vec<Trigger> {
        let of_drives = [":\\Users\\", ":\\\\Users\\\\", ":/Users/"].map(Trigger::any_case);
        ["/home/", "/Users/"].map(Trigger::exact).into_iter().chain(of_drives).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let nothing = Err(trigger.end);
        let mut start = trigger.start;
        if cursor.bytes[start] == b':' {
            match start.checked_sub(1) {
                Some(drive) if cursor.bytes[drive].is_ascii_alphabetic() => start = drive,
                _ => return nothing,
            }
        }
        let is_name_char = |found: char| found.is_alphanumeric() || matches!(found, '.' | '_' | '-');
        let rest = &cursor.text[trigger.end..];
        let name = &rest[..rest.find(|found| !is_name_char(found)).unwrap_or(rest.len())];
        let name = name.trim_end_matches('.');
        if name.is_empty() || SHARED.contains(&name) || !is_path_start(cursor.text, start) {
            return nothing;
        }
        Ok(Edit::new(start..trigger.end + name.len(), "~", RULE))
    }
}

/// Returns true if an absolute path can begin here: at the start of the text, after a character that cannot be in a
/// path, after `file://`, after a compiler flag such as `-I`, or after an escaped line end.
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

/// Returns true if a path component ends here. A final full stop does not continue it.
fn is_path_end(text: &str, end: usize) -> bool {
    let mut rest = text[end..].chars();
    match rest.next() {
        None => true,
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        Some(character) => !(character.is_alphanumeric() || matches!(character, '_' | '-')),
    }
}
