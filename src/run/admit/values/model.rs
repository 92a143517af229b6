//! Checks that the hosting pi knows the requested model, and has a login for it.

use std::path::PathBuf;
use std::time::Duration;

use super::agent::{Sourced, ValueSource};
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

/// The reason why a child with this model would end at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableModel {
    /// pi knows no such model, or several.
    #[error("{why} (the model comes from {from})")]
    Unknown {
        /// pi's explanation, and the nearest model.
        why: String,
        /// The source of the model.
        from: ValueSource,
    },
    /// pi has no login for the model's provider.
    #[error(
        "{} needs a login for `{provider}`, and this pi has none: {remedy}, or {}",
        named(asked, model, from),
        another(from)
    )]
    NoLogin {
        /// The model's name as requested.
        asked: String,
        /// `provider/id`.
        model: String,
        /// The provider.
        provider: String,
        /// Advice on how to log in.
        remedy: String,
        /// The source of the model.
        from: ValueSource,
    },
    /// An extension of the hosting pi provides the model, and the child would not load this extension.
    #[error("model `{model}` comes from an extension, and {why}, or {}", another(from))]
    NotLoaded {
        /// `provider/id`.
        model: String,
        /// The reason, with advice.
        why: String,
        /// The source of the model.
        from: ValueSource,
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
    /// Returns a run's model as `provider/id`, if the hosting pi resolves it. Does not ask pi if it is the session's
    /// own model, or if another pi starts the child.
    ///
    /// # Errors
    ///
    /// Fails if the child could not use the model.
    pub(crate) async fn usable(
        &self,
        asked: &Sourced<Option<String>>,
    ) -> Result<Option<String>, UnusableModel> {
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
                return Err(UnusableModel::NotLoaded { model: model.clone(), why, from: source.clone() });
            }
            self.check_key(model)?;
        }
        Ok(found)
    }

    /// Returns the hosting pi's name for the model, if pi answers.
    async fn found(&self, asked: &str, source: &ValueSource) -> Result<Option<String>, UnusableModel> {
        let Some(found) = look_up(asked, self.callbacks).await else { return Ok(None) };
        tracing::debug!(
            target: "run", asked, model = found.model, has_login = found.has_login,
            "pi looked up the model"
        );
        let Some(model) = found.model.clone() else {
            return Err(UnusableModel::Unknown { why: found.unknown(asked), from: source.clone() });
        };
        // The configuration may give the child a key that the hosting pi does not have.
        let is_key = |name: &String| found.variables.is_empty() || found.variables.contains(name);
        if !found.has_login && !self.has_own_login && !self.config.env.keys().any(is_key) {
            let provider = provider_of(&model).to_owned();
            let remedy = remedy(&provider, &found.variables);
            let asked = asked.to_owned();
            let from = source.clone();
            return Err(UnusableModel::NoLogin { asked, model, provider, remedy, from });
        }
        Ok(Some(model))
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

impl HostModel {
    /// Explains why the name does not match exactly one model, in pi's words, and suggests a similar model.
    #[must_use]
    pub fn unknown(&self, asked: &str) -> String {
        let problem = self.problem.clone().unwrap_or_else(|| format!("there is no model `{asked}`"));
        problem + &self.nearest(asked)
    }

    /// Suggests the most similar model, with punctuation. Empty if no model is similar.
    fn nearest(&self, asked: &str) -> String {
        let id = |model: &String| model.split_once('/').map_or(String::new(), |(_, id)| id.to_owned());
        let ids: Vec<String> = self.known.iter().map(id).collect();
        let by_full_name = nearest(asked, self.known.iter().map(String::as_str));
        suggestion(by_full_name.or_else(|| nearest(asked, ids.iter().map(String::as_str))))
    }
}

/// Formats the requested name of a model, and the model that pi resolves it to.
fn named(asked: &str, model: &str, from: &ValueSource) -> String {
    let is_exact = asked == model || asked.strip_prefix(model).is_some_and(|rest| rest.starts_with(':'));
    if is_exact {
        return format!("model `{model}` (from {from})");
    }
    format!("model `{asked}` (from {from}), which is `{model}` here,")
}

/// Returns advice for continuing without the login.
fn another(from: &ValueSource) -> &'static str {
    match from {
        ValueSource::Call => "name another model",
        _ => "name another model with `agents.NAME.model`, where `inherit` is your session's",
    }
}

fn remedy(provider: &str, variables: &[String]) -> String {
    let login = format!("log in with `/login {provider}`");
    match variables {
        [] => login,
        several => format!("{login}, or set {}", several.join(" or ")),
    }
}
