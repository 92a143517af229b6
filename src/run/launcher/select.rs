//! Selects the launcher that starts the children of an agent: a configured one, or this machine's.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::configured::Configured;
use super::contract::{Job, Launch, Launcher, Payload};
use crate::run::context::HostContext;
use crate::run::pi::{PiError, PiProgram};
use agents::AgentDefinition;
use agents::config::{self, Config, LOCAL};
use supervisor::ChildCommand;

/// The reason why the requested launcher cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LauncherError {
    /// Its settings are not valid.
    #[error("launcher `{name}` {mistake}")]
    Invalid {
        /// The name.
        name: String,
        /// The mistake, which ends the sentence.
        mistake: String,
    },
    /// It does not exist.
    #[error(
        "{by} requests the launcher `{name}`, but `launchers` in your configuration defines only {}{}",
        available.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        place.as_ref().map_or_else(String::new, |(path, line)| {
            format!(" (`launcher` in {}:{line})", path.display())
        })
    )]
    Unknown {
        /// The source of the request.
        by: &'static str,
        /// The requested name.
        name: String,
        /// The names of the existing launchers.
        available: Vec<String>,
        /// The file of the agent that requests it, and the line.
        place: Option<(PathBuf, u32)>,
    },
}

/// Returns the configured launcher of an agent's children. `None` for this machine.
///
/// # Errors
///
/// Fails if the requested launcher does not exist, or if its settings are not valid.
pub(crate) fn selected<'a>(
    agent: &'a AgentDefinition,
    config: &'a Config,
) -> Result<Option<(&'a str, &'a config::Launcher)>, LauncherError> {
    let requested = agent.launcher.as_ref().or(config.launcher.as_ref()).filter(|name| *name != LOCAL);
    let Some(requested) = requested else { return Ok(None) };
    if let Some(found) = config.launchers.get(requested) {
        return Ok(Some((requested, found)));
    }
    let name = requested.clone();
    if let Some(mistake) = config.broken_launchers.get(requested) {
        return Err(LauncherError::Invalid { name, mistake: mistake.clone() });
    }
    let (by, place) = match &agent.launcher {
        Some(_) => ("the agent", agent.path.clone().zip(agent.launcher_line)),
        // The notice about the configuration has its file and line.
        None => ("the configuration", None),
    };
    let available = config.launchers.keys().cloned().chain([LOCAL.to_owned()]).collect();
    Err(LauncherError::Unknown { by, name, available, place })
}

/// Returns the launcher of an agent's children. A missing launcher is replaced by this machine's; [`selected`] reports
/// it.
pub(crate) fn launcher_of(agent: &AgentDefinition, config: &Config) -> Arc<dyn Launcher> {
    match selected(agent, config) {
        Ok(Some((name, settings))) => Arc::new(Configured::new(name, settings)),
        _ => Arc::new(Local),
    }
}

/// Starts children on this machine.
#[derive(Debug)]
struct Local;

impl Launcher for Local {
    fn locate(
        &self,
        configured: Option<&[String]>,
        cwd: &Path,
        untrusted: &[PathBuf],
        context: &HostContext,
    ) -> Result<PiProgram, PiError> {
        PiProgram::locate(configured, cwd, untrusted, context)
    }

    fn command(&self, plain: ChildCommand, _job: Job<'_>, _payload: Payload<'_>) -> Launch {
        Launch { command: plain, preamble: None, remote_output: None }
    }
}
