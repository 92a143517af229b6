//! Lines and positions: splits a byte stream into lines, and finds character boundaries, lines and columns in a text.

use memchr::memchr;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// The part of one line that is in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The bytes, without the LF.
    pub bytes: &'a [u8],
    /// Set if an LF follows, so the line is complete.
    pub ends: bool,
}

/// Splits chunks into [`Piece`]s, only at LF, and drops a byte order mark at the start of the stream.
///
/// It buffers nothing; the reader stores the bytes that it needs. A CR before the LF stays in the piece, because it may
/// have arrived with an earlier chunk.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// The matched length of the byte order mark at the start of the stream. It is the full length once no mark can
    /// follow.
    mark: usize,
}

impl Lines {
    /// Returns the pieces of the next chunk, in order.
    pub fn pieces<'a>(&mut self, mut chunk: &'a [u8]) -> Pieces<'a> {
        let mut replay: &[u8] = &[];
        while self.mark < BOM.len() && chunk.first() == Some(&BOM[self.mark]) {
            self.mark += 1;
            chunk = &chunk[1..];
        }
        if self.mark < BOM.len() && !chunk.is_empty() {
            // The stream has no byte order mark, so the retained bytes belong to the line.
            replay = &BOM[..self.mark];
            self.mark = BOM.len();
        }
        Pieces { replay, rest: chunk }
    }
}

/// An iterator over the pieces of one chunk.
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    replay: &'static [u8],
    rest: &'a [u8],
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        if !self.replay.is_empty() {
            return Some(Piece { bytes: std::mem::take(&mut self.replay), ends: false });
        }
        if self.rest.is_empty() {
            return None;
        }
        let Some(end) = memchr(b'\n', self.rest) else {
            return Some(Piece { bytes: std::mem::take(&mut self.rest), ends: false });
        };
        let piece = Piece { bytes: &self.rest[..end], ends: true };
        self.rest = &self.rest[end + 1..];
        Some(piece)
    }
}

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

    fn joined(stream: &[u8], size: usize) -> Vec<Vec<u8>> {
        let mut lines = Lines::default();
        let mut all = vec![Vec::new()];
        for chunk in stream.chunks(size) {
            for piece in lines.pieces(chunk) {
                all.last_mut().expect("the list has a last line").extend_from_slice(piece.bytes);
                if piece.ends {
                    all.push(Vec::new());
                }
            }
        }
        all
    }

    #[test]
    fn lines_are_the_same_for_chunks_of_any_size() {
        type Case<'a> = (&'a str, &'a [u8], &'a [&'a [u8]]);
        let streams: &[Case] = &[
            ("plain", b"a\nbb\n", &[b"a", b"bb", b""]),
            ("no final newline", b"a\nb", &[b"a", b"b"]),
            ("blank lines and a CR", b"\n\r\n\n", &[b"", b"\r", b"", b""]),
            ("byte order mark", b"\xef\xbb\xbfa\n\xef\xbb\xbfb", &[b"a", b"\xef\xbb\xbfb"]),
            ("half a mark", b"\xef\xbba\n", &[b"\xef\xbba", b""]),
            (
                "line separators of Unicode are text",
                "a\u{2028}b\n".as_bytes(),
                &["a\u{2028}b".as_bytes(), b""],
            ),
        ];
        for (label, stream, expected) in streams {
            for size in 1..=stream.len() {
                assert_eq!(joined(stream, size), *expected, "{label}, chunks of {size}");
            }
        }
    }

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
