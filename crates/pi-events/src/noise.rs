//! A child's output that is not an event.

use sanitizer::Tail;
use sanitizer::json::unescape::LossyUtf8;

/// The maximum number of stored bytes of the lines that are not JSON.
const MAX_NOISE: usize = 8 * 1024;
/// The maximum number of stored bytes of one such line, so that a long line does not displace the others.
pub(super) const MAX_LINE: usize = 2 * 1024;

/// The newest lines that are not JSON.
#[derive(Debug)]
pub(super) struct Noise {
    text: Tail,
    /// The number of bytes of the current line that may still be stored.
    room: usize,
    is_cut: bool,
    utf8: LossyUtf8,
}

impl Default for Noise {
    fn default() -> Self {
        Self { text: Tail::new(MAX_NOISE), room: 0, is_cut: false, utf8: LossyUtf8::default() }
    }
}

impl Noise {
    pub(super) fn begin_line(&mut self) {
        self.room = MAX_LINE;
        self.is_cut = false;
    }

    /// Adds part of a line.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.is_cut |= bytes.len() > self.room;
        let bytes = &bytes[..bytes.len().min(self.room)];
        self.room -= bytes.len();
        self.utf8.feed(bytes, &mut |part| self.text.push(part));
    }

    pub(super) fn end_line(&mut self) {
        self.utf8.flush(&mut |part| self.text.push(part));
        if self.is_cut {
            self.text.strip_torn_word();
        } else {
            self.text.strip('\r');
        }
        self.text.push("\n");
    }

    /// Returns true if the newest line is this one.
    pub(super) fn ends_with_line(&self, line: &str) -> bool {
        let before = self.text.view().strip_suffix('\n').and_then(|text| text.strip_suffix(line));
        before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
    }

    pub(crate) fn to_text(&self) -> String {
        self.text.view_from_word().trim_end_matches('\n').to_owned()
    }
}
