//! Sanitizes the beginning of a text before cutting it, because half a secret is not recognized.

use std::borrow::Cow;

use super::sanitizer::{REACH, settled_length};
use super::{Sanitized, Sanitizer};
use crate::{floor_char_boundary, one_line};

/// The maximum length of a character, in bytes.
const CHAR_BYTES: usize = 4;

impl Sanitizer {
    /// Returns the sanitized beginning of a text, at most `max_bytes`. A cut text ends with `…`.
    ///
    /// Reads only a little more than `max_bytes`, even if the text is much longer.
    #[must_use]
    pub fn clip(&self, text: &str, max_bytes: usize) -> Sanitized {
        self.beginning(text, max_bytes, |text| text.into()).clip(max_bytes)
    }

    /// Returns the same as [`Sanitizer::clip`], on one line and with at most `max_chars` characters.
    ///
    /// Control characters become blanks, and the letters of a control sequence stay. So a name or a command is never
    /// shown as a different one.
    #[must_use]
    pub fn line(&self, text: &str, max_chars: usize) -> Sanitized {
        let clean = self.beginning(text, max_chars.saturating_mul(CHAR_BYTES), without_sequences);
        let line = one_line(&clean, usize::MAX).into_string();
        // A text on several lines may become a secret on one line.
        let clean = if line == *clean { clean } else { self.sanitize(&line) };
        clean.line(max_chars)
    }

    /// Sanitizes enough of a text for `bytes` bytes of output. Marks a cut.
    fn beginning(&self, text: &str, bytes: usize, prepared: fn(&str) -> Cow<'_, str>) -> Sanitized {
        let end = floor_char_boundary(text, bytes.saturating_add(REACH));
        let head = &*prepared(&text[..end]);
        if end == text.len() {
            return self.sanitize(head);
        }
        self.sanitize_growing(&head[..settled_length(head)]).with_ellipsis()
    }
}

/// Returns the text with its line ends and without the characters that begin a control sequence.
fn without_sequences(text: &str) -> Cow<'_, str> {
    let is_blank = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_blank) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\r' => '\n',
        c if is_blank(c) => ' ',
        c => c,
    };
    Cow::Owned(text.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SanitizerOptions;

    /// A known value with blanks, and a token with a recognizable shape.
    const SECRETS: [&str; 2] =
        ["made-up value of some words 0123456789", "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"];

    fn sanitizer() -> Sanitizer {
        Sanitizer::new(SanitizerOptions::with_secret(SECRETS[0]))
    }

    #[test]
    fn no_part_of_a_secret_survives_a_cut_at_any_position() {
        let sanitizer = sanitizer();
        // The second number is the position of the cut before sanitizing.
        for (limit, at) in [(300, 300), (300, 300 + REACH), (300, 300 * CHAR_BYTES + REACH)] {
            for secret in SECRETS {
                for back in 0..=secret.len() {
                    // Filler beyond the limit must be invisible, so that it does not count in the output.
                    let filler = if at == limit { "x" } else { "\u{202e}" };
                    let mut text = filler.repeat((at - back) / filler.len());
                    text.push_str(&" ".repeat(at - back - text.len()));
                    text.push_str(secret);
                    text.push_str(&" end".repeat(8));
                    for shown in [sanitizer.clip(&text, limit), sanitizer.line(&text, limit)] {
                        assert!(!shown.contains(&secret[..8]), "{back} before {at}: {shown}");
                    }
                }
            }
        }
    }

    #[test]
    fn missing_text_is_marked() {
        let sanitizer = sanitizer();
        let long = "\u{202e}".repeat(REACH);
        for (text, limit, clipped, line) in [
            ("a\nb", 3, "a\nb", "a b"),
            ("one two\nthree", 12, "one two\nt…", "one two thr…"),
            (&*format!("said{long}more"), 40, "said…", "said…"),
        ] {
            assert_eq!((&*sanitizer.clip(text, limit), &*sanitizer.line(text, limit)), (clipped, line));
        }
    }

    #[test]
    fn a_secret_is_redacted_on_one_line_and_on_several() {
        let sanitizer = Sanitizer::new(SanitizerOptions::with_secret("made-up\n\nvalue of lines"));
        for text in ["api_key =\n\u{2028} 8f3kq0Zx71vTmW2yLb9c", "it is made-up\n\nvalue of lines"] {
            let line = sanitizer.line(text, 80);
            assert!(!line.contains("8f3kq0") && !line.contains("value"), "{line}");
        }
    }

    #[test]
    fn a_line_hides_nothing_in_a_control_sequence() {
        let line = sanitizer().line("evil\u{1b}[31m \u{1b}]0;rm -rf ~\u{7}\r\n\tend", 80);
        assert_eq!(&*line, "evil [31m ]0;rm -rf ~ end");
    }
}
