//! What other languages say for a password.

use std::ops::Range;

use super::assignment::judge_foreign;
use crate::text::redact::cursor::Cursor;
use crate::text::redact::scan::Found;

/// The words, each with the ending by which it is found: most begin with letters that begin many words of code.
pub(in crate::text) const NAMES: [(&str, &str); 11] = [
    ("nnwort", "kennwort"),
    ("seña", "contraseña"),
    ("enha", "senha"),
    ("chtwoord", "wachtwoord"),
    ("asło", "hasło"),
    ("пароль", "пароль"),
    ("密码", "密码"),
    ("密碼", "密碼"),
    ("パスワード", "パスワード"),
    ("비밀번호", "비밀번호"),
    ("passwort", "passwort"),
];

/// Judges the word whose ending was found.
pub(in crate::text) fn name(cursor: &Cursor<'_>, row: usize, ending: Range<usize>) -> Found {
    match whole_word(cursor, row, &ending) {
        Some(name) => judge_foreign(cursor, name),
        None => Found::nothing(ending.end),
    }
}

/// The word that ends with what was found, if it is the one that was looked for.
pub(in crate::text) fn whole_word(
    cursor: &Cursor<'_>,
    row: usize,
    ending: &Range<usize>,
) -> Option<Range<usize>> {
    let word = NAMES.get(row)?.1;
    let start = ending.end.checked_sub(word.len())?;
    let found = cursor.bytes.get(start..ending.end)?;
    (start >= cursor.floor && found.eq_ignore_ascii_case(word.as_bytes())).then_some(start..ending.end)
}
