//! The newest assistant text, for live updates and for runs that end without an answer.

use super::wire::record::MAX_LIVE;
use crate::text::{HeadTail, Tail, settled_length};

#[derive(Debug)]
pub(super) struct LiveText {
    text: Tail,
    /// The text belongs to a message that has not ended.
    is_under_way: bool,
    /// The text is the answer.
    is_answer: bool,
    /// A text block begins; an LF joins it to the one before, as in the answer.
    block_begins: bool,
}

impl LiveText {
    pub(super) const fn new() -> Self {
        Self { text: Tail::new(MAX_LIVE), is_under_way: false, is_answer: false, block_begins: false }
    }

    pub(super) fn view(&self) -> &str {
        let text = self.text.view_from_word();
        if self.is_under_way { &text[..settled_length(text)] } else { text }
    }

    /// The text, unless it is the answer.
    pub(super) fn partial(&self) -> Option<String> {
        (!self.is_answer && !self.text.is_empty()).then(|| self.view().to_owned())
    }

    pub(super) fn begin_block(&mut self) {
        self.block_begins = true;
    }

    /// Appends to the message under way, or begins one.
    pub(super) fn delta(&mut self, delta: &Tail) -> bool {
        if delta.is_empty() {
            return false;
        }
        if !self.is_under_way {
            self.text.clear();
            self.is_under_way = true;
            self.is_answer = false;
        } else if self.block_begins && !self.text.is_empty() {
            self.text.push("\n");
        }
        self.block_begins = false;
        self.text.append(delta);
        true
    }

    /// Ends the current message. Its text is shown until the next one has some.
    pub(super) fn end(&mut self) {
        self.is_under_way = false;
        self.block_begins = false;
    }

    /// Shows the final text of a message.
    pub(super) fn replace(&mut self, text: &HeadTail, is_answer: bool) {
        self.text.clear();
        text.copy_to(&mut self.text);
        self.is_answer = is_answer;
    }

    /// The answer has no text, so the text shown is not the answer.
    pub(super) fn disown(&mut self) {
        self.is_answer = false;
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.text.memory_bytes()
    }
}
