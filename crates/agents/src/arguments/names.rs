//! The parameter names of other harnesses, and our tools for the same purpose.

use serde_json::{Map, Value};

use super::value::{beginning, truth};
use crate::surface::{Tool, all_tools, parameters};
use sanitizer::{nearest, quoted, suggestion};

/// Other names of a parameter. Case and separators do not count.
const PARAMETER_ALIASES: [(&str, &[&str]); 9] = [
    ("agent", &["agentId", "agentName", "agentType", "subagentType"]),
    ("agentId", &["agent", "agentName", "agentType", "subagentType"]),
    ("task", &["prompt", "message", "instructions"]),
    ("message", &["prompt", "text", "content"]),
    (
        "sessionKey",
        &["childSessionKey", "key", "session", "sessionId", "run", "runId", "id", "label", "target"],
    ),
    ("steps", &["chain"]),
    ("cwd", &["workdir", "workingDirectory", "directory"]),
    ("thinking", &["thinkingLevel"]),
    ("runTimeoutSeconds", &["timeoutSeconds"]),
];

/// The maximum number of compared letters of a name. No known name is as long.
const MAX_LETTERS: usize = 64;

/// Names of a title for a run. A title does not change the work, so a tool without titles ignores it.
const TITLES: [&str; 2] = ["description", "label"];

/// Names of a switch that starts a run in the background.
const BACKGROUND: [&str; 3] = ["runInBackground", "background", "async"];

/// Settings of an agent, which belong to the user and not to a call.
const SETTINGS: [&str; 11] = [
    "tools",
    "allowedTools",
    "disallowedTools",
    "permissionMode",
    "isolation",
    "sandbox",
    "maxTurns",
    "skills",
    "systemPrompt",
    "extensions",
    "timeoutMs",
];

/// Returns a name without case and separators.
fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric()).take(MAX_LETTERS);
    letters.flat_map(char::to_lowercase).collect()
}

fn matches_any(name: &str, names: &[&str]) -> bool {
    let name = folded(name);
    names.iter().any(|known| folded(known) == name)
}

/// Returns the parameter of a schema that matches a name.
pub(super) fn parameter_named<'a>(name: &str, properties: &'a Map<String, Value>) -> Option<&'a str> {
    if let Some((exact, _)) = properties.get_key_value(name) {
        return Some(exact);
    }
    let own = properties.keys().find(|known| folded(known) == folded(name)).map(String::as_str);
    own.or_else(|| {
        let mut known = PARAMETER_ALIASES.iter().filter(|(_, others)| matches_any(name, others));
        known.find_map(|(own, _)| properties.get_key_value(*own).map(|(own, _)| own.as_str()))
    })
}

/// Returns true for the name of a title, if the tool starts runs.
pub(super) fn is_title(tool: Tool, name: &str) -> bool {
    tool.starts_runs() && matches_any(name, &TITLES)
}

/// Returns true if an unknown parameter asks for the default behaviour of the tool.
pub(super) fn requests_default(tool: Tool, name: &str, value: &Value) -> bool {
    let is_background = tool == Tool::SessionsSpawn;
    matches_any(name, &BACKGROUND) && truth(value) == Some(is_background)
}

/// Returns the message about an unknown parameter of a tool.
pub(super) fn advice(tool: Tool, name: &str, properties: &Map<String, Value>) -> String {
    let no_parameter = format!("{} is not a parameter of `{tool}`", beginning(name));
    if let Some(remedy) = remedy(tool, name, properties) {
        return format!("{no_parameter}: {remedy}");
    }
    let hint = suggestion(nearest(name, properties.keys().map(String::as_str)));
    format!("{no_parameter}{hint}")
}

fn remedy(tool: Tool, name: &str, properties: &Map<String, Value>) -> Option<String> {
    let is = |names: &[&str]| matches_any(name, names);
    let remedy = match tool {
        Tool::Subagent | Tool::Chain if is(&["tasks"]) => {
            "use `subagent_parallel` for tasks that do not depend on each other"
        }
        Tool::Subagent | Tool::Parallel if is(&["chain", "steps"]) => {
            "use `subagent_chain` with `steps` for tasks that build on each other"
        }
        Tool::SessionsSpawn if is(&["tasks"]) => "call `sessions_spawn` once for each task",
        Tool::SessionsSpawn if is(&["chain", "steps"]) => {
            "use `subagent_chain` for tasks that build on each other"
        }
        _ if tool.starts_runs() && is(&["agentScope"]) => {
            "the agents of the user and of the project are always available. Leave it out; `agents_list` lists them"
        }
        _ if tool.starts_runs() && is(&["confirmProjectAgents"]) => {
            "pi asks the user before a project's agent runs. Leave it out"
        }
        _ if tool.waits_for_runs() && is(&BACKGROUND) => "use `sessions_spawn` for a task in the background",
        Tool::SessionsSpawn if is(&BACKGROUND) => "use `subagent` for an answer that you wait for",
        _ if tool.starts_runs()
            && is(&["resume", "resumeSessionId", "taskId", "sessionKey", "sessionId", "runId"]) =>
        {
            "use `sessions_send` to continue a run"
        }
        _ if is(&["action"]) => "use `sessions_list`, `sessions_send` and `sessions_stop` to manage runs",
        _ if is_title(tool, name) => "the work belongs in `task`",
        _ if tool.starts_runs() && is(&SETTINGS) => "the user sets it for each agent. Leave it out",
        _ => return entry_parameter_advice(name, properties).or_else(|| other_tool_advice(tool, name)),
    };
    Some(remedy.to_owned())
}

/// Returns the advice about a parameter that belongs in the entries of a list.
fn entry_parameter_advice(name: &str, properties: &Map<String, Value>) -> Option<String> {
    let (list, entry) = properties.iter().find_map(|(list, schema)| {
        let entry = schema["items"]["properties"].as_object()?;
        Some((list, parameter_named(name, entry)?))
    })?;
    Some(format!("give {} in each entry of {}, or use `subagent` for one task", quoted(entry), quoted(list)))
}

/// Returns the advice about a parameter of other tools.
fn other_tool_advice(tool: Tool, name: &str) -> Option<String> {
    let tools = all_tools().filter(|other| *other != tool);
    let has = |other: &Tool| {
        parameters(*other)["properties"]
            .as_object()
            .is_some_and(|own| own.keys().any(|own| matches_any(name, &[own])))
    };
    let tools: Vec<String> = tools.filter(has).map(|tool| quoted(tool.as_str())).collect();
    (!tools.is_empty()).then(|| format!("it belongs to {}", tools.join(" and ")))
}
