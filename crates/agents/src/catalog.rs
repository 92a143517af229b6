//! The catalog of agents, which resolves names and decides which of several definitions wins.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::definition::{AgentDefinition, Source};
use super::name::valid_name;
use super::parse::{Parsed, SWITCHED_OFF};
use sanitizer::{Code, Diagnostic, Position, Severity, lossy_path, nearest, quoted_within};

const NAME_DUPLICATE: Code = (Severity::Warning, "AGENT_NAME_DUPLICATE");
/// Claude Code's builtin agents, and our agents for the same purpose.
const CLAUDE_NAMES: [(&str, &str); 3] =
    [("Explore", "explorer"), ("Plan", "implementer"), ("general-purpose", "worker")];
/// The maximum number of names in a message. A longer list would hide the message itself.
const MAX_LISTED: usize = 100;
/// The maximum length of a shown name, in characters. It is a little above the longest valid name, to show that a name
/// is too long.
const MAX_SHOWN_NAME_CHARS: usize = 80;

/// The result of discovery.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The callable agents: builtins in their own order, then the user's, then the project's, both sorted by name.
    pub agents: Vec<Arc<AgentDefinition>>,
    /// Definitions that a higher source with the same name replaces.
    pub shadowed: Vec<Shadowed>,
    /// Messages about unreadable files and ignored fields.
    pub diagnostics: Vec<Diagnostic>,
    /// The names of agents whose files do not load, with the reasons.
    broken: Vec<Broken>,
}

/// An agent whose file exists but does not load.
#[derive(Clone, Debug)]
struct Broken {
    /// The name stated in the file, and the name derived from the file name.
    names: Vec<String>,
    why: Diagnostic,
    /// True if the file is the user's and is meant as an agent. Then no builtin may replace it.
    is_meant: bool,
}

impl Broken {
    /// Returns nothing for a file that loads or has no mistake.
    fn of(file: &Parsed) -> Option<Self> {
        if file.agent.is_some() {
            return None;
        }
        let first = file.diagnostics.iter().min_by_key(|found| found.severity)?;
        let of_file = first.path.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy());
        let names = file.stated_name.iter().cloned().chain(of_file.and_then(|stem| valid_name(&stem)));
        let is_meant = file.source == Source::User
            && (first.severity == Severity::Error || first.code == SWITCHED_OFF.1);
        Some(Self { names: names.collect(), why: first.clone(), is_meant })
    }
}

/// A definition that a higher source replaces with one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shadowed {
    /// The shared name.
    pub name: String,
    /// The source of the replaced definition.
    pub source: Source,
    /// The file of the replaced definition; absent for a builtin.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "lossy_path")]
    pub path: Option<PathBuf>,
    /// The source that wins.
    pub by: Source,
}

