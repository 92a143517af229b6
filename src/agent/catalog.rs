//! The agents that exist, and which definition wins when several share a name.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::definition::{AgentDefinition, Source};
use super::error::UnknownAgent;
use super::parse::Parsed;
use crate::text::{Diagnostic, Severity, nearest};

const NAME_DUPLICATE: &str = "AGENT_NAME_DUPLICATE";

/// The result of discovery.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The agents that can be called: builtins in their own order, then the user's, then the project's, both sorted by
    /// name.
    pub agents: Vec<Arc<AgentDefinition>>,
    /// Definitions that a higher source of the same name replaces.
    pub shadowed: Vec<Shadowed>,
    /// Files that could not be read, and fields that are ignored.
    pub diagnostics: Vec<Diagnostic>,
}

/// A definition that a higher source replaces by one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shadowed {
    /// The shared name.
    pub name: String,
    /// The source of the replaced definition.
    pub source: Source,
    /// The file of the replaced definition; absent for a builtin.
    pub path: Option<PathBuf>,
    /// The source that wins.
    pub by: Source,
}

impl Catalog {
    /// Merges the files of all sources, ordered by source (lowest first), then by file name.
    pub(super) fn merge(files: Vec<Parsed>, mut diagnostics: Vec<Diagnostic>) -> Self {
        let mut agents: Vec<Arc<AgentDefinition>> = Vec::new();
        let mut shadowed = Vec::new();
        for file in files {
            diagnostics.extend(file.diagnostics);
            let Some(agent) = file.agent else { continue };
            let same_name = agents.iter().position(|known| known.name == agent.name);
            if let Some(index) = same_name {
                if agents[index].source == agent.source {
                    diagnostics.push(duplicate(&agent, &agents[index]));
                    continue;
                }
                let hidden = agents.remove(index);
                shadowed.push(Shadowed {
                    name: hidden.name.clone(),
                    source: hidden.source,
                    path: hidden.path.clone(),
                    by: agent.source,
                });
            }
            agents.push(Arc::new(agent));
        }
        // Stable, so that builtins keep their order.
        agents.sort_by(|a, b| {
            a.source.cmp(&b.source).then_with(|| match a.source {
                Source::Builtin => std::cmp::Ordering::Equal,
                Source::User | Source::Project => a.name.cmp(&b.name),
            })
        });
        // With three of one name, the highest source hides both others.
        for entry in &mut shadowed {
            if let Some(agent) = agents.iter().find(|agent| agent.name == entry.name) {
                entry.by = agent.source;
            }
        }
        Self { agents, shadowed, diagnostics }
    }

    /// Looks up an agent by its exact name.
    ///
    /// # Errors
    ///
    /// When there is none. The message lists the available agents and suggests the nearest name.
    pub fn find(&self, name: &str) -> Result<Arc<AgentDefinition>, UnknownAgent> {
        if let Some(agent) = self.agents.iter().find(|agent| agent.name == name) {
            return Ok(Arc::clone(agent));
        }
        let available: Vec<String> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        let nearest = nearest(name.trim(), available.iter().map(String::as_str)).map(str::to_owned);
        Err(UnknownAgent { name: name.to_owned(), available, nearest })
    }
}

fn duplicate(agent: &AgentDefinition, first: &AgentDefinition) -> Diagnostic {
    let file = first.path.as_deref().and_then(|path| path.file_name()).unwrap_or_default();
    let message = format!(
        "agent `{}` is already defined in `{}`; this file is ignored",
        agent.name,
        file.to_string_lossy()
    );
    let diagnostic = Diagnostic::new(Severity::Warning, NAME_DUPLICATE, message).at(1, 1);
    match &agent.path {
        Some(path) => diagnostic.in_file(path),
        None => diagnostic,
    }
}
