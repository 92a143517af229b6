//! The tools from the model's point of view: descriptions, parameters, and the delegation policy.
//!
//! Every request of every session includes this text, so it is short, and a test counts it.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::Catalog;
use super::definition::AgentDefinition;
use sanitizer::{one_line, text_enum};

/// First line of the delegation policy. A system prompt that contains it already has the policy.
pub const DELEGATION_HEADING: &str = "## Delegating to sub-agents";

/// The maximum length of a line in the agent list, so that a long description does not hide the others.
const MAX_LINE_CHARS: usize = 100;
/// The maximum number of agents with a line of their own. Further agents are listed by name only.
const MAX_LINES: usize = 24;
/// The maximum number of names after those lines. More names would cost each request more than they are worth.
const MAX_NAMES: usize = 100;

/// The name of the tool for scripts. Like all tools that delegate, it begins with `subagent`.
const SCRIPT_TOOL: &str = "subagent_run";

/// The thinking levels of pi.
const THINKING: &str = "off, minimal, low, medium, high, xhigh, max";

text_enum! {
    /// The tools that a session's model gets, in the order in which it reads them.
    pub enum Tool {
        /// One agent, one task.
        Subagent = "subagent",
        /// Several tasks in parallel.
        Parallel = "subagent_parallel",
        /// Several tasks in sequence. Each gets the output of the previous task.
        Chain = "subagent_chain",
        /// A background run.
        SessionsSpawn = "sessions_spawn",
        /// Lists the agents that background runs may use.
        AgentsList = "agents_list",
        /// Lists the runs of the conversation.
        SessionsList = "sessions_list",
        /// Reads the task and the answers of a run.
        SessionsHistory = "sessions_history",
        /// Sends a message to a run.
        SessionsSend = "sessions_send",
        /// Ends a run.
        SessionsStop = "sessions_stop",
    }
}

impl Tool {
    /// Returns true if a call of the tool waits for the runs that it starts.
    #[must_use]
    pub fn waits_for_runs(self) -> bool {
        matches!(self, Self::Subagent | Self::Parallel | Self::Chain)
    }

    /// Returns true if a call starts runs.
    #[must_use]
    pub fn starts_runs(self) -> bool {
        self.waits_for_runs() || self == Self::SessionsSpawn
    }

    /// Returns true if a call may need a child: it starts runs, or continues one.
    #[must_use]
    pub fn needs_child(self) -> bool {
        self.starts_runs() || self == Self::SessionsSend
    }

    /// Returns true if the tool only reads.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        matches!(self, Self::AgentsList | Self::SessionsList | Self::SessionsHistory)
    }
}

/// The text about delegation for a session's model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Surface {
    /// The tools, `subagent` first. Its agent list applies to the other tools, too.
    pub tools: Vec<ToolSurface>,
    /// The tool for scripts. A model does not see it, except through a tool that runs scripts.
    pub script_tool: ToolSurface,
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
    /// The description of the tool. For `subagent`, it includes the list of agents.
    pub description: String,
    /// The tool's line in the system prompt's list of tools; `None` if its description is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_snippet: Option<&'static str>,
    /// The tool's lines in the system prompt's guidelines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompt_guidelines: Vec<&'static str>,
    /// The JSON schema of the tool's parameters.
    pub parameters: Value,
    /// The JSON schema of the tool's structured results; `None` for a tool whose result is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

/// The settings that affect the tools' text.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceConfig<'a> {
    /// The maximum number of tasks in a parallel call.
    pub parallel: usize,
    /// The maximum number of steps in a chain.
    pub chain: usize,
    /// Set if any agent can write.
    pub allow_write: bool,
    /// The default agent of a background run; empty if the call must name one.
    pub default_agent: &'a str,
}

/// Describes the tools for the runnable agents. `is_runnable` applies the configuration and the tools of this pi. The
/// same agents and configuration produce the same bytes.
pub fn surface(
    catalog: &Catalog,
    config: SurfaceConfig<'_>,
    is_runnable: impl Fn(&AgentDefinition) -> bool,
) -> Surface {
    let agents: Vec<&AgentDefinition> =
        catalog.agents.iter().map(AsRef::as_ref).filter(|agent| is_runnable(agent)).collect();
    Surface {
        tools: all_tools().map(|tool| described(tool, &agents, config)).collect(),
        script_tool: script_tool(),
        delegation_policy: delegation_policy(),
    }
}

