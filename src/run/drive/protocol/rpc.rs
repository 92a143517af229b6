//! The commands of pi's `rpc` mode, one JSON object to a line.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::run::callbacks::Answer;

/// The id of the command whose refusal ends the run.
pub(super) const PROMPT_ID: &str = "prompt";

/// The id of the command whose refusal ends nothing.
pub(super) const ANNOUNCE_ID: &str = "announce";

/// What a child is told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command<'a> {
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

impl Command<'_> {
    /// The line to write.
    #[must_use]
    pub(crate) fn to_line(self) -> Vec<u8> {
        let command = match self {
            Self::Prompt(message) => {
                json!({ "id": PROMPT_ID, "type": "prompt", "message": literal(message) })
            }
            Self::Announce(message) => json!({ "id": ANNOUNCE_ID, "type": "prompt", "message": message }),
            Self::Steer(message) => json!({ "id": "steer", "type": "steer", "message": literal(message) }),
            Self::Abort => json!({ "id": "abort", "type": "abort" }),
            Self::Answer(id, answer) => response(id, answer),
        };
        let mut line = command.to_string().into_bytes();
        line.push(b'\n');
        line
    }
}

/// A text that pi takes for words and nothing else: what begins with a slash would be a command.
fn literal(text: &str) -> Cow<'_, str> {
    if text.starts_with('/') { format!("\n{text}").into() } else { text.into() }
}

fn response(id: &str, answer: &Answer) -> Value {
    let mut response = json!({ "type": "extension_ui_response", "id": id });
    match answer {
        Answer::Confirmed(confirmed) => response["confirmed"] = (*confirmed).into(),
        Answer::Value(value) => response["value"] = value.as_str().into(),
        Answer::Cancelled => response["cancelled"] = true.into(),
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_line_whatever_it_says() {
        let said = "first\nsecond\r\u{2028}\"third\"";
        for command in [
            Command::Prompt(said),
            Command::Announce(said),
            Command::Steer(said),
            Command::Abort,
            Command::Answer(said, &Answer::Value(said.into())),
        ] {
            let line = String::from_utf8(command.to_line()).expect("JSON is UTF-8");
            assert_eq!(line.matches(['\n', '\r']).count(), 1, "{line}");
            assert!(line.ends_with('\n'), "{line}");
        }
    }

    #[test]
    fn words_are_never_a_command() {
        let line = |command: Command<'_>| String::from_utf8(command.to_line()).expect("JSON is UTF-8");
        assert!(line(Command::Prompt("/quit now")).contains(r#""message":"\n/quit now""#));
        assert!(line(Command::Steer("/quit now")).contains(r#""message":"\n/quit now""#));
        assert!(line(Command::Prompt("look at /etc")).contains(r#""message":"look at /etc""#));
    }

    #[test]
    fn answers_have_the_shape_that_pi_reads() {
        let line = |answer| String::from_utf8(Command::Answer("q", &answer).to_line()).expect("UTF-8");
        assert!(line(Answer::Confirmed(false)).contains(r#""confirmed":false"#));
        assert!(line(Answer::Value("two".into())).contains(r#""value":"two""#));
        assert!(line(Answer::Cancelled).contains(r#""cancelled":true"#));
    }
}
