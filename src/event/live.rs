//! The visible state of a running run, and the newest assistant text, which is also shown if a run ends without an answer.

use std::time::{Duration, SystemTime};

use super::collected::RefusedResults;
use super::display::DisplayItem;
use super::loops::Repeats;
use super::stop_reason::StopReason;
use super::usage::{ContextUse, Usage};
use super::wire::record::MAX_LIVE;
use crate::text::{Fence, HeadTail, Tail, settled_length};

/// A view of a running child.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the run")]
pub struct Live<'a> {
    /// The newest assistant text: of the message under way once it says something, else of the last that did. The
    /// newest 64 KiB. Neither this nor `display_items` shows anything of an epilogue.
    pub text: &'a str,
    /// The block of code in which `text` begins, where the line that opens it is not among the newest.
    pub code: Option<Fence>,
    /// The newest texts and tool calls, oldest first; 48 KiB as JSON at most.
    pub display_items: &'a [DisplayItem],
    /// Sums over the assistant messages so far.
    pub usage: &'a Usage,
    /// The fill level of the context, if the child has reported it.
    pub context: Option<ContextUse>,
    /// The tool calls that repeat, if any do.
    pub repeats: Option<Repeats>,
    /// Tools that are running.
    pub running_tools: usize,
    /// The work is done. On pi before 0.84 this can become false again when a retry is announced.
    pub settled: bool,
    /// The work is done, and nothing is taken up again by itself: a pi from 0.84 on has said so.
    pub finished: bool,
    /// `provider/model` of the first assistant message.
    pub model: Option<&'a str>,
    /// The stop reason of the last assistant message that ended.
    pub stop_reason: Option<&'a StopReason>,
    /// An assistant message is under way.
    pub streaming: bool,
    /// The turns that have begun, of all prompts.
    pub turns_begun: u64,
    /// A turn has begun, and its assistant message has not.
    pub awaits_turn: bool,
    /// The pause that pi has announced before it repeats a request, until it does.
    pub announced_pause: Option<Duration>,
    /// pi is compacting the context.
    pub compacting: bool,
    /// pi has ended its work with an answer, and no message has come since that asks for another one. pi may still compact the
    /// context or repeat a request.
    pub answered: bool,
    /// The answer is the result. Later text replies to a message that the run did not need.
    pub is_concluded: bool,
    /// There is an answer, or a submitted result.
    pub has_answer: bool,
    /// The submitted results that pi refused.
    pub refused_results: &'a RefusedResults,
    /// The request that pi is about to repeat.
    pub retry: Option<&'a PendingRetry>,
}

impl Live<'_> {
    /// The text as it reads by itself: if it begins within a block of code, that block is opened.
    #[must_use]
    pub fn fenced_text(&self) -> String {
        fenced_view(self.text, self.code)
    }
}

fn fenced_view(text: &str, code: Option<Fence>) -> String {
    code.map_or_else(|| text.to_owned(), |fence| format!("{}\n{text}", fence.marks()))
}

/// A failed request that pi repeats after a pause. Not sanitized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRetry {
    /// The number of the repetition, from 1.
    pub attempt: u32,
    /// After how many pi gives up, if it says so.
    pub max_attempts: Option<u32>,
    /// The end of the pause.
    pub at: SystemTime,
    /// The reason of the failed request.
    pub error: Option<String>,
}

/// The newest assistant text.
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

impl Default for LiveText {
    fn default() -> Self {
        Self { text: Tail::new(MAX_LIVE), is_under_way: false, is_answer: false, block_begins: false }
    }
}

impl LiveText {
    pub(super) fn view(&self) -> &str {
        let text = self.text.view_from_word();
        if self.is_under_way { &text[..settled_length(text)] } else { text }
    }

    /// The code block in which the view begins, if its beginning was displaced.
    pub(super) fn code(&self) -> Option<Fence> {
        let view = self.text.view_from_word();
        self.text.is_cut().then(|| self.text.code_before(view)).flatten()
    }

    /// The text, unless it is the answer.
    pub(super) fn partial(&self) -> Option<String> {
        (!self.is_answer && !self.text.is_empty()).then(|| fenced_view(self.view(), self.code()))
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
}
