//! Lists the agents of a directory, and describes the tools that offer them to a model.

use std::cell::LazyCell;
use std::path::Path;
use std::sync::Arc;

use super::capabilities::HostCapabilities;
use super::gates::gates;
use super::resolve::{find_agents, loads_gates, tools_of};
use super::sandbox::SandboxPlan;
use super::settings::CallSettings;
use super::shell::shell_policy;
use crate::agent::{AgentDefinition, NoToolsLeft, Shadowed, Surface, TaskLimits, ToolPlan, surface};
use crate::config::Config;
use crate::run::context::HostContext;
use crate::text::{Diagnostic, Severity};

/// Notices about agent files. A directory that has more of them is not meant for this package.
const MAX_NOTICES: usize = 10;

/// The agents of a directory.
#[derive(Debug)]
pub struct Listing {
    /// The agents that can be called, in the order in which they are listed.
    pub agents: Vec<Listed>,
    /// Definitions that others with the same name hide.
    pub shadowed: Vec<Shadowed>,
    /// Definitions that could not be read, and settings without effect.
    pub diagnostics: Vec<Diagnostic>,
}

/// An agent and the tools that its child would get.
#[derive(Debug)]
pub struct Listed {
    /// Its definition.
    pub agent: Arc<AgentDefinition>,
    /// The child's tools, or why the agent cannot run.
    pub plan: Result<ToolPlan, NoToolsLeft>,
    /// The user's permission gates that its child loads.
    pub gates: Vec<String>,
}

/// The tools to register.
#[derive(Debug)]
pub struct Described {
    /// False when the configuration switches delegation off.
    pub register: bool,
    /// The tools and their descriptions.
    pub surface: Surface,
    /// Whether to add the delegation policy to the system prompt.
    pub inject_policy: bool,
    /// Mistakes to show the user once.
    pub notices: Vec<String>,
}

/// Finds the agents of a directory under a configuration.
#[must_use]
pub fn list_agents(
    cwd: &Path,
    context: &HostContext,
    config: &Config,
    capabilities: &HostCapabilities,
) -> Listing {
    let catalog = find_agents(cwd, context);
    let all = LazyCell::new(|| gates(context));
    let planned = |agent: Arc<AgentDefinition>| {
        let sandbox = SandboxPlan::of(&agent, config, capabilities.abilities());
        let gates = if loads_gates(&sandbox, config) { all.clone() } else { Vec::new() };
        Listed { plan: plan_for(&agent, cwd, config, context, capabilities), agent, gates }
    };
    Listing {
        agents: catalog.agents.into_iter().map(planned).collect(),
        shadowed: catalog.shadowed,
        diagnostics: catalog.diagnostics,
    }
}

/// Describes the tools to register in a directory.
///
/// Registers the tools even if the configuration cannot be read, so that every call can say what is wrong with it.
#[must_use]
pub fn describe(
    cwd: &Path,
    context: &HostContext,
    settings: &CallSettings,
    capabilities: &HostCapabilities,
) -> Described {
    let (config, mut notices) = match settings.loaded() {
        Ok(loaded) => {
            let worth_saying =
                loaded.diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Info);
            let notices = worth_saying.map(ToString::to_string).collect();
            (loaded.config.clone(), notices)
        }
        Err(refusal) => (Config::default(), vec![refusal.to_string()]),
    };
    let catalog = find_agents(cwd, context);
    let errors = catalog.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut errors: Vec<String> = errors.map(ToString::to_string).collect();
    let more = errors.len().saturating_sub(MAX_NOTICES);
    errors.truncate(MAX_NOTICES);
    notices.extend(errors);
    if more > 0 {
        notices.push(format!("{more} more agent files cannot be used"));
    }
    let limits = TaskLimits { parallel: config.max_parallel_tasks, chain: config.max_chain_steps };
    Described {
        register: config.enabled,
        surface: surface(&catalog, limits, |agent| {
            plan_for(agent, cwd, &config, context, capabilities).is_ok()
        }),
        inject_policy: config.inject_delegation_policy,
        notices,
    }
}

fn plan_for(
    agent: &AgentDefinition,
    cwd: &Path,
    config: &Config,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> Result<ToolPlan, NoToolsLeft> {
    let sandbox = SandboxPlan::of(agent, config, capabilities.abilities());
    tools_of(agent, config, context, shell_policy(&sandbox, cwd, context))
}
