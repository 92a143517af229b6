//! Splits a byte stream that arrives in chunks into lines.

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
}
