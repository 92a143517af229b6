//! A bounded part of a text, which is sanitized before it is cut: half a secret is not recognized.

use std::borrow::Cow;

use super::sanitizer::{REACH, settled_length};
use super::{Sanitized, Sanitizer};
use crate::text::{floor_char_boundary, one_line};

/// The most bytes of a character.
const CHAR_BYTES: usize = 4;

impl Sanitizer {
    /// The beginning of a text, sanitized: at most `max_bytes`, with a `…` at its end where something is missing.
    ///
    /// However long the text is, only a little more than `max_bytes` of it is looked at.
    #[must_use]
    pub fn clip(&self, text: &str, max_bytes: usize) -> Sanitized {
        self.beginning(text, max_bytes, |text| text.into()).clip(max_bytes)
    }

    /// As [`Sanitizer::clip`], on one line and of at most `max_chars` characters.
    ///
    /// Control characters are blanks, and what stands between those of a sequence stays: a name or a command is not shown as
    /// another one.
    #[must_use]
    pub fn line(&self, text: &str, max_chars: usize) -> Sanitized {
        let clean = self.beginning(text, max_chars.saturating_mul(CHAR_BYTES), without_sequences);
        let line = one_line(&clean, usize::MAX).into_string();
        // What was on several lines may be a secret on one.
        let clean = if line == *clean { clean } else { self.sanitize(&line) };
        clean.line(max_chars)
    }

    /// What `bytes` of a sanitized text are taken from. What is left out is marked.
    fn beginning(&self, text: &str, bytes: usize, prepared: fn(&str) -> Cow<'_, str>) -> Sanitized {
        let end = floor_char_boundary(text, bytes.saturating_add(REACH));
        let head = &*prepared(&text[..end]);
        if end == text.len() {
            return self.sanitize(head);
        }
        self.sanitize_growing(&head[..settled_length(head)]).with_ellipsis()
    }
}

/// The text with its lines, and with nothing that begins a control sequence.
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
    use crate::text::SanitizerOptions;

    /// A known value with blanks, and a token that its shape gives away.
    const SECRETS: [&str; 2] =
        ["made-up value of some words 0123456789", "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"];

    fn sanitizer() -> Sanitizer {
        Sanitizer::new(SanitizerOptions::with_secret(SECRETS[0]))
    }

    #[test]
    fn nothing_of_a_secret_is_left_wherever_the_cut_is() {
        let sanitizer = sanitizer();
        // The second limit is where the text is cut before it is looked at.
        for (limit, at) in [(300, 300), (300, 300 + REACH), (300, 300 * CHAR_BYTES + REACH)] {
            for secret in SECRETS {
                for back in 0..=secret.len() {
                    // What is longer than the limit is nothing when it is shown.
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
    fn what_is_left_out_is_marked() {
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
    fn what_is_a_secret_only_on_one_line_or_only_on_several_goes_too() {
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
