//! Finds PEM private keys: whole, cut off at the end, or cut off at the beginning.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::redact::cursor::{Cursor, run_before};
use crate::redact::rule::{Edit, Found, Rule};
use crate::redact::search::Trigger;
use crate::redact::shape::has_digit;

const RULE: &str = "private_key";
const MARKER: &str = "[PRIVATE_KEY_REDACTED]";

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

/// The maximum length of a label, as in `-----BEGIN OPENSSH PRIVATE KEY BLOCK-----`.
const MAX_LABEL: usize = 48;

/// The minimum number of base64 characters in a line of a key.
const MIN_BODY: usize = 16;

/// The minimum length of a line of a key that is a string of its own. Only the last line can be shorter.
const MIN_LITERAL: usize = 40;

/// The maximum length of a private key.
const MAX_KEY: usize = 8 * 1024;

/// The rule for `-----BEGIN `. A key without its end is redacted to the end of the text or of the string around it.
pub(crate) struct Begin;

impl Rule for Begin {
    fn triggers(&self) -> Vec<Trigger> {
        vec![Trigger::any_case("-----BEGIN ")]
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let label_end = label_end(cursor, trigger.end).ok_or(trigger.end)?;
        let body = label_end + body_start(&cursor.bytes[label_end..]).ok_or(trigger.end)?;
        let rest = &cursor.bytes[label_end..];
        let is_ended = cursor.last_end().is_some_and(|end| end >= label_end);
        let end = match is_ended.then(|| memmem::find(rest, END)).flatten() {
            Some(length) => {
                let end = label_end + length + END.len();
                self::label_end(cursor, end).unwrap_or_else(|| end + torn_label(&cursor.bytes[end..]))
            }
            None => match cursor.quote_before(trigger.start) {
                Some(quote) => {
                    let string = cursor.string_end(label_end, quote, usize::MAX);
                    // In a program each line can be a string of its own.
                    let is_within = string.closed && body <= string.content;
                    if is_within { string.content } else { body_end(cursor, label_end) }
                }
                None => cursor.bytes.len(),
            },
        };
        Ok(Edit::new(trigger.start..end, MARKER, RULE))
    }

    fn open_from(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Option<usize> {
        /// The maximum length of a label, line ends, indentation and the beginning of a body.
        const MAX_UNDECIDED: usize = 160;
        let rest = &cursor.bytes[trigger.end..];
        let is_other = memmem::find(rest, b"-----").is_some() && label_end(cursor, trigger.end).is_none();
        let is_open = match self.find(cursor, trigger.clone()) {
            // Without an end line, the rest of the body may still arrive.
            Ok(edit) => edit.range.end == cursor.bytes.len() && !cursor.bytes.ends_with(b"-----"),
            Err(_) => rest.len() < MAX_UNDECIDED && !is_other,
        };
        is_open.then_some(trigger.start)
    }
}

/// The rule for an `-----END ` whose beginning is not in this text. The lines before it are the key.
pub(crate) struct End;

impl Rule for End {
    fn triggers(&self) -> Vec<Trigger> {
        vec![Trigger::any_case("-----END ")]
    }

