//! The agents that may run in the background.

use std::path::Path;

use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use crate::run::{
    CallSettings, HostCapabilities, HostContext, WriteReach, default_agent, find_agents, is_allowed,
    list_agents,
};
use agents::{AskTarget, Source};

/// Longest description, in characters.
const DESCRIPTION_CHARS: usize = 200;

/// An agent that may run in the background here and now.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spawnable {
    /// Its name.
    pub id: String,
    /// Its purpose, in one line.
    pub description: String,
    /// The source of its definition.
    pub source: Source,
    /// True if it may only read.
    pub readonly: bool,
    /// The model that it would get as `provider/id`, if known.
    pub model: Option<String>,
    /// The source of the model.
    pub model_from: Option<String>,
    /// The thinking level that it would get, if known.
    pub thinking: Option<String>,
    /// True if its child could change files.
    pub can_write: bool,
    /// The places where its child could change files. `None` if it could not.
    pub writes: Option<WriteReach>,
    /// Whom its child may ask.
    #[serde(skip_serializing_if = "AskTarget::is_no_one")]
    pub ask_target: AskTarget,
}

impl Spawnable {
    /// The kind of a list of them in a session file.
    pub const LIST_KIND: &str = "subagent-agents";
    /// Changes with the meaning of a field.
    pub const LIST_VERSION: u32 = 1;
}

/// The agents that may run in the background, and the default agent if it is one of them. Blocks.
#[must_use]
pub fn spawnable(
    cwd: &Path,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> (Vec<Spawnable>, Option<String>) {
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
        Spawnable {
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
    let agents: Vec<Spawnable> = agents.collect();
    let default =
        default_agent(&config, &catalog).filter(|name| agents.iter().any(|agent| agent.id == *name));
    (agents, default)
}
