//! Finds passwords of databases: `IDENTIFIED BY 'x'`, and the lines of a `.pgpass` file.

use std::ops::Range;

use crate::redact::cursor::{Cursor, run_before};
use crate::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::redact::triggers::Trigger;
use crate::redact::value::judgement::{JUDGED, Place, is_secret};
use crate::redact::value::name::NameKind;

/// The number of bytes of a statement that are read before `IDENTIFIED`, and the maximum distance to the value after
/// it.
const STATEMENT: usize = 256;

/// The rule for `CREATE USER u IDENTIFIED BY 'x'`, with or without the plug-in that checks the password.
pub(crate) struct IdentifiedBy;

impl Rule for IdentifiedBy {
    /// Returns the end of the word, because many other words have the same beginning.
    fn triggers(&self) -> Vec<Trigger> {
        ["ied by ", "ied with "].map(Trigger::any_case).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let value = password(cursor, &trigger).ok_or(trigger.end)?;
        let judged = &cursor.text[value.start..cursor.floor_char(value.end.min(value.start + JUDGED))];
        if is_secret(NameKind::Password, "password", judged, Place::Quoted) {
            Ok(Edit::new(value, REDACTED, "sql_password"))
        } else {
            Err(trigger.end)
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let value = password(cursor, &trigger)?;
        (value.end == cursor.bytes.len()).then_some(value.start)
    }
}

/// Returns the password of a statement. Prose contains `identified by`, too. So in small letters, or for a value
/// without quotes, a statement about users must precede.
fn password(cursor: &Cursor<'_>, trigger: &Range<usize>) -> Option<Range<usize>> {
    let begin = trigger.start.checked_sub("identif".len()).filter(|begin| *begin >= cursor.floor)?;
    let word = &cursor.bytes[begin..trigger.start];
    (word.eq_ignore_ascii_case(b"identif") && cursor.is_token_start(begin)).then_some(())?;
    let mut at = cursor.skip_blanks(trigger.end);
    if cursor.bytes[trigger.clone()].eq_ignore_ascii_case(b"ied with ") {
        at = after_plugin(cursor, at)?;
    }
    at = after_word(cursor, at, b"password ").unwrap_or(at);
    let before = cursor.line_before(begin, STATEMENT).to_ascii_lowercase();
    let is_statement = [&b"user "[..], b"grant ", b"role ", b"link "]
        .iter()
        .any(|word| memchr::memmem::find(&before, word).is_some());
    let is_quoted = cursor.quote(at).is_some_and(|quote| quote.mark != b'`');
    if !(is_statement || (is_quoted && word == b"IDENTIF")) {
        return None;
    }
    let value =
        cursor.word(at, |byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b',' | b'"' | b'\''));
    // A bound variable, or an option of the statement, is not a password.
    (is_quoted || !matches!(cursor.byte(at), None | Some(b':' | b'@' | b'('))).then_some(value)
}

/// Returns the position after the `BY` of `mysql_native_password BY`.
fn after_plugin(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let plugin = cursor.word(at, |byte| byte.is_ascii_whitespace());
    let next = cursor.skip_blanks((plugin.end + (plugin.start - at)).min(cursor.bytes.len()));
    after_word(cursor, next, b"by ")
}

fn after_word(cursor: &Cursor<'_>, at: usize, word: &[u8]) -> Option<usize> {
    let found = cursor.bytes.get(at..at + word.len())?;
    found.eq_ignore_ascii_case(word).then(|| cursor.skip_blanks(at + word.len()))
}

/// The rule for `host:5432:database:user:password`, a line of `.pgpass`.
pub(crate) struct PasswordFile;

impl Rule for PasswordFile {
    /// Returns the usual ports, and `*`.
    fn triggers(&self) -> Vec<Trigger> {
        [":5432:", ":5433:", ":6432:", ":*:"].map(Trigger::exact).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let value = last_field(cursor, &trigger).ok_or(trigger.end)?;
        if is_secret(NameKind::Password, "password", &cursor.text[value.clone()], Place::Quoted) {
            Ok(Edit::new(value, REDACTED, "password_file"))
        } else {
            Err(trigger.end)
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let value = last_field(cursor, &trigger)?;
        (value.end == cursor.bytes.len()).then_some(value.start)
    }
}

/// Returns the password of a line that has a host before the port, and database and user after it.
fn last_field(cursor: &Cursor<'_>, port: &Range<usize>) -> Option<Range<usize>> {
    /// The maximum length of a line in such a file.
    const MAX_LINE: usize = 512;
    let before = cursor.line_before(port.start, MAX_LINE);
    let host = run_before(before, |byte| byte.is_ascii_alphanumeric() || b".-_*".contains(&byte));
    let begins =
        before.len() == host || matches!(before[before.len() - host - 1], b' ' | b'"' | b'\'' | b'n');
    (host > 0 && begins).then_some(())?;
    let rest = &cursor.bytes[port.end..cursor.line_end(port.end, MAX_LINE)];
    let length = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    let rest = &rest[..length.unwrap_or(rest.len())];
    let database = memchr::memchr(b':', rest)?;
    let user = database + 1 + memchr::memchr(b':', &rest[database + 1..])?;
    let password = &rest[user + 1..];
    // A colon within the password is escaped. A backslash and `n` are a line end of JSON.
    let length = memchr::memmem::find(password, b"\\n").unwrap_or(password.len());
    let is_last = !password[..length].contains(&b':') || memchr::memmem::find(password, b"\\:").is_some();
    (database > 0 && user > database + 1 && length > 0 && is_last)
        .then_some(port.end + user + 1..port.end + user + 1 + length)
}
