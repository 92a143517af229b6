//! The model and the thinking level that a call asks for. An unknown value is skipped with a warning, and the run gets the
//! value of its agent or the configuration.

use std::sync::Arc;

use crate::run::{
    CallSettings, HostCallbacks, HostModel, RunSpec, blocking, find_agents, look_up, starts_another_pi,
};
use agents::THINKING_LEVELS;
use sanitizer::Sanitizer;
use supervisor::Cancel;

/// The longest thinking level in a warning, in characters.
const LEVEL_CHARS: usize = 80;
/// The longest reason in a warning, in characters.
const WARNING_CHARS: usize = 400;
/// The longest text of a caller that becomes a line, in bytes.
const TEXT_BYTES: usize = 4 * 1024;

/// A caller's text as one line.
pub(super) fn line(sanitizer: &Sanitizer, text: &str, chars: usize) -> String {
    sanitizer.clip(text, TEXT_BYTES).line(chars).into_string()
}

/// Replaces the model and the thinking level that a run asks for by known ones. Returns a warning for each that is skipped.
pub(super) async fn check_overrides(
    spec: &mut RunSpec,
    settings: &CallSettings,
    callbacks: &dyn HostCallbacks,
    cancel: &Cancel,
) -> Vec<String> {
    let sanitizer = settings.sanitizer();
    let mut warnings = Vec::new();
    let asked = spec.overrides.model.take().filter(|model| !model.trim().is_empty());
    if let Some(asked) = asked {
        let look_up = async {
            // Another pi has models that this one does not know.
            if is_of_another_pi(spec, settings).await { None } else { look_up(asked.trim(), callbacks).await }
        };
        let found = tokio::select! {
            biased;
            // The run notices the abort.
            _ = cancel.cancelled() => None,
            found = look_up => found,
        };
        spec.overrides.model = known_model(&asked, found.as_ref(), None, sanitizer, &mut warnings);
    }
    if let Some(level) = spec.overrides.thinking.take() {
        spec.overrides.thinking = known_thinking(&level, sanitizer, &mut warnings);
    }
    warnings
}

/// Returns true if another pi than the hosting one starts the children of a run's agent.
async fn is_of_another_pi(spec: &RunSpec, settings: &CallSettings) -> bool {
    let cwd = spec.cwd.clone();
    let context = Arc::clone(&spec.context);
    let name = spec.agent.clone();
    let config = settings.config();
    let check = move || {
        find_agents(&cwd, &context, &config).find(&name).is_ok_and(|agent| starts_another_pi(&agent, &config))
    };
    blocking(check).await
}

/// Returns the model that `asked` names, or adds a warning. `found` is the answer of the hosting pi. Without an answer, `asked`
/// must be `provider/id`, or an id that only one provider of `models` has.
pub(super) fn known_model(
    asked: &str,
    found: Option<&HostModel>,
    models: Option<&[String]>,
    sanitizer: &Sanitizer,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let asked = asked.trim();
    let known = match (found, models) {
        (Some(found), _) => found.model.is_some().then(|| asked.to_owned()),
        (None, Some(models)) => {
            let ids =
                || models.iter().filter(|known| known.split_once('/').is_some_and(|(_, id)| id == asked));
            let exact = models.iter().find(|known| *known == asked);
            exact.or_else(|| ids().next().filter(|_| ids().count() == 1)).cloned()
        }
        (None, None) => is_model(asked).then(|| asked.to_owned()),
    };
    if known.is_none() && !asked.is_empty() {
        let why = found.map_or_else(|| format!("there is no model `{asked}`"), |found| found.unknown(asked));
        let why = line(sanitizer, &why, WARNING_CHARS);
        warnings.push(format!("`model` was skipped: {why}; the default is used"));
    }
    known
}

fn is_model(text: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    !text.starts_with('-')
        && text.split_once('/').is_some_and(|(provider, id)| is_plain(provider) && is_plain(id))
}

pub(super) fn known_thinking(
    asked: &str,
    sanitizer: &Sanitizer,
    warnings: &mut Vec<String>,
) -> Option<String> {
    if THINKING_LEVELS.contains(&asked) {
        return Some(asked.to_owned());
    }
    if !asked.trim().is_empty() {
        let asked = line(sanitizer, asked, LEVEL_CHARS);
        let known = THINKING_LEVELS.join(", ");
        warnings
            .push(format!("`thinking` was skipped: `{asked}` is not one of {known}; the default is used"));
    }
    None
}
