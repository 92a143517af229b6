//! Everything that is decided before a child exists: whether it may, which agent, with which tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::capabilities::HostCapabilities;
use super::refusal::Refusal;
use super::sandbox::SandboxPlan;
use crate::agent::{
    AgentDefinition, Catalog, Consent, DEPTH, Depth, DiscoverOptions, MAX_DEPTH, NoToolsLeft, Source,
    ToolPlan, ToolPolicy, depth_from_env, discover, plan_tools,
};
use crate::config::{self, Config, ConfigPaths, LoadedConfig, NonInteractivePolicy, ProjectAgentPolicy};
use crate::run::callbacks::ConfirmRequest;
use crate::run::context::HostContext;
use crate::run::spec::{RunOverrides, RunSpec};
use crate::text::{Sanitizer, one_line};

/// What one line of a question may fill.
const QUESTION_CHARS: usize = 300;

/// What a run is allowed to be.
#[derive(Debug)]
pub(in crate::run) struct Prepared {
    /// The values in force.
    pub config: Config,
    /// The agent.
    pub agent: Arc<AgentDefinition>,
    /// How deep this process is, and how deep it may go.
    pub depth: Depth,
    /// What this machine can hold a child with.
    pub capabilities: HostCapabilities,
    /// What the run is asked for beyond that.
    pub overrides: RunOverrides,
    /// The agent's own credentials, where it has a file of them. What a project wrote gets none: the name may be that of
    /// an agent of the user's, for which they are meant.
    pub credentials: Option<PathBuf>,
    /// There are some and they are not for this agent.
    pub credentials_withheld: bool,
}

/// The configuration in force in a directory, with the caller's own values laid over it. What the project of the
/// conversation forbids stays forbidden elsewhere.
///
/// # Errors
///
/// When one of the caller's own values is not valid.
pub fn load_config(cwd: &Path, context: &HostContext) -> Result<LoadedConfig, Refusal> {
    let locate = |dir: &Path| ConfigPaths::locate(dir, &context.agent_dir, context.home.as_deref());
    let mut paths = locate(cwd);
    if let Some(session) = context.host.cwd.as_deref().filter(|session| *session != cwd) {
        paths = paths.and(locate(session));
    }
    let mut loaded = config::load(&paths);
    if let Some(object) = &context.config {
        loaded.config = config::overlay(&loaded.config, object)
            .map_err(|diagnostic| Refusal::InvalidConfig(diagnostic.to_string()))?;
    }
    Ok(loaded)
}

/// The agents that exist for a directory.
#[must_use]
pub fn find_agents(cwd: &Path, context: &HostContext) -> Catalog {
    let home = context.home.clone();
    discover(&DiscoverOptions { cwd: cwd.to_path_buf(), agent_dir: context.agent_dir.clone(), home })
}

impl Prepared {
    /// Decides whether a run may be. Reads files; starts nothing and asks nobody.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] for everything that ends a call before a child exists.
    pub(in crate::run) fn check(spec: &RunSpec, capabilities: HostCapabilities) -> Result<Self, Refusal> {
        let loaded = load_config(&spec.cwd, &spec.context)?;
        if let Some(broken) = &loaded.broken {
            return Err(Refusal::BrokenConfig(broken.to_string()));
        }
        let config = loaded.config;
        if !config.enabled {
            return Err(Refusal::Disabled);
        }
        let depth = depth_from_env(
            spec.context.var(DEPTH).as_deref(),
            spec.context.var(MAX_DEPTH).as_deref(),
            config.max_depth,
        )
        .map_err(Refusal::Depth)?;
        if spec.agent.trim().is_empty() {
            return Err(Refusal::Blank { parameter: "agent", expected: "it names the agent to run" });
        }
        if spec.task.trim().is_empty() {
            return Err(Refusal::Blank { parameter: "task", expected: "it says what the agent is to do" });
        }
        let agent = find_agents(&spec.cwd, &spec.context).find(&spec.agent)?;
        let credentials = credentials_of(&spec.context.agent_dir, &agent.name);
        let is_from_project = agent.source == Source::Project;
        let overrides = spec.overrides.clone();
        Ok(Self {
            config,
            agent,
            depth,
            capabilities,
            overrides,
            credentials_withheld: credentials.is_some() && is_from_project,
            credentials: credentials.filter(|_| !is_from_project),
        })
    }

