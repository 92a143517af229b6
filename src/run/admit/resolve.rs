//! What the configuration, the agent and the parent session decide together about one child.

use std::path::Path;
use std::time::Duration;

use super::builtin;
use super::prepare::Prepared;
use super::sandbox::SandboxPlan;
use crate::agent::{Context, Source};
use crate::config::{self, Budget, InheritExtensions};
use crate::process::{Guardian, Limits, Sandbox, Supervision};
use crate::run::budget::meter::Allowance;
use crate::run::context::{Host, HostContext};
use crate::run::launch::files::RunFiles;
use crate::run::spec::Timeout;

/// Which extensions a child loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extensions {
    /// Those that pi would load by itself.
    All,
    /// These and no others.
    Only(Vec<String>),
}

impl Prepared {
    /// The child's model: the one asked for, its agent's own, the configured one, or that of the session that delegates.
    #[must_use]
    pub(in crate::run) fn model<'a>(&'a self, context: &'a HostContext) -> Option<&'a str> {
        let chosen = self.overrides.model.as_deref().or(self.agent.model.as_deref());
        chosen.or(self.config.model.as_deref()).or(context.host.model.as_deref())
    }

    /// Who serves that model, when it is known.
    #[must_use]
    pub(in crate::run) fn provider<'a>(&'a self, context: &'a HostContext) -> Option<&'a str> {
        self.model(context)?.split_once('/').map(|(provider, _)| provider)
    }

    /// The child's thinking level, chosen like its model.
    #[must_use]
    pub(in crate::run) fn thinking<'a>(&'a self, context: &'a HostContext) -> Option<&'a str> {
        let chosen = self.overrides.thinking.as_deref().or(self.agent.thinking.as_deref());
        chosen.or(self.config.thinking.as_deref()).or(context.host.thinking.as_deref())
    }

    /// The limit of the whole run.
    #[must_use]
    pub(in crate::run) fn timeout(&self) -> Option<Duration> {
        match self.overrides.timeout {
            Timeout::AsConfigured => self.limit(self.agent.timeout, self.config.timeout),
            Timeout::Never => self.agent.timeout,
            Timeout::After(limit) => Some(self.agent.timeout.map_or(limit, |own| own.min(limit))),
        }
    }

