//! Bounded text buffers that keep the tail of a stream, or its head and tail.

use super::{Fence, Fences, settled_length};
use crate::lines::{ceil_char_boundary, floor_char_boundary};

/// The number of bytes that a cut searches for white space, so that it does not split a token.
const MAX_CUT_WINDOW: usize = 4 * 1024;

/// A buffer for the newest bytes. Pushing takes amortized constant time per byte.
#[derive(Debug, Clone)]
pub struct Tail {
    limit: usize,
    text: String,
    pushed: u64,
    /// The code block state at the end of the removed text.
    dropped: Fences,
}

impl Tail {
    /// Creates an empty buffer for `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { limit, text: String::new(), pushed: 0, dropped: Fences::new() }
    }

    /// Appends text. Beyond the limit, the oldest bytes are dropped.
    pub fn push(&mut self, part: &str) {
        self.pushed += part.len() as u64;
        let max = self.limit + self.limit / 4;
        // The usual part is short.
        let part = if self.text.len() + part.len() <= max { part } else { self.make_room(part) };
        grow(&mut self.text, part.len(), max);
        self.text.push_str(part);
    }

    /// Drops the oldest text and the beginning of a part, so that at most the limit remains. Returns the rest of the part.
    fn make_room<'a>(&mut self, part: &'a str) -> &'a str {
        let (skipped, part) = part.split_at(floor_char_boundary(part, part.len().saturating_sub(self.limit)));
        let keep = if skipped.is_empty() { self.limit.saturating_sub(part.len()) } else { 0 };
        self.drop_front(self.text.len().saturating_sub(keep));
        self.dropped.push(skipped);
        part
    }

    /// Returns the newest bytes, at most the limit.
    #[must_use]
    pub fn view(&self) -> &str {
        &self.text[ceil_char_boundary(&self.text, self.text.len().saturating_sub(self.limit))..]
    }

    /// Returns the same as [`Tail::view`], except that after a cut it begins with a whole word.
    #[must_use]
    pub fn view_from_word(&self) -> &str {
        let view = self.view();
        if self.is_cut() { after_torn_word(view, cut_window(self.limit)) } else { view }
    }

    /// Returns true if bytes were dropped.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.pushed > self.view().len() as u64
    }

    /// Returns true if nothing was pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pushed == 0
    }

    /// Forgets everything that was pushed.
    pub fn clear(&mut self) {
        self.text.clear();
        self.pushed = 0;
        self.dropped = Fences::new();
    }

    /// Returns the code block at the start of a view of the newest text.
    #[must_use]
    pub fn code_before(&self, view: &str) -> Option<Fence> {
        let mut fences = self.dropped.clone();
        fences.push(&self.text[..self.text.len() - view.len()]);
        fences.open()
    }

    /// Removes this character if it is the last one.
    pub fn strip(&mut self, end: char) {
        self.drop_excess();
        if self.text.ends_with(end) {
            self.text.pop();
            self.pushed -= end.len_utf8() as u64;
        }
    }

    /// Removes the last word. Call this if only a part of the word was pushed.
    pub fn strip_torn_word(&mut self) {
        self.drop_excess();
        let whole = before_torn_word(&self.text, cut_window(self.limit / 8)).len();
        self.pushed -= (self.text.len() - whole) as u64;
        self.text.truncate(whole);
    }

    /// Undoes pushes back to a total of `pushed` bytes. Older text that they displaced stays lost.
    fn rewind(&mut self, pushed: u64) {
        self.drop_excess();
        let back = usize::try_from(self.pushed - pushed).unwrap_or(usize::MAX);
        self.text.truncate(self.text.len().saturating_sub(back));
        self.pushed = pushed;
    }

    /// Appends the text of another buffer. If the other buffer was cut, drops everything before its gap.
    pub fn append(&mut self, other: &Tail) {
        if other.is_cut() {
            self.clear();
            self.pushed = other.pushed - other.view().len() as u64;
            self.dropped = other.dropped_before_view();
        }
        self.push(other.view());
    }

    /// Removes the bytes above the limit. Call this before removing text at the end: the number of these bytes depends
    /// on how the text was split, and they must not become visible again.
    fn drop_excess(&mut self) {
        let excess = self.text.len() - self.view().len();
        self.drop_front(excess);
    }

    fn drop_front(&mut self, count: usize) {
        let end = floor_char_boundary(&self.text, count);
        self.dropped.push(&self.text[..end]);
        self.text.drain(..end);
    }

    /// Returns the code block state at the start of [`Tail::view`].
    fn dropped_before_view(&self) -> Fences {
        let mut fences = self.dropped.clone();
        fences.push(&self.text[..self.text.len() - self.view().len()]);
        fences
    }
}

/// A buffer for the first and the last bytes of a stream, each up to half of its limit. It counts the bytes between
/// them.
#[derive(Debug, Clone)]
pub struct HeadTail {
    half: usize,
    head: String,
    tail: Tail,
}