    /// Whether a person has to allow the agent first; `None` when it may run as it is.
    ///
    /// # Errors
    ///
    /// When policy refuses it without asking.
    pub(in crate::run) fn question(
        &self,
        context: &HostContext,
        interactive: bool,
        sanitizer: &Sanitizer,
    ) -> Result<Option<ConfirmRequest>, Refusal> {
        if self.agent.source != Source::Project {
            return Ok(None);
        }
        let path = self.path();
        let denied = |setting| {
            Err(Refusal::ProjectPolicy { agent: self.agent.name.clone(), path: path.clone(), setting })
        };
        match self.config.project_agent_policy {
            ProjectAgentPolicy::Allow => Ok(None),
            ProjectAgentPolicy::Deny => denied("projectAgentPolicy"),
            ProjectAgentPolicy::Confirm if self.is_confirmed(context) => Ok(None),
            ProjectAgentPolicy::Confirm if interactive => Ok(Some(self.request(sanitizer))),
            ProjectAgentPolicy::Confirm
                if self.config.non_interactive_policy == NonInteractivePolicy::Allow =>
            {
                Ok(None)
            }
            ProjectAgentPolicy::Confirm => denied("nonInteractivePolicy"),
        }
    }

    fn is_confirmed(&self, context: &HostContext) -> bool {
        let consent = Consent::new(&context.agent_dir);
        self.agent.path.as_ref().is_some_and(|path| consent.is_confirmed(path, &self.agent.content_hash))
    }

    fn path(&self) -> String {
        self.agent.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The question, on which nothing that the project wrote can pass for our words: its parts stand on lines of their own.
    fn request(&self, sanitizer: &Sanitizer) -> ConfirmRequest {
        let AgentDefinition { name, description, readonly, .. } = &*self.agent;
        let line = |text: &str| sanitizer.sanitize(&one_line(text, QUESTION_CHARS)).into_string();
        let path = line(&self.path());
        let rights = if *readonly || !self.config.allow_write {
            "It can only read."
        } else {
            "It may change files and run programs."
        };
        ConfirmRequest {
            agent: name.clone(),
            title: format!("Run the project's agent {name}?"),
            message: format!(
                "file: {path}\nit says: {}\n\nThe project, not you, wrote its instructions. {rights} \
                 You will be asked again when the file changes.",
                line(description)
            ),
            path,
        }
    }

    /// Remembers that a person allowed this definition of the agent.
    ///
    /// # Errors
    ///
    /// When the answer cannot be written; it holds for this run all the same.
    pub(in crate::run) fn remember(&self, context: &HostContext) -> std::io::Result<()> {
        match &self.agent.path {
            Some(path) => Consent::new(&context.agent_dir).remember(path, &self.agent.content_hash),
            None => Ok(()),
        }
    }

    /// The refusal of a person.
    #[must_use]
    pub(in crate::run) fn refused(&self) -> Refusal {
        Refusal::ProjectRefused { agent: self.agent.name.clone(), path: self.path() }
    }

    /// The tools of the child.
    ///
    /// # Errors
    ///
    /// When the agent declares tools and this pi has none of them.
    pub(in crate::run) fn tools(&self, context: &HostContext) -> Result<ToolPlan, NoToolsLeft> {
        let plan = plan_for(&self.agent, &self.config, context, &self.capabilities)?;
        Ok(match &self.overrides.tools {
            Some(snapshot) => plan.at_most(snapshot),
            None => plan,
        })
    }

    /// The child's system prompt: its agent's, and what the agent cannot know of this run.
    #[must_use]
    pub(in crate::run) fn prompt(&self, plan: &ToolPlan) -> String {
        let own = self.agent.prompt.trim_end();
        match plan.note() {
            Some(note) => format!("{own}\n\n{note}\n"),
            None => format!("{own}\n"),
        }
    }
}

/// The file with an agent's own credentials, if there is anything of that name. Blocks.
#[cfg(unix)]
fn credentials_of(agent_dir: &Path, agent: &str) -> Option<PathBuf> {
    let path = crate::files::layout::credentials_of(agent_dir, agent);
    std::fs::symlink_metadata(&path).is_ok().then_some(path)
}

/// Nobody can be given an agent directory of his own here.
#[cfg(not(unix))]
fn credentials_of(_agent_dir: &Path, _agent: &str) -> Option<PathBuf> {
    None
}

/// The tools that a child of an agent would get.
///
/// # Errors
///
/// When the agent declares tools and this pi has none of them.
pub fn plan_for(
    agent: &AgentDefinition,
    config: &Config,
    context: &HostContext,
    capabilities: &HostCapabilities,
) -> Result<ToolPlan, NoToolsLeft> {
    let available: Option<BTreeSet<String>> =
        context.host.tools.as_ref().map(|tools| tools.iter().map(|tool| tool.name.clone()).collect());
    let policy = ToolPolicy {
        allow_write: config.allow_write,
        allow_lsp: config.allow_lsp_tools,
        sandboxed: SandboxPlan::of(agent, config, capabilities).is_held(),
        deny: config.tools.deny.clone(),
        allow: config.tools.allow.clone(),
    };
    plan_tools(agent, &policy, available.as_ref())
}
