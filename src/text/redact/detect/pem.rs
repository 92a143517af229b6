//! PEM private keys: whole, cut off at the end, or cut off at the beginning.

use std::ops::Range;

use memchr::memmem;

use crate::text::redact::cursor::Cursor;
use crate::text::redact::scan::Found;
use crate::text::sanitize::Edit;

const RULE: &str = "private_key";
const MARKER: &str = "[PRIVATE_KEY_REDACTED]";

/// The longest label, as in `-----BEGIN OPENSSH PRIVATE KEY BLOCK-----`.
const LABEL: usize = 48;

/// Fewer base64 characters than this are not a line of a key.
pub(in crate::text) const BODY: usize = 16;

/// Judges `-----BEGIN `. A key without its end is redacted to the end of the text, or of the string it stands in.
pub(in crate::text) fn begin(cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
    let nothing = Found::nothing(trigger.end);
    let Some(label_end) = label_end(cursor, trigger.end) else { return nothing };
    if !has_body(&cursor.bytes[label_end..]) {
        return nothing;
    }
    let rest = &cursor.bytes[label_end..];
    let is_ended = cursor.last_end().is_some_and(|end| end >= label_end);
    let end = match is_ended.then(|| memmem::find(rest, b"-----END ")).flatten() {
        Some(length) => {
            let end = label_end + length + "-----END ".len();
            self::label_end(cursor, end).unwrap_or_else(|| end + torn_label(&cursor.bytes[end..]))
        }
        None => match cursor.quote_before(trigger.start) {
            Some(quote) => {
                let string = cursor.string_end(label_end, quote, usize::MAX);
                if string.closed { string.content } else { body_end(cursor, label_end) }
            }
            None => cursor.bytes.len(),
        },
    };
    Found::edit(Edit::new(trigger.start..end, MARKER, RULE), end)
}

/// Whether `-----BEGIN ` may become the beginning of a private key.
pub(in crate::text) fn is_open(cursor: &Cursor<'_>, trigger: &Range<usize>) -> bool {
    /// A label, line ends, indentation and the beginning of a body.
    const UNDECIDED: usize = 160;
    let rest = &cursor.bytes[trigger.end..];
    let is_other = memmem::find(rest, b"-----").is_some() && label_end(cursor, trigger.end).is_none();
    match begin(cursor, trigger.clone()).edit {
        // Without its end: the body would be left out and the beginning alone not be recognized.
        Some(edit) => edit.range.end == cursor.bytes.len() && !cursor.bytes.ends_with(b"-----"),
        None => rest.len() < UNDECIDED && !is_other,
    }
}

/// Whether a line is the beginning of `-----END … PRIVATE KEY-----`.
pub(in crate::text) fn begins_end(line: &[u8]) -> bool {
    let mark = b"-----END ";
    mark.starts_with(line)
        || line
            .strip_prefix(mark)
            .is_some_and(|label| torn_label(label) == label.len() && !label.ends_with(b"-----"))
}

/// The length of a label that the end of the text cuts off; 0 for one that is another.
fn torn_label(rest: &[u8]) -> usize {
    let label = rest
        .iter()
        .take(LABEL)
        .take_while(|&&byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-' | b'0'..=b'9'))
        .count();
    if label == rest.len() { label } else { 0 }
}

/// Where the body of a key ends whose string has no end on its line: behind the last line of base64.
fn body_end(cursor: &Cursor<'_>, label_end: usize) -> usize {
    let mut end = label_end;
    while end < cursor.bytes.len() {
        let line_end =
            memchr::memchr(b'\n', &cursor.bytes[end..]).map_or(cursor.bytes.len(), |length| end + length);
        let line = cursor.bytes[end..line_end].trim_ascii();
        let is_body = line.iter().all(|&byte| is_body_byte(byte) || byte == b'\\');
        if !is_body && memmem::find(line, b": ").is_none() {
            break;
        }
        end = (line_end + 1).min(cursor.bytes.len());
    }
    end
}

/// Judges an `-----END ` whose beginning is not in this text.
pub(in crate::text) fn orphan_end(cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
    let nothing = Found::nothing(trigger.end);
    let Some(label_end) = label_end(cursor, trigger.end) else { return nothing };
    let mut start = trigger.start;
    let mut longest = 0;
    // Backwards, line by line; an earlier end line, or anything else that is not base64, stops it.
    let mut line_end = trigger.start;
    while line_end > cursor.floor {
        let line_start =
            memchr::memrchr(b'\n', &cursor.bytes[cursor.floor..line_end.saturating_sub(1).max(cursor.floor)])
                .map_or(cursor.floor, |newline| cursor.floor + newline + 1);
        let line = &cursor.bytes[line_start..line_end];
        let content = line.trim_ascii();
        let body = content.iter().rev().take_while(|&&byte| is_body_byte(byte) || byte == b'\\').count();
        if body == content.len() && !(content.is_empty() && line_end != trigger.start) {
            longest = longest.max(body);
            start = line_start + (line.len() - line.trim_ascii_start().len());
            line_end = line_start;
            continue;
        }
        if body >= BODY * 2 {
            longest = longest.max(body);
            start = line_end - (line.len() - line.trim_ascii_end().len()) - body;
        }
        break;
    }
    if longest < BODY {
        return nothing;
    }
    Found::edit(Edit::new(start..label_end, MARKER, RULE), label_end)
}

/// Position after `… PRIVATE KEY…-----`, when the label at `at` is one of a private key.
fn label_end(cursor: &Cursor<'_>, at: usize) -> Option<usize> {
    let window = &cursor.bytes[at..cursor.bytes.len().min(at + LABEL)];
    let label = window
        .iter()
        .take_while(|&&byte| byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9'))
        .count();
    let is_private = memmem::find(&window[..label], b"PRIVATE KEY").is_some();
    (is_private && window[label..].starts_with(b"-----")).then_some(at + label + "-----".len())
}

/// Whether base64 or a header line follows, after line ends, escaped or not.
fn has_body(rest: &[u8]) -> bool {
    let mut rest = rest;
    loop {
        let before = rest.len();
        rest = rest.trim_ascii_start();
        while let [b'\\', tail @ ..] = rest {
            rest = tail;
            if let [b'n' | b'r' | b't', tail @ ..] = rest {
                rest = tail;
            }
        }
        if rest.len() == before {
            break;
        }
    }
    let is_header =
        [&b"Proc-Type"[..], b"DEK-Info", b"Version:", b"Comment:"].iter().any(|name| rest.starts_with(name));
    is_header || rest.iter().take(BODY).take_while(|&&byte| is_body_byte(byte)).count() == BODY
}

pub(in crate::text) fn is_body_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
