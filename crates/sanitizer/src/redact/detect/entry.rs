//! Finds names and values in separate fields or elements.
//!
//! Fields: `name: X` and then `value: y`, as in Kubernetes, compose files and lists of headers in JSON. Elements:
//! `<key>X</key><string>y</string>`, as in property lists.

use std::ops::Range;

use super::separator::{Separator, Tie};
use crate::redact::cursor::{Cursor, Quote, line_break, run_before};

/// The maximum number of bytes between a name and the field of its value: a line end and indentation.
const GAP: usize = 64;

/// The number of bytes of a `variable` block that are searched for its default.
const BLOCK: usize = 256;

/// Returns the separator of a name that is the value of a field `name` or `key`, if a field `value` follows.
pub(crate) fn entry(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    if cursor.byte(name.end) == Some(b'<') {
        return element_pair(cursor, name);
    }
    // A cheap check that rejects nearly every name.
    if !matches!(cursor.byte(name.end), Some(b'"' | b'\'' | b'\\' | b',' | b'\n' | b'\r')) {
        return None;
    }
    let name_quote = cursor.quote_before(name.start);
    if let Some(value) = default_of_variable(cursor, name) {
        return Some(Separator { name: name.clone(), tie: Tie::Entry, value, name_quote, escaped_end: None });
    }
    let start = name.start - name_quote.map_or(0, Quote::len);
    let before = without_mark(cursor.line_before(start, GAP).trim_ascii_end(), b":=")?;
    let before = before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before);
    let before = before.strip_suffix(b"\\").unwrap_or(before);
    ends_with_word(before.trim_ascii_end(), &[b"name", b"key"]).then_some(())?;

    let mut at = cursor.skip_quote(name.end);
    if cursor.byte(at) == Some(b'>') && name_quote.is_some() && is_setting_element(before) {
        let value = value_element(cursor, at + 1).unwrap_or(at + 1);
        return Some(Separator {
            name: name.clone(),
            tie: Tie::ElementPair,
            value,
            name_quote,
            escaped_end: None,
        });
    }
    at += usize::from(cursor.byte(at) == Some(b','));
    let gap = &cursor.bytes[at..cursor.bytes.len().min(at + GAP)];
    let blank = gap.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if memchr::memchr_iter(b'\n', &gap[..blank]).nth(1).is_some() {
        return None;
    }
    at = cursor.skip_quote(at + blank);
    let field = cursor.bytes.get(at..at + "value".len())?;
    field.eq_ignore_ascii_case(b"value").then_some(())?;
    at = cursor.skip_blanks(cursor.skip_quote(at + field.len()));
    matches!(cursor.byte(at), Some(b':' | b'=')).then(|| Separator {
        name: name.clone(),
        tie: Tie::Entry,
        value: cursor.skip_blanks(at + 1),
        name_quote,
        escaped_end: None,
    })
}

/// Returns true if the line ends with an attribute of an element with a setting. Other elements contain text for
/// people, as in `<string name="password">Passwort</string>`.
fn is_setting_element(line: &[u8]) -> bool {
    const TAGS: [&[u8]; 7] =
        [b"entry", b"property", b"param", b"parameter", b"setting", b"prop", b"attribute"];
    let element = memchr::memrchr(b'<', line).map_or(line, |open| &line[open + 1..]);
    let length = element.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(&element[..length]))
}

/// Returns the separator of a name that is the text of an element, if an element with its value follows.
fn element_pair(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<Separator> {
    const TAGS: [&[u8]; 3] = [b"key", b"name", b"string"];
    let closing = &cursor.bytes[name.end..];
    let closing = closing.strip_prefix(b"</").or_else(|| closing.strip_prefix(b"<\\/"))?;
    let tag = TAGS
        .into_iter()
        .find(|tag| closing.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag)))?;
    let after = closing[tag.len()..].strip_prefix(b">")?;
    let before = cursor.line_before(name.start, GAP);
    // A key of a property list may have several words: `API Key`.
    let words =
        run_before(before, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_' | b':'));
    let opens = before[..before.len() - words].strip_suffix(b">")?;
    ends_with_word(opens, &[tag]).then_some(())?;
    let value = value_element(cursor, cursor.bytes.len() - after.len())?;
    Some(Separator { name: name.clone(), tie: Tie::ElementPair, value, name_quote: None, escaped_end: None })
}

/// Returns the position of the text of a value element, after blanks and a line end.
fn value_element(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    const TAGS: [&[u8]; 3] = [b"<string>", b"<value>", b"<data>"];
    let mut at = at;
    for _ in 0..2 {
        at = cursor.skip_blanks(at);
        at += line_break(cursor.bytes, at);
        if cursor.bytes[at..].starts_with(b"\\t") {
            at += 2;
        }
    }
    at = cursor.skip_blanks(at);
    let rest = &cursor.bytes[at..];
    let tag = TAGS
        .into_iter()
        .find(|tag| rest.get(..tag.len()).is_some_and(|found| found.eq_ignore_ascii_case(tag)))?;
    Some(at + tag.len())
}

/// Returns the position of the default in Terraform's `variable "X" { default = "y" }`.
fn default_of_variable(cursor: &Cursor<'_>, name: &Range<usize>) -> Option<usize> {
    cursor.line_before(name.start, GAP).ends_with(b"variable \"").then_some(())?;
    let block = &cursor.bytes[name.end..cursor.bytes.len().min(name.end + BLOCK)];
    let block = block.strip_prefix(b"\" {")?;
    let block = &block[..memchr::memchr(b'}', block).unwrap_or(block.len())];
    let default = memchr::memmem::find(block, b"default")? + "default".len();
    let equals = default + block[default..].iter().take_while(|&&byte| byte == b' ').count();
    (block.get(equals) == Some(&b'=')).then(|| cursor.skip_blanks(name.end + "\" {".len() + equals + 1))
}

fn without_mark<'a>(text: &'a [u8], marks: &[u8]) -> Option<&'a [u8]> {
    let (last, rest) = text.split_last()?;
    marks.contains(last).then(|| rest.trim_ascii_end())
}

/// Returns true if a text ends with one of these words, as a word of its own.
fn ends_with_word(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| {
        text.len().checked_sub(word.len()).is_some_and(|at| {
            text[at..].eq_ignore_ascii_case(word) && (at == 0 || !text[at - 1].is_ascii_alphanumeric())
        })
    })
}
