//! The agents of a directory and the tools that offer them, as JavaScript sees them.

use std::path::Path;
use std::sync::Arc;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::Value;

use super::into_js::{IntoJs, object_into_js};
use super::options::SurfaceOptions;
use super::runtime::{off_thread, promise};
use crate::run::{self, CallSettings, HostCapabilities, Listed, Listing, WriteReach};
use agents::{AgentDefinition, Shadowed, Tool, ToolPlan};

/// The agents of a directory.
#[napi(object, object_from_js = false)]
pub struct AgentCatalog {
    /// The agents that take effect: builtins first, then the user's, then the project's.
    pub agents: Vec<AgentInfo>,
    /// The agents hidden by one of the same name from a nearer source.
    pub shadowed: Vec<ShadowedAgent>,
    /// Errors in agent files that were skipped, and warnings about entries without effect.
    pub diagnostics: Vec<Diagnostic>,
}

/// An agent.
#[napi(object, object_from_js = false)]
pub struct AgentInfo {
    /// At most 64 characters.
    pub name: String,
    /// One line of at most 1000 characters.
    pub description: String,
    /// A nearer source wins: `project` over `user` over `builtin`.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub source: &'static str,
    /// The file that defines it; absent for builtins.
    pub path: Option<String>,
    /// True when the definition allows only reading.
    pub readonly: bool,
    /// The tools a child would get with this configuration on this machine.
    pub tools: Vec<String>,
    /// The tools the definition asks for and a child would not get.
    pub dropped: Vec<DroppedTool>,
    /// False when a run would be refused; `problem` says why.
    pub runnable: bool,
    /// Present exactly when `runnable` is false.
    pub problem: Option<String>,
    /// The model the definition asks for; absent: inherited.
    pub model: Option<String>,
    /// The thinking level the definition asks for; absent: inherited.
    pub thinking: Option<String>,
    /// True if a child could change files: the agent is not readonly, `allowWrite` is on, and it has a tool or a command for
    /// that.
    pub can_write: bool,
    /// The files that it could change: `tree`: only those in its tree, enforced by the kernel; `anywhere`: all that the
    /// user may change. Absent if it could change none.
    #[napi(ts_type = "\"tree\" | \"anywhere\"")]
    pub writes: Option<&'static str>,
    /// A run's effective settings with their sources, in words for people: `model haiku (agents.explorer)`.
    pub settings: Vec<String>,
    /// The agent's requests that this pi cannot meet, in words for people.
    pub notices: Vec<String>,
}

/// A tool that a child does not get.
#[napi(object, object_from_js = false)]
pub struct DroppedTool {
    /// The tool's name.
    pub tool: String,
    /// For people; may change between releases.
    pub reason: String,
}

/// An agent hidden by another of the same name.
#[napi(object, object_from_js = false)]
pub struct ShadowedAgent {
    /// The name both have.
    pub name: String,
    /// The source of the hidden one.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub source: &'static str,
    /// The file that defines it; absent for builtins.
    pub path: Option<String>,
    /// The source of the effective definition.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub by: &'static str,
}

/// A problem in a file, for the person who wrote it.
#[napi(object, object_from_js = false)]
pub struct Diagnostic {
    /// `error`: the file or the value is not used; `warning`: it is used, but something in it has no effect; `info`:
    /// worth knowing.
    #[napi(ts_type = "\"error\" | \"warning\" | \"info\"")]
    pub severity: &'static str,
    /// Stable; match on this.
    pub code: &'static str,
    /// For people; may change between releases.
    pub message: String,
    /// The file.
    pub path: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1, in characters.
    pub column: Option<u32>,
}

/// The tools that a host registers so that its model can delegate.
#[napi(object, object_from_js = false)]
pub struct ToolSurfaces {
    /// False when `enabled` is false: register nothing.
    pub register: bool,
    /// In this order: `subagent`, which lists the agents; `subagent_parallel` and `subagent_chain`, which refer to that
    /// list; `sessions_spawn` and `agents_list`, for background runs; `sessions_list`, `sessions_history`, `sessions_send`
    /// and `sessions_stop`, for the runs of the session.
    pub tools: Vec<ToolSurface>,
    /// Append this to the system prompt once. Absent when `injectDelegationPolicy` is false.
    pub delegation_policy: Option<String>,
    /// Mistakes in the configuration and in agent files; show them once.
    pub notices: Vec<String>,
    /// The key that moves what calls wait for to the background; absent when `background.key` is `none`.
    pub background_key: Option<String>,
}

/// A tool, as pi registers it.
#[napi(object, object_from_js = false)]
pub struct ToolSurface {
    /// The name that models call.
    pub name: &'static str,
    /// The name that people read.
    pub label: &'static str,
    /// The text for the model: what the tool does and, in `subagent`, the list of agents.
    pub description: String,
    /// One line for the list of tools in the system prompt. Absent: the description is enough.
    pub prompt_snippet: Option<&'static str>,
    /// Rules for the system prompt, one line each.
    pub prompt_guidelines: Vec<&'static str>,
    /// The JSON schema of the parameters.
    #[napi(ts_type = "Record<string, unknown>")]
    pub parameters: Value,
    /// The callers that may use the tool, in the form that pi 1.x and later accept.
    #[napi(ts_type = "\"model-only\"")]
    pub exposure: &'static str,
    /// The effects of the tool, in the form that pi 1.x and later accept. Absent: it can do whatever its agents do.
    pub annotations: Option<ToolAnnotations>,
}

