//! What other languages say for a password.

use std::ops::Range;

use super::assignment::{find_foreign, open_value};
use crate::text::redact::cursor::Cursor;
use crate::text::redact::rule::{Found, Rule};
use crate::text::redact::tables::names::FOREIGN;
use crate::text::redact::triggers::Trigger;

/// `contraseña: x` and the like: what follows must be plainly a secret.
pub(crate) struct ForeignName;

impl Rule for ForeignName {
    fn triggers(&self) -> Vec<Trigger> {
        FOREIGN.iter().map(|(ending, _)| Trigger::any_case(ending)).collect()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        match whole_word(cursor, &trigger) {
            Some(name) => find_foreign(cursor, name),
            None => Found::nothing(trigger.end),
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        whole_word(cursor, &trigger).and_then(|name| open_value(cursor, name, true))
    }
}

/// The word that ends with what was found, if it is one of those that were looked for.
fn whole_word(cursor: &Cursor<'_>, ending: &Range<usize>) -> Option<Range<usize>> {
    FOREIGN.iter().find_map(|(_, word)| {
        let start = ending.end.checked_sub(word.len())?;
        let found = cursor.bytes.get(start..ending.end)?;
        (start >= cursor.floor && found.eq_ignore_ascii_case(word.as_bytes())).then_some(start..ending.end)
    })
}
