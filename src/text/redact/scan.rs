//! The scan: one search for all triggers, one rule per trigger.

use std::ops::Range;

use super::cursor::Cursor;
use super::detect::{assignment, bearer, command, foreign, pem, url, vendor};
use super::triggers::Triggers;
use crate::text::sanitize::{Edit, Homes};

/// Parts of names whose value may be a secret. Case does not matter, and neither does what stands around them.
const NAMES: [&str; 14] = [
    "key",
    "token",
    "secret",
    "pass",
    "pwd",
    "credential",
    "creds",
    "auth",
    "cookie",
    "bearer",
    "sig=",
    "signature",
    "_pat",
    "jwt",
];

#[derive(Clone, Copy)]
pub(in crate::text) enum Trigger {
    Name,
    /// The end of a name in another language, and its row.
    ForeignName(usize),
    /// Row of the vendor table.
    Vendor(usize),
    Url,
    PemBegin,
    PemEnd,
    CurlUser,
    Command,
    Basic,
    UserHome,
    Home,
}

/// What a rule says about the place it was called for.
pub(in crate::text) struct Found {
    /// The redaction, if any.
    pub(in crate::text) edit: Option<Edit>,
    /// Where the scan goes on.
    pub(in crate::text) resume: usize,
}

impl Found {
    pub(in crate::text) fn nothing(resume: usize) -> Self {
        Self { edit: None, resume }
    }

    pub(in crate::text) fn edit(edit: Edit, resume: usize) -> Self {
        Self { edit: Some(edit), resume }
    }
}

/// The compiled rules.
pub(in crate::text) struct Rules {
    finder: Triggers,
    triggers: Vec<(Trigger, String)>,
}

impl Rules {
    pub(in crate::text) fn new(homes: &Homes) -> Self {
        let mut triggers: Vec<(Trigger, String)> = Vec::new();
        let mut add = |trigger, text: &str| triggers.push((trigger, text.to_owned()));
        for home in homes.literals() {
            add(Trigger::Home, home);
        }
        for root in ["/home/", "/Users/", ":\\Users\\", ":\\\\Users\\\\", ":/Users/"] {
            add(Trigger::UserHome, root);
        }
        for (row, prefix) in vendor::prefixes().enumerate() {
            add(Trigger::Vendor(row), prefix);
        }
        add(Trigger::Url, "://");
        add(Trigger::Basic, "basic ");
        add(Trigger::PemBegin, "-----BEGIN ");
        add(Trigger::PemEnd, "-----END ");
        for flag in [" -u ", " --user ", " --user="] {
            add(Trigger::CurlUser, flag);
        }
        for flag in command::FLAGS {
            add(Trigger::Command, flag);
        }
        for name in NAMES {
            add(Trigger::Name, name);
        }
        for (row, (ending, _)) in foreign::NAMES.iter().enumerate() {
            add(Trigger::ForeignName(row), ending);
        }
        let finder = Triggers::new(triggers.iter().map(|(_, text)| text.clone()).collect());
        Self { finder, triggers }
    }

    /// The next trigger at or after `at`.
    pub(in crate::text) fn next(&self, cursor: &Cursor<'_>, at: usize) -> Option<(Trigger, Range<usize>)> {
        self.finder.find(cursor.bytes, at).map(|(index, hit)| (self.triggers[index].0, hit))
    }

    /// Adds an edit for everything that a rule redacts; they do not overlap.
    pub(in crate::text) fn collect(&self, text: &str, edits: &mut Vec<Edit>) {
        let mut cursor = Cursor::new(text);
        let mut at = 0;
        while let Some((index, hit)) = self.finder.find(cursor.bytes, at) {
            let (trigger, literal) = &self.triggers[index];
            let is_exact = cursor.bytes[hit.clone()] == *literal.as_bytes();
            let found = match trigger {
                Trigger::Basic => bearer::basic(&cursor, hit.clone()),
                Trigger::Name if literal == "bearer" => bearer::bearer(&cursor, hit.clone()),
                Trigger::Name => assignment::assignment(&cursor, hit.clone()),
                Trigger::ForeignName(row) => foreign::name(&cursor, *row, hit.clone()),
                Trigger::Url => url::user_info(&cursor, hit.end),
                Trigger::PemBegin => pem::begin(&cursor, hit.clone()),
                Trigger::PemEnd => pem::orphan_end(&cursor, hit.clone()),
                Trigger::CurlUser => url::curl_user(&cursor, hit.clone()),
                Trigger::Command if is_exact => command::password(&cursor, hit.clone()),
                Trigger::Vendor(row) if is_exact => vendor::token(&cursor, *row, hit.clone()),
                Trigger::UserHome => home(of_user(text, hit.start, hit.end), hit.end),
                Trigger::Home if is_exact => home(Homes::actual(text, hit.start, hit.end), hit.start + 1),
                Trigger::Vendor(_) | Trigger::Home | Trigger::Command => Found::nothing(hit.start + 1),
            };
            at = found.resume.max(hit.start + 1);
            if let Some(edit) = found.edit {
                cursor.floor = edit.range.end;
                edits.push(edit);
            }
        }
    }
}

fn home(edit: Option<Edit>, otherwise: usize) -> Found {
    let resume = edit.as_ref().map_or(otherwise, |edit| edit.range.end);
    Found { edit, resume }
}

/// A home pattern as written on its platform: `/home/` in lower case, and a drive letter before `:`.
fn of_user(text: &str, start: usize, end: usize) -> Option<Edit> {
    if text.as_bytes()[start] == b':' {
        let drive = start.checked_sub(1)?;
        return if text.as_bytes()[drive].is_ascii_alphabetic() {
            Homes::of_user(text, drive, end)
        } else {
            None
        };
    }
    if matches!(&text[start..end], "/home/" | "/Users/") { Homes::of_user(text, start, end) } else { None }
}
