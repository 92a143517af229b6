//! Decodes the inside of a JSON string as its bytes arrive.
//!
//! Models produce lone surrogates and tools produce invalid UTF-8. Both become U+FFFD instead of an error.

use std::str::from_utf8;

use memchr::memchr2;

const REPLACEMENT: &str = "\u{fffd}";

/// Converts bytes to text. A character may be split over several chunks.
#[derive(Debug, Clone, Default)]
pub struct LossyUtf8 {
    pending: [u8; 4],
    len: usize,
}

impl LossyUtf8 {
    /// Decodes more bytes. An incomplete character at their end waits for the next call.
    pub fn feed(&mut self, mut bytes: &[u8], out: &mut impl FnMut(&str)) {
        while self.len > 0 {
            let Some(&next) = bytes.first() else { return };
            self.pending[self.len] = next;
            match from_utf8(&self.pending[..=self.len]) {
                Ok(character) => {
                    out(character);
                    self.len = 0;
                    bytes = &bytes[1..];
                }
                Err(error) if error.error_len().is_none() => {
                    self.len += 1;
                    bytes = &bytes[1..];
                }
                // The new byte does not belong to the character, so it is decoded again on its own.
                Err(_) => self.flush(out),
            }
        }
        loop {
            // The common case needs only one validation.
            let error = match from_utf8(bytes) {
                Ok(text) => return out(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            out(from_utf8(valid).unwrap_or_default());
            let Some(length) = error.error_len() else {
                self.pending[..rest.len()].copy_from_slice(rest);
                self.len = rest.len();
                return;
            };
            out(REPLACEMENT);
            bytes = &rest[length..];
        }
    }

    /// Ends the text. An incomplete character becomes U+FFFD.
    pub fn flush(&mut self, out: &mut impl FnMut(&str)) {
        if self.len > 0 {
            self.len = 0;
            out(REPLACEMENT);
        }
    }
}

/// The progress of [`Unescape::feed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The string continues in the next chunk.
    More,
    /// The string ended after this many bytes, including the closing quote.
    End(usize),
    /// The string has an escape that JSON does not define.
    Broken,
}

#[derive(Debug, Clone, Copy, Default)]
enum Escape {
    #[default]
    None,
    Backslash,
    /// The digits so far, with a 1 before them.
    Hex(u32),
}

/// Decodes one JSON string, starting after its opening quote. The input can be split at any byte.
///
/// Raw control characters are kept.
#[derive(Debug, Clone, Default)]
pub struct Unescape {
    utf8: LossyUtf8,
    escape: Escape,
    /// A high surrogate that still needs its low surrogate.
    high: Option<u16>,
}

impl Unescape {
    /// Decodes more bytes and passes the text on in parts.
    pub fn feed(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) -> Step {
        let mut at = 0;
        loop {
            match self.escape {
                Escape::None => {
                    let rest = &bytes[at..];
                    let Some(found) = memchr2(b'"', b'\\', rest) else {
                        self.raw(rest, out);
                        return Step::More;
                    };
                    self.raw(&rest[..found], out);
                    self.utf8.flush(out);
                    at += found + 1;
                    if rest[found] == b'"' {
                        self.write_replacement(out);
                        return Step::End(at);
                    }
                    self.escape = Escape::Backslash;
                }
                Escape::Backslash => {
                    let Some(&byte) = bytes.get(at) else { return Step::More };
                    at += 1;
                    self.escape = Escape::None;
                    let plain = match byte {
                        b'u' => {
                            self.escape = Escape::Hex(1);
                            continue;
                        }
                        b'n' => "\n",
                        b'"' => "\"",
                        b'\\' => "\\",
                        b't' => "\t",
                        b'r' => "\r",
                        b'/' => "/",
                        b'b' => "\u{8}",
                        b'f' => "\u{c}",
                        _ => return Step::Broken,
                    };
                    self.write_replacement(out);
                    out(plain);
                }
                Escape::Hex(digits) => {
                    let Some(&byte) = bytes.get(at) else { return Step::More };
                    at += 1;
                    let Some(digit) = char::from(byte).to_digit(16) else { return Step::Broken };
                    let digits = digits << 4 | digit;
                    // The four digits without the leading 1.
                    if let Some(unit) = digits.checked_sub(0x1_0000) {
                        self.escape = Escape::None;
                        self.unit(u16::try_from(unit).unwrap_or_default(), out);
                    } else {
                        self.escape = Escape::Hex(digits);
                    }
                }
            }
        }
    }

