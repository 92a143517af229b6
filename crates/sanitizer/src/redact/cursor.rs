//! The scanned text, with functions that examine the names, quotes and lines around a position.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use super::escape::escape_tail;
use crate::markdown::CodeAt;

/// The maximum length of the part of a name that is read on either side of its trigger.
const NAME_REACH: usize = 64;

/// The scanned text. `floor` is the end of the last redaction; no rule judges text before it.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) floor: usize,
    last_end: OnceCell<Option<usize>>,
    code: RefCell<CodeAt>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), floor: 0, last_end: OnceCell::new(), code: RefCell::default() }
    }

    /// Returns the position of the last `-----END ` in the text. The search runs once, so that many keys without an
    /// end take linear time.
    pub(crate) fn last_end(&self) -> Option<usize> {
        *self.last_end.get_or_init(|| memchr::memmem::rfind(self.bytes, b"-----END "))
    }

    /// Returns true if a position is code. Positions must ascend.
    pub(crate) fn is_code(&self, at: usize) -> bool {
        self.code.borrow_mut().is_code(self.text, at)
    }

    pub(crate) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Returns the byte before `at`, or `None` at the start of the text and after the last redaction.
    pub(crate) fn before(&self, at: usize) -> Option<u8> {
        if at > self.floor { Some(self.bytes[at - 1]) } else { None }
    }

    /// Returns the range of the whole name (letters, digits, `_`, `-`, `.`) around a trigger.
    pub(crate) fn name_around(&self, trigger: Range<usize>) -> Range<usize> {
        let lowest = trigger.start.saturating_sub(NAME_REACH).max(self.floor);
        let mut start = trigger.start - run_before(&self.bytes[lowest..trigger.start], is_name_byte);
        if let Some(lead @ (b'\\' | b'%')) = start.checked_sub(1).map(|before| self.bytes[before]) {
            let run = &self.bytes[start..trigger.start];
            start += match run.first() {
                // An escaped line end inside a JSON string is not a letter of the name.
                Some(b'n' | b'r' | b't') if lead == b'\\' => 1,
                // `%3Ftoken`, `\u0026token`.
                _ => escape_tail(lead, run).unwrap_or(0),
            };
        }
        let after = &self.bytes[trigger.end..self.bytes.len().min(trigger.end + NAME_REACH)];
        let after = &after[..after.iter().take_while(|&&byte| is_name_byte(byte)).count()];
        let end = trigger.end + after.len() - run_before(after, |byte| matches!(byte, b'-' | b'.'));
        start..end
    }

    /// Returns true if a token can begin at `at`: at the start, after a byte that is not a letter or digit, after an
    /// escaped line end, or after an escaped sign.
    pub(crate) fn is_token_start(&self, at: usize) -> bool {
        let Some(last) = at.checked_sub(1).map(|before| self.bytes[before]) else { return true };
        if !last.is_ascii_alphanumeric() {
            return true;
        }
        match &self.bytes[..at] {
            [.., b'\\', b'n' | b'r' | b't'] => true,
            [.., b'%', high, low] | [.., b'\\', b'u', b'0', b'0', high, low] => {
                high.is_ascii_hexdigit() && low.is_ascii_hexdigit()
            }
            _ => false,
        }
    }

    /// Returns the position after spaces and tabs.
    pub(crate) fn skip_blanks(&self, at: usize) -> usize {
        let mut end = at;
        // More than 32 blanks separate the columns of a table, not a name from its value.
        while end < at + 32 && matches!(self.byte(end), Some(b' ' | b'\t')) {
            end += 1;
        }
        end
    }

    /// Returns the end of the line that contains `at`, at most `reach` bytes away. A CR before LF does not belong to
    /// the line.
    pub(crate) fn line_end(&self, at: usize, reach: usize) -> usize {
        let stop = self.bytes.len().min(at + reach);
        let end = memchr::memchr(b'\n', &self.bytes[at..stop]).map_or(stop, |length| at + length);
        let end = if end > at && self.bytes[end - 1] == b'\r' { end - 1 } else { end };
        self.floor_char(end)
    }

    /// Returns the part of the line before `at`, at most `reach` bytes.
    pub(crate) fn line_before(&self, at: usize, reach: usize) -> &'a [u8] {
        let from = at.saturating_sub(reach).max(self.floor);
        let part = &self.bytes[from..at];
        memchr::memrchr(b'\n', part).map_or(part, |newline| &part[newline + 1..])
    }

    /// Returns the part of the line between the last occurrence of a program and `at`, redacted or not.
    ///
    /// Rules that look this far back accept only the first flag. A redaction shortens the line and so brings more of
    /// it into reach, but a second pass must not find more than the first.
    pub(crate) fn options_of(&self, at: usize, program: &[u8]) -> Option<&'a [u8]> {
        /// The maximum distance between a flag and the name of its program.
        const REACH: usize = 512;
        let before = &self.bytes[at.saturating_sub(REACH)..at];
        let line = memchr::memrchr(b'\n', before).map_or(before, |newline| &before[newline + 1..]);
        memchr::memmem::rfind(line, program).map(|found| &line[found + program.len()..])
    }

    /// Returns the last character boundary at or before `at`.
    pub(crate) fn floor_char(&self, at: usize) -> usize {
        crate::floor_char_boundary(self.text, at)
    }

    /// Returns true if only blanks follow on the line.
    pub(crate) fn ends_line(&self, at: usize) -> bool {
        matches!(self.byte(self.skip_blanks(at)), None | Some(b'\n' | b'\r'))
    }

    /// Returns the opening quote at `at`, including the backslashes before its mark.
    pub(crate) fn quote(&self, at: usize) -> Option<Quote> {
        let escapes = self.bytes[at..].iter().take(MAX_ESCAPES).take_while(|&&byte| byte == b'\\').count();
        match self.byte(at + escapes)? {
            mark @ (b'"' | b'\'' | b'`') => Some(Quote { escapes, mark }),
            _ => None,
        }
    }

    /// Returns the position after the quote that opens at `at`, or `at` if no quote opens there.
    pub(crate) fn skip_quote(&self, at: usize) -> usize {
        at + self.quote(at).map_or(0, Quote::len)
    }

    /// Returns the quote directly before `at`.
    pub(crate) fn quote_before(&self, at: usize) -> Option<Quote> {
        let mark = self.before(at).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
        Some(Quote { escapes: escapes_before(&self.bytes[self.floor..at - 1]), mark })
    }

    /// Returns the word or the string content that begins at `start`. A string ends with its line at the latest.
    pub(crate) fn word(&self, start: usize, ends: fn(u8) -> bool) -> Range<usize> {
        if let Some(quote) = self.quote(start) {
            let start = start + quote.len();
            return start..self.string_end(start, quote, usize::MAX).content;
        }
        let length = self.bytes[start..].iter().position(|&byte| ends(byte));
        start..length.map_or(self.bytes.len(), |length| start + length)
    }

    /// Returns true if the text ends before the end of the word or string that begins at `start`.
    pub(crate) fn word_is_open(&self, start: usize, ends: fn(u8) -> bool) -> bool {
        self.word(start, ends).end == self.bytes.len()
    }

    /// Returns the end of the string whose content begins at `at`: its closing quote, the line end, or `at + reach`.
    pub(crate) fn string_end(&self, at: usize, quote: Quote, reach: usize) -> StringEnd {
        let stop = self.bytes.len().min(at.saturating_add(reach));
        let mut next = at;
        while let Some(length) = memchr::memchr2(quote.mark, b'\n', &self.bytes[next..stop]) {
            let found = next + length;
            if self.bytes[found] == b'\n' {
                return StringEnd { content: found, closed: false };
            }
            if quote.is_closed_by(escapes_before(&self.bytes[next..found])) {
                return StringEnd { content: found - quote.escapes, closed: true };
            }
            next = found + 1;
        }
        StringEnd { content: self.floor_char(stop), closed: false }
    }
}

