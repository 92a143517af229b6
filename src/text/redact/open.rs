//! Where a text that goes on has to wait: what follows may show that something before it is a secret.

use super::cursor::Cursor;
use super::detect::assignment::open_value;
use super::detect::foreign::whole_word;
use super::detect::{command, pem, url};
use super::scan::{Rules, Trigger};

/// How far before the end a rule can begin whose verdict is still open. A longer value is redacted as far as it goes.
const REACH: usize = 1536;

/// A run of this many characters at the end may be the beginning of a token that no rule recognizes before it is
/// complete. What is shorter gives nothing away.
const TORN_CHARS: usize = 8;

/// No token, and no private key in lines, is longer than this.
const LONGEST: usize = 8 * 1024;

impl Rules {
    /// Where the part of a text begins that waits; the text's length when nothing does.
    pub(in crate::text) fn open_from(&self, text: &str) -> usize {
        let word = torn_word(text);
        // Without the word, what stands before it may be a key without its end.
        let settled = word.min(body_lines(text)).min(body_lines(&text[..word]));
        let cursor = Cursor::new(text);
        let line = cursor.line_before(word, REACH);
        let mut at = word - line.len();
        // A few lines more, for values that stand on another line than their names.
        at -= cursor.line_before(at.saturating_sub(1), REACH).len() + usize::from(at > 0);
        at = cursor.floor_char(at.max(text.len().saturating_sub(REACH)).min(word));
        while let Some((trigger, hit)) = self.next(&cursor, at) {
            if hit.start >= word {
                break;
            }
            let open = match trigger {
                Trigger::Name => open_value(&cursor, hit.clone(), false),
                Trigger::ForeignName(row) => {
                    whole_word(&cursor, row, &hit).and_then(|name| open_value(&cursor, name, true))
                }
                Trigger::CurlUser => url::curl_user_is_open(&cursor, &hit).then_some(hit.end),
                Trigger::Command => command::is_open(&cursor, &hit).then_some(hit.end),
                Trigger::Url => url::is_open(&cursor, hit.end).then_some(hit.end),
                Trigger::PemBegin => pem::is_open(&cursor, &hit).then_some(hit.start),
                _ => None,
            };
            if let Some(open) = open {
                return open.min(settled);
            }
            at = hit.start + 1;
        }
        settled
    }
}

/// Where a long word at the end begins that may go on.
fn torn_word(text: &str) -> usize {
    let word = text.bytes().rev().take(LONGEST).take_while(u8::is_ascii_graphic).count();
    if word < TORN_CHARS { text.len() } else { text.len() - word }
}

/// Where the lines of base64 begin that stand at the end: what follows may say that they are a private key.
fn body_lines(text: &str) -> usize {
    let from = text.len().saturating_sub(LONGEST);
    let bytes = &text.as_bytes()[from..];
    let last = memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1);
    // The line that ends a key and has only begun.
    let is_ending = bytes.len() > last && pem::begins_end(&bytes[last..]);
    let mut start = if is_ending { last } else { bytes.len() };
    let mut longest = 0;
    while start > 0 {
        let line_end = if bytes[start - 1] == b'\n' { start - 1 } else { start };
        let line_start = memchr::memrchr(b'\n', &bytes[..line_end]).map_or(0, |newline| newline + 1);
        // A blank in the line under way says that it is no line of a key.
        let line = &bytes[line_start..line_end];
        let line = if line_end < start { line.trim_ascii() } else { line.trim_ascii_start() };
        let body = line.iter().rev().take_while(|&&byte| pem::is_body_byte(byte) || byte == b'\\').count();
        let is_header = [&b"Proc-Type:"[..], b"DEK-Info:"].iter().any(|header| line.starts_with(header));
        if body == line.len() || is_header {
            longest = longest.max(body);
            start = line_start;
            continue;
        }
        if let Some(begin) = memchr::memmem::find(&bytes[line_start..line_end], b"-----BEGIN ") {
            start = line_start + begin;
            longest = longest.max(pem::BODY);
        } else if body >= pem::BODY {
            // The key may begin within a line.
            longest = longest.max(body);
            start = line_end - body;
        }
        break;
    }
    if longest < pem::BODY { text.len() } else { crate::text::ceil_char_boundary(text, from + start) }
}
