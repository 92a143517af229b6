//! Questions of extensions in a child, which wait for an answer.

use std::time::Duration;

/// What a dialog asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionMethod {
    /// One of several options, answered by its text.
    Select,
    /// Yes or no.
    Confirm,
    /// A line of text.
    Input,
    /// Text of any length.
    Editor,
}

impl QuestionMethod {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Confirm => "confirm",
            Self::Input => "input",
            Self::Editor => "editor",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        [Self::Select, Self::Confirm, Self::Input, Self::Editor]
            .into_iter()
            .find(|method| method.as_str() == name)
    }
}

/// A dialog of an extension, as it came: nothing in it is sanitized, everything is bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the answer must carry.
    pub id: String,
    /// What is asked for.
    pub method: QuestionMethod,
    /// The question, at most 16 KiB like every text of it: head and tail of a longer one.
    pub title: String,
    /// More about it; `confirm` only.
    pub message: Option<String>,
    /// What can be chosen, at most 64 options of 1 KiB each; `select` only.
    pub options: Vec<String>,
    /// An example of an answer; `input` only.
    pub placeholder: Option<String>,
    /// The text to be edited; `editor` only.
    pub prefill: Option<String>,
    /// After so long the child goes on without an answer; absent when it waits for ever.
    pub timeout: Option<Duration>,
    /// Nothing was cut or left out. An option or a prefill that was cut must not go back as an answer: the extension
    /// would not know it.
    pub is_whole: bool,
}

impl Question {
    /// Bytes of its texts.
    pub(super) fn size(&self) -> usize {
        let texts = [&self.message, &self.placeholder, &self.prefill];
        self.id.len()
            + self.title.len()
            + texts.into_iter().flatten().map(String::len).sum::<usize>()
            + self.options.iter().map(|option| option.len() + size_of::<String>()).sum::<usize>()
    }
}