/// The maximum number of backslashes that are counted before a quote mark, enough for four levels of JSON inside JSON.
const MAX_ESCAPES: usize = 16;

/// A quote mark and the backslashes before it: `"` in text, `\"` in JSON inside a string, `\\\"` one level deeper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) escapes: usize,
    pub(crate) mark: u8,
}

/// The end of a string, and a flag that is set if a closing quote marks it.
pub(crate) struct StringEnd {
    pub(crate) content: usize,
    pub(crate) closed: bool,
}

impl Quote {
    pub(crate) fn len(self) -> usize {
        self.escapes + 1
    }

    /// Returns true if a mark after `escapes` backslashes closes this quote. Each level of nesting doubles the
    /// backslashes of a literal backslash in the content, so only the remainder counts.
    fn is_closed_by(self, escapes: usize) -> bool {
        let level = self.escapes + 1;
        if level.is_power_of_two() { escapes % (2 * level) == self.escapes } else { escapes == self.escapes }
    }
}

/// Counts the backslashes at the end of a text, up to the maximum.
fn escapes_before(text: &[u8]) -> usize {
    run_before(&text[text.len().saturating_sub(MAX_ESCAPES)..], |byte| byte == b'\\')
}

/// Counts the bytes of one kind at the end of a text.
pub(crate) fn run_before(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take_while(|&&byte| is(byte)).count()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns the length of the line end at `at`, which may be escaped, or 0 if there is no line end.
pub(crate) fn line_break(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..).unwrap_or_default() {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] | [b'\\', b'n', ..] => 2,
        [b'\\', b'\\', b'n', ..] => 3,
        [b'\\', b'r', b'\\', b'n', ..] => 4,
        _ => 0,
    }
}
