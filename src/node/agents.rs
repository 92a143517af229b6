//! The agents that exist and the tools that offer them, as JavaScript sees them.

use std::path::Path;

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;
use serde_json::Value;

use super::options::SurfaceOptions;
use super::runtime::off_thread;
use crate::agent::{self, AgentDefinition, Shadowed, ToolPlan};
use crate::run::{self, HostCapabilities, Listed};
use crate::text;

/// The agents of a directory.
#[napi(object, object_from_js = false)]
pub struct AgentCatalog {
    /// Those that run, in the order in which they are listed to people and models.
    pub agents: Vec<AgentInfo>,
    /// Those that an agent of the same name and a nearer source hides.
    pub shadowed: Vec<ShadowedAgent>,
    /// What is wrong with files that could not be used, and what in others has no effect.
    pub diagnostics: Vec<Diagnostic>,
}

/// An agent.
#[napi(object, object_from_js = false)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// What it is for, one line.
    pub description: String,
    /// Where it comes from.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub source: &'static str,
    /// The file that defines it; absent for builtins.
    pub path: Option<String>,
    /// Whether it may only read.
    pub readonly: bool,
    /// The tools that a child of it would get here and now.
    pub tools: Vec<String>,
    /// The tools it declares and would not get.
    pub dropped: Vec<DroppedTool>,
    /// Whether it could run here and now.
    pub runnable: bool,
    /// Why not.
    pub problem: Option<String>,
    /// The model it asks for.
    pub model: Option<String>,
    /// The thinking level it asks for.
    pub thinking: Option<String>,
}

/// A tool that a child does not get.
#[napi(object, object_from_js = false)]
pub struct DroppedTool {
    /// Its name.
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// An agent that another one of its name hides.
#[napi(object, object_from_js = false)]
pub struct ShadowedAgent {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub source: &'static str,
    /// The file that defines it; absent for builtins.
    pub path: Option<String>,
    /// Where the one that hides it comes from.
    #[napi(ts_type = "\"builtin\" | \"user\" | \"project\"")]
    pub by: &'static str,
}

/// Something about a file that a person should know.
#[napi(object, object_from_js = false)]
pub struct Diagnostic {
    /// How much it matters.
    #[napi(ts_type = "\"error\" | \"warning\" | \"info\"")]
    pub severity: &'static str,
    /// Stable; match on this.
    pub code: String,
    /// May change between releases.
    pub message: String,
    /// The file.
    pub path: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    pub column: Option<u32>,
}

/// What a host registers so that its model can delegate.
#[napi(object, object_from_js = false)]
pub struct ToolSurfaces {
    /// False when the configuration switches delegation off: nothing is to be registered then.
    pub register: bool,
    /// The tools: `subagent`, which lists the agents, `subagent_parallel` and `subagent_chain`, which refer to it.
    pub tools: Vec<ToolSurface>,
    /// To be appended to the system prompt unless it is there; absent when switched off.
    pub delegation_policy: Option<String>,
    /// Mistakes in the configuration and in agent files, to be shown once.
    pub notices: Vec<String>,
}

/// A tool, as pi registers it.
#[napi(object, object_from_js = false)]
pub struct ToolSurface {
    /// The tool's name.
    pub name: String,
    /// The tool's name for people.
    pub label: String,
    /// For the model: what the tool does.
    pub description: String,
    /// One line for the system prompt's list of tools.
    pub prompt_snippet: String,
    /// Rules for the system prompt.
    pub prompt_guidelines: Vec<String>,
    /// The JSON schema of the parameters.
    #[napi(ts_type = "Record<string, unknown>")]
    pub parameters: Value,
}

/// Finds the agents of a directory and says what a child of each would get. Reads files, and asks the
/// warden what this machine allows.
#[napi(catch_unwind, ts_return_type = "Promise<AgentCatalog>")]
pub fn discover_agents(env: &Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'_, AgentCatalog>> {
    let (cwd, context) = options.into_context();
    env.spawn_future(async move {
        let capabilities = HostCapabilities::look(&context).await;
        let listing = off_thread(move || run::list_agents(&cwd, &context, &capabilities)).await?;
        Ok(AgentCatalog {
            agents: listing.agents.into_iter().map(Into::into).collect(),
            shadowed: listing.shadowed.into_iter().map(Into::into).collect(),
            diagnostics: listing.diagnostics.into_iter().map(Into::into).collect(),
        })
    })
}

/// Describes the tools to register. The same world gives the same bytes, which a prompt cache depends on.
#[napi(catch_unwind, ts_return_type = "Promise<ToolSurfaces>")]
pub fn describe_tools(env: &Env, options: SurfaceOptions) -> napi::Result<PromiseRaw<'_, ToolSurfaces>> {
    let (cwd, context) = options.into_context();
    env.spawn_future(async move {
        let capabilities = HostCapabilities::look(&context).await;
        off_thread(move || surfaces_of(run::describe(&cwd, &context, &capabilities), &cwd, &context)).await
    })
}

fn surfaces_of(described: run::Described, cwd: &Path, context: &run::HostContext) -> ToolSurfaces {
    let sanitizer = run::sanitizer_for(cwd, context);
    let clean = |notice: String| sanitizer.sanitize(&notice).into_string();
    let surface = described.surface;
    ToolSurfaces {
        register: described.register,
        tools: surface.tools.into_iter().map(Into::into).collect(),
        delegation_policy: described.inject_policy.then_some(surface.delegation_policy),
        notices: described.notices.into_iter().map(clean).collect(),
    }
}

impl From<agent::ToolSurface> for ToolSurface {
    fn from(tool: agent::ToolSurface) -> Self {
        Self {
            name: tool.name.to_owned(),
            label: tool.label.to_owned(),
            description: tool.description,
            prompt_snippet: tool.prompt_snippet.to_owned(),
            prompt_guidelines: tool.prompt_guidelines.into_iter().map(str::to_owned).collect(),
            parameters: tool.parameters,
        }
    }
}

impl From<Listed> for AgentInfo {
    fn from(Listed { agent, plan }: Listed) -> Self {
        let AgentDefinition { name, description, source, path, readonly, model, thinking, .. } = &*agent;
        let runnable = plan.is_ok();
        let (plan, problem) = match plan {
            Ok(plan) => (plan, None),
            Err(error) => (ToolPlan::default(), Some(error.to_string())),
        };
        let dropped = plan
            .dropped
            .into_iter()
            .map(|dropped| DroppedTool { reason: dropped.reason.to_string(), tool: dropped.tool });
        Self {
            name: name.clone(),
            description: description.clone(),
            source: source.as_str(),
            path: path.as_deref().map(shown),
            readonly: *readonly,
            tools: plan.tools,
            dropped: dropped.collect(),
            runnable,
            problem,
            model: model.clone(),
            thinking: thinking.clone(),
        }
    }
}

impl From<Shadowed> for ShadowedAgent {
    fn from(shadowed: Shadowed) -> Self {
        Self {
            name: shadowed.name,
            source: shadowed.source.as_str(),
            path: shadowed.path.as_deref().map(shown),
            by: shadowed.by.as_str(),
        }
    }
}

impl From<text::Diagnostic> for Diagnostic {
    fn from(diagnostic: text::Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.as_str(),
            code: diagnostic.code.to_owned(),
            message: diagnostic.message,
            path: diagnostic.path.as_deref().map(shown),
            line: diagnostic.line,
            column: diagnostic.column,
        }
    }
}

pub(super) fn shown(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}
