//! Where a value begins and ends.

use std::ops::Range;

use super::separator::{Separator, Tie};
use crate::text::redact::cursor::{Cursor, Quote, run_before};
use crate::text::redact::tables::words::{ELSEWHERE_TAGS, WRAPPERS};
use crate::text::redact::value::judgement::JUDGED;
use crate::text::redact::value::looks::has_digit;

/// A value, without its quotes; its range may end early, after the part that is judged.
pub(crate) struct Value {
    pub(crate) range: Range<usize>,
    pub(crate) quote: Option<Quote>,
}

/// Finds the value that a separator leads to; `None` when there is none on this line.
pub(crate) fn value(cursor: &Cursor<'_>, separator: &Separator) -> Option<Value> {
    if separator.tie == Tie::Element {
        return element(cursor, separator);
    }
    let at = after_tag(cursor, separator);
    if let Some(start) = opening(cursor, separator, at) {
        return quoted(cursor, start).filter(|found| !is_command(cursor, separator, found));
    }
    if separator.tie == Tie::Colon
        && separator.name_quote.is_none()
        && let Some(start) = after_type(cursor, at)
    {
        return quoted(cursor, start);
    }
    if matches!(separator.tie, Tie::Comma) || cursor.quote(at).is_some() {
        return None;
    }
    if let Some(start) = after_wrapper(cursor, at) {
        return quoted(cursor, start);
    }
    let end = unquoted_end(cursor, separator, at, JUDGED);
    (end > at).then_some(Value { range: at..end, quote: None })
}

/// Position of the value behind a YAML tag, unless the tag says that the secret is elsewhere.
fn after_tag(cursor: &Cursor<'_>, separator: &Separator) -> usize {
    let at = separator.value;
    let window = &cursor.bytes[at..cursor.bytes.len().min(at + 32)];
    if separator.tie != Tie::Colon || window.first() != Some(&b'!') {
        return at;
    }
    let tag =
        window.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"!_-./".contains(&byte)).count();
    let is_elsewhere = ELSEWHERE_TAGS
        .iter()
        .any(|tag| window.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes())));
    if is_elsewhere || tag < 2 || window.get(tag) != Some(&b' ') { at } else { cursor.skip_blanks(at + tag) }
}

/// The range of a whole value, of which only the beginning was judged.
pub(crate) fn whole(cursor: &Cursor<'_>, separator: &Separator, judged: &Value) -> Range<usize> {
    let Range { start, end } = judged.range;
    if end - start < JUDGED / 2 || separator.tie == Tie::Element {
        return start..end;
    }
    match judged.quote {
        Some(quote) => start..cursor.string_end(start, quote, usize::MAX).content,
        None => start..unquoted_end(cursor, separator, start, usize::MAX),
    }
}

/// Position of the quote that opens the value, behind a string prefix such as `b` or `f`.
fn opening(cursor: &Cursor<'_>, separator: &Separator, at: usize) -> Option<usize> {
    let at = match (cursor.byte(at)?, cursor.byte(at + 1)) {
        (b'b' | b'r' | b'f' | b'u' | b'L' | b'@', Some(b'"' | b'\'')) => at + 1,
        _ => at,
    };
    let quote = cursor.quote(at)?;
    // In `"Password: "` the mark closes the string that the name is part of.
    let follows = cursor.byte(at + quote.len());
    let closes =
        matches!(follows, None | Some(b')' | b',' | b';' | b']' | b'}' | b':' | b' ' | b'\n' | b'\r'));
    let closes_names =
        separator.name_quote.is_none() && cursor.quote_before(separator.name.start) == Some(quote);
    (!closes && !closes_names).then_some(at)
}

fn quoted(cursor: &Cursor<'_>, at: usize) -> Option<Value> {
    let quote = cursor.quote(at)?;
    let mut start = at + quote.len();
    let mark = [quote.mark; 2];
    if quote.escapes == 0 && cursor.bytes[start..].starts_with(&mark) {
        start += 2; // Three quotes, as in Python: the content ends at the next one all the same.
    }
    let end = cursor.string_end(start, quote, JUDGED * 2).content;
    (end > start).then_some(Value { range: start..end, quote: Some(quote) })
}

/// Whether a shell runs the value: `` NAME=`pass show x` ``.
fn is_command(cursor: &Cursor<'_>, separator: &Separator, found: &Value) -> bool {
    separator.tie == Tie::Tight
        && found.quote.is_some_and(|quote| quote.mark == b'`')
        && cursor.bytes[found.range.clone()].contains(&b' ')
}

