//! The commands to a child, and the protocols that encode them.
//!
//! - `json`: one prompt as text, events out, no commands.
//! - `rpc`: commands in, one JSON object per line, and the input stays open.

use std::borrow::Cow;
use std::fmt::Debug;

use serde_json::{Value, json};
use supervisor::Input;

use crate::run::callbacks::Answer;

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

#[derive(Debug)]
pub(super) struct Json;

impl ChildProtocol for Json {
    fn args(&self) -> &'static [&'static str] {
        &["--mode", "json", "-p"]
    }

    fn first_bytes(&self, task: &str) -> Vec<u8> {
        literal_when_trimmed(task).into_bytes()
    }
}

/// Prefixes a task that pi would read as a command: pi trims it and then looks for a leading slash.
fn literal_when_trimmed(task: &str) -> String {
    if task.trim_start().starts_with('/') { format!("Task: {task}") } else { task.to_owned() }
}

#[derive(Debug)]
pub(super) struct Rpc;

impl ChildProtocol for Rpc {
    fn args(&self) -> &'static [&'static str] {
        &["--mode", "rpc"]
    }

    fn first_bytes(&self, task: &str) -> Vec<u8> {
        line_of(Command::Prompt(task))
    }

    fn encode(&self, command: Command<'_>) -> Option<Vec<u8>> {
        Some(line_of(command))
    }

    fn takes_commands(&self) -> bool {
        true
    }

    fn waits_for_task(&self) -> bool {
        true
    }

    fn refreshes_models(&self) -> bool {
        true
    }
}

fn line_of(command: Command<'_>) -> Vec<u8> {
    let command = match command {
        Command::Prompt(message) => {
            json!({ "id": PROMPT_ID, "type": "prompt", "message": literal(message) })
        }
        Command::Announce(message) => json!({ "id": ANNOUNCE_ID, "type": "prompt", "message": message }),
        Command::Check(message) => json!({ "id": CHECK_ID, "type": "prompt", "message": literal(message) }),
        Command::Steer(message) => json!({ "id": "steer", "type": "steer", "message": literal(message) }),
        Command::Abort => json!({ "id": "abort", "type": "abort" }),
        Command::Answer(id, answer) => response(id, answer),
    };
    let mut line = command.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Prefixes a text that pi would read as a command because of a leading slash.
fn literal(text: &str) -> Cow<'_, str> {
    if text.starts_with('/') { format!("\n{text}").into() } else { text.into() }
}

fn response(id: &str, answer: &Answer) -> Value {
    let mut response = json!({ "type": "extension_ui_response", "id": id });
    match answer {
        Answer::Confirmed(confirmed) => response["confirmed"] = (*confirmed).into(),
        Answer::Value(value) => response["value"] = value.as_str().into(),
        Answer::Cancelled | Answer::NoUser => response["cancelled"] = true.into(),
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_never_a_command() {
        assert_eq!(literal_when_trimmed(" \n/quit now"), "Task:  \n/quit now");
        assert_eq!(literal_when_trimmed("look at /etc"), "look at /etc");
    }

    #[test]
    fn a_command_is_one_line_for_any_text() {
        let text = "first\nsecond\r\u{2028}\"third\"";
        for command in [
            Command::Prompt(text),
            Command::Announce(text),
            Command::Steer(text),
            Command::Abort,
            Command::Answer(text, &Answer::Value(text.into())),
        ] {
            let line = String::from_utf8(line_of(command)).expect("JSON is UTF-8");
            assert_eq!(line.matches(['\n', '\r']).count(), 1, "{line}");
            assert!(line.ends_with('\n'), "{line}");
        }
    }

    #[test]
    fn a_prompt_is_never_a_command() {
        let line = |command: Command<'_>| String::from_utf8(line_of(command)).expect("JSON is UTF-8");
        assert!(line(Command::Prompt("/quit now")).contains(r#""message":"\n/quit now""#));
        assert!(line(Command::Steer("/quit now")).contains(r#""message":"\n/quit now""#));
        assert!(line(Command::Prompt("look at /etc")).contains(r#""message":"look at /etc""#));
    }

    #[test]
    fn answers_have_the_shape_that_pi_reads() {
        let line =
            |answer| String::from_utf8(line_of(Command::Answer("q", &answer))).expect("the line is UTF-8");
        assert!(line(Answer::Confirmed(false)).contains(r#""confirmed":false"#));
        assert!(line(Answer::Value("two".into())).contains(r#""value":"two""#));
        assert!(line(Answer::Cancelled).contains(r#""cancelled":true"#));
    }
}
