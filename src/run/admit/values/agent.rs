//! Combines the values that apply to an agent: its file, the settings of users and projects, the configuration, and
//! the session.
//!
//! The user's settings for one agent override those for all agents, and both override the agent file. A project's
//! settings can only tighten.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use crate::run::context::{Host, HostContext};
use crate::run::sandbox::hidden::{below_home, unreadable};
use crate::run::spec::RunOverrides;
use agents::config::{ALL, AgentBounds, AgentSettings, Config};
use agents::{
    AgentDefinition, AgentDirs, Catalog, Context, Isolation, Skills, Source, THINKING_LEVELS, discover,
};

/// Cancels the value of the agent file, so that the configuration or the session counts.
const INHERIT: &str = "inherit";

static DEFAULTS: LazyLock<Config> = LazyLock::new(Config::default);

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// The parameters of the call.
    Call,
    /// The user's settings for one agent or for all agents: `agents.NAME`.
    Settings(String),
    /// A project's file, which made the value stricter.
    Project,
    /// The agent file.
    AgentFile,
    /// A key of the configuration.
    Config(&'static str),
    /// The session that delegates.
    Session,
    /// The built-in default, because no source sets the value.
    Default,
}

impl fmt::Display for ValueSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call => f.write_str("this call"),
            Self::Settings(key) => write!(f, "`{key}`"),
            Self::Project => f.write_str("the project"),
            Self::AgentFile => f.write_str("the agent file"),
            Self::Config(key) => write!(f, "`{key}`"),
            Self::Session => f.write_str("the session"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// The source of the value.
    pub source: ValueSource,
}

impl<T> Sourced<T> {
    pub(super) fn new(value: T, source: ValueSource) -> Self {
        Self { value, source }
    }
}

/// The values that apply to an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentValues {
    /// The model, as it is passed to pi, without a thinking level.
    pub model: Sourced<Option<String>>,
    /// The models for a run whose `model` is an alias that cannot be used here: the configuration's and the session's.
    pub other_models: Vec<Sourced<Option<String>>>,
    /// The thinking level.
    pub thinking: Sourced<Option<String>>,
    /// The time limit of the whole run.
    pub timeout: Sourced<Option<Duration>>,
    /// The time limit without the one from the configuration. It applies to runs in the background.
    pub own_timeout: Option<Duration>,
    /// The limit on silence.
    pub idle_timeout: Sourced<Option<Duration>>,
    /// The limit on assistant messages.
    pub max_turns: Sourced<Option<u64>>,
    /// The cost limit in USD.
    pub max_cost: Sourced<Option<f64>>,
    /// The number of equal tool calls after which the run ends.
    pub loop_stop_after: Sourced<Option<u64>>,
    /// True if the child reads context files.
    pub reads_context: Sourced<bool>,
    /// The tree in which the child works, if it may write.
    pub isolation: Sourced<Isolation>,
    /// The skills that the child sees.
    pub skills: Sourced<Skills>,
    /// The requested tools; `None` if no source names any.
    pub tools: Sourced<Option<Vec<String>>>,
    /// Upper bounds: the child only gets tools that are in each of these lists.
    pub tool_bounds: Vec<Vec<String>>,
    /// The command that checks the child's work. A project's files cannot set it for a user's agent.
    pub check: Sourced<Option<String>>,
    /// The command that prepares the private tree. A project's files cannot set it for a user's agent either.
    pub setup: Sourced<Option<String>>,
    /// The source that switches the agent off, if one does.
    pub disabled: Option<ValueSource>,
}

