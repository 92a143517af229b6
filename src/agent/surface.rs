//! What the model reads about the tools: descriptions, parameters, and when to delegate.
//!
//! Every request of every session pays for this text, so it is short, and a test counts it.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::Catalog;
use super::definition::{AgentDefinition, Source};
use crate::text::{one_line, text_enum};

/// First line of the delegation policy. A system prompt that contains it already has the policy.
pub const DELEGATION_HEADING: &str = "## Delegating to sub-agents";

/// Longest line of the agent list, so that no description crowds out the others.
const MAX_LINE_CHARS: usize = 100;
/// Agents with a line of their own; the rest are listed by name only.
const MAX_LINES: usize = 24;
/// Names listed after those lines. More would cost each request more than a list of agents is worth.
const MAX_NAMES: usize = 100;

/// What each builtin is for, in the words of the delegation policy.
const SERVES: [(&str, &str); 5] = [
    ("explorer", "finds code"),
    ("researcher", "reads the web"),
    ("reviewer", "reviews code"),
    ("implementer", "plans a change"),
    ("tester", "plans tests"),
];

text_enum! {
    /// The tools that a session's model gets.
    pub enum Tool {
        /// One agent, one task.
        Subagent = "subagent",
        /// Several tasks in parallel.
        Parallel = "subagent_parallel",
        /// Several tasks in sequence, each with the output of the one before.
        Chain = "subagent_chain",
        /// A background run.
        SessionsSpawn = "sessions_spawn",
        /// Lists the agents that background runs may use.
        AgentsList = "agents_list",
        /// Lists the runs of the conversation.
        SessionsList = "sessions_list",
        /// Reads what a run was asked and has said.
        SessionsHistory = "sessions_history",
        /// Sends a message to a run.
        SessionsSend = "sessions_send",
        /// Ends a run.
        SessionsStop = "sessions_stop",
    }
}

impl Tool {
    /// Whether its call waits for the runs that it starts.
    #[must_use]
    pub fn waits(self) -> bool {
        matches!(self, Self::Subagent | Self::Parallel | Self::Chain)
    }

    /// Whether it only reads.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::AgentsList | Self::SessionsList | Self::SessionsHistory)
    }
}

/// What a session's model reads in order to delegate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Surface {
    /// The tools, `subagent` first: it carries the agent list that the others refer to.
    pub tools: Vec<ToolSurface>,
    /// Text to append to the system prompt; begins with [`DELEGATION_HEADING`].
    pub delegation_policy: String,
}

/// A tool as pi registers it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolSurface {
    /// The tool's name.
    pub name: &'static str,
    /// The tool's name for people.
    pub label: &'static str,
    /// What it does; for `subagent`, also the list of agents.
    pub description: String,
    /// Its line in the system prompt's list of tools.
    pub prompt_snippet: &'static str,
    /// Its lines in the system prompt's guidelines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_guidelines: Vec<&'static str>,
    /// JSON schema of its parameters.
    pub parameters: Value,
}

/// How many tasks one call may have.
#[derive(Clone, Copy, Debug)]
pub struct TaskLimits {
    /// Tasks of a parallel call.
    pub parallel: usize,
    /// Steps of a chain.
    pub chain: usize,
}

/// Describes the tools for the agents that can run. `is_runnable` applies the configuration and the tools of this pi;
/// without `allow_write` no agent can write.
/// The same agents produce the same bytes.
pub fn surface(
    catalog: &Catalog,
    limits: TaskLimits,
    allow_write: bool,
    is_runnable: impl Fn(&AgentDefinition) -> bool,
) -> Surface {
    let agents: Vec<&AgentDefinition> =
        catalog.agents.iter().map(AsRef::as_ref).filter(|agent| is_runnable(agent)).collect();
    Surface {
        tools: vec![
            single(&agents, allow_write),
            parallel(limits.parallel),
            chain(limits.chain),
            sessions_spawn(),
            agents_list(),
            sessions_list(),
            sessions_history(),
            sessions_send(),
            sessions_stop(),
        ],
        delegation_policy: delegation_policy(&agents),
    }
}

fn single(agents: &[&AgentDefinition], allow_write: bool) -> ToolSurface {
    ToolSurface {
        name: Tool::Subagent.as_str(),
        label: "Subagent",
        description: description(agents, allow_write),
        prompt_snippet: "Delegate one task to a sub-agent",
        prompt_guidelines: vec!["Treat a subagent's answer as a report: check what you build on."],
        parameters: object(
            &["agent", "task"],
            &json!({
                "agent": { "type": "string", "minLength": 1 },
                "task": {
                    "type": "string",
                    "minLength": 1,
                    "description": "Self-contained: goal, paths, facts, expected answer",
                },
            }),
        ),
    }
}

fn parallel(max: usize) -> ToolSurface {
    ToolSurface {
        name: Tool::Parallel.as_str(),
        label: "Subagents in parallel",
        description: String::from(
            "Run independent tasks side by side, each as `subagent` does, and return every answer. A task that fails stops \
             no other.",
        ),
        prompt_snippet: "Delegate independent tasks at once",
        prompt_guidelines: vec![],
        parameters: list("tasks", max),
    }
}

