//! The commands to a child, and the interface that a protocol implements for them.

use std::fmt::Debug;

use crate::run::callbacks::Answer;
use supervisor::Input;

/// The id of the prompt. If pi rejects this command, the run ends.
pub(crate) const PROMPT_ID: &str = "prompt";

/// The id of the request for an announcement. If pi rejects it, the run continues without one.
pub(crate) const ANNOUNCE_ID: &str = "announce";

/// The id of the prompt that tells of a failed check. If pi rejects it, the check stays failed.
pub(crate) const CHECK_ID: &str = "check";

/// A command to a child.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command<'a> {
    /// The task.
    Prompt(&'a str),
    /// The request for an announcement, once the work is done.
    Announce(&'a str),
    /// The output of a failed check, once the work was done.
    Check(&'a str),
    /// A message that the child reads before its next turn.
    Steer(&'a str),
    /// Stop working.
    Abort,
    /// The answer to the child's question with this id.
    Answer(&'a str, &'a Answer),
}

impl Command<'_> {
    /// Returns true if the child reads it as a message of its user.
    pub(crate) fn is_message(self) -> bool {
        matches!(self, Self::Prompt(_) | Self::Announce(_) | Self::Check(_) | Self::Steer(_))
    }
}

/// A protocol that drives pi. Everything that depends on the setting `protocol` goes through it. By default a protocol
/// has no commands: pi gets only its task.
pub(crate) trait ChildProtocol: Debug + Sync {
    /// Returns the arguments that make pi speak this protocol.
    fn args(&self) -> &'static [&'static str];

    /// Returns the bytes of the task.
    fn first_bytes(&self, task: &str) -> Vec<u8>;

    /// Returns the child's standard input, which begins with the task. If the protocol has no commands, it also ends
    /// with the task.
    fn first_input(&self, task: &str) -> Input {
        let bytes = self.first_bytes(task);
        if self.takes_commands() { Input::open(bytes) } else { Input::once(bytes) }
    }

    /// Returns the bytes of a command. `None` if the protocol has no commands.
    fn encode(&self, _command: Command<'_>) -> Option<Vec<u8>> {
        None
    }

    /// Returns true if the child reads commands after its task.
    fn takes_commands(&self) -> bool {
        false
    }

    /// Returns true if a started child waits for its task, so that it can be started before the task is known.
    fn waits_for_task(&self) -> bool {
        false
    }

    /// Returns true if pi fetches the model lists of all logged-in providers at its start, unless it is offline.
    fn refreshes_models(&self) -> bool {
        false
    }
}