impl HeadTail {
    /// Creates an empty buffer for `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { half: limit / 2, head: String::new(), tail: Tail::new(limit / 2) }
    }

    /// Appends text. Beyond the limit, bytes between the head and the tail are dropped.
    pub fn push(&mut self, mut part: &str) {
        if self.tail.is_empty() {
            let room = self.half - self.head.len();
            let fits = if part.len() <= room { part.len() } else { floor_char_boundary(part, room) };
            grow(&mut self.head, fits, self.half);
            self.head.push_str(&part[..fits]);
            part = &part[fits..];
        }
        if !part.is_empty() {
            if self.tail.is_empty() {
                self.tail.dropped = Fences::new();
                self.tail.dropped.push(&self.head);
            }
            self.tail.push(part);
        }
    }

    /// Returns true if the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty()
    }

    /// Returns true if the text is empty or only white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.head.trim().is_empty() && self.tail.view().trim().is_empty()
    }

    /// Forgets everything that was pushed.
    pub fn clear(&mut self) {
        self.head.clear();
        self.tail.clear();
    }

    /// Returns the total number of pushed bytes.
    #[must_use]
    pub fn pushed_bytes(&self) -> u64 {
        self.head.len() as u64 + self.tail.pushed
    }

    /// Undoes pushes back to a total of `pushed` bytes. The result is exact unless they displaced older text.
    pub fn rewind(&mut self, pushed: u64) {
        // The tail is empty until the head is full.
        self.head.truncate(usize::try_from(pushed).unwrap_or(usize::MAX));
        self.tail.rewind(pushed - self.head.len() as u64);
    }

    /// Returns the beginning: the whole text, unless it is longer than half the limit.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// Returns the text and the number of bytes left out, which a note in the gap also shows. Cuts at whole words
    /// where possible.
    #[must_use]
    pub fn to_text(&self) -> (String, u64) {
        if !self.tail.is_cut() {
            return ([&self.head, self.tail.view()].concat(), 0);
        }
        let head = before_torn_word(&self.head[..settled_length(&self.head)], cut_window(self.half));
        let tail = after_torn_word(self.tail.view(), cut_window(self.half));
        let omitted = self.pushed_bytes() - (head.len() + tail.len()) as u64;
        // The note must not change which parts of the text are code and which are prose.
        let before = fence_open(head);
        let after = self.tail.code_before(tail);
        let (closing, opening) = if before == after {
            (String::new(), String::new())
        } else {
            let line = |fence: Option<Fence>| fence.map(Fence::marks);
            (
                line(before).map(|marks| format!("\n{marks}")).unwrap_or_default(),
                line(after).map(|marks| format!("{marks}\n")).unwrap_or_default(),
            )
        };
        (format!("{head}{closing}\n[{omitted} bytes omitted]\n{opening}{tail}"), omitted)
    }

    /// Copies the newest text to another buffer, including the gap.
    pub fn copy_to(&self, other: &mut Tail) {
        if self.tail.is_cut() {
            other.clear();
            other.pushed = self.head.len() as u64;
            other.dropped = self.tail.dropped_before_view();
        } else {
            other.push(&self.head);
        }
        // This tail can be larger than the other buffer. The older part counts as pushed before.
        other.pushed += self.tail.pushed - self.tail.view().len() as u64;
        other.push(self.tail.view());
    }
}

/// Returns the code block at the end of a text.
fn fence_open(text: &str) -> Option<Fence> {
    let mut fences = Fences::new();
    fences.push(text);
    fences.open()
}

/// Reserves room by doubling. Above `max` it reserves only the required bytes.
fn grow(text: &mut String, more: usize, max: usize) {
    let needed = text.len() + more;
    if needed > text.capacity() {
        let target = (text.capacity() * 2).max(64).min(max).max(needed);
        text.reserve_exact(target - text.len());
    }
}

fn cut_window(limit: usize) -> usize {
    MAX_CUT_WINDOW.min(limit / 2)
}

fn before_torn_word(text: &str, window: usize) -> &str {
    let from = text.len().saturating_sub(window);
    let space = text.as_bytes()[from..].iter().rposition(u8::is_ascii_whitespace);
    space.map_or(text, |at| &text[..=from + at])
}