    fn find(&self, cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
        let label_end = label_end(cursor, trigger.end).ok_or(trigger.end)?;
        let before = &cursor.bytes[cursor.floor..trigger.start];
        let mut start = trigger.start;
        let mut longest = 0;
        let mut is_last = true;
        // Go backwards, line by line, to an earlier end line or to any text that is not base64.
        let mut line_end = trigger.start;
        for line in lines_from_end(before) {
            let content = line.trim_ascii();
            let body = run_before(content, is_body_byte);
            let key = key_line(line, is_last);
            if let Some(key) = key.filter(|key| !key.is_empty() || line_end == trigger.start) {
                is_last &= key.is_empty();
                if is_long_enough(line, &key) {
                    longest = longest.max(key.len());
                }
                start = line_end - line.len() + key.start;
                line_end -= line.len();
                continue;
            }
            if body >= MIN_BODY * 2 {
                longest = longest.max(body);
                start = line_end - (line.len() - line.trim_ascii_end().len()) - body;
            }
            break;
        }
        if longest < MIN_BODY {
            return Err(trigger.end);
        }
        Ok(Edit::new(start..label_end, MARKER, RULE))
    }
}

/// Returns the position of the lines of base64 at the end of a text, or the text's length if there are none. A
/// following `-----END` could show that they are a private key.
pub(crate) fn open_lines(text: &str) -> usize {
    let from = text.len().saturating_sub(MAX_KEY);
    let bytes = &text.as_bytes()[from..];
    let last = memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
    // The text may end inside the end line of a key.
    let is_ending = bytes.len() > last && begins_end(&bytes[last..]);
    let mut start = if is_ending { last } else { bytes.len() };
    let mut longest = 0;
    let mut is_last = true;
    for line in lines_from_end(&bytes[..start]) {
        // A line of a key has no blank, even if the line is unfinished.
        let whole = if line.ends_with(b"\n") { line.trim_ascii_end() } else { line };
        let body = run_before(whole, is_body_byte);
        let content = whole.trim_ascii_start();
        let is_header = [&b"Proc-Type:"[..], b"DEK-Info:"].iter().any(|header| content.starts_with(header));
        if body == content.len() || is_header {
            longest = longest.max(body);
            start -= line.len();
            continue;
        }
        if let Some(key) = key_line(line, is_last)
            .filter(|_| !content.first().is_some_and(|&byte| is_base64(byte) && byte != b'+'))
        {
            is_last &= key.is_empty();
            longest = longest.max(if is_long_enough(line, &key) { key.len() } else { 0 });
            start -= line.len();
            continue;
        }
        if let Some(begin) = memmem::find(line, BEGIN) {
            start -= line.len() - begin;
            longest = longest.max(MIN_BODY);
        } else if body >= MIN_BODY {
            // The key may begin within a line.
            longest = longest.max(body);
            start -= line.len() - whole.len() + body;
        }
        break;
    }
    if longest < MIN_BODY { text.len() } else { crate::ceil_char_boundary(text, from + start) }
}

/// Returns true if a line is the beginning of `-----END … PRIVATE KEY-----`.
fn begins_end(line: &[u8]) -> bool {
    END.starts_with(line)
        || line
            .strip_prefix(END)
            .is_some_and(|label| torn_label(label) == label.len() && !label.ends_with(b"-----"))
}

/// Returns the length of a label that the end of the text cuts off, or 0 for a whole label.
fn torn_label(rest: &[u8]) -> usize {
    let label = rest
        .iter()
        .take(MAX_LABEL)
        .take_while(|&&byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-' | b'0'..=b'9'))
        .count();
    if label == rest.len() { label } else { 0 }
}

/// Returns the end of the body of a key whose string does not end on its line: the end of the last line of base64.
fn body_end(cursor: &Cursor<'_>, label_end: usize) -> usize {
    let mut at = label_end;
    let mut end = label_end;
    while at < cursor.bytes.len() {
        let line_end = memchr(b'\n', &cursor.bytes[at..]).map_or(cursor.bytes.len(), |length| at + length);
        let line = &cursor.bytes[at..line_end];
        // On the line of the label, the string may close after the label.
        let key = key_line(line, true).filter(|_| at > label_end);
        let is_label = at == label_end && body_start(line).is_none();
        let is_plain = line.trim_ascii().iter().all(|&byte| is_body_byte(byte));
        if key.is_none() && !is_label && !is_plain && memmem::find(line, b": ").is_none() {
            break;
        }
        let next = (line_end + 1).min(cursor.bytes.len());
        end = key.filter(|_| !is_plain).map_or(next, |key| at + key.end);
        at = next;
    }
    end
}

/// Returns the base64 of a line of a key: the whole line, or a whole string on it, as in `"MIIE…\n" +`. In strings
/// only the last line of a key is short; all others have at least [`MIN_LITERAL`] characters.
fn key_line(line: &[u8], is_last: bool) -> Option<Range<usize>> {
    let content = line.trim_ascii();
    let start = line.len() - line.trim_ascii_start().len();
    if content.iter().all(|&byte| is_body_byte(byte)) {
        return Some(start.min(line.len())..start + content.len());
    }
    let opening = content.iter().position(|byte| !b"+.,&([ \t".contains(byte))?;
    let mark = content.get(opening).filter(|mark| matches!(mark, b'"' | b'\'' | b'`'))?;
    let body = &content[opening + 1..];
    let length = body.iter().take_while(|&&byte| is_base64(byte)).count();
    let mut rest = &body[length..];
    while let [b'\\', b'n' | b'r', tail @ ..] = rest {
        rest = tail;
    }
    let closes = match rest {
        [] | [b'\\'] => true,
        [closing, signs @ ..] => closing == mark && signs.iter().all(|byte| b"+.,;&_)] \t\\".contains(byte)),
    };
    let begin = start + opening + 1;
    (closes && (is_last || length >= MIN_LITERAL)).then_some(begin..begin + length)
}

/// Returns true if a line counts as a line of a key: it is all base64, or its string has at least [`MIN_LITERAL`]
/// characters. A shorter string may be anything.
fn is_long_enough(line: &[u8], key: &Range<usize>) -> bool {
    key.len() >= MIN_LITERAL || line.trim_ascii().len() == key.len()
}

/// Returns the position after `… PRIVATE KEY…-----`, if the label at `at` is the label of a private key.
fn label_end(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let window = &cursor.bytes[at..cursor.bytes.len().min(at + MAX_LABEL)];
    let label = window
        .iter()
        .take_while(|&&byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9'))
        .count();
    let is_private = memmem::find(&window[..label], b"PRIVATE KEY").is_some();
    (is_private && window[label..].starts_with(b"-----")).then_some(at + label + "-----".len())
}

/// Returns the position of base64 or of a header line, after line ends (escaped or not) and possibly in the next
/// string.
fn body_start(label_end: &[u8]) -> Option<usize> {
    let mut rest = label_end;
    // Set once the string of the label has closed.
    let mut is_split = false;
    // Set if another string has just opened.
    let mut opens = false;
    loop {
        rest = match rest {
            [b'\\', b'n' | b'r' | b't', tail @ ..] | [b'\\', tail @ ..] => tail,
            [blank, tail @ ..] if blank.is_ascii_whitespace() => tail,
            [b'"' | b'\'' | b'`', tail @ ..] => {
                opens = is_split;
                is_split = true;
                tail
            }
            [b'+' | b',' | b'.' | b'&' | b'_', tail @ ..] if is_split && !opens => tail,
            _ => break,
        };
    }
    let is_header =
        [&b"Proc-Type"[..], b"DEK-Info", b"Version:", b"Comment:"].iter().any(|name| rest.starts_with(name));
    let line = &rest[..rest.iter().take(MIN_LITERAL).take_while(|&&byte| is_base64(byte)).count()];
    let is_body =
        if is_split { opens && line.len() == MIN_LITERAL && has_digit(line) } else { line.len() >= MIN_BODY };
    (is_header || is_body).then(|| label_end.len() - rest.len())
}

/// Returns the lines of a text with their line ends, the last one first.
fn lines_from_end(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').rev()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns true for base64 and for the backslash of an escaped line end.
fn is_body_byte(byte: u8) -> bool {
    is_base64(byte) || byte == b'\\'
}