/// The effects of a tool.
#[napi(object, object_from_js = false)]
pub struct ToolAnnotations {
    /// True when it changes nothing.
    pub read_only_hint: bool,
}

/// Lists the agents of a directory, and the tools that a child of each would get. Reads agent files, and asks the
/// warden what this machine can enforce.
///
/// @example
/// ```ts
/// import { discoverAgents } from "pi-subagent-native";
///
/// const { agents, diagnostics } = await discoverAgents({ cwd: process.cwd() });
/// for (const { name, source, tools } of agents) console.log(name, source, tools.join(" "));
/// for (const { severity, message } of diagnostics) console.error(severity, message);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<AgentCatalog>")]
pub fn discover_agents(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, AgentCatalog>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let capabilities = HostCapabilities::probe(&context).await;
        let listing = off_thread(move || {
            let settings = CallSettings::read(&cwd, &context);
            run::list_agents(&cwd, &context, &settings, &capabilities)
        });
        Ok(listing.await?.into_js())
    })
}

/// Describes the tools to register. Equal files and options give equal bytes, so that prompt caches stay valid.
///
/// @example
/// ```ts
/// import { describeTools } from "pi-subagent-native";
///
/// const { register, tools, delegationPolicy = "" } = await describeTools({ cwd: process.cwd() });
/// if (register) for (const { name, parameters } of tools) console.log(name, JSON.stringify(parameters));
/// console.log(delegationPolicy);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<ToolSurfaces>")]
pub fn describe_tools(env: Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'static, ToolSurfaces>> {
    let (cwd, context) = options.into_context();
    promise(env, async move {
        let capabilities = HostCapabilities::probe(&context).await;
        off_thread(move || surfaces_of(&cwd, &context, &capabilities)).await
    })
}

/// The arguments of a tool call before its schema is applied: exactly one of the two is present.
#[napi(object, object_from_js = false)]
pub struct PreparedArguments {
    /// The arguments in the form of the schema.
    #[napi(ts_type = "Record<string, unknown>")]
    pub arguments: Option<Value>,
    /// The mistakes in the arguments and the form that the tool takes, in words for the model.
    pub problem: Option<String>,
}

/// Puts the arguments of a call, as JSON, into the form of the tool's schema. A value with only one possible meaning is
/// converted: a list sent as text, a number sent as text, an empty optional value, a name of another harness. Throws if
/// there is no such tool.
///
/// @example
/// ```ts
/// import { prepareArguments } from "pi-subagent-native";
///
/// const sent = JSON.stringify({ subagent_type: "explorer", prompt: "List the tests.", cwd: "" });
/// const { arguments: prepared, problem } = prepareArguments("subagent", sent);
/// console.log(prepared ?? problem);
/// ```
#[napi(catch_unwind)]
pub fn prepare_arguments(tool: String, json: String) -> napi::Result<PreparedArguments> {
    let known =
        Tool::parse(&tool).ok_or_else(|| napi::Error::from_reason(format!("there is no tool `{tool}`")))?;
    let prepared = agents::prepare_json(known, &json);
    Ok(match prepared {
        Ok(arguments) => PreparedArguments { arguments: Some(arguments), problem: None },
        Err(misuse) => PreparedArguments { arguments: None, problem: Some(misuse.to_string()) },
    })
}

fn surfaces_of(cwd: &Path, context: &run::HostContext, capabilities: &HostCapabilities) -> ToolSurfaces {
    let settings = run::CallSettings::read(cwd, context);
    let described = run::describe(cwd, context, &settings, capabilities);
    let clean = |notice: String| settings.sanitizer().sanitize(&notice).into_string();
    let surface = described.surface;
    ToolSurfaces {
        register: described.register,
        tools: surface.tools.into_js(),
        delegation_policy: described.inject_policy.then_some(surface.delegation_policy),
        notices: described.notices.into_iter().map(clean).collect(),
        background_key: settings.config().background.shortcut(),
    }
}

object_into_js! { |listing: Listing| AgentCatalog { agents, shadowed, diagnostics } }

impl IntoJs<AgentInfo> for Listed {
    fn into_js(self) -> AgentInfo {
        let AgentDefinition { name, description, source, path, readonly, model, thinking, .. } =
            Arc::unwrap_or_clone(self.agent);
        let (plan, problem) = match self.plan {
            Ok(plan) => (plan, None),
            Err(error) => (ToolPlan::default(), Some(error.to_string())),
        };
        AgentInfo {
            name,
            description,
            source: source.as_str(),
            path: path.into_js(),
            readonly,
            tools: plan.tools,
            dropped: plan.dropped.into_js(),
            runnable: problem.is_none(),
            problem,
            model,
            thinking,
            can_write: self.writes.is_some(),
            writes: self.writes.map(WriteReach::as_str),
            settings: self.values.all(),
            notices: self.notices,
        }
    }
}

object_into_js! { |dropped: agents::DroppedTool| DroppedTool { tool, reason: dropped.reason.to_string() } }

object_into_js! { |hidden: Shadowed| ShadowedAgent { name, source, path, by } }

object_into_js! { |diagnostic: sanitizer::Diagnostic| Diagnostic { severity, code, message, path, line, column } }

object_into_js! { |tool: agents::ToolSurface| ToolSurface {
    exposure: "model-only",
    annotations: Tool::parse(tool.name).filter(|tool| tool.is_read_only()),
    name, label, description, prompt_snippet, prompt_guidelines, parameters,
} }

impl IntoJs<ToolAnnotations> for Tool {
    fn into_js(self) -> ToolAnnotations {
        ToolAnnotations { read_only_hint: self.is_read_only() }
    }
}
