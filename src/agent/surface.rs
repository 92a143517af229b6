//! What a model reads about the tool `subagent`: its description, its parameters and when to delegate.
//!
//! Every session pays for these words with every request, so they are few, and a test counts them.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::Catalog;
use super::definition::{AgentDefinition, Source};
use crate::text::one_line;

/// First line of the delegation policy: a system prompt that contains it has the policy already.
pub const DELEGATION_HEADING: &str = "## Delegating to sub-agents";

/// Longest line of the list, so that no description crowds out the others.
const MAX_LINE_CHARS: usize = 100;
/// Agents with a line of their own; of the others only the name is told.
const MAX_LINES: usize = 24;
/// Names after those lines. Whoever has more agents than this calls them from a list of his own.
const MAX_NAMES: usize = 100;

/// What each builtin serves, in the words of the delegation policy.
const SERVES: [(&str, &str); 5] = [
    ("explorer", "finds code and explains it"),
    ("researcher", "reads web sources"),
    ("reviewer", "reviews code"),
    ("implementer", "plans a change"),
    ("tester", "plans tests"),
];

/// The tool `subagent`, as pi registers it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Surface {
    /// The tool's name.
    pub name: &'static str,
    /// The tool's name for people.
    pub label: &'static str,
    /// What it does, and the agents there are.
    pub description: String,
    /// Its line in the system prompt's list of tools.
    pub prompt_snippet: &'static str,
    /// Its lines in the system prompt's guidelines.
    pub prompt_guidelines: Vec<&'static str>,
    /// JSON schema of its parameters.
    pub parameters: Value,
    /// Text for the end of the system prompt; begins with [`DELEGATION_HEADING`].
    pub delegation_policy: String,
}

/// Describes the tool for the agents that can run. `is_runnable` knows the configuration and the tools of this pi.
/// The same agents give the same bytes.
pub fn surface(catalog: &Catalog, is_runnable: impl Fn(&AgentDefinition) -> bool) -> Surface {
    let agents: Vec<&AgentDefinition> =
        catalog.agents.iter().map(AsRef::as_ref).filter(|agent| is_runnable(agent)).collect();
    Surface {
        name: "subagent",
        label: "Subagent",
        description: description(&agents),
        prompt_snippet: "Delegate one focused task to a sub-agent with its own context window",
        prompt_guidelines: vec!["Treat a subagent's answer as a report: check what you build on."],
        parameters: json!({
            "type": "object",
            "properties": {
                "agent": { "type": "string", "minLength": 1, "description": "Name of a listed agent" },
                "task": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Complete instructions: goal, paths, facts, expected answer",
                },
            },
            "required": ["agent", "task"],
            "additionalProperties": false,
        }),
        delegation_policy: delegation_policy(&agents),
    }
}

fn description(agents: &[&AgentDefinition]) -> String {
    let mut text = String::from(
        "Run one agent on one task in a pi process with its own context window and return its final answer. The agent \
         sees nothing of this conversation, only the task.",
    );
    if agents.is_empty() {
        text.push_str(" No agent can run here at present.");
        return text;
    }
    text.push_str("\nAgents:");
    let (lines, names) = agents.split_at(agents.len().min(MAX_LINES));
    for agent in lines {
        text.push('\n');
        text.push_str(&line(agent));
    }
    if !names.is_empty() {
        let listed: Vec<&str> = names.iter().take(MAX_NAMES).map(|agent| agent.name.as_str()).collect();
        text.push_str("\nAlso: ");
        text.push_str(&listed.join(", "));
        if names.len() > MAX_NAMES {
            write!(text, " and {} more", names.len() - MAX_NAMES)
                .expect("a string takes what is written to it");
        }
    }
    text
}

fn line(agent: &AgentDefinition) -> String {
    let readonly = if agent.readonly { " (readonly)" } else { "" };
    let colon = if agent.description.is_empty() { "" } else { ": " };
    one_line(&format!("- {}{readonly}{colon}{}", agent.name, agent.description), MAX_LINE_CHARS)
}

fn delegation_policy(agents: &[&AgentDefinition]) -> String {
    let is_builtin =
        |name: &str| agents.iter().any(|agent| agent.name == name && agent.source == Source::Builtin);
    let serves: Vec<String> = SERVES
        .iter()
        .filter(|(name, _)| is_builtin(name))
        .map(|(name, serves)| format!("`{name}` {serves}"))
        .collect();
    let serves = if serves.is_empty() { String::new() } else { format!(" {}.", serves.join(", ")) };
    format!(
        "{DELEGATION_HEADING}\nDelegate focused work with `subagent` when it needs much reading and a short answer, or \
         when independent parts can run side by side (several calls in one turn).{serves} Do tiny work directly: a \
         known file, one command, a small edit. Decisions and the answer to the user stay with you."
    )
}
