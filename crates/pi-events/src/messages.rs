//! Separates messages that need an answer from those that the host sends by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
