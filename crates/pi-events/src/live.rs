//! The visible state of a running run, and the newest assistant text, which is also shown if a run ends without an
//! answer.

use std::time::{Duration, SystemTime};

use super::collected::RefusedResults;
use super::display::DisplayItem;
use super::loops::Repeats;
use super::stop_reason::StopReason;
use super::usage::{ContextUse, Usage};
use super::wire::record::MAX_LIVE;
use sanitizer::{Fence, HeadTail, Tail, settled_length};

/// A view of a running child.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the run")]
pub struct Live<'a> {
    /// The newest assistant text: of the current message once it has text, otherwise of the last message with text. The
    /// newest 64 KiB. Neither this nor `display_items` shows anything of an epilogue.
    pub text: &'a str,
    /// The code block in which `text` begins, if the line that opens the block is not part of `text`.
    pub code: Option<Fence>,
    /// The newest texts and tool calls, oldest first, at most 48 KiB as JSON.
    pub display_items: &'a [DisplayItem],
    /// Sums over the assistant messages so far.
    pub usage: &'a Usage,
    /// The fill level of the context, if the child has reported it.
    pub context: Option<ContextUse>,
    /// The tool calls that repeat, if any do.
    pub repeats: Option<Repeats>,
    /// The number of running tools.
    pub running_tools: usize,
    /// The work is done. On pi before 0.84 this can become false again when a retry is announced.
    pub settled: bool,
    /// The work is done, and pi will not resume it by itself. Only pi 0.84 or later reports this.
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
    /// pi has ended its work with an answer, and no message has come since that asks for another one. pi may still
    /// compact the context or repeat a request.
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
    /// Returns true if the child certainly continues: its last message calls tools, and no other has begun. Any other
    /// message may be its answer. The host sends messages by itself only to a child that continues, so that none
    /// arrives after the answer and causes another one.
    #[must_use]
    pub fn continues(&self) -> bool {
        let calls_tools = self.stop_reason == Some(&StopReason::ToolUse) && !self.streaming;
        calls_tools && !self.answered && !self.is_concluded
    }

    /// Returns the text in a form that is complete by itself: if it begins inside a code block, the line that opens the
    /// block is added.
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
    /// The number of repetitions after which pi gives up, if it reports this.
    pub max_attempts: Option<u32>,
    /// The end of the pause.
    pub at: SystemTime,
    /// The reason for the failure of the request.
    pub error: Option<String>,
}

/// The newest assistant text.
#[derive(Debug)]
pub(super) struct LiveText {
    text: Tail,
    /// Set if the text belongs to a message that has not ended.
    is_under_way: bool,
    /// Set if the text is the answer.
    is_answer: bool,
    /// Set if a text block begins. An LF joins it to the previous block, as in the answer.
    block_begins: bool,
}

impl Default for LiveText {
    fn default() -> Self {
        Self { text: Tail::new(MAX_LIVE), is_under_way: false, is_answer: false, block_begins: false }
    }
}

impl LiveText {
    pub(crate) fn view(&self) -> &str {
        let text = self.text.view_from_word();
        if self.is_under_way { &text[..settled_length(text)] } else { text }
    }

    /// Returns the code block in which the view begins, if the beginning of the block was displaced.
    pub(super) fn code(&self) -> Option<Fence> {
        let view = self.text.view_from_word();
        self.text.is_cut().then(|| self.text.code_before(view)).flatten()
    }

    /// Returns the text, unless it is the answer.
    pub(super) fn partial(&self) -> Option<String> {
        (!self.is_answer && !self.text.is_empty()).then(|| fenced_view(self.view(), self.code()))
    }

    pub(super) fn begin_block(&mut self) {
        self.block_begins = true;
    }

    /// Appends to the current message, or begins one.
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

    /// Notes that the answer has no text, so that the shown text is not the answer.
    pub(super) fn mark_not_answer(&mut self) {
        self.is_answer = false;
    }
}
