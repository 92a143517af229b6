//! pi's `rpc` mode: commands in, one JSON object per line, and the input stays open.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::child_protocol::{ANNOUNCE_ID, CHECK_ID, ChildProtocol, Command, PROMPT_ID};
use crate::run::callbacks::Answer;

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