/// The error for an unknown name. The calling model reads the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct UnknownAgent {
    /// The requested name.
    pub name: String,
    /// All agents, in catalog order.
    pub available: Vec<String>,
    /// The agent with the most similar name.
    pub nearest: Option<String>,
    /// The reason why the agent with this name does not load, if its file exists.
    pub broken: Option<Box<Diagnostic>>,
}

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = quoted_within(&self.name, MAX_SHOWN_NAME_CHARS);
        if let Some(why) = &self.broken {
            let file = why.path.as_deref().unwrap_or(Path::new("")).display();
            let line = why.line.map(|line| format!(", line {line},")).unwrap_or_default();
            write!(f, "{name} in {file}{line} does not load: {}. ", why.message)?;
            return write!(f, "Available agents: {}", self.listed());
        }
        write!(f, "Unknown agent {name}. Available agents: {}", self.listed())?;
        match &self.nearest {
            Some(nearest) => write!(f, ". Did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl UnknownAgent {
    fn listed(&self) -> String {
        let listed =
            self.available.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
        match self.available.len().saturating_sub(MAX_LISTED) {
            0 => listed,
            more => format!("{listed} and {more} more"),
        }
    }
}

impl Catalog {
    /// Merges the files of all sources, ordered by source (lowest first), then by file name.
    pub(super) fn merge(files: Vec<Parsed>, mut diagnostics: Vec<Diagnostic>) -> Self {
        let mut agents: Vec<Arc<AgentDefinition>> = Vec::new();
        let mut shadowed = Vec::new();
        let mut broken = Vec::new();
        for file in files {
            if let Some(found) = Broken::of(&file) {
                // Otherwise a builtin, possibly with more rights, would run instead of the user's agent.
                let is_same = |agent: &Arc<AgentDefinition>| {
                    found.is_meant && agent.source < file.source && found.names.first() == Some(&agent.name)
                };
                shadowed.extend(agents.extract_if(.., |agent| is_same(agent)).map(|agent| Shadowed {
                    name: agent.name.clone(),
                    source: agent.source,
                    path: agent.path.clone(),
                    by: file.source,
                }));
                broken.push(found);
            }
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
        // The sort is stable, so that builtins keep their order.
        agents.sort_by(|a, b| {
            a.source.cmp(&b.source).then_with(|| match a.source {
                Source::Builtin => std::cmp::Ordering::Equal,
                Source::User | Source::Project | Source::Program => a.name.cmp(&b.name),
            })
        });
        // If three definitions share a name, the highest source hides both others.
        for entry in &mut shadowed {
            if let Some(agent) = agents.iter().find(|agent| agent.name == entry.name) {
                entry.by = agent.source;
            }
        }
        Self { agents, shadowed, diagnostics, broken }
    }

    /// Returns Claude Code's name for the same purpose as this agent.
    #[must_use]
    pub fn claude_name(agent: &str) -> Option<&'static str> {
        CLAUDE_NAMES.iter().find(|(_, own)| *own == agent).map(|(claude, _)| *claude)
    }

    /// Finds an agent by its name, ignoring blanks around it. A name with blanks inside must be a title, and finds the
    /// agent whose file states this title. A name of Claude Code that no agent has finds our agent for the same
    /// purpose.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such agent. The message lists the available agents and suggests the nearest
    /// name. If a file with that name exists but does not load, the message gives the reason.
    pub fn find(&self, name: &str) -> Result<Arc<AgentDefinition>, UnknownAgent> {
        let name = name.trim();
        let named = |name: &str| self.agents.iter().find(|agent| agent.name == name);
        let same = || CLAUDE_NAMES.iter().find(|(claude, _)| *claude == name).and_then(|(_, own)| named(own));
        let is_title = name.starts_with(char::is_alphanumeric) && name.contains(char::is_whitespace);
        let valid = if is_title { valid_name(name) } else { None };
        if let Some(agent) = named(name).or_else(same).or_else(|| named(valid.as_deref()?)) {
            return Ok(Arc::clone(agent));
        }
        let available: Vec<String> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        let nearest = nearest(name, available.iter().map(String::as_str)).map(str::to_owned);
        let is_named =
            |names: &[String]| names.iter().any(|known| known == name || Some(known) == valid.as_ref());
        // The last one has the nearest source.
        let broken = self
            .broken
            .iter()
            .rev()
            .find(|broken| is_named(&broken.names))
            .map(|found| Box::new(found.why.clone()));
        Err(UnknownAgent { name: name.to_owned(), available, nearest, broken })
    }
}

fn duplicate(agent: &AgentDefinition, first: &AgentDefinition) -> Diagnostic {
    let [path, first_path] = [agent, first].map(|agent| agent.path.as_deref());
    let is_in_same_dir = path.and_then(Path::parent) == first_path.and_then(Path::parent);
    let file =
        first_path.and_then(|path| if is_in_same_dir { path.file_name() } else { Some(path.as_os_str()) });
    let file = file.unwrap_or_default().to_string_lossy();
    let message = format!("agent `{}` is already defined in `{file}`; this file is ignored", agent.name);
    Diagnostic::new(NAME_DUPLICATE, message, path, Some(Position::START))
}