    /// What sets that limit, as whoever set it knows it.
    #[must_use]
    pub(in crate::run) fn timeout_setting(&self) -> &'static str {
        match self.overrides.timeout {
            Timeout::After(limit) if self.timeout() == Some(limit) => "runTimeoutSeconds",
            _ => "timeoutMs",
        }
    }

    /// The limit of silence while no tool runs.
    #[must_use]
    pub(in crate::run) fn idle_timeout(&self) -> Option<Duration> {
        self.limit(self.agent.idle_timeout, self.config.idle_timeout)
    }

    /// An agent's own limit wins; one that a project wrote can only be the smaller.
    fn limit<T: PartialOrd>(&self, own: Option<T>, configured: Option<T>) -> Option<T> {
        match (own, configured) {
            (Some(own), Some(configured)) if self.is_from_project() && configured < own => Some(configured),
            (own, configured) => own.or(configured),
        }
    }

    fn is_from_project(&self) -> bool {
        self.agent.source == Source::Project
    }

    /// Whether the child reads `AGENTS.md` and its kind. A project's agent cannot read what the user keeps from children.
    #[must_use]
    pub(in crate::run) fn reads_context(&self) -> bool {
        let configured = self.config.inherit_context == Context::Project;
        let own = self.agent.context.map(|context| context == Context::Project);
        self.grant(own, configured)
    }

    /// Whether the child sees skills. A project's agent cannot see what the user keeps from children.
    #[must_use]
    pub(in crate::run) fn sees_skills(&self) -> bool {
        self.grant(self.agent.skills, self.config.inherit_skills)
    }

    fn grant(&self, own: Option<bool>, configured: bool) -> bool {
        own.map_or(configured, |own| own && (configured || !self.is_from_project()))
    }

    /// The extensions that a child with these tools loads.
    ///
    /// `auto` takes those that provide one of its tools. The provider of a model cannot be traced to a file, so a model
    /// that comes from an extension brings all of them; those that pi brings along are not meant here. An agent that a project wrote chooses among those that its child
    /// would load anyway or that the user's configuration lists, because naming a file is running it.
    #[must_use]
    pub(in crate::run) fn extensions(&self, context: &HostContext, tools: &[String]) -> Extensions {
        let anchored = |files: &[String]| files.iter().map(|file| anchored(file, context)).collect();
        let configured = match &self.config.inherit_extensions {
            InheritExtensions::Only(list) => Extensions::Only(anchored(list)),
            InheritExtensions::All => Extensions::All,
            InheritExtensions::None => Extensions::Only(Vec::new()),
            InheritExtensions::Auto if self.model_from_extension(context) => Extensions::All,
            InheritExtensions::Auto => Extensions::Only(providers(context, tools)),
        };
        let Some(own) = self.agent.extensions.as_deref() else { return configured };
        let own: Vec<String> = anchored(own);
        if !self.is_from_project() {
            return Extensions::Only(own);
        }
        let allowed = match configured {
            Extensions::Only(list) => list,
            Extensions::All => providers(context, tools),
        };
        Extensions::Only(own.into_iter().filter(|file| allowed.contains(file)).collect())
    }

    /// Whether the child's model comes from an extension of the user's.
    fn model_from_extension(&self, context: &HostContext) -> bool {
        let Host { model, model_from_extension, extension_providers, .. } = &context.host;
        let is_hosts = *model_from_extension && self.model(context) == model.as_deref();
        let provider = self.provider(context).filter(|provider| !builtin::is_provider(provider));
        is_hosts || provider.is_some_and(|provider| extension_providers.iter().any(|known| known == provider))
    }

    /// How the child is held to reading.
    #[must_use]
    pub(in crate::run) fn sandbox(&self) -> SandboxPlan {
        SandboxPlan::of(&self.agent, &self.config, &self.capabilities)
    }

    /// Whether the child has an agent directory of its own, and what else goes with that.
    #[must_use]
    pub(in crate::run) fn needs_places(&self) -> bool {
        self.sandbox().is_held() || self.credentials.is_some()
    }

    /// What the run was promised and does not get here, which is a reason not to start.
    #[must_use]
    pub(in crate::run) fn lacks(&self) -> Option<String> {
        let launcher = self.agent.launcher.as_ref().or(self.config.launcher.as_ref());
        let elsewhere = |launcher: &String| {
            format!(
                "launcher: `{launcher}` was asked for and this release starts children on this machine only"
            )
        };
        self.sandbox().forbids().or_else(|| launcher.map(elsewhere))
    }

    /// The warden of the child, if there is one, and what it is told.
    #[must_use]
    pub(in crate::run) fn guardian(&self, files: &RunFiles) -> Option<Guardian> {
        let config::Limits { memory_bytes, processes, cpu_seconds, open_files } = self.config.limits;
        let sandbox = match self.sandbox() {
            SandboxPlan::Held { metadata, .. } => Some(Sandbox { writable: files.writable(), metadata }),
            SandboxPlan::Loose { .. } => None,
        };
        Some(Guardian {
            program: self.capabilities.warden()?.to_path_buf(),
            sandbox,
            limits: Limits { memory_bytes, processes, cpu_seconds, open_files },
            scratch: files.scratch(),
            unless_kept: files.unless_kept(),
            directory: Some(files.directory().to_path_buf()),
            pid_namespace: self.supervision() == Supervision::WardenNamespace,
            grace: self.config.grace,
        })
    }

    /// How far the end of the child's tree is certain.
    #[must_use]
    pub(in crate::run) fn supervision(&self) -> Supervision {
        self.capabilities.supervision(self.config.pid_namespace)
    }

    /// What the configuration asks for and this machine does not give, where that is no reason not to start.
    #[must_use]
    pub(in crate::run) fn degraded(&self) -> Vec<String> {
        let config::Limits { memory_bytes, processes, cpu_seconds, open_files } = self.config.limits;
        let is_limited = [memory_bytes, processes, cpu_seconds, open_files].iter().any(Option::is_some);
        let namespace = self.config.pid_namespace && self.supervision() != Supervision::WardenNamespace;
        let (abilities, mut lacks) = (self.capabilities.abilities(), Vec::new());
        if let Err(reason) = abilities
            && is_limited
        {
            lacks.push(format!("`limits` are not in force: {reason}"));
        }
        if namespace {
            let reason = abilities.map_or_else(Some, |abilities| abilities.pid_namespace.reason());
            lacks.push(format!("`pidNamespace` is not in force: {}", reason.unwrap_or_default()));
        }
        if self.credentials_withheld {
            let name = &self.agent.name;
            lacks.push(format!("`subagents/auth/{name}.json` is not used: the project wrote this agent"));
        }
        lacks
    }

    /// What the run may spend. An agent's own bound wins; one that a project wrote can only be the smaller.
    #[must_use]
    pub(in crate::run) fn allowance(&self) -> Allowance {
        let Budget { max_cost, max_tokens, max_turns } = self.config.budget;
        Allowance {
            max_cost: self.limit(self.agent.max_cost, max_cost),
            max_tokens,
            max_turns: self.limit(self.agent.max_turns.map(u64::from), max_turns),
        }
    }
}

/// An extension as a child in any directory finds it: a relative file would be the project's.
fn anchored(file: &str, context: &HostContext) -> String {
    let is_file = !file.contains(':') && !file.starts_with('~') && Path::new(file).is_relative();
    if is_file { context.agent_dir.join(file).to_string_lossy().into_owned() } else { file.to_owned() }
}

/// The extensions that provide these tools.
fn providers(context: &HostContext, tools: &[String]) -> Vec<String> {
    let host = context.host.tools.iter().flatten();
    let needed = host.filter(|tool| tools.contains(&tool.name)).filter_map(|tool| tool.extension.clone());
    let mut files: Vec<String> = needed.collect();
    files.sort();
    files.dedup();
    files
}
