//! The tools that our guard registers in a child, in words for its model. The guard gets them as JSON by its environment.

use serde::Serialize;
use serde_json::{Value, json};

use super::{ASK, Asks, OutputSchema, SUBMIT};

/// Longest question, longest answer to choose, and most of these.
const MAX_QUESTION: usize = 2_000;
const MAX_OPTION: usize = 200;
const MAX_OPTIONS: usize = 16;

/// A tool as pi registers it.
#[derive(Debug, Serialize)]
pub(crate) struct ChildTool {
    name: &'static str,
    label: &'static str,
    description: String,
    parameters: Value,
}

/// The tool with which an agent asks. How long an answer is waited for is the parent's to say.
#[derive(Debug, Serialize)]
pub(crate) struct AskTool {
    tool: ChildTool,
    /// Begins the key by which the parent tells its questions from all others.
    prefix: &'static str,
    /// Stands before an answer.
    heard: &'static str,
    /// The answer when the question was declined, or nobody was there to answer it.
    declined: &'static str,
}

/// Describes the tool `ask`; nothing for an agent that has none.
pub(crate) fn ask_tool(asks: Asks, prefix: &'static str) -> Option<AskTool> {
    let (whom, who, none, heard) = match asks {
        Asks::Nobody => return None,
        Asks::User => ("the user", "The user sees", "There may be nobody to answer.", "The user answers"),
        Asks::Parent => (
            "the agent that gave you this task",
            "It sees",
            "It may not know, or not answer in time.",
            "The answer",
        ),
    };
    let description = format!(
        "Ask {whom} one question and wait for the answer. Use it only for a decision that the task leaves open and that you \
         cannot find out yourself. {who} the question alone: make it complete. {none}"
    );
    let parameters = json!({
        "type": "object",
        "properties": {
            "question": {
                "type": "string", "minLength": 1, "maxLength": MAX_QUESTION,
                "description": "Short, with all that the answer depends on",
            },
            "options": {
                "type": "array", "maxItems": MAX_OPTIONS,
                "items": { "type": "string", "minLength": 1, "maxLength": MAX_OPTION },
                "description": "The possible answers; leave out for an answer in words of its own",
            },
        },
        "required": ["question"],
        "additionalProperties": false,
    });
    Some(AskTool {
        tool: ChildTool { name: ASK, label: "Ask", description, parameters },
        prefix,
        heard,
        declined: "Nobody answered. Do not ask this again: go on with the choice that is easiest to undo, or leave out \
                   what depends on it, and say in your final answer what you assumed.",
    })
}

/// Describes the tool that ends the work with a result.
pub(crate) fn submit_tool(schema: &OutputSchema) -> ChildTool {
    ChildTool {
        name: SUBMIT,
        label: "Submit result",
        description: "Submit the result of your task and end your work. Call it once, alone, when nothing is left to do."
            .to_owned(),
        parameters: schema.parameters(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_asks_says_whom() {
        assert!(ask_tool(Asks::Nobody, "").is_none());
        for (asks, whom, heard) in [
            (Asks::User, "Ask the user one", "The user answers"),
            (Asks::Parent, "Ask the agent that", "The answer"),
        ] {
            let tool = serde_json::to_value(ask_tool(asks, "key:")).expect("JSON");
            assert_eq!(
                (&tool["tool"]["name"], &tool["prefix"], &tool["heard"]),
                (&json!("ask"), &json!("key:"), &json!(heard))
            );
            assert!(
                tool["tool"]["description"].as_str().is_some_and(|words| words.starts_with(whom)),
                "{tool}"
            );
            assert_eq!(tool["tool"]["parameters"]["required"], json!(["question"]));
        }
    }
}
