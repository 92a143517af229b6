//! Headers whose whole value is a secret.

use std::ops::Range;

use super::separator::{Separator, Tie};
use crate::text::redact::cursor::Cursor;
use crate::text::redact::scan::Found;
use crate::text::redact::value::extent::{JUDGED, Value, leads_line, value, whole as whole_value};
use crate::text::redact::value::looks::{Look, is_marker, is_reference, look};
use crate::text::sanitize::{Edit, REDACTED};

const SCHEMES: [&str; 17] = [
    "bearer",
    "basic",
    "digest",
    "token",
    "apikey",
    "api-key",
    "key",
    "negotiate",
    "ntlm",
    "hawk",
    "oauth",
    "sso-key",
    "signature",
    "aws4-hmac-sha256",
    "sharedkey",
    "genie",
    "bot",
];

/// A header that is redacted whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text) enum HeaderKind {
    Authorization,
    Cookie,
}

/// The header that a name means, with any prefix: `Proxy-Authorization`, `HTTP_COOKIE`, `Set-Cookie`.
pub(in crate::text) fn kind(name: &str) -> Option<HeaderKind> {
    let ends = |ending: &str| {
        name.len() >= ending.len()
            && name.is_char_boundary(name.len() - ending.len())
            && name[name.len() - ending.len()..].eq_ignore_ascii_case(ending)
    };
    match () {
        () if ends("authorization") => Some(HeaderKind::Authorization),
        () if ends("cookie") || ends("cookie2") => Some(HeaderKind::Cookie),
        () => None,
    }
}

pub(in crate::text) fn header(
    cursor: &Cursor<'_>,
    name: &Range<usize>,
    separator: &Separator,
    kind: HeaderKind,
) -> Option<Found> {
    let is_line = separator.tie == Tie::Colon && separator.name_quote.is_none();
    let found = value(cursor, name, separator);
    let quote = found.as_ref().and_then(|found| found.quote);
    let range = match found {
        Some(found) if quote.is_some() => found.range,
        // `"Authorization: "` as the start of a concatenation has no value here.
        _ if is_line => separator.value..line_value_end(cursor, name, separator.value, JUDGED),
        Some(found) => found.range,
        None => return None,
    };
    let content = cursor.text[range.clone()].trim_end();
    let is_alone =
        quote.is_some() || leads_line(cursor, name.start) || cursor.quote_before(name.start).is_some();
    if !is_secret_header(kind, content, is_alone, quote.is_some()) {
        return None;
    }
    let rule = if kind == HeaderKind::Cookie { "cookie" } else { "authorization" };
    let is_cut = range.end + 4 > range.start + JUDGED;
    let end = if quote.is_none() && is_line && !is_cut {
        range.start + content.len()
    } else if quote.is_none() && is_line {
        let whole = range.start..line_value_end(cursor, name, range.start, usize::MAX);
        range.start + cursor.text[whole].trim_end().len()
    } else {
        whole_value(cursor, name, separator, &Value { range: range.clone(), quote }).end
    };
    Some(Found::edit(Edit::new(range.start..end, REDACTED, rule), end))
}

/// End of a header value without quotes of its own: the line end, an escaped line end, or the quote that closes the
/// string around the header. Quoted parameters (`realm="x"`) belong to the value.
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
                let end = cursor.string_end(at + quote.len(), quote, stop - at);
                if !opens || !end.closed {
                    return at;
                }
                at = end.content + quote.len();
            }
            _ => at += 1,
        }
    }
    at.min(stop)
}

/// Whether the content of such a header is one, and not prose or code about it.
pub(in crate::text) fn is_secret_header(
    kind: HeaderKind,
    content: &str,
    is_alone: bool,
    is_quoted: bool,
) -> bool {
    let content = content.trim();
    let judged = &content[..crate::text::floor_char_boundary(content, JUDGED)];
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
                    look(value.trim_end_matches(';')),
                    Look::Empty | Look::Reference | Look::Placeholder
                )
                && !judged.contains("${")
        }),
        HeaderKind::Authorization => {
            let Some(second) = words.next() else {
                return match look(first) {
                    Look::Random | Look::Mixed => !first.contains('(') && !first.ends_with([',', ';', '{']),
                    Look::WordDigits | Look::Short => {
                        is_alone && first.bytes().any(|byte| byte.is_ascii_digit())
                    }
                    Look::Word => is_alone && !is_quoted && first.len() >= 8 && !SCHEMES.contains(&first),
                    // A name with a dash is no name in code.
                    Look::Identifier => is_alone && first.contains('-') && !first.contains('.'),
                    _ => false,
                };
            };
            if !SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(first)) {
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
            match look(second) {
                Look::Placeholder | Look::Reference | Look::Plain => false,
                Look::Random | Look::Mixed | Look::WordDigits | Look::Short | Look::Number => true,
                _ => rest.is_none() || second.contains('='),
            }
        }
    }
}