/// `: Type = "value"`: position of the quote.
fn after_type(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let stop = cursor.line_end(at, 64);
    let rest = &cursor.bytes[at..stop];
    let equals = memchr::memchr(b'=', rest)?;
    let is_type = rest[..equals].iter().all(|&byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'&' | b'\'' | b'<' | b'>' | b'[' | b']' | b'|' | b'.' | b'?' | b' ')
    });
    if !is_type || !rest[..equals].ends_with(b" ") || matches!(rest.get(equals + 1), Some(b'=' | b'>')) {
        return None;
    }
    let quote = cursor.skip_blanks(at + equals + 1);
    matches!(cursor.byte(quote), Some(b'"' | b'\'' | b'`')).then_some(quote)
}

/// `String::from("value")`: position of the quote.
fn after_wrapper(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let rest = &cursor.bytes[at..];
    let wrapper = WRAPPERS.iter().find(|wrapper| rest.starts_with(wrapper.as_bytes()))?;
    let quote = at + wrapper.len() + 1;
    (rest.get(wrapper.len()) == Some(&b'(') && cursor.quote(quote).is_some()).then_some(quote)
}

fn element(cursor: &Cursor<'_>, separator: &Separator) -> Option<Value> {
    let at = separator.value;
    let name = &cursor.bytes[separator.name.clone()];
    let stop = cursor.line_end(at, JUDGED * 4);
    let end = at + memchr::memchr(b'<', &cursor.bytes[at..stop])?;
    let closing = cursor.bytes[end..].strip_prefix(b"</")?;
    (closing.starts_with(name) && end > at).then_some(Value { range: at..end, quote: None })
}

/// End of a value without quotes.
fn unquoted_end(cursor: &Cursor<'_>, separator: &Separator, at: usize, reach: usize) -> usize {
    let is_parameter = separator.tie == Tie::Parameter;
    let is_tight = separator.tie == Tie::Tight;
    let is_whole = is_setting(cursor, separator);
    let stops = |byte: u8, next: Option<&u8>| match byte {
        b'"' | b'\'' | b'`' => true,
        b'\\' => matches!(next, None | Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\')),
        b'&' | b'#' if is_parameter => true,
        b',' | b';' | b')' | b']' | b'}' | b'<' | b'>' | b'|' | b'(' => !is_whole,
        _ => byte.is_ascii_whitespace(),
    };
    let stop = cursor.floor_char(cursor.bytes.len().min(at.saturating_add(reach)));
    let bytes = &cursor.bytes[at..stop];
    // A marker from an earlier pass contains brackets.
    let marker = bytes.first() == Some(&b'[');
    let length = (0..bytes.len())
        .find(|&index| {
            stops(bytes[index], bytes.get(index + 1))
                && !(marker && bytes[index] == b']')
                && !(is_tight && bytes[index] == b';' && belongs_to_value(&bytes[index + 1..]))
        })
        .unwrap_or(bytes.len());
    let value = &bytes[..length];
    // A full stop ends a sentence, but a setting has none.
    let is_after = |byte| matches!(byte, b',' | b';' | b')') || (byte == b'.' && !is_whole);
    at + length - run_before(value, is_after)
}

/// Whether what stands behind a `;` belongs to the value before it: a word that is no statement, no other setting, and
/// that has a digit or ends the line.
fn belongs_to_value(rest: &[u8]) -> bool {
    /// No password goes on for longer behind its last `;`.
    const MOST: usize = 64;
    let window = &rest[..rest.len().min(MOST)];
    let length =
        window.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b';').unwrap_or(window.len());
    let (word, behind) = window.split_at(length);
    let is_value = word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/@#!%^*_-~$".contains(byte));
    let ends_line = matches!(behind.first(), None | Some(b'\n' | b'\r'));
    length > 0 && is_value && (has_digit(word) || ends_line)
}

/// Whether the line is a setting: `NAME=value` of a shell or env file, or `name: value` on a line of its own. The value
/// of a setting ends at the next blank, whatever signs it contains.
pub(crate) fn is_setting(cursor: &Cursor<'_>, separator: &Separator) -> bool {
    match separator.tie {
        Tie::Tight => !cursor.bytes[separator.name.clone()].iter().any(u8::is_ascii_lowercase),
        Tie::Colon => leads_line(cursor, separator.name.start),
        Tie::Entry => true,
        _ => false,
    }
}

/// Whether only blanks, a list dash or a comment sign stand before `at` on its line.
pub(crate) fn leads_line(cursor: &Cursor<'_>, at: usize) -> bool {
    cursor
        .line_before(at, 64)
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'#' | b'*' | b'>' | b'<'))
}
