//! What stands between a name and its value.

use std::ops::Range;

use super::cursor::{Cursor, Quote};

/// How a value is tied to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// `name=value`, nothing around the sign.
    Tight,
    /// `name = value`, `name := value`, `name => value`.
    Equals,
    /// `name: value`.
    Colon,
    /// `?name=value` and `;name=value`.
    Parameter,
    /// `--name value`.
    Flag,
    /// `"name", "value"`.
    Comma,
    /// `NAME "value"`, `ENV NAME value`, `login x password y`.
    Blank,
    /// `<name>value</name>`.
    Element,
}

/// A name's tie, where the value begins, and whether the name itself is quoted.
pub(super) struct Separator {
    pub(super) tie: Tie,
    pub(super) value: usize,
    pub(super) name_quote: Option<Quote>,
}

pub(super) fn separator(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    let mut at = name.end;
    let name_quote =
        cursor.quote(at).filter(|quote| quote.mark != b'`' || cursor.quote_before(name.start).is_some());
    if let Some(quote) = name_quote {
        at += quote.len();
    }
    if cursor.byte(at) == Some(b']') {
        at += 1;
    }
    let is_quoted = name_quote.is_some();
    if !is_quoted && matches!(cursor.byte(at), Some(b'?' | b'!')) {
        at += 1;
    }
    let next = cursor.skip_blanks(at);
    let rest = &cursor.bytes[next..];
    let is_flag = matches!(cursor.byte(name.start), Some(b'-'));
    let (tie, after) = match rest {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
        [b'=', b'>', ..] | [b':', b'=', ..] => (Tie::Equals, next + 2),
        [b'=', ..] if is_parameter(cursor, name.start) => (Tie::Parameter, next + 1),
        [b'=', tail @ ..] if next == at && !matches!(tail.first(), None | Some(b' ' | b'\t')) => {
            (Tie::Tight, next + 1)
        }
        [b'=', ..] => (Tie::Equals, next + 1),
        [b':', ..] => (Tie::Colon, next + 1),
        [b'>', ..] if next == at && !is_quoted && is_element(cursor, name) => (Tie::Element, next + 1),
        [b',', ..] if is_quoted => (Tie::Comma, next + 1),
        _ if is_quoted && next > at && rest.starts_with(b"value=") => (Tie::Equals, next + "value=".len()),
        _ if next == at || is_quoted => return None,
        _ if is_flag => (Tie::Flag, next),
        _ => {
            let value = blank_value(cursor, name, next)?;
            return Some(Separator { tie: Tie::Blank, value, name_quote });
        }
    };
    Some(Separator { tie, value: cursor.skip_blanks(after), name_quote })
}

/// Whether a name is a parameter of a query or of a connection string.
fn is_parameter(cursor: &Cursor<'_>, start: usize) -> bool {
    match cursor.before(start) {
        Some(b'?' | b'&') => true,
        Some(b';') => !matches!(cursor.before(start - 1), None | Some(b'\n' | b' ')),
        _ => false,
    }
}

fn is_element(cursor: &Cursor<'_>, name: &Range<usize>) -> bool {
    cursor.before(name.start) == Some(b'<')
}

/// Where the value of a name begins that is followed by blanks alone: `#define NAME "x"`, `ENV NAME x`,
/// `PASSWORD 'x'` in SQL, `password x` in a netrc line, `const name string = "x"` in Go, `password is x`.
fn blank_value(cursor: &Cursor<'_>, name: &Range<usize>, next: usize) -> Option<usize> {
    let text = &cursor.text[name.clone()];
    let is_constant = !text.bytes().any(|byte| byte.is_ascii_lowercase());
    let before = cursor.line_before(name.start, 128).trim_ascii_end();
    if is_constant && (cursor.quote(next).is_some() || before.ends_with(b"ENV") || before.ends_with(b"ARG")) {
        return Some(next);
    }
    if text == "password" && memchr::memmem::find(before, b"login ").is_some() {
        return Some(next);
    }
    let rest = &cursor.bytes[next..];
    if rest.starts_with(b"is ") {
        return Some(next + "is ".len());
    }
    let typed = rest.strip_prefix(b"string = ").or_else(|| rest.strip_prefix(b"[]byte = "))?;
    (typed.first() == Some(&b'"')).then(|| cursor.bytes.len() - typed.len())
}
