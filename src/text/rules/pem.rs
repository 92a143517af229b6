//! PEM private keys: whole, cut off at the end, or cut off at the beginning.

use std::ops::Range;

use memchr::memmem;

use super::cursor::Cursor;
use super::scan::Found;
use crate::text::sanitize::Edit;

const RULE: &str = "private_key";
const MARKER: &str = "[PRIVATE_KEY_REDACTED]";

/// The longest label, as in `-----BEGIN OPENSSH PRIVATE KEY BLOCK-----`.
const LABEL: usize = 48;

/// Fewer base64 characters than this are not a line of a key.
const BODY: usize = 16;

/// Judges `-----BEGIN `. A key without its end is redacted to the end of the text, or of the string it stands in.
pub(super) fn begin(cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
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
            self::label_end(cursor, end).unwrap_or(end)
        }
        None => match cursor.quote_before(trigger.start) {
            Some(quote) => cursor.string_end(label_end, quote, usize::MAX).content,
            None => cursor.bytes.len(),
        },
    };
    Found::edit(Edit::new(trigger.start..end, MARKER, RULE), end)
}

/// Judges an `-----END ` whose beginning is not in this text.
pub(super) fn orphan_end(cursor: &Cursor<'_>, trigger: Range<usize>) -> Found {
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

fn is_body_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
