//! Finds the beginning and the end of a value.

use std::ops::Range;

use super::escaped::escaped_value;
use super::tie::{Separator, Tie};
use crate::redact::cursor::{Cursor, Quote, StringEnd, line_break, run_before};
use crate::redact::judgement::JUDGED;
use crate::redact::shape::{Shape, has_digit, shape_of};
use crate::redact::words::{REFERENCE_TAGS, WRAPPERS};

/// A value without its quotes. Its range may end early, after the judged part.
pub(crate) struct Value {
    pub(crate) range: Range<usize>,
    pub(crate) quote: Option<Quote>,
}

/// Finds the value after a separator. Returns `None` if there is no value on this line or, where the name allows it,
/// on a following line.
pub(super) fn value(cursor: &Cursor<'_>, separator: &Separator) -> Option<Value> {
    if let Some(end) = separator.escaped_end {
        let range = escaped_value(cursor, separator.value, end, JUDGED)?;
        return Some(Value { range, quote: end.quote() });
    }
    match separator.tie {
        Tie::Element | Tie::ElementPair => return element(cursor, separator),
        Tie::Doubled => return after_double_equals(cursor, separator),
        _ => {}
    }
    let at = after_tag(cursor, separator);
    if line_break(cursor.bytes, at) > 0 {
        return next_line(cursor, separator, at);
    }
    if let Some(range) = braced_content(cursor, separator, at) {
        return Some(Value { range, quote: Some(BRACES) });
    }
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

/// Returns the position of the value after a YAML tag, unless the tag refers to a secret stored in another place.
pub(super) fn after_tag(cursor: &Cursor<'_>, separator: &Separator) -> usize {
    let at = separator.value;
    let window = &cursor.bytes[at..cursor.bytes.len().min(at + 32)];
    if separator.tie != Tie::Colon || window.first() != Some(&b'!') {
        return at;
    }
    let tag =
        window.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"!_-./".contains(&byte)).count();
    let is_reference = REFERENCE_TAGS
        .iter()
        .any(|tag| window.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes())));
    if is_reference || tag < 2 || window.get(tag) != Some(&b' ') { at } else { cursor.skip_blanks(at + tag) }
}

/// Returns the range of a whole value of which only the beginning was judged.
pub(crate) fn full_range(cursor: &Cursor<'_>, separator: &Separator, judged: &Value) -> Range<usize> {
    let Range { start, end } = judged.range;
    if end - start < JUDGED / 2 || matches!(separator.tie, Tie::Element | Tie::ElementPair) {
        return start..end;
    }
    if let Some(ends) = separator.escaped_end {
        return escaped_value(cursor, start, ends, usize::MAX).unwrap_or(start..end);
    }
    match judged.quote {
        Some(quote) => start..content_end(cursor, start, quote, usize::MAX).content,
        None => start..unquoted_end(cursor, separator, start, usize::MAX),
    }
}

/// Returns the position of the quote that opens the value, after a string prefix such as `b` or `f`.
fn opening(cursor: &Cursor<'_>, separator: &Separator, at: usize) -> Option<usize> {
    let at = match (cursor.byte(at)?, cursor.byte(at + 1)) {
        (b'b' | b'r' | b'f' | b'u' | b'L' | b'@', Some(b'"' | b'\'')) => at + 1,
        _ => at,
    };
    let quote = cursor.quote(at)?;
    // In `"Password: "` the mark closes the string around the name.
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
    let is_triple = quote.escapes == 0 && cursor.bytes[start..].starts_with(&mark);
    let end = if is_triple {
        start += 2; // As in Python: the content ends at the next quote anyway.
        cursor.string_end(start, quote, JUDGED * 2).content
    } else {
        content_end(cursor, start, quote, JUDGED * 2).content
    };
    (end > start).then_some(Value { range: start..end, quote: Some(quote) })
}

/// Returns the end of a string. A quote mark may be doubled, as in YAML and SQL (`'it''s'`), or be between two parts,
/// as in a shell (`'it'\''s'`).
fn content_end(cursor: &Cursor<'_>, at: usize, quote: Quote, reach: usize) -> StringEnd {
    let stop = at.saturating_add(reach);
    let mut next = at;
    loop {
        let end = cursor.string_end(next, quote, stop.saturating_sub(next));
        if !end.closed || quote.escapes > 0 || quote.mark == b'`' || end.content == at {
            return end;
        }
        let rest = &cursor.bytes[end.content + 1..];
        let slashes = rest.iter().take(4).take_while(|&&byte| byte == b'\\').count();
        let mark = quote.mark;
        next = end.content
            + 1
            + match rest {
                [first, ..] if *first == mark => 1,
                _ if mark == b'\'' && slashes > 0 && rest[slashes..].starts_with(b"''") => slashes + 2,
                _ if mark == b'\'' && rest.starts_with(b"\"'\"'") => 4,
                _ => return end,
            };
    }
}

/// Returns true if a shell runs the value: `` NAME=`pass show x` ``.
fn is_command(cursor: &Cursor<'_>, separator: &Separator, found: &Value) -> bool {
    separator.tie == Tie::Tight
        && found.quote.is_some_and(|quote| quote.mark == b'`')
        && cursor.bytes[found.range.clone()].contains(&b' ')
}