impl AgentValues {
    /// Combines the values of an agent for a call.
    #[must_use]
    pub fn of(agent: &AgentDefinition, config: &Config, host: &Host, call: &RunOverrides) -> Self {
        let layers = Layers::of(agent, config);
        let is_from_project = agent.source == Source::Project;
        let (model, thinking) = layers.model(agent, config, host, call);
        let (timeout, own_timeout) = layers.limit(
            |bounds| bounds.timeout_ms.map(Duration::from_millis),
            agent.timeout,
            (config.timeout, "timeoutMs", DEFAULTS.timeout),
        );
        let (idle_timeout, _) = layers.limit(
            |bounds| bounds.idle_timeout_ms.map(Duration::from_millis),
            agent.idle_timeout,
            (config.idle_timeout, "idleTimeoutMs", DEFAULTS.idle_timeout),
        );
        let (max_turns, _) = layers.limit(
            |bounds| bounds.max_turns,
            agent.max_turns.map(u64::from),
            (config.budget.max_turns, "budget.maxTurns", None),
        );
        let (max_cost, _) = layers.limit(
            |bounds| bounds.max_cost,
            agent.max_cost,
            (config.budget.max_cost, "budget.maxCost", None),
        );
        let (loop_stop_after, _) = layers.limit(
            |bounds| bounds.loop_stop_after,
            agent.loop_stop_after.map(u64::from),
            (config.loops.stop_after, "loop.stopAfter", DEFAULTS.loops.stop_after),
        );
        let tools = layers.user(|settings| settings.bounds.tools.clone());
        let mut tool_bounds: Vec<Vec<String>> =
            layers.bounds().filter_map(|bounds| bounds.tools.clone()).collect();
        let tools = match tools {
            // The user meant an agent of their own, but a project has an agent with the same name.
            Some(tools) if is_from_project => {
                tool_bounds.push(tools.value);
                Sourced::new(agent.tools.clone(), tools.source)
            }
            Some(tools) => Sourced::new(Some(tools.value), tools.source),
            None if !tool_bounds.is_empty() => Sourced::new(agent.tools.clone(), ValueSource::Project),
            None if agent.tools.is_some() => Sourced::new(agent.tools.clone(), ValueSource::AgentFile),
            None => Sourced::new(None, ValueSource::Default),
        };
        Self {
            other_models: other_models(&model.source, config, host),
            model,
            thinking,
            timeout,
            own_timeout,
            idle_timeout,
            max_turns,
            max_cost,
            loop_stop_after,
            reads_context: layers.reads_context(agent, config),
            isolation: layers.isolation(agent),
            skills: layers.skills(agent, config),
            tools,
            tool_bounds,
            check: layers.command(|settings| settings.check.clone(), agent.check.as_ref()),
            setup: layers.command(|settings| settings.setup.clone(), agent.setup.as_ref()),
            disabled: layers.disabled(),
        }
    }

    /// Returns the agent with the tools that it requests after all settings are applied.
    #[must_use]
    pub fn declared(&self, agent: &AgentDefinition) -> AgentDefinition {
        AgentDefinition { tools: self.tools.value.clone(), ..agent.clone() }
    }
}

/// The settings that apply to an agent with their keys, the most specific first.
struct Layers<'a> {
    settings: Vec<(String, &'a AgentSettings)>,
    is_from_project: bool,
}

impl<'a> Layers<'a> {
    fn of(agent: &AgentDefinition, config: &'a Config) -> Self {
        let own = config.agents.get_key_value(&agent.name).or_else(|| {
            let claude_name = Catalog::claude_name(&agent.name)?;
            config.agents.get_key_value(claude_name)
        });
        let layers = own.into_iter().chain(config.agents.get_key_value(ALL));
        let settings = layers.map(|(name, settings)| (format!("agents.{name}"), settings)).collect();
        Self { settings, is_from_project: agent.source == Source::Project }
    }

    /// Returns the user's value from the most specific settings.
    fn user<T>(&self, value: impl Fn(&AgentSettings) -> Option<T>) -> Option<Sourced<T>> {
        let stated = |(key, settings): &(String, &AgentSettings)| {
            value(settings).map(|value| Sourced::new(value, ValueSource::Settings(key.clone())))
        };
        self.settings.iter().find_map(stated)
    }

    /// Returns the restrictions of projects.
    fn bounds(&self) -> impl Iterator<Item = &AgentBounds> {
        self.settings.iter().map(|(_, settings)| &settings.project)
    }

