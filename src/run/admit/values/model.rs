//! Whether the hosting pi knows the model that a run asks for, and has a login for it.

use std::time::Duration;

use super::agent::{Sourced, ValueSource};
use crate::run::admit::resolve::ResolvedRun;
use crate::run::callbacks::{HostCallbacks, HostModel};
use crate::run::context::HostContext;
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
        "model `{model}` (from {from}) needs a login for `{provider}`, and this pi has none: {remedy}, or name another model"
    )]
    NoLogin {
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

impl ResolvedRun {
    /// Looks the model up in the hosting pi, unless it is the session's, or the child is started by another pi.
    ///
    /// # Errors
    ///
    /// When the child could not use it.
    pub(in crate::run) async fn check_model(
        &mut self,
        callbacks: &dyn HostCallbacks,
        context: &HostContext,
    ) -> Result<(), UnusableModel> {
        let Sourced { value: Some(asked), source } = &self.values.model else { return Ok(()) };
        if self.config.pi_command.is_some() || context.host.model.as_ref() == Some(asked) {
            return Ok(());
        }
        let Some(found) = look_up(asked, callbacks).await else { return Ok(()) };
        let Some(model) = found.model.clone() else {
            return Err(UnusableModel::Unknown { why: found.unknown(asked), from: source.clone() });
        };
        if !found.has_login && self.credentials.is_none() && !self.brings_login(&found) {
            let provider = model.split_once('/').map_or(model.as_str(), |(provider, _)| provider).to_owned();
            let remedy = remedy(&provider, &found.variables);
            return Err(UnusableModel::NoLogin { model, provider, remedy, from: source.clone() });
        }
        self.model = Some(model);
        Ok(())
    }

    /// Whether the configuration gives the child a key that the hosting pi does not have.
    fn brings_login(&self, found: &HostModel) -> bool {
        let is_key = |name: &String| found.variables.is_empty() || found.variables.contains(name);
        self.config.env.keys().any(is_key)
    }
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

fn remedy(provider: &str, variables: &[String]) -> String {
    let login = format!("log in with `/login {provider}`");
    match variables {
        [] => login,
        several => format!("{login}, or set {}", several.join(" or ")),
    }
}
