//! Whether the hosting pi knows the model that a run asks for, and has a login for it.

use std::time::Duration;

use super::agent::{Sourced, ValueSource};
use crate::agent::AgentDefinition;
use crate::config::Config;
use crate::run::callbacks::{HostCallbacks, HostModel};
use crate::run::context::Host;
use crate::run::launch::launcher::launcher_of;
use crate::text::{nearest, suggestion};

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
}

/// The model of a run as `provider/id`, if the hosting pi says which it is. It is not asked about the session's, nor where
/// the child is started by another pi. `has_own_login` when the agent has credentials of its own.
///
/// # Errors
///
/// When the child could not use it.
pub(in crate::run) async fn usable_model(
    asked: &Sourced<Option<String>>,
    agent: &AgentDefinition,
    config: &Config,
    host: &Host,
    has_own_login: bool,
    callbacks: &dyn HostCallbacks,
) -> Result<Option<String>, UnusableModel> {
    let Sourced { value: Some(asked), source } = asked else { return Ok(None) };
    if starts_another_pi(agent, config) || host.model.as_ref() == Some(asked) {
        return Ok(None);
    }
    let Some(found) = look_up(asked, callbacks).await else { return Ok(None) };
    let Some(model) = found.model.clone() else {
        return Err(UnusableModel::Unknown { why: found.unknown(asked), from: source.clone() });
    };
    // The configuration may give the child a key that the hosting pi does not have.
    let is_key = |name: &String| found.variables.is_empty() || found.variables.contains(name);
    if !found.has_login && !has_own_login && !config.env.keys().any(is_key) {
        let provider = model.split_once('/').map_or(model.as_str(), |(provider, _)| provider).to_owned();
        let remedy = remedy(&provider, &found.variables);
        let (asked, from) = (asked.clone(), source.clone());
        return Err(UnusableModel::NoLogin { asked, model, provider, remedy, from });
    }
    Ok(Some(model))
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