/// Skips to the first line end nearby, or to the first space. The line end comes first because a secret can consist of
/// several words.
fn after_torn_word(text: &str, window: usize) -> &str {
    let near = &text.as_bytes()[..window.min(text.len())];
    let line = near.iter().position(|&byte| byte == b'\n');
    let space = line.or_else(|| near.iter().position(u8::is_ascii_whitespace));
    space.map_or(text, |at| &text[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, size: usize) -> Vec<&str> {
        let mut rest = text;
        let mut all = Vec::new();
        while !rest.is_empty() {
            let end = ceil_char_boundary(rest, size);
            all.push(&rest[..end]);
            rest = &rest[end..];
        }
        all
    }

    #[test]
    fn a_tail_keeps_the_newest_text_for_pieces_of_any_size() {
        let text: String = (0..400).map(|i| if i % 7 == 0 { '\u{20ac}' } else { 'x' }).collect();
        for size in [1, 2, 5, 99, 100, 101, 1000] {
            let mut tail = Tail::new(100);
            for piece in pieces(&text, size) {
                tail.push(piece);
                assert!(tail.text.capacity() <= 135, "pieces of {size}: {}", tail.text.capacity());
            }
            assert_eq!(tail.view(), &text[ceil_char_boundary(&text, text.len() - 100)..], "pieces of {size}");
            assert!(tail.is_cut());
        }
    }

    #[test]
    fn displaced_text_stays_lost_after_a_rewind() {
        let text = format!("{}{} torn\r", "old ".repeat(30), "new ".repeat(20));
        for size in [1, 2, 3, 7, 50, 1000] {
            let [mut stripped, mut torn] = [Tail::new(100), Tail::new(100)];
            for piece in pieces(&text, size) {
                stripped.push(piece);
                torn.push(piece);
            }
            stripped.strip('\r');
            torn.strip('\r');
            torn.strip_torn_word();
            assert_eq!(stripped.view(), &text[text.len() - 100..text.len() - 1], "pieces of {size}");
            assert_eq!(torn.view(), &text[text.len() - 100..text.len() - 5], "pieces of {size}");
        }
    }

    #[test]
    fn a_removed_word_does_not_count_as_dropped() {
        let mut tail = Tail::new(100);
        tail.push("one two thr");
        tail.strip_torn_word();
        assert_eq!((tail.view().trim_end(), tail.is_cut()), ("one two", false));
    }

    #[test]
    fn head_and_tail_survive_and_the_gap_is_counted() {
        let words = (0..300).map(|i| format!("word{i} ")).collect::<Vec<_>>().concat();
        let mut clip = HeadTail::new(400);
        for piece in pieces(&words, 7) {
            clip.push(piece);
        }
        let (text, omitted) = clip.to_text();
        assert!(text.starts_with("word0 word1 "), "{text}");
        assert!(text.ends_with("word298 word299 "), "{text}");
        let (head, tail) =
            text.split_once(&format!("\n[{omitted} bytes omitted]\n")).expect("the text has a note");
        assert_eq!(head.len() as u64 + omitted + tail.len() as u64, words.len() as u64);
        assert!(words.starts_with(head) && head.ends_with(' '), "whole words before the gap: {head}");
        assert!(words.ends_with(tail) && tail.starts_with("word"), "whole words after the gap: {tail}");
    }

    #[test]
    fn a_tail_reports_the_code_block_at_its_start() {
        let text =
            format!("{}```rust\n{}```\n{}", "prose\n".repeat(8), "code\n".repeat(40), "prose\n".repeat(40));
        for size in [1, 5, 64, 99, 1000] {
            let mut tail = Tail::new(64);
            let mut read = 0;
            for piece in pieces(&text, size) {
                tail.push(piece);
                read += piece.len();
                let view = tail.view();
                let mut fences = Fences::new();
                fences.push(&text[..read - view.len()]);
                assert_eq!(tail.code_before(view), fences.open(), "pieces of {size}, {read}");
                let mut other = Tail::new(64);
                other.append(&tail);
                assert_eq!(
                    other.code_before(other.view()),
                    fences.open(),
                    "appended, pieces of {size}, {read}"
                );
            }
        }
    }

    #[test]
    fn code_stays_code_on_both_sides_of_a_gap() {
        let prose = "word ".repeat(60);
        for (text, note) in [
            (format!("{prose}\n```\n{prose}"), "omitted]\n```\n"),
            (format!("```sh\n{prose}\n```\n{prose}"), "\n```\n["),
            (format!("```\n{prose}\n{prose}"), "\n["),
        ] {
            let mut clip = HeadTail::new(200);
            for piece in pieces(&text, 7) {
                clip.push(piece);
            }
            let (text, omitted) = clip.to_text();
            assert!(text.contains(note) && omitted > 0, "{text}");
        }
    }

    #[test]
    fn text_within_the_limit_stays_whole() {
        for size in [1, 3, 64] {
            let text = "a\u{e9}\u{20ac}\u{1f600}".repeat(10);
            let mut clip = HeadTail::new(108);
            for piece in pieces(&text, size) {
                clip.push(piece);
            }
            assert_eq!(clip.to_text(), (text, 0), "pieces of {size}");
        }
    }

    #[test]
    fn a_rewind_removes_the_text_after_the_mark() {
        let mut clip = HeadTail::new(20);
        clip.push("0123456");
        let before = clip.pushed_bytes();
        clip.push("89abcdef");
        clip.rewind(before);
        assert_eq!(clip.to_text(), ("0123456".to_owned(), 0));
        clip.push("789abcdef");
        let before = clip.pushed_bytes();
        clip.push("g");
        clip.rewind(before);
        assert_eq!(clip.to_text(), ("0123456789abcdef".to_owned(), 0));
    }
}
