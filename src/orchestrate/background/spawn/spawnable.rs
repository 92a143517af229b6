//! The agents that may run in the background.

use std::path::Path;

use crate::present::{SpawnableAgent, SpawnableAgents};
use crate::run::{
    CallSettings, HostCapabilities, HostContext, default_agent, find_agents, is_allowed, list_agents,
};

/// Longest description, in characters.
const DESCRIPTION_CHARS: usize = 200;

/// Returns the agents that may run in the background, and the default agent if it is one of them. Blocks.
#[must_use]
pub fn spawnable(cwd: &Path, context: &HostContext, capabilities: &HostCapabilities) -> SpawnableAgents {
    let settings = CallSettings::read(cwd, context);
    let config = settings.config();
    let sanitizer = settings.sanitizer();
    let catalog = find_agents(cwd, context, &config);
    let agents = list_agents(cwd, context, &settings, capabilities).agents.into_iter().filter(|listed| {
        config.enabled && listed.plan.is_ok() && is_allowed(&config, &catalog, &listed.agent.name)
    });
    let clean =
        |text: &str| sanitizer.clip(text, 4 * DESCRIPTION_CHARS).line(DESCRIPTION_CHARS).into_string();
    let agents = agents.map(|listed| {
        let agent = &listed.agent;
        SpawnableAgent {
            id: agent.name.clone(),
            description: clean(&agent.description),
            source: agent.source,
            readonly: agent.readonly,
            model: listed.values.model.value.as_deref().map(clean),
            model_from: listed.values.model.value.as_ref().map(|_| listed.values.model.source.to_string()),
            thinking: listed.values.thinking.value.clone(),
            can_write: listed.writes.is_some(),
            writes: listed.writes,
            ask_target: agent.ask,
        }
    });
    let agents: Vec<SpawnableAgent> = agents.collect();
    let default_agent =
        default_agent(&config, &catalog).filter(|name| agents.iter().any(|agent| agent.id == *name));
    SpawnableAgents { agents, default_agent }
}
