//! A child's messages to its client in RPC mode: dialogs of extensions, which wait for an answer, and responses to
//! commands.

use std::time::Duration;

use super::newest::Measured;
use sanitizer::text_enum;

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
