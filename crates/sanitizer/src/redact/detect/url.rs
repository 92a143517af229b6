//! Finds credentials in URLs and in curl's option `-u` or `--user`.

use std::ops::Range;

use crate::redact::cursor::Cursor;
use crate::redact::rule::{Edit, Found, REDACTED, Rule};
use crate::redact::triggers::Trigger;
use crate::redact::value::shape::{Shape, shape_of};

const RULE: &str = "url_credentials";

/// The maximum length of the user information that is recognized, in bytes.
const REACH: usize = 512;

/// The rule for `://user:pass@`, which redacts the password, and for an opaque `://token@`, which redacts all of it.
pub(crate) struct UserInfo;

impl Rule for UserInfo {
    fn triggers(&self) -> Vec<Trigger> {
        vec![Trigger::exact("://")]
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let start = trigger.end;
        let nothing = Err(start);
        let window = &cursor.bytes[start..cursor.bytes.len().min(start + REACH)];
        let is_end = |&byte: &u8| ends_url(byte) || matches!(byte, b'/' | b'?' | b'#');
        let authority = window.iter().position(is_end).unwrap_or(window.len());
        if authority == 0 {
            return nothing;
        }
        let window = &window[..window.iter().position(|&byte| ends_url(byte)).unwrap_or(window.len())];
        // The next URL has its own credentials.
        let window = &window[..memchr::memmem::find(window, b"://").unwrap_or(window.len())];
        let authority = authority.min(window.len());
        let host_at = match memchr::memrchr(b'@', &window[..authority]) {
            Some(at) => at,
            // A password may contain an unescaped slash: the text after the colon is not a port, and an `@` follows
            // later.
            None => match (memchr::memchr(b':', &window[..authority]), memchr::memchr(b'@', window)) {
                (Some(colon), Some(at)) if !window[colon + 1..authority].iter().all(u8::is_ascii_digit) => at,
                _ => return nothing,
            },
        };
        let colon = memchr::memchr(b':', &window[..host_at]);
        let secret = colon.map_or(0, |colon| colon + 1)..host_at;
        let value = &cursor.text[start + secret.start..start + secret.end];
        let is_secret = match shape_of(value) {
            Shape::Empty | Shape::Placeholder | Shape::Reference => false,
            // Addresses contain only escaped brackets. `[user[:password]@]host` is a description of the syntax.
            _ if value.contains(['[', ']']) => false,
            Shape::Random | Shape::Mixed => true,
            Shape::Plain | Shape::Word if is_form(&window[..secret.start.max(1) - 1], value) => false,
            _ => colon.is_some(),
        };
        if !is_secret {
            return nothing;
        }
        let range = start + secret.start..start + secret.end;
        Ok(Edit::new(range, REDACTED, RULE))
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let rest = &cursor.bytes[trigger.end..];
        (rest.len() < REACH && !rest.iter().any(|&byte| ends_url(byte))).then_some(trigger.end)
    }
}

/// The rule for `curl … -u user:pass`, which redacts the password.
pub(crate) struct CurlUser;

impl Rule for CurlUser {
    fn triggers(&self) -> Vec<Trigger> {
        [" -u ", " --user ", " --user="].map(Trigger::any_case).into()
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let nothing = Err(trigger.start + 1);
        if !is_curl_flag(cursor, &trigger) {
            return nothing;
        }
        // Take the whole value, even if it is long. Otherwise a second pass would find another value in the rest.
        let Range { start, end } = cursor.word(cursor.skip_blanks(trigger.end), ends_url);
        let window = &cursor.bytes[start..end];
        let Some(colon) = memchr::memchr(b':', &window[..window.len().min(REACH)]) else { return nothing };
        let range = start + colon + 1..end;
        let judged = start + colon + 1..cursor.floor_char(end.min(start + colon + 1 + REACH));
        match shape_of(&cursor.text[judged.clone()]) {
            Shape::Empty | Shape::Placeholder | Shape::Reference => nothing,
            Shape::Plain | Shape::Word if is_form(&window[..colon], &cursor.text[judged.clone()]) => nothing,
            _ => Ok(Edit::new(range, REDACTED, RULE)),
        }
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        let continues = cursor.word_is_open(cursor.skip_blanks(trigger.end), ends_url);
        (continues && is_curl_flag(cursor, &trigger)).then_some(trigger.end)
    }
}

/// Returns true if a flag is the first of its kind after `curl`.
fn is_curl_flag(cursor: &Cursor<'_>, flag: &Range<usize>) -> bool {
    cursor.options_of(flag.start + 1, b"curl").is_some_and(|options| {
        [&b" -u "[..], b" --user"].iter().all(|flag| memchr::memmem::find(options, flag).is_none())
    })
}

/// Returns true if credentials are placeholders: `USER:PASSWORD`, `user:password`.
fn is_form(user: &[u8], password: &str) -> bool {
    /// Placeholders for a password in examples.
    const PASSWORD_PLACEHOLDERS: [&str; 11] =
        ["pass", "password", "passwd", "pwd", "pw", "test", "xyz", "token", "secret", "key", "yyy"];
    // A description puts optional parts in brackets.
    let user = user.strip_prefix(b"[").unwrap_or(user);
    let is_user = |word: &&[u8]| user.eq_ignore_ascii_case(word);
    password.bytes().all(|byte| byte.is_ascii_uppercase())
        || (PASSWORD_PLACEHOLDERS.contains(&password)
            && [&b"user"[..], b"username", b"test", b"abc", b"xxx"].iter().any(is_user))
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|')
}