/// Returns the position of the quote in `: Type = "value"`.
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

/// Returns the position of the quote in `String::from("value")`.
fn after_wrapper(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let rest = &cursor.bytes[at..];
    let wrapper = WRAPPERS.iter().find(|wrapper| rest.starts_with(wrapper.as_bytes()))?;
    let quote = at + wrapper.len() + 1;
    (rest.get(wrapper.len()) == Some(&b'(') && cursor.quote(quote).is_some()).then_some(quote)
}

/// Returns the text of an element, on the line of its name or the next line.
fn element(cursor: &Cursor<'_>, separator: &Separator) -> Option<Value> {
    const REACH: usize = JUDGED * 4;
    const DATA: &[u8] = b"<![CDATA[";
    let mut at = separator.value;
    let newline = line_break(cursor.bytes, at);
    if newline > 0 {
        at = cursor.skip_blanks(at + newline);
    }
    let is_data = cursor.bytes[at..].starts_with(DATA);
    if is_data {
        at += DATA.len();
    }
    let window = &cursor.bytes[at..cursor.floor_char(cursor.bytes.len().min(at + REACH))];
    let length = if is_data { memchr::memmem::find(window, b"]]>") } else { memchr::memchr(b'<', window) }?;
    let tail = &cursor.bytes[at + length + if is_data { "]]>".len() } else { 0 }..];
    let closing = tail.strip_prefix(b"</").or_else(|| tail.strip_prefix(b"<\\/"))?;
    let name = &cursor.bytes[separator.name.clone()];
    let local = memchr::memchr(b':', &closing[..closing.len().min(32)])
        .map_or(closing, |colon| &closing[colon + 1..]);
    let closes = separator.tie == Tie::ElementPair || closing.starts_with(name) || local.starts_with(name);
    let mut content = &window[..length];
    // Skip an escaped line end before the closing tag.
    while newline > 0
        && let Some(rest) = content.trim_ascii_end().strip_suffix(b"\\n")
    {
        content = rest;
    }
    let content = content.trim_ascii_end();
    let is_line = newline == 0 || !content.contains(&b'\n');
    let end = if newline > 0 { at + content.len() } else { at + length };
    (closes && is_line && end > at && !window[..end - at].contains(&b'\n'))
        .then_some(Value { range: at..end, quote: None })
}

