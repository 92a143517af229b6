//! The request for an announcement, sent to a child once its work is done.

use std::time::Duration;

/// The prompt. The guard in the child recognizes its first words and then blocks all tools.
pub(super) const ANNOUNCE_PROMPT: &str = "\
Your work on the task is done, and its result is kept. Write now what the session that asked for it is to be told: what \
came of the task, short, complete in itself, with the facts, names and paths that matter. That session sees nothing else of \
your work. Do not call tools: none can run any more. If there is nothing worth telling, reply with exactly ANNOUNCE_SKIP \
and nothing else.";

/// How long the child may take to reply. The result of the run waits for it.
pub(super) const ANNOUNCE_TIMEOUT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_recognizes_the_request() {
        let guard = include_str!("../../../extension/child-guard.cjs");
        let (_, words) = guard.split_once("ANNOUNCING = \"").expect("the words");
        let (words, _) = words.split_once('"').expect("their end");
        assert!(ANNOUNCE_PROMPT.starts_with(words), "{words}");
    }

    #[test]
    fn a_transcript_recognizes_the_request() {
        assert!(ANNOUNCE_PROMPT.starts_with(crate::transcript::ANNOUNCE_WORDS));
    }
}
