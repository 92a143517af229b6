//! Selects the launcher that starts the children of an agent.

use std::sync::Arc;

use super::configured::Configured;
use super::contract::Launcher;
use super::local::Local;
use crate::agent::AgentDefinition;
use crate::config::{self, Config, LOCAL};

/// Returns the configured launcher of an agent's children. `None` for this machine.
///
/// # Errors
///
/// If the requested launcher does not exist, the error contains its name and the existing ones. If its settings are
/// not valid, the error contains the mistake.
pub(in crate::run) fn selected<'a>(
    agent: &'a AgentDefinition,
    config: &'a Config,
) -> Result<Option<(&'a str, &'a config::Launcher)>, String> {
    let requested = agent.launcher.as_ref().or(config.launcher.as_ref()).filter(|name| *name != LOCAL);
    let Some(requested) = requested else { return Ok(None) };
    if let Some(found) = config.launchers.get(requested) {
        return Ok(Some((requested, found)));
    }
    if let Some(why) = config.broken_launchers.get(requested) {
        return Err(format!("launcher `{requested}` {why}"));
    }
    let (by, place) = match (&agent.launcher, &agent.path, agent.launcher_line) {
        (Some(_), Some(path), Some(line)) => {
            ("the agent", format!(" (`launcher` in {}:{line})", path.display()))
        }
        (Some(_), ..) => ("the agent", String::new()),
        // The notice about the configuration has its file and line.
        (None, ..) => ("the configuration", String::new()),
    };
    let known: Vec<String> =
        config.launchers.keys().map(String::as_str).chain([LOCAL]).map(|name| format!("`{name}`")).collect();
    let known = known.join(", ");
    Err(format!(
        "launcher: {by} requests `{requested}`, but `launchers` in your configuration does not define it; available: {known}{place}"
    ))
}

/// Returns the launcher of an agent's children. A missing launcher is replaced by this machine's; [`selected`] reports
/// it.
pub(in crate::run) fn launcher_of(agent: &AgentDefinition, config: &Config) -> Arc<dyn Launcher> {
    match selected(agent, config) {
        Ok(Some((name, settings))) => Arc::new(Configured::new(name, settings)),
        _ => Arc::new(Local),
    }
}
