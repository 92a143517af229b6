//! The beginning and the end of a text of any length.

use std::collections::VecDeque;

/// How much is kept at each end: enough for a start-up complaint and for the stack trace that came last.
const END_BYTES: usize = 16 * 1024;

/// A word that is longer than this is no word, and is cut.
const MAX_TORN: usize = 4 * 1024;

/// The first and the last 16 KiB of a byte stream, and how much between them was left out.
///
/// Memory is bounded whatever is pushed, and a push costs no more than what it keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clip {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    omitted: u64,
}

impl Clip {
    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(END_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        let (skipped, kept) = rest.split_at(rest.len().saturating_sub(END_BYTES));
        let displaced = (self.tail.len() + kept.len()).saturating_sub(END_BYTES);
        self.tail.drain(..displaced);
        self.tail.extend(kept);
        self.omitted += (skipped.len() + displaced) as u64;
    }

    /// How many bytes between the two ends were left out.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Whether nothing was ever pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The text, with a line in the middle that says how many bytes were left out. Invalid UTF-8 becomes U+FFFD; a
    /// word or character that the cut went through counts as left out. Not sanitized.
    #[must_use]
    pub fn to_text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.omitted == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        // Whole words, so that no half of a secret stands beside the gap, where no rule would recognize it.
        let head_end = whole_words(&self.head);
        let tail_start = tail.len() - whole_words_from(&tail);
        let omitted = self.omitted + (self.head.len() - head_end + tail_start) as u64;
        let head = String::from_utf8_lossy(&self.head[..head_end]);
        let tail = String::from_utf8_lossy(&tail[tail_start..]);
        format!("{head}\n[{omitted} bytes omitted]\n{tail}")
    }
}

/// The length without a word or character at the end that may go on.
fn whole_words(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(MAX_TORN);
    let space = bytes[from..].iter().rposition(u8::is_ascii_whitespace);
    space.map_or_else(|| whole_characters(bytes), |at| from + at + 1)
}

/// The length without a word or character at the beginning that may have begun before.
fn whole_words_from(bytes: &[u8]) -> usize {
    let near = &bytes[..bytes.len().min(MAX_TORN)];
    let torn = match near.iter().position(u8::is_ascii_whitespace) {
        Some(space) => space + 1,
        None => bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count(),
    };
    bytes.len() - torn
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// The length without a character at the end that has only begun.
fn whole_characters(bytes: &[u8]) -> usize {
    let after = bytes.iter().rev().take(3).take_while(|byte| is_continuation(**byte)).count();
    let Some(start) = bytes.len().checked_sub(after + 1) else { return bytes.len() };
    let length = match bytes[start] {
        0b1100_0000..=0b1101_1111 => 2,
        0b1110_0000..=0b1110_1111 => 3,
        0b1111_0000..=0b1111_0111 => 4,
        _ => return bytes.len(),
    };
    if start + length > bytes.len() { start } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_both_ends_of_any_stream_in_any_chunking() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        for (label, length) in [
            ("nothing", 0),
            ("less than the head", 100),
            ("exactly the head", END_BYTES),
            ("head and tail", 2 * END_BYTES),
            ("one byte too many", 2 * END_BYTES + 1),
            ("far too much", bytes.len()),
        ] {
            let bytes = &bytes[..length];
            let mut whole = Clip::default();
            whole.push(bytes);
            let head = END_BYTES.min(length);
            let tail = END_BYTES.min(length - head);
            assert_eq!(whole.head, bytes[..head], "{label}");
            assert_eq!(whole.tail, &bytes[length - tail..], "{label}");
            assert_eq!(whole.omitted(), (length - head - tail) as u64, "{label}");
            for size in [7, 1000, 40_000] {
                let mut pieces = Clip::default();
                bytes.chunks(size).for_each(|chunk| pieces.push(chunk));
                assert_eq!(pieces, whole, "{label} in chunks of {size}");
            }
        }
    }

    #[test]
    fn the_text_names_the_gap_and_splits_no_character() {
        let mut clip = Clip::default();
        clip.push("é".repeat(100).as_bytes());
        assert_eq!(clip.to_text(), "é".repeat(100));

        let mut clip = Clip::default();
        clip.push(b"x");
        clip.push("é".repeat(40_000).as_bytes());
        clip.push(b"y");
        let text = clip.to_text();
        assert!(!text.contains('\u{fffd}'));
        let kept = text.chars().filter(|c| *c == 'é').count() * 2 + 2;
        assert!(text.contains(&format!("\n[{} bytes omitted]\n", 80_002 - kept)));
        assert!(text.starts_with("xé") && text.ends_with("éy"));
    }
}
