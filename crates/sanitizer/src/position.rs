//! Positions in a text: character boundaries, and lines and columns as in an editor.

/// Returns the last character boundary at or before `at`, at most the end of the text.
///
/// `str::floor_char_boundary` of the standard library needs Rust 1.91.
#[must_use]
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Returns the first character boundary at or after `at`, at most the end of the text.
#[must_use]
pub fn ceil_char_boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// A position in a file that a person wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

impl Position {
    /// The beginning of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Creates a position from a line and a column, both counted from 1. Numbers above `u32::MAX` become `u32::MAX`.
    #[must_use]
    pub fn new(line: usize, column: usize) -> Self {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        Self { line: number(line), column: number(column) }
    }
}

/// The line starts of a text. As in an editor, only LF ends a line.
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    /// Finds the line starts of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|index| index + 1);
        Self { text, starts: std::iter::once(0).chain(starts).collect() }
    }

    /// Returns the position of the character at this byte. A byte after the end counts as the end.
    #[must_use]
    pub fn position(&self, byte: usize) -> Position {
        let byte = floor_char_boundary(self.text, byte);
        let line = self.starts.partition_point(|start| *start <= byte);
        let columns = self.text[self.starts[line - 1]..byte].chars().count();
        Position::new(line, columns + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_never_split_a_character() {
        let text = "a\u{20ac}b";
        for (at, floor, ceil) in [(0, 0, 0), (1, 1, 1), (2, 1, 4), (3, 1, 4), (4, 4, 4), (5, 5, 5), (9, 5, 5)]
        {
            assert_eq!((floor_char_boundary(text, at), ceil_char_boundary(text, at)), (floor, ceil), "{at}");
        }
    }

    #[test]
    fn positions_count_line_feeds_and_characters() {
        let index = LineIndex::new("ab\r\n\u{e4}\u{20ac}x\n");
        for (byte, line, column) in
            [(0, 1, 1), (3, 1, 4), (4, 2, 1), (6, 2, 2), (8, 2, 2), (9, 2, 3), (11, 3, 1), (99, 3, 1)]
        {
            assert_eq!(index.position(byte), Position { line, column }, "byte {byte}");
        }
        assert_eq!(LineIndex::new("").position(0), Position::START);
    }
}
