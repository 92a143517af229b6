//! What is said to a child, and what a protocol has to know to say it.

use std::fmt::Debug;

use crate::process::Input;
use crate::run::callbacks::Answer;

/// The id of the command whose refusal ends the run.
pub(in crate::run) const PROMPT_ID: &str = "prompt";

/// The id of the command whose refusal ends nothing.
pub(in crate::run) const ANNOUNCE_ID: &str = "announce";

/// What a child is told.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) enum Command<'a> {
    /// Work on this.
    Prompt(&'a str),
    /// Say this of your work, now that it is done.
    Announce(&'a str),
    /// Hear this before the next turn.
    Steer(&'a str),
    /// Stop working.
    Abort,
    /// The answer to a question of yours.
    Answer(&'a str, &'a Answer),
}

/// A way to drive pi. Everything that depends on the setting `protocol` is asked here.
pub(in crate::run) trait ChildProtocol: Debug + Sync {
    /// The arguments that make pi speak it.
    fn args(&self) -> &'static [&'static str];

    /// What the child reads from its standard input, with its task at the beginning.
    fn first_input(&self, task: &str) -> Input;

    /// The bytes of a command; `None` where the protocol has no commands.
    fn encode(&self, command: Command<'_>) -> Option<Vec<u8>>;

    /// Whether the child reads commands after its task.
    fn takes_commands(&self) -> bool;

    /// Whether the child, once started, waits for its task, so that it can be started before the task is known.
    fn waits_for_task(&self) -> bool;

    /// Whether pi asks at its start for the newest models of every provider that the user is logged in to, unless it is
    /// told to stay offline.
    fn refreshes_models(&self) -> bool;
}
