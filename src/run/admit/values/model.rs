//! Checks that the hosting pi knows the requested model, and has a login for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;

use super::agent::{AgentValues, Sourced, ValueSource};
use crate::run::admit::permission_hooks::may_provide_model;
use crate::run::blocking::blocking;
use crate::run::callbacks::{HostCallbacks, HostModel};
use crate::run::context::HostContext;
use crate::run::launcher::launcher_of;
use agents::AgentDefinition;
use agents::config::{Config, InheritExtensions};
use sanitizer::{nearest, quoted_path, suggestion};

/// The time limit for looking up a model in pi. It usually takes a millisecond. Without an answer, the child finds out
/// itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of remembered answers of hosts.
const MAX_REMEMBERED: usize = 256;

/// The newest answers of hosts about models, by the agent directory and the requested name. A child that boots before its
/// call has arrived has no host to ask.
static ANSWERS: Mutex<BTreeMap<(PathBuf, String), Option<HostModel>>> = Mutex::new(BTreeMap::new());

/// The reason why a child with this model would end at once. Each message ends with the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableModel {
    /// pi knows no such model, or several.
    #[error("{why}: {remedy}")]
    Unknown {
        /// pi's explanation.
        why: String,
        /// The next step.
        remedy: String,
        /// Another next step, at the source of the model.
        alternative: String,
        /// True if there are several such models.
        is_ambiguous: bool,
    },
    /// pi has no login for the model's provider.
    #[error("model `{asked}` has no login: run {remedy}")]
    NoLogin {
        /// The model's name as requested.
        asked: String,
        /// The next step.
        remedy: String,
        /// Other next steps.
        alternative: String,
    },
    /// An extension of the hosting pi provides the model, and the child would not load this extension.
    #[error("model `{model}` comes from an extension, and {why}, or {remedy}")]
    NotLoaded {
        /// `provider/id`.
        model: String,
        /// The reason, with advice.
        why: String,
        /// Another next step.
        remedy: String,
    },
    /// The hosting pi has the provider's key in memory only, and cannot pass it to a child.
    #[error(
        "the key for `{provider}` was given to this pi with `--api-key`, which children on this system cannot get: log in with \
         `/login {provider}`, or set the variable of the provider before you start pi"
    )]
    KeyStays {
        /// The provider.
        provider: String,
    },
}

/// The model that a child gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChosenModel {
    /// The name that is passed to pi, with its source.
    pub model: Sourced<Option<String>>,
    /// The hosting pi's name for it, `provider/id`, if pi has answered.
    pub full_name: Option<String>,
    /// The reason why it is not the model that the agent asks for.
    pub note: Option<String>,
}

/// The facts that decide whether the children of an agent can use a model.
pub(crate) struct ModelCheck<'a> {
    pub agent: &'a AgentDefinition,
    pub config: &'a Config,
    pub context: &'a HostContext,
    /// The user's permission hooks that the child loads.
    pub permission_hooks: &'a [String],
    /// True if the agent has its own credentials.
    pub has_own_login: bool,
    pub callbacks: &'a dyn HostCallbacks,
}