    /// Returns a limit, with and without the one from the configuration. `configured` is the configuration's value,
    /// its key and its default.
    fn limit<T: PartialOrd + Copy + Default>(
        &self,
        value: impl Fn(&AgentBounds) -> Option<T>,
        of_file: Option<T>,
        (configured, key, default): (Option<T>, &'static str, Option<T>),
    ) -> (Sourced<Option<T>>, Option<T>) {
        let stricter = |one: Option<T>, other: Option<T>| match (one, other) {
            (Some(one), Some(other)) if other < one => Some(other),
            (one, other) => one.or(other),
        };
        let of_config = if configured == default { ValueSource::Default } else { ValueSource::Config(key) };
        let own = match self.user(|settings| value(&settings.bounds)) {
            Some(Sourced { value, source }) => {
                // 0 cancels the limit of the agent file.
                Sourced::new(Some(value).filter(|value| *value > T::default()), source)
            }
            None => Sourced::new(of_file, ValueSource::AgentFile),
        };
        let mut found = match own.value {
            Some(_) if self.is_from_project && stricter(own.value, configured) != own.value => {
                Sourced::new(configured, of_config)
            }
            Some(_) => own.clone(),
            None => Sourced::new(configured, of_config),
        };
        let bound = self.bounds().map(value).fold(None, stricter);
        let bounded = stricter(found.value, bound);
        if bounded != found.value {
            found = Sourced::new(bounded, ValueSource::Project);
        }
        (found, stricter(own.value, bound))
    }

    /// Returns the model and the thinking level. A level after the model's name, as in `sonnet:high`, has the same
    /// source as the model.
    fn model(
        &self,
        agent: &AgentDefinition,
        config: &Config,
        host: &Host,
        call: &RunOverrides,
    ) -> (Sourced<Option<String>>, Sourced<Option<String>>) {
        let model = self.first_stated(
            call.model.as_ref(),
            |settings| settings.model.clone(),
            agent.model.as_ref(),
            (config.model.as_ref(), "model"),
            host.model.as_ref(),
        );
        let thinking = self.first_stated(
            call.thinking.as_ref(),
            |settings| settings.thinking.clone(),
            agent.thinking.as_ref(),
            (config.thinking.as_ref(), "thinking"),
            host.thinking.as_ref(),
        );
        let (model_rank, model, suffix) = match model {
            Some((rank, (Some(model), source))) => {
                let (name, suffix) = split_thinking(&model);
                (rank, Sourced::new(Some(name.to_owned()), source), suffix.map(str::to_owned))
            }
            _ => (usize::MAX, Sourced::new(None, ValueSource::Default), None),
        };
        let thinking = match (thinking, suffix) {
            (Some((rank, (level, source))), suffix) if suffix.is_none() || rank <= model_rank => {
                Sourced::new(level, source)
            }
            (_, Some(suffix)) => Sourced::new(Some(suffix), model.source.clone()),
            _ => Sourced::new(None, ValueSource::Default),
        };
        (model, thinking)
    }

    /// Returns the first value that a source states, with its rank among the sources. The call ranks first, then the
    /// user's settings, the agent file, the configuration and the session.
    fn first_stated(
        &self,
        of_call: Option<&String>,
        of_settings: fn(&AgentSettings) -> Option<String>,
        of_file: Option<&String>,
        (of_config, key): (Option<&String>, &'static str),
        of_session: Option<&String>,
    ) -> Option<(usize, (Option<String>, ValueSource))> {
        let mut ranks = vec![(of_call.cloned(), ValueSource::Call)];
        let of_user = |(key, settings): &(String, &AgentSettings)| {
            (of_settings(settings), ValueSource::Settings(key.clone()))
        };
        ranks.extend(self.settings.iter().map(of_user));
        // `inherit` hides the agent file and all less specific settings.
        let inherits = ranks.iter().position(|(value, _)| value.as_deref() == Some(INHERIT));
        match inherits {
            Some(rank) => ranks.truncate(rank),
            None => ranks.push((of_file.cloned(), ValueSource::AgentFile)),
        }
        while ranks.len() < self.settings.len() + 2 {
            ranks.push((None, ValueSource::Default));
        }
        ranks.push((of_config.cloned(), ValueSource::Config(key)));
        ranks.push((of_session.cloned(), ValueSource::Session));
        let rank = ranks.iter().position(|(value, _)| value.is_some());
        rank.map(|rank| (rank, ranks.swap_remove(rank)))
    }

    fn reads_context(&self, agent: &AgentDefinition, config: &Config) -> Sourced<bool> {
        let configured = config.inherit_context == Context::Project;
        let of_config = if configured { ValueSource::Default } else { ValueSource::Config("inheritContext") };
        let found = match (self.user(|settings| settings.bounds.context), agent.context) {
            (Some(Sourced { value, source }), _) => Sourced::new(value == Context::Project, source),
            (None, Some(Context::Project)) if self.is_from_project && !configured => {
                Sourced::new(false, of_config)
            }
            (None, Some(own)) => Sourced::new(own == Context::Project, ValueSource::AgentFile),
            (None, None) => Sourced::new(configured, of_config),
        };
        let is_refused = self.bounds().any(|bounds| bounds.context == Some(Context::None));
        if found.value && is_refused { Sourced::new(false, ValueSource::Project) } else { found }
    }

    /// Returns a shell command from the user's settings, else from the agent file. A project's settings cannot name
    /// one.
    fn command(
        &self,
        of_settings: impl Fn(&AgentSettings) -> Option<String>,
        of_file: Option<&String>,
    ) -> Sourced<Option<String>> {
        match (self.user(of_settings), of_file) {
            (Some(Sourced { value, source }), _) => Sourced::new(Some(value), source),
            (None, Some(own)) => Sourced::new(Some(own.clone()), ValueSource::AgentFile),
            (None, None) => Sourced::new(None, ValueSource::Default),
        }
    }

    fn isolation(&self, agent: &AgentDefinition) -> Sourced<Isolation> {
        let of_file = agent.isolation.map(|own| Sourced::new(own, ValueSource::AgentFile));
        let found = self.user(|settings| settings.bounds.isolation).or(of_file);
        let found = found.unwrap_or(Sourced::new(Isolation::None, ValueSource::Default));
        match self.bounds().filter_map(|bounds| bounds.isolation).max() {
            Some(asked) if asked > found.value => Sourced::new(asked, ValueSource::Project),
            _ => found,
        }
    }

    fn skills(&self, agent: &AgentDefinition, config: &Config) -> Sourced<Skills> {
        let configured = config.inherit_skills;
        let of_config = if configured { ValueSource::Config("inheritSkills") } else { ValueSource::Default };
        let found = match (self.user(|settings| settings.bounds.skills.clone()), &agent.skills) {
            (Some(found), _) => found,
            // A project's agent may see all skills that the user lets every child see.
            (None, Some(own)) if *own == Skills::All(false) || configured || !self.is_from_project => {
                Sourced::new(own.clone(), ValueSource::AgentFile)
            }
            (None, _) => Sourced::new(Skills::All(configured), of_config),
        };
        let bounded =
            self.bounds().filter_map(|bounds| bounds.skills.clone()).fold(found.value.clone(), common);
        if bounded == found.value { found } else { Sourced::new(bounded, ValueSource::Project) }
    }

    fn disabled(&self) -> Option<ValueSource> {
        if self.bounds().any(|bounds| bounds.enabled == Some(false)) {
            return Some(ValueSource::Project);
        }
        let Sourced { value, source } = self.user(|settings| settings.bounds.enabled)?;
        (!value).then_some(source)
    }
}

/// Returns the models that apply without the source of an unusable one.
fn other_models(unusable: &ValueSource, config: &Config, host: &Host) -> Vec<Sourced<Option<String>>> {
    let named = |model: &Option<String>| model.as_deref().map(|model| split_thinking(model).0.to_owned());
    let of_config = Sourced::new(named(&config.model), ValueSource::Config("model"));
    let is_other = |other: &Sourced<Option<String>>| other.value.is_some() && other.source != *unusable;
    let of_session = Sourced::new(named(&host.model), ValueSource::Session);
    [of_config, of_session].into_iter().filter(is_other).collect()
}

/// Returns the skills that both values allow.
fn common(one: Skills, other: Skills) -> Skills {
    match (one, other) {
        (Skills::All(true), skills) | (skills, Skills::All(true)) => skills,
        (Skills::All(false), _) | (_, Skills::All(false)) => Skills::All(false),
        (Skills::Named(one), Skills::Named(other)) => {
            Skills::Named(one.into_iter().filter(|name| other.contains(name)).collect())
        }
    }
}

/// Splits a model's name and the thinking level after it, by pi's rules.
fn split_thinking(model: &str) -> (&str, Option<&str>) {
    match model.rsplit_once(':') {
        Some((name, level)) if !name.is_empty() && THINKING_LEVELS.contains(&level) => (name, Some(level)),
        _ => (model, None),
    }
}

/// Finds the agents of a directory. Blocks.
#[must_use]
pub fn find_agents(cwd: &Path, context: &HostContext, config: &Config) -> Catalog {
    let home = context.home.as_deref();
    let user: Vec<_> = config.agent_dirs.iter().filter_map(|dir| below_home(dir, home)).collect();
    let hidden = unreadable(config, context);
    let more = AgentDirs {
        user: &user,
        project: &config.project_agent_dirs,
        hidden: &hidden,
        program: &context.host.agents,
    };
    discover(cwd, &context.agent_dir, home, more)
}
