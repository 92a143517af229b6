//! The agents that exist, and which of several with one name counts.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::definition::{AgentDefinition, Source};
use super::error::UnknownAgent;
use super::parse::Parsed;
use crate::text::{Diagnostic, Severity, nearest};

const NAME_DUPLICATE: &str = "AGENT_NAME_DUPLICATE";

/// What discovery found.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The agents that can be called: builtins in their own order, then the user's, then the project's, both by name.
    pub agents: Vec<Arc<AgentDefinition>>,
    /// Definitions that another of the same name hides.
    pub shadowed: Vec<Shadowed>,
    /// What could not be read or is ignored.
    pub diagnostics: Vec<Diagnostic>,
}

/// A definition that is hidden by one with the same name from a higher source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shadowed {
    /// The name both have.
    pub name: String,
    /// Where the hidden one comes from.
    pub source: Source,
    /// Its file; absent for a builtin.
    pub path: Option<PathBuf>,
    /// Where the one that counts comes from.
    pub by: Source,
}

impl Catalog {
    /// Joins what the sources hold, given lowest first and each by file name.
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
        // Stable: builtins keep the order they were given in.
        agents.sort_by(|a, b| {
            a.source.cmp(&b.source).then_with(|| match a.source {
                Source::Builtin => std::cmp::Ordering::Equal,
                Source::User | Source::Project => a.name.cmp(&b.name),
            })
        });
        // Three of one name: both hidden ones are hidden by the highest.
        for entry in &mut shadowed {
            if let Some(agent) = agents.iter().find(|agent| agent.name == entry.name) {
                entry.by = agent.source;
            }
        }
        Self { agents, shadowed, diagnostics }
    }

    /// The agent with exactly this name.
    ///
    /// # Errors
    ///
    /// When there is none; the error's text names those that exist and the one that was probably meant.
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