impl ModelCheck<'_> {
    /// Returns the model of a run. An alias that the hosting pi cannot resolve, or has no login for, gives way to the
    /// model that applies without it. pi is not asked about the session's own model, nor if another pi starts the child.
    ///
    /// # Errors
    ///
    /// Fails if the child could not use the model.
    pub(crate) async fn usable(&self, values: &AgentValues) -> Result<ChosenModel, UnusableModel> {
        let mut note = None;
        let mut asked = &values.model;
        let mut others = values.other_models.iter();
        loop {
            let unusable = match self.full_name(asked).await {
                Ok(full_name) => return Ok(ChosenModel { model: asked.clone(), full_name, note }),
                Err(unusable) => unusable,
            };
            let Some(reason) = unusable.reason().filter(|_| is_alias(asked)) else { return Err(unusable) };
            let other = others.next();
            let instead = match other {
                Some(Sourced { value: Some(model), .. }) => format!("`{model}`"),
                _ => "pi's default model".to_owned(),
            };
            let Sourced { value, source } = asked;
            let name = value.as_deref().unwrap_or_default();
            let set_by = match source {
                ValueSource::AgentFile => String::new(),
                source => format!(" (from {source})"),
            };
            note = Some(format!("model `{name}`{set_by} {reason} here, so {instead} is used"));
            let Some(other) = other else {
                let model = Sourced::new(None, ValueSource::Default);
                return Ok(ChosenModel { model, full_name: None, note });
            };
            asked = other;
        }
    }

    /// Returns a model as `provider/id`, if the hosting pi resolves it.
    async fn full_name(&self, asked: &Sourced<Option<String>>) -> Result<Option<String>, UnusableModel> {
        let Self { agent, config, context: HostContext { host, .. }, .. } = self;
        let Sourced { value: Some(asked), source } = asked else { return Ok(None) };
        let found = if starts_another_pi(agent, config) || host.model.as_ref() == Some(asked) {
            None
        } else {
            self.found(asked, source).await?
        };
        if launcher_of(agent, config).remote_name().is_none() {
            let model = found.as_ref().unwrap_or(asked);
            if let Some(why) = self.not_loaded(model).await {
                let remedy = self.without(source);
                return Err(UnusableModel::NotLoaded { model: model.clone(), why, remedy });
            }
            self.check_key(model)?;
        }
        Ok(found)
    }

    /// Returns the hosting pi's name for the model, if pi answers.
    async fn found(&self, asked: &str, source: &ValueSource) -> Result<Option<String>, UnusableModel> {
        let answer = look_up(asked, self.callbacks).await;
        // An early child only has remembered answers.
        if self.callbacks.is_reachable() {
            remember(&self.context.agent_dir, asked, answer.as_ref());
        }
        let Some(found) = answer else { return Ok(None) };
        tracing::debug!(
            target: "run", asked, model = found.model, has_login = found.has_login,
            "pi looked up the model"
        );
        let Some(model) = found.model.clone() else {
            let remedy = match (found.nearest(asked), source) {
                (Some(meant), _) => format!("did you mean `{meant}`?"),
                (None, ValueSource::Call) => "name another model".to_owned(),
                (None, _) => "`/model` lists the models".to_owned(),
            };
            let alternative = format!("or {}", self.without(source));
            let why = found.problem(asked);
            // pi has no other sign for it.
            let is_ambiguous = why.contains("is ambiguous");
            return Err(UnusableModel::Unknown { why, remedy, alternative, is_ambiguous });
        };
        // The configuration may give the child a key that the hosting pi does not have.
        let is_key = |name: &String| found.variables.is_empty() || found.variables.contains(name);
        if !found.has_login && !self.has_own_login && !self.config.env.keys().any(is_key) {
            // An alias leads to a provider that the user may not know.
            let login = match asked.split_once('/') {
                Some(_) => format!("`/login {}`", provider_of(&model)),
                None => "`/login`".to_owned(),
            };
            let remedy = match source {
                ValueSource::Call => format!("{login}, or name another model"),
                _ => login,
            };
            let set = (!found.variables.is_empty()).then(|| format!("set {}", found.variables.join(" or ")));
            let others: Vec<String> = set.into_iter().chain([self.without(source)]).collect();
            let alternative = format!("or {}", others.join(", or "));
            return Err(UnusableModel::NoLogin { asked: asked.to_owned(), remedy, alternative });
        }
        Ok(Some(model))
    }

    /// Returns advice for continuing without the model of this source.
    fn without(&self, from: &ValueSource) -> String {
        match (from, &self.agent.path) {
            (ValueSource::Call, _) => "name another model".to_owned(),
            (ValueSource::Settings(key), _) => format!("remove `{key}.model` from your configuration"),
            (ValueSource::AgentFile, Some(path)) => {
                format!("remove `model` from {}", quoted_path(&path.to_string_lossy()))
            }
            (ValueSource::Session, _) => "choose another model with `/model`".to_owned(),
            _ => "remove `model` from your configuration".to_owned(),
        }
    }

    /// Returns the reason why the child would not load the extension that provides this model, with advice. `None` if
    /// the child would load it, or if that is unknown.
    async fn not_loaded(&self, model: &str) -> Option<String> {
        let Self { agent, config, context, permission_hooks, .. } = self;
        let host = &context.host;
        if !host.extends(Some(model)) {
            return None;
        }
        let is_needed = host.needs_extension(Some(model));
        let own = agent.extensions.as_deref();
        let setting = "`inheritExtensions`".to_owned();
        let chosen = match (own, &config.inherit_extensions) {
            (Some(own), _) => Some((own, format!("`extensions` of agent `{}`", agent.name))),
            (None, InheritExtensions::None) => Some((&[][..], setting)),
            (None, InheritExtensions::Only(list)) => Some((&list[..], setting)),
            (None, InheritExtensions::Auto | InheritExtensions::All) => None,
        };
        if let Some((chosen, setting)) = chosen {
            let files = chosen.iter().map(|file| PathBuf::from(context.anchored(file)));
            let files: Vec<PathBuf> = files.chain(permission_hooks.iter().map(PathBuf::from)).collect();
            let context = (*context).clone();
            let has_none = is_needed && !blocking(move || may_provide_model(&files, &context)).await;
            return has_none.then(|| format!("{setting} keeps it from children: add its file there"));
        }
        let files: Vec<PathBuf> =
            host.extensions.as_ref()?.iter().map(|loaded| loaded.path.clone()).collect();
        if files.is_empty() {
            let why = "that is a part of the program around this pi: put it into a file that pi loads";
            return is_needed.then(|| why.to_owned());
        }
        // pi does not say which of the files it is. A file that is not regular, such as a pipe, counts as missing,
        // because it can be read only once.
        let missing = blocking(move || files.into_iter().find(|file| !file.is_file())).await?;
        let missing = quoted_path(&missing.to_string_lossy());
        Some(format!("{missing} no longer exists, but this pi has loaded it: restore it, or run `/reload`"))
    }

    /// Refuses a key that cannot be passed on. A child receives it in a private agent directory, which exists only on
    /// Unix.
    fn check_key(&self, model: &str) -> Result<(), UnusableModel> {
        let provider = provider_of(model);
        let keys = &self.context.host.session_keys;
        if cfg!(unix) || keys.iter().all(|known| known.provider != provider) {
            return Ok(());
        }
        Err(UnusableModel::KeyStays { provider: provider.to_owned() })
    }
}