/// Returns a value that is the whole line after its name.
fn next_line(cursor: &Cursor<'_>, separator: &Separator, at: usize) -> Option<Value> {
    let start = next_line_start(cursor, separator, at)?;
    let is_indented = matches!(cursor.byte(start - 1), Some(b' ' | b'\t'));
    let is_assigned = matches!(separator.tie, Tie::Tight | Tie::Equals);
    if is_assigned && !is_indented {
        return None;
    }
    if let Some(quote) = cursor.quote(start) {
        let is_named =
            is_assigned || separator.name_quote.is_some() || leads_line(cursor, separator.name.start);
        let found = quoted(cursor, start).filter(|_| is_named && quote.escapes == 0)?;
        let after = found.range.end + 1;
        let ends =
            matches!(cursor.byte(after), None | Some(b',' | b';' | b')' | b'}' | b' ' | b'\n' | b'\r'));
        return ends.then_some(found);
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let window = &cursor.bytes[start..cursor.floor_char(cursor.bytes.len().min(start + JUDGED))];
    let end = start + window.iter().position(ends).unwrap_or(window.len());
    let is_string_end = cursor.byte(at) == Some(b'\\') && cursor.byte(end) == Some(b'"');
    let is_line =
        end == cursor.bytes.len() || is_string_end || line_break(cursor.bytes, cursor.skip_blanks(end)) > 0;
    let is_value = !matches!(cursor.byte(start), Some(b'-' | b'#' | b'<' | b'|'))
        && !matches!(cursor.bytes[..end].last(), Some(b':' | b',' | b';' | b'{' | b'('));
    (is_line && is_value && separator.tie != Tie::Tight && end > start)
        .then_some(Value { range: start..end, quote: None })
}

/// Returns the position of the first word on the line after the line end at `at`. After a colon, an empty line and the
/// beginning of a code block may come first.
fn next_line_start(cursor: &Cursor<'_>, separator: &Separator, at: usize) -> Option<usize> {
    /// The maximum number of line ends: after the name, of an empty line, and of a fence.
    const MAX_LINE_ENDS: usize = 3;
    if !matches!(separator.tie, Tie::Tight | Tie::Equals | Tie::Colon) {
        return None;
    }
    let mut at = at;
    for line in 0..MAX_LINE_ENDS {
        at = cursor.skip_blanks(at + line_break(cursor.bytes, at));
        let rest = &cursor.bytes[at..];
        let is_fence = rest.starts_with(b"```") || rest.starts_with(b"~~~");
        if is_fence {
            at = cursor.line_end(at, 32);
        }
        if line_break(cursor.bytes, at) == 0 {
            return (at < cursor.bytes.len() && !is_fence).then_some(at);
        }
        if separator.tie != Tie::Colon || line + 1 == MAX_LINE_ENDS {
            return None;
        }
    }
    None
}

/// Counts the line ends between a name and its value.
pub(crate) fn lines_between(cursor: &Cursor<'_>, separator: &Separator, value: usize) -> usize {
    let mut at = separator.value;
    let mut lines = 0;
    while at < value {
        let newline = line_break(cursor.bytes, at);
        lines += usize::from(newline > 0);
        at += newline.max(1);
    }
    lines
}

/// The braces around the password of a connection string: `PWD={a;b}`.
const BRACES: Quote = Quote { escapes: 0, mark: b'}' };

/// Returns the content of such braces. A `}` inside is doubled.
fn braced_content(cursor: &Cursor<'_>, separator: &Separator, at: usize) -> Option<Range<usize>> {
    /// The maximum length of a password in braces.
    const MAX_PASSWORD: usize = JUDGED / 2 - 1;
    let is_part = matches!(cursor.before(separator.name.start), None | Some(b';' | b'"' | b'\'' | b'\n'));
    if cursor.byte(at) != Some(b'{') || !is_part || !matches!(separator.tie, Tie::Tight | Tie::Parameter) {
        return None;
    }
    let start = at + 1;
    let stop = cursor.line_end(start, MAX_PASSWORD);
    let mut end = start;
    while end < stop && (cursor.bytes[end] != b'}' || cursor.byte(end + 1) == Some(b'}')) {
        end += 1 + usize::from(cursor.bytes[end] == b'}');
    }
    let end = end.min(stop);
    let content = &cursor.text[start..end];
    let is_arriving = end == cursor.bytes.len();
    let is_closed = cursor.byte(end) == Some(b'}')
        && matches!(cursor.byte(end + 1), None | Some(b';' | b'"' | b'\'' | b'\\' | b' ' | b'\n' | b'\r'));
    // An expression in a template is not a password.
    let is_value = !content.contains(['{', '(', '[', '"', '\'', '`'])
        && (content.contains(';') || !is_variable(content));
    ((is_closed && is_value) || is_arriving).then_some(start..end).filter(|range| !range.is_empty())
}

/// Returns true if the content of braces may be a variable: `{db_pwd2}`.
fn is_variable(content: &str) -> bool {
    /// The minimum number of digits in a password that looks like a name. A variable has fewer.
    const MIN_DIGITS: usize = 3;
    let is_name =
        content.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':'));
    let digits = content.bytes().filter(u8::is_ascii_digit).count();
    !matches!(shape_of(content), Shape::Mixed | Shape::Random)
        || digits == 0
        || (is_name && digits < MIN_DIGITS)
}

/// Returns the value after `==`, unless it is a version: `name==1.2` is a package.
fn after_double_equals(cursor: &Cursor<'_>, separator: &Separator) -> Option<Value> {
    let at = separator.value;
    let end = unquoted_end(cursor, separator, at, JUDGED);
    let value = &cursor.bytes[at..end];
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_version = digits > 0 && value.get(digits) == Some(&b'.');
    let is_alone =
        matches!(cursor.byte(end), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'&' | b'\\'));
    (is_alone && !is_version && end > at).then_some(Value { range: at..end, quote: None })
}

/// Returns the end of a value without quotes.
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
    // A full stop ends a sentence, but not a setting.
    let is_after = |byte| matches!(byte, b',' | b';' | b')') || (byte == b'.' && !is_whole);
    at + length - run_before(value, is_after)
}

/// Returns true if the text after a `;` belongs to the value before it: a word that is not a statement or another
/// setting, and that has a digit or ends the line.
fn belongs_to_value(rest: &[u8]) -> bool {
    /// The maximum length of a password after its last `;`.
    const MAX_TAIL: usize = 64;
    let window = &rest[..rest.len().min(MAX_TAIL)];
    let length =
        window.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b';').unwrap_or(window.len());
    let (word, after) = window.split_at(length);
    let is_value = word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/@#!%^*_-~$".contains(byte));
    let ends_line = matches!(after.first(), None | Some(b'\n' | b'\r'));
    length > 0 && is_value && (has_digit(word) || ends_line)
}

/// Returns true if the line is a setting: `NAME=value` of a shell or env file, or `name: value` on a line of its own.
/// The value of a setting ends at the next blank and may contain any sign.
pub(crate) fn is_setting(cursor: &Cursor<'_>, separator: &Separator) -> bool {
    match separator.tie {
        Tie::Tight => !cursor.bytes[separator.name.clone()].iter().any(u8::is_ascii_lowercase),
        Tie::Colon => leads_line(cursor, separator.name.start),
        Tie::Entry => true,
        _ => false,
    }
}

/// Returns true if only blanks, a list dash or a comment sign precede `at` on its line.
pub(crate) fn leads_line(cursor: &Cursor<'_>, at: usize) -> bool {
    cursor
        .line_before(at, 64)
        .iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'-' | b'#' | b'*' | b'>' | b'<'))
}