    fn raw(&mut self, bytes: &[u8], out: &mut impl FnMut(&str)) {
        if !bytes.is_empty() {
            self.write_replacement(out);
            self.utf8.feed(bytes, out);
        }
    }

    /// Writes U+FFFD for a high surrogate without a low one.
    fn write_replacement(&mut self, out: &mut impl FnMut(&str)) {
        if self.high.take().is_some() {
            out(REPLACEMENT);
        }
    }

    fn unit(&mut self, unit: u16, out: &mut impl FnMut(&str)) {
        if matches!(unit, 0xd800..=0xdbff) {
            self.write_replacement(out);
            self.high = Some(unit);
            return;
        }
        for character in char::decode_utf16(self.high.take().into_iter().chain([unit])) {
            out(character.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut [0; 4]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], size: usize) -> Option<String> {
        let mut text = String::new();
        let mut decoder = Unescape::default();
        for chunk in bytes.chunks(size) {
            match decoder.feed(chunk, &mut |part| text.push_str(part)) {
                Step::More => {}
                Step::End(_) => return Some(text),
                Step::Broken => return None,
            }
        }
        panic!("no end in {bytes:?}");
    }

    #[test]
    fn strings_decode_the_same_for_chunks_of_any_size() {
        let cases: &[(&str, &[u8], Option<&str>)] = &[
            ("plain", br#"abc""#, Some("abc")),
            ("empty", br#"""#, Some("")),
            ("escapes", br#"\"\\\/\b\f\n\r\t\u0041\u00e9""#, Some("\"\\/\u{8}\u{c}\n\r\tAé")),
            ("surrogate pair", br#"a\ud83d\ude00b""#, Some("a😀b")),
            ("upper case digits", br#"\uD83D\uDE00""#, Some("😀")),
            ("lone high", br#"\ud83dx""#, Some("\u{fffd}x")),
            ("lone high at the end", br#"\ud83d""#, Some("\u{fffd}")),
            ("lone low", br#"\ude00""#, Some("\u{fffd}")),
            ("two highs and a low", br#"\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
            ("high before another escape", br#"\ud83d\n""#, Some("\u{fffd}\n")),
            ("high before a character", br#"\ud83d\u0041""#, Some("\u{fffd}A")),
            ("NUL", b"\\u0000\0\"", Some("\0\0")),
            ("raw characters", "é😀\"".as_bytes(), Some("é😀")),
            ("invalid bytes", b"a\xff\xc3(\xf0\x9f\x98\"", Some("a\u{fffd}\u{fffd}(\u{fffd}")),
            ("character cut by an escape", b"\xe2\x82\\n\xac\"", Some("\u{fffd}\n\u{fffd}")),
            ("unknown escape", br#"\x41""#, None),
            ("bad digit", br#"\u00g0""#, None),
        ];
        for (label, bytes, expected) in cases {
            for size in 1..=bytes.len() {
                assert_eq!(decode(bytes, size).as_deref(), *expected, "{label}, chunks of {size}");
            }
        }
    }

    #[test]
    fn lossy_decoding_agrees_with_the_standard_library() {
        let bytes: Vec<u8> = (0..4000u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
        let expected = String::from_utf8_lossy(&bytes);
        for size in [1, 2, 3, 7, 4000] {
            let mut text = String::new();
            let mut decoder = LossyUtf8::default();
            for chunk in bytes.chunks(size) {
                decoder.feed(chunk, &mut |part| text.push_str(part));
            }
            decoder.flush(&mut |part| text.push_str(part));
            assert_eq!(text, expected, "chunks of {size}");
        }
    }
}
