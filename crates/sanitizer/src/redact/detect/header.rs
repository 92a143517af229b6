//! Finds headers whose whole value is a secret, and judges them by their names and the look of their values.

use std::ops::Range;

use super::extent::{Value, full_range, leads_line, value};
use super::tie::{Separator, Tie};
use crate::redact::cursor::Cursor;
use crate::redact::judgement::JUDGED;
use crate::redact::names::ends_with;
use crate::redact::rule::{Edit, REDACTED};
use crate::redact::shape::{Shape, has_digit, is_made_up, is_marker, is_reference, shape_of};
use crate::redact::words::SCHEMES;
use crate::redact::words::is_one_of;

/// The minimum length of a random parameter of an unknown scheme.
const MIN_RANDOM: usize = 16;

/// A header that is redacted as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderKind {
    Authorization,
    Cookie,
}

/// Returns the kind of header at the end of a name: `Proxy-Authorization`, `HTTP_COOKIE`, `Set-Cookie`.
pub(crate) fn header_kind(name: &str) -> Option<HeaderKind> {
    if ends_with(name, "authorization") {
        Some(HeaderKind::Authorization)
    } else if ends_with(name, "cookie") || ends_with(name, "cookie2") {
        Some(HeaderKind::Cookie)
    } else {
        None
    }
}

/// Returns true if the content of such a header is a header value, and not prose or code about it.
pub(crate) fn is_secret_header(kind: HeaderKind, content: &str, is_alone: bool, is_quoted: bool) -> bool {
    let content = content.trim();
    let judged = &content[..crate::floor_char_boundary(content, JUDGED)];
    if content.is_empty() || is_marker(content) {
        return false;
    }
    let mut words = judged.split_ascii_whitespace();
    let first = words.next().unwrap_or("");
    match kind {
        HeaderKind::Cookie => first.split_once('=').is_some_and(|(name, value)| {
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%'));
            is_name
                && !matches!(
                    shape_of(value.trim_end_matches(';')),
                    Shape::Empty | Shape::Reference | Shape::Placeholder
                )
                && !judged.contains("${")
        }),
        HeaderKind::Authorization => {
            let Some(second) = words.next() else {
                return match shape_of(first) {
                    // A name in code continues after its last sign. A name with a dash and no digit is another header.
                    Shape::Random | Shape::Mixed => {
                        !first.contains(['(', '[', '<'])
                            && !first.ends_with([',', ';', '{', '+'])
                            && (has_digit(first.as_bytes()) || !first.contains('-'))
                    }
                    Shape::WordDigits | Shape::Short => {
                        is_alone && first.bytes().any(|byte| byte.is_ascii_digit())
                    }
                    Shape::Word => is_alone && !is_quoted && first.len() >= 8 && !SCHEMES.contains(&first),
                    // A name with a dash is not a name in code. Without a digit it may be a header in a list:
                    // `["authorization", "content-length"]`.
                    Shape::Identifier => {
                        is_alone
                            && first.contains('-')
                            && !first.contains('.')
                            && (!is_quoted || has_digit(first.as_bytes()))
                    }
                    _ => false,
                };
            };
            if !is_one_of(first, SCHEMES) {
                return is_scheme(first)
                    && (has_secret_parameter(judged) || is_credential(second, words.next()));
            }
            if is_made_up(second.as_bytes()) {
                return false;
            }
            let rest = words.next();
            if is_reference(second)
                || is_marker(second)
                || judged.contains("${")
                || second.starts_with(['"', '\'', '<', '+'])
            {
                return rest.is_none() && is_marker(second);
            }
            match shape_of(second) {
                Shape::Placeholder | Shape::Reference | Shape::Plain => false,
                Shape::Random | Shape::Mixed | Shape::WordDigits | Shape::Short | Shape::Number => true,
                _ => rest.is_none() || second.contains('='),
            }
        }
    }
}

