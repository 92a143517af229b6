//! Removes control sequences and records their positions, so that positions can be mapped back.
//!
//! These are removed: CSI, OSC, DCS, SOS, PM and APC sequences in their ESC and C1 forms, other escape sequences, C0
//! and C1 control characters, DEL, and invisible characters (`invisible`), which can disguise a text. LF, tab and CRLF
//! stay.
//!
//! A lone CR becomes LF. A terminal would overwrite the line. Dropping the overwritten part could hide text, and
//! joining both parts would make a text that no one wrote.
//!
//! An unterminated string sequence (OSC, DCS, …) ends with its line at the latest, so that a stray introducer costs at
//! most one line.

use std::borrow::Cow;
use std::ops::Range;

use super::invisible;

/// The number of bytes that are checked together, a multiple of every vector width.
const BLOCK: usize = 64;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// A text without control sequences, and a list of the removed pieces.
pub(super) struct Stripped<'a> {
    pub(super) text: Cow<'a, str>,
    /// The removed pieces, in order.
    pub(super) removed: Vec<Removed>,
}

/// A piece of the input that was removed.
pub(super) struct Removed {
    /// The position of the piece in the stripped text.
    at: usize,
    pub(super) input: Range<usize>,
}

impl Stripped<'_> {
    /// Maps a range of the stripped text to the input. The result includes the pieces removed inside it.
    pub(super) fn to_input(&self, range: &Range<usize>) -> Range<usize> {
        let shift = |count: usize| self.removed[..count].last().map_or(0, |last| last.input.end - last.at);
        let before_start = self.removed.partition_point(|piece| piece.at <= range.start);
        let before_end = self.removed.partition_point(|piece| piece.at < range.end);
        range.start + shift(before_start)..range.end + shift(before_end.max(before_start))
    }
}

/// Returns `text` without its control sequences.
#[must_use]
pub fn without_controls(text: &str) -> Cow<'_, str> {
    strip(text).text
}

/// Removes every control sequence of `text`.
pub(super) fn strip(text: &str) -> Stripped<'_> {
    let bytes = text.as_bytes();
    let mut at = next_suspect(bytes, 0);
    let mut out: Option<String> = None;
    let mut removed: Vec<Removed> = Vec::new();
    let mut copied = 0;
    while at < bytes.len() {
        // Use the output so far, so that sanitizing again changes nothing.
        let before = if at > copied { &text[copied..at] } else { out.as_deref().unwrap_or_default() };
        let found = control_at(&bytes[at..])
            .or_else(|| invisible::length_at(before, &text[at..]).map(|length| (length, "")));
        let Some((length, with)) = found else {
            at = next_suspect(bytes, at + 1);
            continue;
        };
        let out = out.get_or_insert_with(|| String::with_capacity(bytes.len()));
        out.push_str(&text[copied..at]);
        if with.is_empty() {
            match removed.last_mut() {
                Some(last) if last.input.end == at => last.input.end += length,
                _ => removed.push(Removed { at: out.len(), input: at..at + length }),
            }
        }
        out.push_str(with);
        copied = at + length;
        at = next_suspect(bytes, copied);
    }
    let text = match out {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(&text[copied..]);
            Cow::Owned(out)
        }
    };
    Stripped { text, removed }
}

/// Returns the length of the control sequence at the start of a text, and its replacement.
fn control_at(rest: &[u8]) -> Option<(usize, &'static str)> {
    let length = match rest {
        [b'\r', b'\n', ..] | [b'\n' | b'\t', ..] => return None,
        [b'\r', ..] => return Some((1, "\n")),
        [ESC, ..] => escape_length(rest),
        [0xc2, 0x9b, tail @ ..] => 2 + csi_length(tail),
        [0xc2, 0x90 | 0x98 | 0x9d..=0x9f, tail @ ..] => 2 + string_length(tail),
        [0xc2, 0x80..=0x9f, ..] => 2,
        [0x00..=0x1f | 0x7f, ..] => 1,
        _ => return None,
    };
    Some((length, ""))
}

/// Returns the length of the escape sequence at the start of `rest`, including ESC.
fn escape_length(rest: &[u8]) -> usize {
    match rest.get(1) {
        Some(b'[') => 2 + csi_length(&rest[2..]),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => 2 + string_length(&rest[2..]),
        Some(0x20..=0x2f) => {
            let intermediates = count(&rest[1..], |byte| matches!(byte, 0x20..=0x2f));
            let end = 1 + intermediates;
            end + usize::from(rest.get(end).is_some_and(|byte| matches!(byte, 0x30..=0x7e)))
        }
        Some(0x30..=0x7e) => 2,
        _ => 1,
    }
}