fn provider_of(model: &str) -> &str {
    model.split_once('/').map_or(model, |(provider, _)| provider)
}

/// Returns true if an agent's children run a pi other than the hosting one, with its own models and logins.
pub(crate) fn starts_another_pi(agent: &AgentDefinition, config: &Config) -> bool {
    config.pi_command.is_some() || launcher_of(agent, config).remote_name().is_some()
}

/// Returns the hosting pi's answer about a model, if there is one.
pub async fn look_up(asked: &str, callbacks: &dyn HostCallbacks) -> Option<HostModel> {
    tokio::time::timeout(ANSWER_TIMEOUT, callbacks.model(asked)).await.ok()?
}

impl UnusableModel {
    /// Returns the reason in a few words if an alias with this problem may give way to another model.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { is_ambiguous: true, .. } => Some("names several models"),
            Self::Unknown { .. } => Some("is not available"),
            Self::NoLogin { .. } => Some("has no login"),
            Self::NotLoaded { .. } | Self::KeyStays { .. } => None,
        }
    }

    /// Returns further next steps, for a screen with room for them.
    #[must_use]
    pub fn alternative(&self) -> Option<&str> {
        match self {
            Self::Unknown { alternative, .. } | Self::NoLogin { alternative, .. } => Some(alternative),
            Self::NotLoaded { .. } | Self::KeyStays { .. } => None,
        }
    }
}

/// Returns true if a model's name is no `provider/id`, and its source is not a call, which has asked for exactly this
/// model.
fn is_alias(asked: &Sourced<Option<String>>) -> bool {
    let is_standing =
        matches!(asked.source, ValueSource::AgentFile | ValueSource::Settings(_) | ValueSource::Config(_));
    is_standing && asked.value.as_ref().is_some_and(|model| !model.contains('/'))
}

/// Remembers a host's answer for [`remembered`].
fn remember(agent_dir: &Path, asked: &str, answer: Option<&HostModel>) {
    let mut answers = ANSWERS.lock();
    if answers.len() >= MAX_REMEMBERED {
        answers.clear();
    }
    // The names of all models are only for the error.
    let answer = answer.map(|found| HostModel { known: Vec::new(), ..found.clone() });
    answers.insert((agent_dir.to_owned(), asked.to_owned()), answer);
}

/// Returns the host's last answer about a model. `None` if the host was never asked.
#[expect(clippy::option_option, reason = "a host that was asked may have given no answer")]
pub(crate) fn remembered(agent_dir: &Path, asked: &str) -> Option<Option<HostModel>> {
    ANSWERS.lock().get(&(agent_dir.to_owned(), asked.to_owned())).cloned()
}

/// Returns true if only the host knows which model a run gets, and it was not asked yet: the model is an alias of the
/// hosting pi.
pub(crate) fn awaits_host(
    agent: &AgentDefinition,
    config: &Config,
    context: &HostContext,
    asked: &Sourced<Option<String>>,
) -> bool {
    let name = asked.value.as_deref().filter(|_| is_alias(asked) && !starts_another_pi(agent, config));
    name.is_some_and(|name| {
        context.host.model.as_deref() != Some(name) && remembered(&context.agent_dir, name).is_none()
    })
}

impl HostModel {
    /// Explains why the name does not match exactly one model, in pi's words, and suggests a similar model.
    #[must_use]
    pub fn unknown(&self, asked: &str) -> String {
        self.problem(asked) + &suggestion(self.nearest(asked).as_deref())
    }

    /// Explains why the name does not match exactly one model, in the first sentence of pi's words: the others are about
    /// pi's own command line.
    fn problem(&self, asked: &str) -> String {
        let problem = self.problem.as_deref().and_then(|problem| problem.split(". ").next());
        let problem = problem.map(|problem| problem.trim_end_matches('.').to_owned());
        problem.unwrap_or_else(|| format!("there is no model `{asked}`"))
    }

    /// Returns the most similar model.
    fn nearest(&self, asked: &str) -> Option<String> {
        let id = |model: &String| model.split_once('/').map_or(String::new(), |(_, id)| id.to_owned());
        let ids: Vec<String> = self.known.iter().map(id).collect();
        let by_full_name = nearest(asked, self.known.iter().map(String::as_str));
        by_full_name.or_else(|| nearest(asked, ids.iter().map(String::as_str))).map(str::to_owned)
    }
}
