//! The agents of a directory and the tools that offer them to a model.

use std::path::Path;
use std::sync::Arc;

use super::capabilities::HostCapabilities;
use super::resolve::{find_agents, tools_of};
use super::sandbox::SandboxPlan;
use super::settings::CallSettings;
use crate::agent::{AgentDefinition, NoToolsLeft, Shadowed, Surface, TaskLimits, ToolPlan, surface};
use crate::config::Config;
use crate::run::context::HostContext;
use crate::text::{Diagnostic, Severity};

/// What exists here.
#[derive(Debug)]
pub struct Listing {
    /// The agents that can be called, in their order.
    pub agents: Vec<Listed>,
    /// Definitions that others hide.
    pub shadowed: Vec<Shadowed>,
    /// What could not be read or has no effect.
    pub diagnostics: Vec<Diagnostic>,
}

/// An agent, and what a child of it would get.
#[derive(Debug)]
pub struct Listed {
    /// Its definition.
    pub agent: Arc<AgentDefinition>,
    /// The tools of a child, or why it could not run.
    pub plan: Result<ToolPlan, NoToolsLeft>,
}

/// The tools to register.
#[derive(Debug)]
pub struct Described {
    /// False when the configuration switches delegation off.
    pub register: bool,
    /// The tools, and what is said about them.
    pub surface: Surface,
    /// Whether the delegation policy belongs into the system prompt.
    pub inject_policy: bool,
    /// Mistakes that a person should see once.
    pub notices: Vec<String>,
}

/// Finds the agents of a directory. A configuration that cannot be read counts as the defaults.
#[must_use]
pub fn list_agents(cwd: &Path, context: &HostContext, capabilities: &HostCapabilities) -> Listing {
    list(cwd, context, &CallSettings::read(cwd, context).config(), capabilities)
}

/// Finds the agents of a directory under a configuration.
pub(crate) fn list(
    cwd: &Path,
    context: &HostContext,
    config: &Config,
    capabilities: &HostCapabilities,
) -> Listing {
    let catalog = find_agents(cwd, context);
    let planned =
        |agent: Arc<AgentDefinition>| Listed { plan: plan_for(&agent, config, context, capabilities), agent };
    Listing {
        agents: catalog.agents.into_iter().map(planned).collect(),
        shadowed: catalog.shadowed,
        diagnostics: catalog.diagnostics,
    }
}

/// Describes the tools to register in a directory.
///
/// A configuration that cannot be read does not keep the tools away: every call then says what is wrong, which tools
/// that are silently absent could not.
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
    notices.extend(errors.map(ToString::to_string));
    let limits = TaskLimits { parallel: config.max_parallel_tasks, chain: config.max_chain_steps };
    Described {
        register: config.enabled,
        surface: surface(&catalog, limits, |agent| plan_for(agent, &config, context, capabilities).is_ok()),
        inject_policy: config.inject_delegation_policy,
        notices,
    }
}

fn plan_for(
    agent: &AgentDefinition,
    config: &Config,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> Result<ToolPlan, NoToolsLeft> {
    tools_of(agent, config, context, &SandboxPlan::of(agent, config, capabilities))
}
