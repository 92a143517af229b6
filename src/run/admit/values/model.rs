//! Whether the hosting pi knows the model that a run asks for, and has a login for it.

use std::path::PathBuf;
use std::time::Duration;

use super::agent::{Sourced, ValueSource};
use crate::agent::AgentDefinition;
use crate::config::{Config, InheritExtensions};
use crate::run::admit::permission_hooks::may_provide_model;
use crate::run::blocking::blocking;
use crate::run::callbacks::{HostCallbacks, HostModel};
use crate::run::context::HostContext;
use crate::run::launch::launcher::launcher_of;
use crate::text::{nearest, quoted_path, suggestion};

/// How long pi may take to look a model up. It takes a millisecond; without an answer the child finds out.
const ANSWER: Duration = Duration::from_secs(5);

/// Why a child with this model would end at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnusableModel {
    /// pi knows no such model, or several.
    #[error("{why} (the model comes from {from})")]
    Unknown {
        /// pi's own words, and the nearest model.
        why: String,
        /// Who asked for it.
        from: ValueSource,
    },
    /// pi has no login for its provider.
    #[error(
        "{} needs a login for `{provider}`, and this pi has none: {remedy}, or {}",
        named(asked, model, from),
        another(from)
    )]
    NoLogin {
        /// As it was asked for.
        asked: String,
        /// `provider/id`.
        model: String,
        /// The provider.
        provider: String,
        /// What to do.
        remedy: String,
        /// Who asked for it.
        from: ValueSource,
    },
    /// An extension of the hosting pi provides it, and the child would not load that.
    #[error("model `{model}` comes from an extension, and {why}, or {}", another(from))]
    NotLoaded {
        /// `provider/id`.
        model: String,
        /// The reason, and what to do about it.
        why: String,
        /// Who asked for it.
        from: ValueSource,
    },
    /// The hosting pi has the key for it in its memory only, and cannot hand it on.
    #[error(
        "the key for `{provider}` was given to this pi with `--api-key`, which children on this system cannot get: log in with \
         `/login {provider}`, or set the variable of the provider before you start pi"
    )]
    KeyStays {
        /// The provider.
        provider: String,
    },
}

/// What decides whether the children of an agent can use a model.
pub(in crate::run) struct ModelCheck<'a> {
    pub agent: &'a AgentDefinition,
    pub config: &'a Config,
    pub context: &'a HostContext,
    /// The user's permission hooks that the child loads.
    pub permission_hooks: &'a [String],
    /// Whether the agent has credentials of its own.
    pub has_own_login: bool,
    pub callbacks: &'a dyn HostCallbacks,
}

impl ModelCheck<'_> {
    /// The model of a run as `provider/id`, if the hosting pi says which it is. It is not asked about the session's, nor
    /// where the child is started by another pi.
    ///
    /// # Errors
    ///
    /// When the child could not use it.
    pub(in crate::run) async fn usable(
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
        if launcher_of(agent, config).elsewhere().is_none() {
            let model = found.as_ref().unwrap_or(asked);
            if let Some(why) = self.not_loaded(model).await {
                return Err(UnusableModel::NotLoaded { model: model.clone(), why, from: source.clone() });
            }
            self.check_key(model)?;
        }
        Ok(found)
    }

    /// The model as the hosting pi names it, if it answers.
    async fn found(&self, asked: &str, source: &ValueSource) -> Result<Option<String>, UnusableModel> {
        let Some(found) = look_up(asked, self.callbacks).await else { return Ok(None) };
        tracing::debug!(
            target: "run", asked, model = found.model, has_login = found.has_login,
            "pi was asked for the model"
        );
        let Some(model) = found.model.clone() else {
            return Err(UnusableModel::Unknown { why: found.unknown(asked), from: source.clone() });
        };
        // The configuration may give the child a key that the hosting pi does not have.
        let is_key = |name: &String| found.variables.is_empty() || found.variables.contains(name);
        if !found.has_login && !self.has_own_login && !self.config.env.keys().any(is_key) {
            let provider = provider_of(&model).to_owned();
            let remedy = remedy(&provider, &found.variables);
            let (asked, from) = (asked.to_owned(), source.clone());
            return Err(UnusableModel::NoLogin { asked, model, provider, remedy, from });
        }
        Ok(Some(model))
    }

    /// Why the child would not load the extension that provides this model, and what to do. `None` if it would, or if nobody
    /// knows.
    async fn not_loaded(&self, model: &str) -> Option<String> {
        let Self { agent, config, context, permission_hooks, .. } = self;
        let host = &context.host;
        if !host.extends(Some(model)) {
            return None;
        }
        let is_needed = host.needs_extension(Some(model));
        let (own, setting) = (agent.extensions.as_deref(), "`inheritExtensions`".to_owned());
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
        // Which of them it is, pi does not say. What is no file, such as a pipe, can be read only once.
        let gone = blocking(move || files.into_iter().find(|file| !file.is_file())).await?;
        let gone = quoted_path(&gone.to_string_lossy());
        Some(format!("{gone} is gone, which this pi has loaded: restore it, or `/reload`"))
    }

    /// Refuses a key that cannot be handed on: a child gets it in an agent directory of its own, which there is on Unix only.
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

/// Whether the children of an agent are started by a pi other than the hosting one, which has models and logins of its own.
pub(crate) fn starts_another_pi(agent: &AgentDefinition, config: &Config) -> bool {
    config.pi_command.is_some() || launcher_of(agent, config).elsewhere().is_some()
}

/// What the hosting pi says about a model, if it does.
pub async fn look_up(asked: &str, callbacks: &dyn HostCallbacks) -> Option<HostModel> {
    tokio::time::timeout(ANSWER, callbacks.model(asked)).await.ok()?
}

impl HostModel {
    /// Why this is not one model: pi's own words, and the model that was probably meant.
    #[must_use]
    pub fn unknown(&self, asked: &str) -> String {
        let problem = self.problem.clone().unwrap_or_else(|| format!("there is no model `{asked}`"));
        problem + &self.nearest(asked)
    }

    /// The model that was probably meant, with punctuation; empty where none is similar.
    fn nearest(&self, asked: &str) -> String {
        let id = |model: &String| model.split_once('/').map_or(String::new(), |(_, id)| id.to_owned());
        let ids: Vec<String> = self.known.iter().map(id).collect();
        let whole = nearest(asked, self.known.iter().map(String::as_str));
        suggestion(whole.or_else(|| nearest(asked, ids.iter().map(String::as_str))))
    }
}

/// The model as it was asked for, and what pi takes that for.
fn named(asked: &str, model: &str, from: &ValueSource) -> String {
    let is_whole = asked == model || asked.strip_prefix(model).is_some_and(|rest| rest.starts_with(':'));
    if is_whole {
        return format!("model `{model}` (from {from})");
    }
    format!("model `{asked}` (from {from}), which is `{model}` here,")
}

/// How to do without the login.
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
