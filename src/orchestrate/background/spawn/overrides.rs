//! Checks the options of a request, and skips invalid ones with a warning.

use std::time::Duration;

use crate::agent::THINKING_LEVELS;
use crate::run::{Cleanup, HostModel, Timeout};
use crate::text::Sanitizer;

/// Longest label, in characters.
const LABEL_CHARS: usize = 80;
/// Longest reason for a warning.
const WARNING_CHARS: usize = 400;
/// Most bytes of a caller's text that become a line.
const SAID_BYTES: usize = 4 * 1024;
/// The longest limit that can be requested; 0 is no limit.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3_600.0;

/// A caller's text as one short line.
pub(super) fn short(sanitizer: &Sanitizer, text: &str) -> String {
    cut(sanitizer, text, LABEL_CHARS)
}

fn cut(sanitizer: &Sanitizer, text: &str, chars: usize) -> String {
    sanitizer.clip(text, SAID_BYTES).line(chars).into_string()
}

pub(super) fn timeout(seconds: Option<f64>) -> Result<Timeout, String> {
    match seconds {
        None | Some(0.0) => Ok(Timeout::Never),
        Some(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
            Ok(Timeout::After(Duration::from_secs_f64(seconds)))
        }
        Some(seconds) => Err(format!(
            "`runTimeoutSeconds` is {seconds}; expected a number from 0, which is no limit, to {MAX_SECONDS}"
        )),
    }
}

pub(super) fn cleanup(cleanup: Option<&str>, sanitizer: &Sanitizer) -> Result<Cleanup, String> {
    cleanup.map_or(Ok(Cleanup::Keep), |text| {
        Cleanup::parse(text)
            .ok_or_else(|| format!("`cleanup` is `{}`; expected `keep` or `delete`", short(sanitizer, text)))
    })
}

/// The model named by `asked` as pi names it; otherwise none and a warning. `found` is what the hosting pi says; without
/// that it is `provider/id`, or an id that only one provider of `models` has.
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
        let why = cut(sanitizer, &why, WARNING_CHARS);
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
        let asked = short(sanitizer, asked);
        let known = THINKING_LEVELS.join(", ");
        warnings.push(format!("`thinking` was skipped: `{asked}` is none of {known}; the default is used"));
    }
    None
}
