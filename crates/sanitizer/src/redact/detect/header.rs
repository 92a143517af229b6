//! Finds headers whose whole value is a secret.

use std::ops::Range;

use super::extent::{Value, full_range, leads_line, value};
use super::separator::{Separator, Tie};
use crate::redact::cursor::Cursor;
use crate::redact::rule::{Edit, REDACTED};
use crate::redact::value::header::{HeaderKind, is_secret_header};
use crate::redact::value::judgement::JUDGED;

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