/// Returns all tools, in the order in which a model reads them.
pub(super) fn all_tools() -> impl Iterator<Item = Tool> {
    Tool::TEXTS.iter().filter_map(|text| Tool::parse(text))
}

/// Returns the JSON schema of a tool's parameters, without the limits of the configuration.
pub(super) fn parameters(tool: Tool) -> Value {
    let unlimited =
        SurfaceConfig { parallel: usize::MAX, chain: usize::MAX, allow_write: false, default_agent: "" };
    described(tool, &[], unlimited).parameters
}

fn described(tool: Tool, agents: &[&AgentDefinition], config: SurfaceConfig<'_>) -> ToolSurface {
    match tool {
        Tool::Subagent => single(agents, config.allow_write),
        Tool::Parallel => parallel(config.parallel),
        Tool::Chain => chain(config.chain),
        Tool::SessionsSpawn => sessions_spawn(
            agents.iter().map(|agent| agent.name.as_str()).find(|name| *name == config.default_agent),
        ),
        Tool::AgentsList => agents_list(),
        Tool::SessionsList => sessions_list(),
        Tool::SessionsHistory => sessions_history(),
        Tool::SessionsSend => sessions_send(),
        Tool::SessionsStop => sessions_stop(),
    }
}

fn single(agents: &[&AgentDefinition], allow_write: bool) -> ToolSurface {
    ToolSurface {
        name: Tool::Subagent.as_str(),
        label: "Subagent",
        description: description(agents, allow_write),
        prompt_snippet: Some("Delegate one task to a sub-agent"),
        prompt_guidelines: vec!["Treat a subagent's answer as a report: check the facts you rely on."],
        output_schema: None,
        parameters: task(&json!({
            "type": "string",
            "description": "Self-contained: goal, paths, facts, expected answer",
        })),
    }
}

fn parallel(max: usize) -> ToolSurface {
    ToolSurface {
        name: Tool::Parallel.as_str(),
        label: "Subagents in parallel",
        description: String::from(
            "Run independent `subagent` tasks at the same time and return all answers. If one fails, the others continue.",
        ),
        prompt_snippet: Some("Delegate independent tasks at once"),
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: list("tasks", max),
    }
}

fn chain(max: usize) -> ToolSurface {
    ToolSurface {
        name: Tool::Chain.as_str(),
        label: "Chain of subagents",
        description: String::from(
            "Run `subagent` tasks one after the other and return the last answer. In a task `{previous}` becomes the answer \
             before it, `{task}` the first task; `{{task}}` is literal. A failure ends the chain.",
        ),
        prompt_snippet: Some("Delegate steps that build on each other"),
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: list("steps", max),
    }
}

/// Describes `sessions_spawn`. `default_agent` runs if the call names no agent.
fn sessions_spawn(default_agent: Option<&str>) -> ToolSurface {
    let mut agent_id = json!({ "type": "string" });
    if let Some(name) = default_agent {
        agent_id["description"] = json!(format!("Default: {name}"));
    }
    ToolSurface {
        name: Tool::SessionsSpawn.as_str(),
        label: "Background subagent",
        description: String::from(
            "Start a task in the background. The result arrives later as a message: do other work or end your turn, and do \
             not wait or poll.",
        ),
        prompt_snippet: Some("Start a sub-agent in the background"),
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: object(
            &["task"],
            &json!({
                "agentId": agent_id,
                "cleanup": {
                    "type": "string",
                    "enum": ["keep", "delete"],
                    "description": "Transcript after the result has arrived",
                },
                "label": { "type": "string", "description": "Short name for lists" },
                "model": { "type": "string", "description": "provider/id" },
                "outputSchema": { "type": "object", "description": "JSON Schema of the result" },
                "runTimeoutSeconds": { "type": "integer", "minimum": 0 },
                "task": { "type": "string" },
                "thinking": { "type": "string", "description": THINKING },
            }),
        ),
    }
}

fn agents_list() -> ToolSurface {
    ToolSurface {
        name: Tool::AgentsList.as_str(),
        label: "Background agents",
        description: String::from("List the agents for `sessions_spawn`, with their models."),
        prompt_snippet: None,
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: object(&[], &json!({})),
    }
}

