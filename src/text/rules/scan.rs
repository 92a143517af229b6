//! The scan: one automaton for all triggers, one rule per trigger.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::cursor::Cursor;
use super::{assignment, bearer, pem, url, vendor};
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
enum Trigger {
    Name,
    /// Row of the vendor table.
    Vendor(usize),
    Url,
    PemBegin,
    PemEnd,
    CurlUser,
    UserHome,
    Home,
}

/// What a rule says about the place it was called for.
pub(super) struct Found {
    /// The redaction, if any.
    pub(super) edit: Option<Edit>,
    /// Where the scan goes on.
    pub(super) resume: usize,
}

impl Found {
    pub(super) fn nothing(resume: usize) -> Self {
        Self { edit: None, resume }
    }

    pub(super) fn edit(edit: Edit, resume: usize) -> Self {
        Self { edit: Some(edit), resume }
    }
}

/// The compiled rules.
pub(in crate::text) struct Rules {
    automaton: AhoCorasick,
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
        vendor::prefixes().enumerate().for_each(|(row, prefix)| add(Trigger::Vendor(row), prefix));
        add(Trigger::Url, "://");
        add(Trigger::PemBegin, "-----BEGIN ");
        add(Trigger::PemEnd, "-----END ");
        for flag in [" -u ", " --user ", " --user="] {
            add(Trigger::CurlUser, flag);
        }
        for name in NAMES {
            add(Trigger::Name, name);
        }
        // At one place the longest trigger is the most telling one.
        triggers.sort_by_key(|(_, text)| usize::MAX - text.len());
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::LeftmostFirst)
            .ascii_case_insensitive(true)
            .build(triggers.iter().map(|(_, text)| text))
            .expect("a few hundred short triggers fit an automaton");
        Self { automaton, triggers }
    }

    /// Adds an edit for everything that a rule redacts; they do not overlap.
    pub(in crate::text) fn collect(&self, text: &str, edits: &mut Vec<Edit>) {
        let mut cursor = Cursor::new(text);
        let mut at = 0;
        while let Some(hit) = self.automaton.find(Input::new(text).range(at..)) {
            let (trigger, literal) = &self.triggers[hit.pattern().as_usize()];
            let found = match trigger {
                Trigger::Name if literal == "bearer" => bearer::bearer(&cursor, hit.range()),
                Trigger::Name => assignment::assignment(&cursor, hit.range()),
                Trigger::Url => url::user_info(&cursor, hit.end()),
                Trigger::PemBegin => pem::begin(&cursor, hit.range()),
                Trigger::PemEnd => pem::orphan_end(&cursor, hit.range()),
                Trigger::CurlUser => url::curl_user(&cursor, hit.range()),
                Trigger::Vendor(row) if text[hit.range()] == **literal => {
                    vendor::token(&cursor, *row, hit.range())
                }
                Trigger::UserHome => home(of_user(text, hit.start(), hit.end()), hit.end()),
                Trigger::Home if text[hit.range()] == **literal => {
                    home(Homes::actual(text, hit.start(), hit.end()), hit.start() + 1)
                }
                Trigger::Vendor(_) | Trigger::Home => Found::nothing(hit.start() + 1),
            };
            at = found.resume.max(hit.start() + 1);
            if let Some(edit) = found.edit {
                cursor.floor = edit.range.end;
                edits.push(edit);
            }
            while !text.is_char_boundary(at) {
                at += 1;
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
