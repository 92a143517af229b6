//! Home directories become `~`, at a path boundary only: the user's own, and not in code, where an edit of the line would not
//! match. Those of others stay: `~/app` would be a lie about `/home/alice/app`. Who wants no names shown can have all homes
//! go, everywhere.

use std::ops::Range;

use crate::text::redact::cursor::Cursor;
use crate::text::redact::rule::{Edit, Found, Rule};
use crate::text::redact::triggers::Trigger;
use crate::text::text_enum;

const RULE: &str = "home_directory";

/// Names in the place of a user that are no user's home.
const SHARED: [&str; 4] = ["Shared", "Public", "Default", "All"];

text_enum! {
    /// Which home directories become `~`.
    #[derive(Default)]
    pub enum HomePaths {
        /// The user's own, outside of code.
        #[default]
        Own = "own",
        /// Everybody's, in code too.
        All = "all",
        /// None.
        Off = "off",
    }
}

/// The user's home directories, and which ones are replaced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    pub(crate) own: Vec<String>,
    pub(crate) paths: HomePaths,
}

/// The rules for these homes.
pub(crate) fn rules(homes: &Homes) -> Vec<Box<dyn Rule>> {
    match homes.paths {
        HomePaths::Own => vec![Box::new(KnownHome::new(homes))],
        HomePaths::All => vec![Box::new(KnownHome::new(homes)), Box::new(UserHome)],
        HomePaths::Off => Vec::new(),
    }
}

/// The home directories that are known by name.
struct KnownHome {
    names: Vec<String>,
    in_code: bool,
}

impl KnownHome {
    /// Trailing separators are dropped, and what is shorter than three bytes is nobody's home.
    fn new(homes: &Homes) -> Self {
        let trimmed =
            homes.own.iter().map(|home| home.trim_end_matches(['/', '\\'])).filter(|home| home.len() > 2);
        // As it stands, and as a string in code or JSON has it.
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

/// `/home/ann`, `/Users/ann` and `C:\Users\ann`, of any user.
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