fn chain(max: usize) -> ToolSurface {
    ToolSurface {
        name: Tool::Chain.as_str(),
        label: "Chain of subagents",
        description: String::from(
            "Run tasks in turn, each as `subagent` does, and return the last answer. In a task `{previous}` becomes the \
             answer before it, `{task}` the first step's task; `{{task}}` stays `{task}`. A failure ends the chain; \
             earlier answers are kept.",
        ),
        prompt_snippet: "Delegate steps that build on each other",
        prompt_guidelines: vec![],
        parameters: list("steps", max),
    }
}

fn sessions_spawn() -> ToolSurface {
    ToolSurface {
        name: Tool::SessionsSpawn.as_str(),
        label: "Background subagent",
        description: String::from(
            "Start an agent on one task in the background; returns at once. Its result arrives as a message when it ends: go \
             on with other work or end your turn, never wait or poll.",
        ),
        prompt_snippet: "Start a sub-agent in the background",
        prompt_guidelines: vec![],
        parameters: object(
            &["task"],
            &json!({
                "agentId": { "type": "string" },
                "cleanup": { "type": "string", "enum": ["keep", "delete"] },
                "label": { "type": "string" },
                "model": { "type": "string", "description": "provider/id" },
                "outputSchema": { "type": "object", "description": "JSON Schema" },
                "runTimeoutSeconds": { "type": "integer", "minimum": 0 },
                "task": { "type": "string", "minLength": 1 },
                "thinking": { "type": "string" },
            }),
        ),
    }
}

fn agents_list() -> ToolSurface {
    ToolSurface {
        name: Tool::AgentsList.as_str(),
        label: "Background agents",
        description: String::from("List the agents for `sessions_spawn`, with their models."),
        prompt_snippet: "List agents for background work",
        prompt_guidelines: vec![],
        parameters: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
    }
}

fn sessions_list() -> ToolSurface {
    ToolSurface {
        name: Tool::SessionsList.as_str(),
        label: "Subagent sessions",
        description: String::from("List the `subagent` runs of this conversation: state, keys, transcripts."),
        prompt_snippet: "List sub-agent runs",
        prompt_guidelines: vec![],
        parameters: object(
            &[],
            &json!({
                "activeMinutes": { "type": "integer" },
                "limit": { "type": "integer" },
            }),
        ),
    }
}

fn sessions_history() -> ToolSurface {
    ToolSurface {
        name: Tool::SessionsHistory.as_str(),
        label: "Subagent history",
        description: String::from("Read the newest messages of a `subagent` run."),
        prompt_snippet: "Read a sub-agent's messages",
        prompt_guidelines: vec![],
        parameters: object(
            &["sessionKey"],
            &json!({
                "includeTools": { "type": "boolean" },
                "limit": { "type": "integer" },
                "sessionKey": session_key(),
            }),
        ),
    }
}

fn sessions_send() -> ToolSurface {
    ToolSurface {
        name: Tool::SessionsSend.as_str(),
        label: "Message to subagent",
        description: String::from(
            "Send a message to a `subagent` run, or your answer if it asked: one at work reads it before its next turn, one \
             that has ended goes on with it. The result arrives as a message, or is returned within `timeoutSeconds`.",
        ),
        prompt_snippet: "Steer or continue a sub-agent",
        prompt_guidelines: vec![],
        parameters: object(
            &["sessionKey", "message"],
            &json!({
                "message": { "type": "string", "minLength": 1 },
                "sessionKey": session_key(),
                "timeoutSeconds": { "type": "integer" },
            }),
        ),
    }
}

fn sessions_stop() -> ToolSurface {
    ToolSurface {
        name: Tool::SessionsStop.as_str(),
        label: "Stop subagent",
        description: String::from("Stop a `subagent` run and everything it started."),
        prompt_snippet: "Stop a sub-agent",
        prompt_guidelines: vec![],
        parameters: object(&["sessionKey"], &json!({ "sessionKey": session_key() })),
    }
}

fn session_key() -> Value {
    json!({ "type": "string", "description": "Key, run id or label" })
}

/// Parameters that are one list of tasks. Keys are sorted, which puts `agent` and `cwd` before the long text: models
/// write arguments in this order, and with these two a child can boot while the text still arrives.
fn list(name: &str, max: usize) -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let task = object(&["agent", "task"], &json!({ "agent": text, "cwd": text, "task": text }));
    object(&[name], &json!({ name: { "type": "array", "minItems": 1, "maxItems": max, "items": task } }))
}

fn object(required: &[&str], properties: &Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn description(agents: &[&AgentDefinition], allow_write: bool) -> String {
    let mut text = String::from(
        "Run one agent on one task in its own context window and return its answer. It sees nothing but the task.",
    );
    if agents.is_empty() {
        text.push_str(" No agent can run here at present.");
        return text;
    }
    text.push_str("\nAgents:");
    let (lines, names) = agents.split_at(agents.len().min(MAX_LINES));
    for agent in lines {
        text.push('\n');
        text.push_str(&line(agent, allow_write));
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

fn line(agent: &AgentDefinition, allow_write: bool) -> String {
    let readonly = match (agent.readonly, allow_write) {
        (true, _) => " (readonly)",
        (false, false) => " (cannot write here)",
        (false, true) => "",
    };
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
        "{DELEGATION_HEADING}\nDelegate work that needs much reading for a short answer; independent parts at once, \
         with `subagent_parallel`.{serves} Do tiny work directly: a known file, one command, a small edit."
    )
}
