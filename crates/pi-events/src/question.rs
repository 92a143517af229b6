//! A child's messages to its client in RPC mode: dialogs of extensions, which wait for an answer, and responses to
//! commands. Also separates messages that need an answer from those that the host sends by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sanitizer::text_enum;

use crate::newest::Measured;

text_enum! {
    /// The kinds of dialog.
    pub enum QuestionMethod {
        /// One of several options, answered by its text.
        Select = "select",
        /// Yes or no.
        Confirm = "confirm",
        /// A line of text.
        Input = "input",
        /// Text of any length.
        Editor = "editor",
    }
}

/// A dialog of an extension. Not sanitized; every text is bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Repeated in the answer.
    pub id: String,
    /// The kind of answer that the dialog expects.
    pub method: QuestionMethod,
    /// The question. It and each other text have at most 16 KiB: a longer text has only its head and tail.
    pub title: String,
    /// More about it; `confirm` only.
    pub message: Option<String>,
    /// The choices, at most 64 options of 1 KiB each; `select` only.
    pub options: Vec<String>,
    /// An example of an answer; `input` only.
    pub placeholder: Option<String>,
    /// The text to be edited; `editor` only.
    pub prefill: Option<String>,
    /// The time for which the child waits for the answer; `None` is no limit.
    pub timeout: Option<Duration>,
    /// True if nothing was cut or left out. A cut option or prefill must not be sent back as an answer, because the
    /// extension would not recognise it.
    pub is_whole: bool,
}

impl Measured for Question {
    fn bytes(&self) -> usize {
        let texts = [&self.message, &self.placeholder, &self.prefill];
        self.id.len()
            + self.title.len()
            + texts.into_iter().flatten().map(String::len).sum::<usize>()
            + self.options.iter().map(|option| option.len() + size_of::<String>()).sum::<usize>()
    }
}

/// The response to one command in RPC mode, without its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The id of the command, if it had one.
    pub id: Option<String>,
    /// The type of the command; `parse` for a line that pi could not read.
    pub command: String,
    /// True if the command succeeded.
    pub success: bool,
    /// The reason for the failure. At most 8 KiB, not sanitized.
    pub error: Option<String>,
    /// The outcome of a prompt: `started`, `queued`, or `handled` if no model works on it. Older versions of pi do not
    /// report it.
    pub disposition: Option<String>,
}

impl Measured for Response {
    fn bytes(&self) -> usize {
        let texts = [&self.id, &self.error, &self.disposition];
        self.command.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// Counts the prompts of a child, and the messages sent into its work. A child reads them in order. Clones share one
/// count.
#[derive(Debug, Clone, Default)]
pub struct SentMessages(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    /// The number of the newest message that the run needs an answer to.
    newest_required: AtomicU64,
}

impl SentMessages {
    /// Counts a message that the run needs an answer to: a prompt, or a message of the caller.
    pub fn count_required(&self) {
        let number = self.0.sent.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.newest_required.fetch_max(number, Ordering::Relaxed);
    }

    /// Counts a message that the host sends by itself. If it arrives too late for the answer, the answer is the result.
    pub fn count_advisory(&self) {
        self.0.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if a child that has read this many messages has unread ones that need an answer. The first message
    /// is the task and was read.
    pub(super) fn has_unread_required(&self, read: u64) -> bool {
        self.0.newest_required.load(Ordering::Relaxed) > read.max(1)
    }

    /// Returns true if a child that has read this many messages has unread ones, and none of them needs an answer.
    pub(super) fn has_only_advisory_unread(&self, read: u64) -> bool {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        load(&self.0.newest_required) <= read && read < load(&self.0.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_advice_after_the_answer_needs_no_reply() {
        let sent = SentMessages::default();
        sent.count_required();
        assert!(!sent.has_only_advisory_unread(0), "an unread prompt needs a reply");
        assert!(!sent.has_only_advisory_unread(1), "a prompt without advice needs a reply");
        sent.count_advisory();
        assert!(sent.has_only_advisory_unread(1));
        assert!(!sent.has_only_advisory_unread(2), "advice before the answer needs a reply");
        sent.count_required();
        assert!(!sent.has_only_advisory_unread(1), "a message after the advice needs a reply");
        assert!(!sent.has_only_advisory_unread(3));
    }
}
