//! The agents that may run in the background.

use std::path::Path;

use crate::agent::Source;
use crate::config::Config;
use crate::run::{CallSettings, HostCapabilities, HostContext, list_agents};
use crate::text::one_line;

/// Means every agent in `allowAgents`.
const ANY: &str = "*";
/// Longest description, in characters.
const DESCRIPTION_CHARS: usize = 200;

/// An agent that may run in the background here and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawnable {
    /// Its name.
    pub id: String,
    /// Its purpose, in one line.
    pub description: String,
    /// The source of its definition.
    pub source: Source,
    /// Whether it may only read.
    pub readonly: bool,
    /// The model that it would get as `provider/id`, if known.
    pub model: Option<String>,
}

impl Spawnable {
    /// What a session keeps of a list of them.
    pub const LIST_KIND: &str = "subagent-agents";
    /// Changes with the meaning of a field.
    pub const LIST_VERSION: u32 = 1;
}

/// The agents that may run in the background, and the default agent. Blocks.
#[must_use]
pub fn spawnable(
    cwd: &Path,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> (Vec<Spawnable>, String) {
    let settings = CallSettings::read(cwd, context);
    let (config, sanitizer) = (settings.config(), settings.sanitizer());
    let agents = list_agents(cwd, context, &config, capabilities)
        .agents
        .into_iter()
        .filter(|listed| config.enabled && listed.plan.is_ok() && is_allowed(&config, &listed.agent.name));
    let agents = agents.map(|listed| {
        let agent = &listed.agent;
        let model = agent.model.as_ref().or(config.model.as_ref()).or(context.host.model.as_ref());
        Spawnable {
            id: agent.name.clone(),
            description: one_line(&sanitizer.sanitize(&agent.description).into_string(), DESCRIPTION_CHARS),
            source: agent.source,
            readonly: agent.readonly,
            model: model.map(|model| one_line(&sanitizer.sanitize(model).into_string(), DESCRIPTION_CHARS)),
        }
    });
    (agents.collect(), config.default_agent)
}

/// Whether the configuration allows an agent to run in the background.
pub(super) fn is_allowed(config: &Config, agent: &str) -> bool {
    config.allow_agents.iter().any(|allowed| allowed == ANY || allowed == agent)
}