fn sessions_list() -> ToolSurface {
    ToolSurface {
        name: Tool::SessionsList.as_str(),
        label: "Subagent sessions",
        description: String::from("List the `subagent` runs of this conversation: state, keys, transcripts."),
        prompt_snippet: None,
        prompt_guidelines: vec![],
        output_schema: None,
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
        prompt_snippet: None,
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: object(
            &["sessionKey"],
            &json!({
                "includeTools": { "type": "boolean" },
                "limit": { "type": "integer" },
                "offset": { "type": "integer" },
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
            "Send a message to a `subagent` run: it steers a running one, answers its question, or continues an ended one. \
             The result arrives as a message, or is returned within `timeoutSeconds`.",
        ),
        prompt_snippet: Some("Steer or continue a sub-agent"),
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: object(
            &["sessionKey", "message"],
            &json!({
                "message": { "type": "string" },
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
        prompt_snippet: None,
        prompt_guidelines: vec![],
        output_schema: None,
        parameters: object(&["sessionKey"], &json!({ "sessionKey": session_key() })),
    }
}

/// Describes the tool for scripts. It refers to the agents of `subagent`, which is declared next to a tool that runs
/// scripts. A model's tools do not refer to it, because only scripts can call it.
fn script_tool() -> ToolSurface {
    ToolSurface {
        name: SCRIPT_TOOL,
        label: "Subagent of a script",
        description: String::from(
            "Run an agent of `subagent` on a task and return its report as data. Fails with an error code if the run fails. \
             Await every call: runs that are active when the script ends are aborted.",
        ),
        prompt_snippet: None,
        prompt_guidelines: vec![],
        output_schema: Some(object(
            &["status", "report", "runId", "cost"],
            &json!({
                "status": {
                    "type": "string",
                    "enum": ["completed", "background"],
                    "description": "background: the user has moved the run there, and its report arrives later as a message",
                },
                "report": { "type": "string" },
                "data": { "description": "The submitted value; only with `schema`" },
                "runId": { "type": "string" },
                "cost": { "type": "number", "description": "USD; 0 for a result that was stored" },
            }),
        )),
        parameters: object(
            &["agent", "task"],
            &json!({
                "agent": { "type": "string" },
                "key": { "type": "string", "description": "Names the result: the same key in this session returns it again, free" },
                "model": { "type": "string", "description": "provider/id" },
                "schema": { "type": "object", "description": "JSON Schema of `data`" },
                "task": { "type": "string", "description": "Self-contained: goal, paths, facts, expected answer" },
            }),
        ),
    }
}

fn session_key() -> Value {
    json!({ "type": "string", "description": "Key, run id or label" })
}

/// Returns the schema of one task for one agent. Keys are sorted, which puts `agent`, `cwd` and `model` before the
/// long text. Models write arguments in this order, and with these three a child can boot while the text still
/// arrives.
fn task(text: &Value) -> Value {
    let name = json!({ "type": "string" });
    let properties = json!({ "agent": name, "cwd": name, "model": name, "task": text, "thinking": name });
    object(&["agent", "task"], &properties)
}

/// Returns the schema of parameters that are one list of tasks.
fn list(name: &str, max: usize) -> Value {
    let items = task(&json!({ "type": "string" }));
    object(&[name], &json!({ name: { "type": "array", "minItems": 1, "maxItems": max, "items": items } }))
}

fn object(required: &[&str], properties: &Value) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn description(agents: &[&AgentDefinition], allow_write: bool) -> String {
    let mut text = String::from(
        "Run an agent on a task and return its answer. It sees only the task and AGENTS.md, not this conversation.",
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
            write!(text, " and {} more", names.len() - MAX_NAMES).expect("writing to a string cannot fail");
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
    one_line(&format!("- {}{readonly}{colon}{}", agent.name, agent.description), MAX_LINE_CHARS).into_string()
}

/// Returns the advice about choosing a tool. The list of `subagent` describes the agents.
fn delegation_policy() -> String {
    format!(
        "{DELEGATION_HEADING}\nDelegate work that needs much reading and gives a short answer. Use `subagent` for what you \
         need next, `subagent_parallel` for independent parts, `sessions_spawn` for what can come later. Do small work \
         yourself: a known file, one command, a small edit."
    )
}
