//! What the configuration, the agent and the parent session decide together about one child.

use std::path::Path;
use std::time::Duration;

use super::prepare::Prepared;
use super::result::SandboxReport;
use super::spec::World;
use crate::agent::{Context, Source, ToolPlan};
use crate::config::{InheritContext, InheritExtensions, SandboxMode};

/// Which extensions a child loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extensions {
    /// Those that pi would load by itself.
    All,
    /// These and no others.
    Only(Vec<String>),
}

impl Prepared {
    /// The child's model: its agent's own, the configured one, or that of the session that delegates.
    #[must_use]
    pub(super) fn model<'a>(&'a self, world: &'a World) -> Option<&'a str> {
        self.agent.model.as_deref().or(self.config.model.as_deref()).or(world.host.model.as_deref())
    }

    /// The child's thinking level, chosen like its model.
    #[must_use]
    pub(super) fn thinking<'a>(&'a self, world: &'a World) -> Option<&'a str> {
        self.agent.thinking.as_deref().or(self.config.thinking.as_deref()).or(world.host.thinking.as_deref())
    }

    /// The limit of the whole run.
    #[must_use]
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.limit(self.agent.timeout, self.config.timeout)
    }

    /// The limit of silence while no tool runs.
    #[must_use]
    pub(super) fn idle_timeout(&self) -> Option<Duration> {
        self.limit(self.agent.idle_timeout, self.config.idle_timeout)
    }

    /// An agent's own limit wins; one that a project wrote can only be the smaller.
    fn limit(&self, own: Option<Duration>, configured: Option<Duration>) -> Option<Duration> {
        match (own, configured) {
            (Some(own), Some(configured)) if self.is_from_project() => Some(own.min(configured)),
            (own, configured) => own.or(configured),
        }
    }

    fn is_from_project(&self) -> bool {
        self.agent.source == Source::Project
    }

    /// Whether the child reads `AGENTS.md` and its kind. A project's agent cannot read what the user keeps from children.
    #[must_use]
    pub(super) fn reads_context(&self) -> bool {
        let configured = self.config.inherit_context == InheritContext::Project;
        let own = self.agent.context.map(|context| context == Context::Project);
        self.grant(own, configured)
    }

    /// Whether the child sees skills. A project's agent cannot see what the user keeps from children.
    #[must_use]
    pub(super) fn sees_skills(&self) -> bool {
        self.grant(self.agent.skills, self.config.inherit_skills)
    }

    fn grant(&self, own: Option<bool>, configured: bool) -> bool {
        own.map_or(configured, |own| own && (configured || !self.is_from_project()))
    }

    /// The extensions that a child with these tools loads.
    ///
    /// `auto` takes those that provide one of its tools. The provider of a model cannot be traced to a file, so a model
    /// that comes from an extension brings all of them. An agent that a project wrote chooses among those that its child
    /// would load anyway or that the user's configuration lists, because naming a file is running it.
    #[must_use]
    pub(super) fn extensions(&self, world: &World, tools: &[String]) -> Extensions {
        let anchored = |files: &[String]| files.iter().map(|file| anchored(file, world)).collect();
        let configured = match &self.config.inherit_extensions {
            InheritExtensions::Only(list) => Extensions::Only(anchored(list)),
            InheritExtensions::All => Extensions::All,
            InheritExtensions::None => Extensions::Only(Vec::new()),
            InheritExtensions::Auto if self.model_from_extension(world) => Extensions::All,
            InheritExtensions::Auto => Extensions::Only(providers(world, tools)),
        };
        let Some(own) = self.agent.extensions.as_deref() else { return configured };
        let own: Vec<String> = anchored(own);
        if !self.is_from_project() {
            return Extensions::Only(own);
        }
        let allowed = match configured {
            Extensions::Only(list) => list,
            Extensions::All => providers(world, tools),
        };
        Extensions::Only(own.into_iter().filter(|file| allowed.contains(file)).collect())
    }

    /// Whether the child's model is the parent's and comes from an extension there.
    fn model_from_extension(&self, world: &World) -> bool {
        world.host.model_from_extension && self.model(world) == world.host.model.as_deref()
    }

    /// How the child is held to reading: not by the kernel, in this release.
    #[must_use]
    pub(super) fn sandbox(&self, plan: &ToolPlan) -> Option<SandboxReport> {
        let reason = if plan.dropped.iter().any(|dropped| dropped.tool == "bash") {
            "this release has no read-only sandbox, so `bash` was dropped"
        } else {
            "this release has no read-only sandbox; the child has no tool that writes"
        };
        let report =
            || SandboxReport { enforced: false, mechanism: Vec::new(), reason: Some(reason.to_owned()) };
        self.agent.readonly.then(report)
    }

    /// What the run was promised and this release does not have, which is a reason not to start. An agent can ask for
    /// isolation, not waive it.
    #[must_use]
    pub(super) fn lacks(&self) -> Option<String> {
        let own = self.agent.sandbox.as_deref().and_then(SandboxMode::named).unwrap_or(SandboxMode::Off);
        if self.agent.readonly && own.max(self.config.sandbox.mode) == SandboxMode::Required {
            return Some("sandbox: it is `required` and this release has none".to_owned());
        }
        let launcher = self.agent.launcher.as_ref().or(self.config.launcher.as_ref())?;
        Some(format!(
            "launcher: `{launcher}` was asked for and this release starts children on this machine only"
        ))
    }

    /// The fields of the agent that this release knows and does not heed.
    #[must_use]
    pub(super) fn without_effect(&self) -> Vec<String> {
        let known =
            [("maxTurns", self.agent.max_turns.is_some()), ("maxCost", self.agent.max_cost.is_some())];
        let set = known.into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(field, _)| format!("the agent's `{field}` is not in force in this release")).collect()
    }
}

/// An extension as a child in any directory finds it: a relative file would be the project's.
fn anchored(file: &str, world: &World) -> String {
    let is_file = !file.contains(':') && !file.starts_with('~') && Path::new(file).is_relative();
    if is_file { world.agent_dir.join(file).to_string_lossy().into_owned() } else { file.to_owned() }
}

/// The extensions that provide these tools.
fn providers(world: &World, tools: &[String]) -> Vec<String> {
    let host = world.host.tools.iter().flatten();
    let needed = host.filter(|tool| tools.contains(&tool.name)).filter_map(|tool| tool.extension.clone());
    let mut files: Vec<String> = needed.collect();
    files.sort();
    files.dedup();
    files
}
