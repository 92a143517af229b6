//! The descriptions of the tools that our guard registers in a child. The guard receives them as JSON in its
//! environment.

use serde::Serialize;
use serde_json::{Value, json};

use super::{ASK, AskTarget, OutputSchema, SUBMIT};

/// The maximum lengths of a question and of an option, and the maximum number of options.
const MAX_QUESTION: usize = 2_000;
const MAX_OPTION: usize = 200;
const MAX_OPTIONS: usize = 16;

/// A tool as pi registers it.
#[derive(Debug, Serialize)]
pub struct ChildTool {
    name: &'static str,
    label: &'static str,
    description: String,
    parameters: Value,
}

/// The tool for an agent's questions. The parent decides how long to wait for an answer.
#[derive(Debug, Serialize)]
pub struct AskTool {
    tool: ChildTool,
    /// The prefix of the key by which the parent recognizes these questions.
    prefix: &'static str,
    /// The text before an answer.
    answered: &'static str,
    /// The answer if the question was declined, or if no one was available to answer it.
    declined: &'static str,
}

/// Describes the tool `ask`. Returns `None` for an agent that may not ask.
#[must_use]
pub fn ask_tool(target: AskTarget, prefix: &'static str) -> Option<AskTool> {
    let (whom, who, none, answered) = match target {
        AskTarget::NoOne => return None,
        AskTarget::User => {
            ("the user", "The user sees", "There may be no one to answer.", "The user answers")
        }
        AskTarget::Parent => (
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
                "description": "Short, with everything that the answer depends on",
            },
            "options": {
                "type": "array", "maxItems": MAX_OPTIONS,
                "items": { "type": "string", "minLength": 1, "maxLength": MAX_OPTION },
                "description": "The possible answers; leave out for a free-text answer",
            },
        },
        "required": ["question"],
        "additionalProperties": false,
    });
    Some(AskTool {
        tool: ChildTool { name: ASK, label: "Ask", description, parameters },
        prefix,
        answered,
        declined: "No one answered. Do not ask this again. Continue with the choice that is easiest to undo, or leave \
                   out the parts that depend on it, and state your assumptions in your final answer.",
    })
}

/// Describes the tool that ends the work with a result.
#[must_use]
pub fn submit_tool(schema: &OutputSchema) -> ChildTool {
    ChildTool {
        name: SUBMIT,
        label: "Submit result",
        description:
            "Submit the result of your task and end your work. Call it once, alone, when all work is done."
                .to_owned(),
        parameters: schema.parameters(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ask_tool_names_its_recipient() {
        assert!(ask_tool(AskTarget::NoOne, "").is_none());
        for (target, whom, answered) in [
            (AskTarget::User, "Ask the user one", "The user answers"),
            (AskTarget::Parent, "Ask the agent that", "The answer"),
        ] {
            let tool = serde_json::to_value(ask_tool(target, "key:")).expect("the value is serialized");
            assert_eq!(
                (&tool["tool"]["name"], &tool["prefix"], &tool["answered"]),
                (&json!("ask"), &json!("key:"), &json!(answered))
            );
            assert!(
                tool["tool"]["description"].as_str().is_some_and(|words| words.starts_with(whom)),
                "{tool}"
            );
            assert_eq!(tool["tool"]["parameters"]["required"], json!(["question"]));
        }
    }
}
