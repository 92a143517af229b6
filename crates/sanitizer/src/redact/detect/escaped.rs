//! Finds names and values between escaped signs: `password%3Dx`, `\u0022token\u0022:\u0022x\u0022`,
//! `&lt;password&gt;x`.

use std::ops::Range;

use super::tie::{EscapedEnd, Separator, Tie};
use crate::redact::cursor::{Cursor, Quote};
use crate::redact::escape::{Escape, EscapedSign, escaped_sign};

/// Returns the separator of a name that an escaped sign follows.
pub(crate) fn escaped_separator(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    let closing = escaped_sign(cursor.bytes, name.end)?;
    let (at, name_quote) = match closing.sign {
        mark @ (b'"' | b'\'') => (closing.end, Some(Quote { escapes: 0, mark })),
        b']' => (closing.end, None),
        _ => (name.end, None),
    };
    let at = skip_blanks(cursor, at);
    let found = escaped_sign(cursor.bytes, at);
    let (sign, after) = match found {
        Some(found) => (found.sign, found.end),
        None => (cursor.byte(at)?, at + 1),
    };
    let tie = match sign {
        b'=' if sign_at(cursor, after) == Some(b'=') => return None,
        b'=' if is_parameter(cursor, name.start, closing) => Tie::Parameter,
        b'=' => Tie::Tight,
        b':' => Tie::Colon,
        b'>' if found.is_some() && begins_element(cursor, name.start) => Tie::Element,
        _ => return None,
    };
    let value = skip_blanks(cursor, after);
    let end = found
        .map(|found| EscapedEnd { escape: found.escape, closing: (tie == Tie::Element).then_some(b'<') });
    let (value, end) = match opening(cursor, value).filter(|_| tie != Tie::Element) {
        Some((value, end)) => (value, Some(end)),
        None => (value, end),
    };
    Some(Separator { name: name.clone(), tie, value, name_quote, escaped_end: end })
}

/// Returns the position after the escaped quote at `at`, and the end of the string that it opens.
pub(crate) fn opening(cursor: &Cursor<'_>, at: usize) -> Option<(usize, EscapedEnd)> {
    let found = escaped_sign(cursor.bytes, at)?;
    let closing = matches!(found.sign, b'"' | b'\'').then_some(found.sign);
    closing.map(|_| (found.end, EscapedEnd { escape: found.escape, closing }))
}

/// Returns the value at `at`, of which at most `reach` bytes are read, or `None` for a template.
pub(crate) fn escaped_value(
    cursor: &Cursor<'_>,
    at: usize,
    end: EscapedEnd,
    reach: usize,
) -> Option<Range<usize>> {
    let stop = cursor.floor_char(cursor.bytes.len().min(at.saturating_add(reach)));
    let mut next = at;
    while next < stop {
        let byte = cursor.bytes[next];
        if let Some(found) = escaped_sign(cursor.bytes, next).filter(|found| found.escape == end.escape) {
            if ends_value(end, found.sign) {
                break;
            }
            // `%7Btoken%7D` is a placeholder for the secret.
            if end.closing.is_none() && matches!(found.sign, b'{' | b'<') {
                return None;
            }
            next = found.end;
            continue;
        }
        let ends = match byte {
            b'\n' | b'\r' | b'"' | b'`' | b'<' | b'\\' => true,
            b' ' | b'\t' | b'\'' => end.closing.is_none() || end.escape == Escape::Percent,
            b'&' | b'#' | b',' | b';' | b')' | b']' | b'}' | b'>' | b'|' | b'(' => end.closing.is_none(),
            _ => false,
        };
        if ends {
            break;
        }
        next += 1;
    }
    let next = next.min(stop);
    let is_closed = end.closing != Some(b'<') || closes_element(cursor, next);
    (next > at && is_closed).then_some(at..next)
}

/// Returns true if the end of an element begins at `at`.
fn closes_element(cursor: &Cursor<'_>, at: usize) -> bool {
    escaped_sign(cursor.bytes, at).is_some_and(|open| sign_at(cursor, open.end) == Some(b'/'))
}

fn ends_value(end: EscapedEnd, sign: u8) -> bool {
    match end.closing {
        Some(closing) => sign == closing || matches!(sign, b'\n' | b'\r'),
        None => sign <= b' ' || b"&\"'>,;)]}|(#".contains(&sign),
    }
}

fn sign_at(cursor: &Cursor<'_>, at: usize) -> Option<u8> {
    escaped_sign(cursor.bytes, at).map(|found| found.sign).or_else(|| cursor.byte(at))
}

/// Returns the position after blanks, escaped or not.
fn skip_blanks(cursor: &Cursor<'_>, at: usize) -> usize {
    /// The maximum number of escaped blanks. More blanks separate columns of a table.
    const MAX_ESCAPED: usize = 8;
    let mut at = cursor.skip_blanks(at);
    for _ in 0..MAX_ESCAPED {
        match escaped_sign(cursor.bytes, at).filter(|found| found.sign == b' ') {
            Some(blank) => at = cursor.skip_blanks(blank.end),
            None => break,
        }
    }
    at
}

/// Returns true if a name is a parameter. Every name with percent escapes is one.
fn is_parameter(cursor: &Cursor<'_>, start: usize, next: EscapedSign) -> bool {
    next.escape == Escape::Percent
        || matches!(cursor.before(start), Some(b'?' | b'&'))
        || ["\\u0026", "\\u003f", "\\x26", "&amp;", "&#38;", "&#x26;"]
            .iter()
            .any(|sign| is_before(cursor, start, sign))
}

/// Returns true if the `<` of an element is before a name.
fn begins_element(cursor: &Cursor<'_>, start: usize) -> bool {
    ["\\u003c", "\\x3c", "&lt;", "&#60;", "&#x3c;", "%3c"].iter().any(|sign| is_before(cursor, start, sign))
}

fn is_before(cursor: &Cursor<'_>, at: usize, sign: &str) -> bool {
    let start = at.checked_sub(sign.len()).filter(|start| *start >= cursor.floor);
    start.is_some_and(|start| cursor.bytes[start..at].eq_ignore_ascii_case(sign.as_bytes()))
}
