//! Lines are the parts between line feeds, for any chunking.

use sanitizer::lines::Lines;

use super::draw::Draw;

/// Checks that any chunking gives the lines of the whole stream.
pub(crate) fn framer(stream: &[u8]) {
    let whole = stream.strip_prefix("\u{feff}".as_bytes());
    // An incomplete byte order mark may still be completed.
    let is_begun = stream.len() < 3 && "\u{feff}".as_bytes().starts_with(stream);
    let expected: Vec<&[u8]> =
        if is_begun { vec![b""] } else { whole.unwrap_or(stream).split(|byte| *byte == b'\n').collect() };
    let mut draw = Draw::from(stream);
    for most in [1, 2, 7, 4096] {
        let mut framer = Lines::default();
        let mut lines = vec![Vec::new()];
        for chunk in draw.chunks(stream, most) {
            for piece in framer.pieces(chunk) {
                assert!(!piece.bytes.contains(&b'\n'), "a piece contains no line feed");
                assert!(piece.ends || !piece.bytes.is_empty(), "a piece has bytes or ends a line");
                lines.last_mut().expect("the list has a last line").extend_from_slice(piece.bytes);
                if piece.ends {
                    lines.push(Vec::new());
                }
            }
        }
        assert_eq!(lines, expected, "chunks of at most {most}");
    }
}