/// Returns the length of parameters, intermediates and the final byte, if there is one.
fn csi_length(tail: &[u8]) -> usize {
    let parameters = count(tail, |byte| matches!(byte, 0x30..=0x3f));
    let end = parameters + count(&tail[parameters..], |byte| matches!(byte, 0x20..=0x2f));
    end + usize::from(tail.get(end).is_some_and(|byte| matches!(byte, 0x40..=0x7e)))
}

/// Returns the length of a string sequence's payload and terminator. The sequence also ends at a line end and at any
/// ESC.
fn string_length(tail: &[u8]) -> usize {
    let mut at = 0;
    while at < tail.len() {
        match &tail[at..] {
            [BEL, ..] => return at + 1,
            [ESC, b'\\', ..] | [0xc2, 0x9c, ..] => return at + 2,
            [ESC | b'\n' | b'\r', ..] => return at,
            _ => at += 1,
        }
    }
    at
}

fn count(bytes: &[u8], accept: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !accept(byte)).unwrap_or(bytes.len())
}

/// Returns the position of the next byte that may begin a control sequence, or the end.
fn next_suspect(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(block) = bytes.get(at..at + BLOCK) {
        // One result for the whole block lets the compiler use vector instructions.
        if block.iter().fold(false, |any, &byte| any | is_suspect(byte)) {
            break;
        }
        at += BLOCK;
    }
    at + bytes[at..].iter().position(|&byte| is_suspect(byte)).unwrap_or(bytes.len() - at)
}

#[expect(clippy::needless_bitwise_bool, reason = "without branches the compiler uses vector instructions")]
fn is_suspect(byte: u8) -> bool {
    ((byte < 0x20) & (byte != b'\n') & (byte != b'\t'))
        | (byte == 0x7f)
        | (byte == 0xc2)
        | (byte == 0xcd)
        | (byte == 0xd8)
        | (byte == 0xe1)
        | (byte == 0xe2)
        | (byte == 0xe3)
        | (byte == 0xef)
        | (byte == 0xf0)
        | (byte == 0xf3)
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn removes_control_sequences_and_keeps_visible_text() {
        for (label, input, expected) in [
            ("plain", "one\ttwo\n", "one\ttwo\n"),
            ("color", "\x1b[1;31mred\x1b[0m", "red"),
            ("private mode", "\x1b[?25lx\x1b[?25h", "x"),
            ("title by BEL", "\x1b]0;title\x07x", "x"),
            ("link by ST", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", "text"),
            ("unterminated OSC", "\x1b]0;title\nnext", "\nnext"),
            ("DCS", "\x1bPq#0\x1b\\x", "x"),
            ("charset", "\x1b(Bx", "x"),
            ("lone escape", "\x1bé", "é"),
            ("C1 CSI", "\u{9b}31mred", "red"),
            ("C1 OSC", "\u{9d}0;t\u{9c}x", "x"),
            ("C1 other", "a\u{85}b", "ab"),
            ("NUL, backspace, DEL", "a\0\x08\x7fb", "ab"),
            ("bidi", "a\u{202e}b\u{2066}c\u{2069}", "abc"),
            ("zero width", "a\u{200b}b\u{2060}c\u{feff}d\u{ad}e", "abcde"),
            ("marks of direction", "a\u{200e}b\u{200f}c\u{61c}d", "abcd"),
            ("tags", "\u{e0049}\u{e0067}\u{e006e}a", "a"),
            ("joiners in plain words", "pass\u{200d}word \u{200c}x", "password x"),
            ("variation selectors", "a\u{fe0f}b\u{fe01}c\u{e0101}", "abc"),
            (
                "an emoji",
                "\u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}\u{20e3}",
                "\u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}\u{20e3}",
            ),
            ("a joiner in Persian", "\u{645}\u{6cc}\u{200c}\u{62e}", "\u{645}\u{6cc}\u{200c}\u{62e}"),
            ("selectors in a row", "\u{2764}\u{fe0f}\u{fe0f}\u{fe0e}", "\u{2764}\u{fe0f}"),
            ("a selector whose base is removed", "a\u{fe0f}\u{200d}\u{1f525}", "a\u{1f525}"),
            ("full width", "\u{ff21}\u{ff01}", "\u{ff21}\u{ff01}"),
            ("other punctuation", "“a” … – ©", "“a” … – ©"),
            ("CRLF", "a\r\nb\r\n", "a\r\nb\r\n"),
            ("lone CR", "10%\r20%\r\n", "10%\n20%\r\n"),
        ] {
            assert_eq!(strip(input).text, expected, "{label}");
        }
    }

    #[test]
    fn maps_positions_back() {
        let input = "\x1b[1mab\x1b[0mcd\x1b[2m";
        let stripped = strip(input);
        assert_eq!(stripped.text, "abcd");
        assert_eq!(&input[stripped.to_input(&(0..2))], "ab");
        assert_eq!(&input[stripped.to_input(&(1..3))], "b\x1b[0mc");
        assert_eq!(&input[stripped.to_input(&(2..4))], "cd");
    }
}
