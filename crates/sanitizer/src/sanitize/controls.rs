//! Removes control sequences and invisible characters, and records their positions, so that positions can be mapped
//! back.
//!
//! These are removed: CSI, OSC, DCS, SOS, PM and APC sequences in their ESC and C1 forms, other escape sequences, C0
//! and C1 control characters, DEL, and invisible characters. LF, tab and CRLF stay.
//!
//! A lone CR becomes LF. A terminal would overwrite the line. Dropping the overwritten part could hide text, and
//! joining both parts would make a text that no one wrote.
//!
//! An unterminated string sequence (OSC, DCS, …) ends with its line at the latest, so that a stray introducer costs at
//! most one line.
//!
//! Invisible characters can disguise a text: people cannot see them, but models read them. They are Unicode's
//! default-ignorable characters, and a few more. They stay if they change how other characters look: a selector on an
//! emoji, or a joiner in an emoji or in a script that joins its letters. The blank of Braille stays, because it is a
//! space. [`Visible`](crate::Visible) marks it in a text for a person's decision.

use std::borrow::Cow;
use std::ops::Range;

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
            .or_else(|| invisible_length(before, &text[at..]).map(|length| (length, "")));
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

/// Returns the length of the invisible character at the start of `rest`, if it must be removed. `before` is the end of
/// the output so far.
pub(crate) fn invisible_length(before: &str, rest: &str) -> Option<usize> {
    let mut chars = rest.chars();
    let this = chars.next()?;
    if !is_invisible(this) {
        return None;
    }
    let last = before.chars().next_back();
    let mut next_is = |is: fn(char) -> bool| chars.next().is_some_and(is);
    let stays = match this {
        '\u{fe0f}' if last.is_some_and(is_keycap_base) => next_is(is_keycap),
        '\u{fe0e}' | '\u{fe0f}' => last.is_some_and(is_emoji),
        // Persian writes `ه‍.`, and Malayalam can end a word with a joiner, so the next character does not matter.
        '\u{200d}' => last.is_some_and(joins) || (last.is_some_and(ends_emoji) && next_is(is_emoji)),
        '\u{200c}' => last.is_some_and(joins) && next_is(joins),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => last.is_some_and(is_mongolian),
        '\u{180e}' => last.is_some_and(is_mongolian) && next_is(is_mongolian),
        _ => false,
    };
    (!stays).then(|| this.len_utf8())
}

/// Returns true if the character alone draws nothing.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true if a selector makes this character a keycap emoji. On any other character a selector would split a
/// secret.
fn is_keycap_base(c: char) -> bool {
    matches!(c, '0'..='9' | '#' | '*')
}

fn is_keycap(c: char) -> bool {
    c == '\u{20e3}'
}

/// Returns true if a variation selector may choose between the text and the picture of a character.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn ends_emoji(c: char) -> bool {
    c == '\u{fe0f}' || is_emoji(c)
}

/// Returns true if a joiner can change the shape of a character: Arabic and related scripts, and the scripts of South
/// and Southeast Asia.
fn joins(c: char) -> bool {
    let is_of_script = matches!(c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1bff}' | '\u{a800}'..='\u{a82f}' | '\u{a840}'..='\u{a8ff}'
        | '\u{a980}'..='\u{a9df}' | '\u{aa60}'..='\u{aa7f}' | '\u{abc0}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{10aff}' | '\u{10d00}'..='\u{10d3f}'
        | '\u{11000}'..='\u{11dff}' | '\u{1e900}'..='\u{1e95f}');
    (is_of_script || is_mongolian(c)) && !is_invisible(c)
}

fn is_mongolian(c: char) -> bool {
    matches!(c, '\u{1800}'..='\u{180a}' | '\u{1810}'..='\u{18af}')
}

#[cfg(test)]
mod tests {
    use super::strip;
    use crate::sanitize::without_controls;

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

    /// The ranges of `Default_Ignorable_Code_Point` in Unicode 17.
    const DEFAULT_IGNORABLE: [(u32, u32); 17] = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1_bca0, 0x1_bca3),
        (0x1_d173, 0x1_d17a),
        (0xe_0000, 0xe_0fff),
    ];

    #[test]
    fn invisible_characters_are_removed_from_plain_words() {
        let more = [0xfff9, 0xfffa, 0xfffb, 0x1_3430, 0x1_343f, 0x1_6fe4, 0x1_d159].map(|one| (one, one));
        for code in DEFAULT_IGNORABLE.into_iter().chain(more).flat_map(|(first, last)| first..=last) {
            let hidden = char::from_u32(code).expect("the code is a character");
            for (before, after) in
                [("ab", "cd"), ("п", "а"), ("é", "ü"), ("漢", "字"), ("한", "글"), ("", "")]
            {
                let text = format!("{before}{hidden}{after}");
                assert_eq!(without_controls(&text), format!("{before}{after}"), "{code:x}");
            }
        }
    }

    #[test]
    fn characters_that_change_a_word_or_an_emoji_stay() {
        for (label, text) in [
            ("Persian", "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}"),
            ("a Persian abbreviation", "\u{647}\u{200d}.\u{634}"),
            ("half a letter of Hindi", "\u{915}\u{94d}\u{200d}\u{937}"),
            ("two whole ones", "\u{915}\u{94d}\u{200c}\u{937}"),
            ("Bengali", "\u{9b0}\u{200d}\u{9cd}\u{9af}"),
            ("Sinhala", "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3}"),
            ("the end of a word of Malayalam", "\u{d05}\u{d35}\u{d28}\u{d4d}\u{200d} \u{d05}"),
            ("Mongolian", "\u{1820}\u{180b}\u{182d}\u{180e}\u{1820}"),
            ("a family", "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"),
            ("a heart", "\u{2764}\u{fe0f}\u{200d}\u{1f525}"),
            ("a darker hand", "\u{1f468}\u{1f3fd}\u{200d}\u{2695}\u{fe0f}"),
            ("a key", "1\u{fe0f}\u{20e3}"),
            ("Braille", "\u{2803}\u{2800}\u{2803}"),
        ] {
            assert_eq!(without_controls(text), text, "{label}");
        }
    }

    #[test]
    fn characters_without_effect_are_removed_from_such_words_too() {
        for (label, text, expected) in [
            ("two joiners", "\u{645}\u{200c}\u{200c}\u{62e}", "\u{645}\u{200c}\u{62e}"),
            ("one at an end", "\u{645}\u{200c} x", "\u{645} x"),
            ("a filler", "\u{645}\u{3164}\u{62e}", "\u{645}\u{62e}"),
            ("a selector", "\u{915}\u{fe0f}", "\u{915}"),
            ("one of Mongolian", "\u{645}\u{180b}\u{180e}\u{62e}", "\u{645}\u{62e}"),
            ("half a key", "1\u{fe0f}2", "12"),
            ("half an emoji", "\u{1f468}\u{200d}x", "\u{1f468}x"),
        ] {
            let once = without_controls(text);
            assert_eq!(once, expected, "{label}");
            assert_eq!(without_controls(&once), once, "{label}: again");
        }
    }
}
