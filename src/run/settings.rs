//! What the configuration, the agent and the parent session decide together about one child.

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

    /// Whether the child reads `AGENTS.md` and its kind.
    #[must_use]
    pub(super) fn reads_context(&self) -> bool {
        match self.agent.context {
            Some(context) => context == Context::Project,
            None => self.config.inherit_context == InheritContext::Project,
        }
    }

    /// Whether the child sees skills.
    #[must_use]
    pub(super) fn sees_skills(&self) -> bool {
        self.agent.skills.unwrap_or(self.config.inherit_skills)
    }

    /// The extensions that a child with these tools loads.
    ///
    /// `auto` takes those that provide one of its tools. The provider of a model cannot be traced to a file, so a model
    /// that comes from an extension brings all of them. An agent that a project wrote chooses among those that the
    /// user's configuration lists, because naming a file is running it.
    #[must_use]
    pub(super) fn extensions(&self, world: &World, tools: &[String]) -> Extensions {
        let configured = &self.config.inherit_extensions;
        match (self.agent.extensions.as_deref(), configured) {
            (Some(own), InheritExtensions::Only(allowed)) if self.is_from_project() => {
                Extensions::Only(own.iter().filter(|file| allowed.contains(file)).cloned().collect())
            }
            (Some(own), _) if !self.is_from_project() => Extensions::Only(own.to_vec()),
            (_, InheritExtensions::Only(list)) => Extensions::Only(list.clone()),
            (_, InheritExtensions::All) => Extensions::All,
            (_, InheritExtensions::None) => Extensions::Only(Vec::new()),
            (_, InheritExtensions::Auto) if self.model_from_extension(world) => Extensions::All,
            (_, InheritExtensions::Auto) => Extensions::Only(providers(world, tools)),
        }
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

    /// Whether the run is refused because the kernel cannot hold it to reading. An agent can ask for that, not waive it.
    #[must_use]
    pub(super) fn needs_sandbox(&self) -> bool {
        let own = self.agent.sandbox.as_deref().and_then(SandboxMode::named).unwrap_or(SandboxMode::Off);
        self.agent.readonly && own.max(self.config.sandbox.mode) == SandboxMode::Required
    }
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