/// Returns true if a word can be the name of an unknown scheme: `Zoho-oauthtoken`, `GoogleLogin`, `X-Custom`.
fn is_scheme(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Returns true if the word after such a scheme is a secret. In prose, words and numbers of standards follow.
fn is_credential(word: &str, next: Option<&str>) -> bool {
    if is_made_up(word.as_bytes()) || word.contains(['(', '{', '<']) {
        return false;
    }
    match shape_of(word) {
        Shape::Random => true,
        Shape::Mixed => next.is_none() && has_digit(word.as_bytes()) && word.len() >= 8,
        _ => false,
    }
}

/// Returns true if one of the parameters is random: `Custom id="7", mac="k9x2…"`.
fn has_secret_parameter(content: &str) -> bool {
    let parts = content.split([' ', ',', ';']).filter_map(|part| part.split_once('='));
    let values = parts.map(|(_, value)| value.trim_matches(['"', '\'']));
    // A cheap check that rejects most values.
    values.filter(|value| value.len() >= MIN_RANDOM).any(|value| is_credential(value, Some("")))
}

/// Judges the value of a header.
pub(crate) fn header(cursor: &Cursor<'_>, separator: &Separator, kind: HeaderKind) -> Option<Edit> {
    // `the Device Authorization RFC8628` is prose.
    if separator.tie == Tie::Sentence {
        return None;
    }
    let is_escaped = separator.escaped_end.is_some();
    let is_line = separator.tie == Tie::Colon && separator.name_quote.is_none() && !is_escaped;
    let found = value(cursor, separator);
    let quote = found.as_ref().and_then(|found| found.quote);
    let range = match found {
        Some(found) if quote.is_some() || is_escaped => found.range,
        // `"Authorization: "` as the start of a concatenation has no value here.
        _ if is_line => separator.value..line_value_end(cursor, &separator.name, separator.value, JUDGED),
        Some(found) => found.range,
        None => return None,
    };
    let content = cursor.text[range.clone()].trim_end();
    let is_alone = quote.is_some()
        || leads_line(cursor, separator.name.start)
        || cursor.quote_before(separator.name.start).is_some();
    if !is_secret_header(kind, content, is_alone, quote.is_some()) {
        return None;
    }
    let rule = if kind == HeaderKind::Cookie { "cookie" } else { "authorization" };
    let end = if quote.is_none() && is_line {
        let whole = range.start..line_value_end(cursor, &separator.name, range.start, usize::MAX);
        range.start + cursor.text[whole].trim_end().len()
    } else {
        full_range(cursor, separator, &Value { range: range.clone(), quote }).end
    };
    Some(Edit::new(range.start..end, REDACTED, rule))
}

/// Returns true if a header such as `x-api-key: Bearer x` has a scheme before its value.
pub(crate) fn begins_with_scheme(cursor: &Cursor<'_>, separator: &Separator) -> bool {
    let name = &cursor.bytes[separator.name.clone()];
    if separator.tie != Tie::Colon || !name.contains(&b'-') {
        return false;
    }
    let at = cursor.skip_quote(separator.value);
    ["bearer ", "basic ", "token "].iter().any(|scheme| {
        cursor
            .bytes
            .get(at..at + scheme.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Returns the end of a header value without quotes of its own: the line end, an escaped line end, or the quote that
/// closes the string around the header. Quoted parameters (`realm="x"`) belong to the value.
fn line_value_end(cursor: &Cursor<'_>, name: &Range<usize>, start: usize, reach: usize) -> usize {
    let stop = cursor.floor_char(cursor.bytes.len().min(start.saturating_add(reach)));
    let around = cursor.quote_before(name.start);
    let mut at = start;
    while at < stop {
        match cursor.bytes[at] {
            b'\n' => return at,
            b'\\' if matches!(cursor.byte(at + 1), Some(b'n' | b'r')) => return at,
            b'\\' | b'"' | b'\'' | b'`' => {
                let Some(quote) = cursor.quote(at) else {
                    at += 1;
                    continue;
                };
                let opens =
                    at > start && cursor.bytes[at - 1] == b'=' && around.is_none_or(|around| around != quote);
                let end = opens.then(|| cursor.string_end(at + quote.len(), quote, stop - at));
                let Some(end) = end.filter(|end| end.closed) else { return at };
                at = end.content + quote.len();
            }
            _ => at += 1,
        }
    }
    at.min(stop)
}
