//! Checks the options of a request.

use std::time::Duration;

use crate::orchestrate::model_override::line;
use crate::run::{Cleanup, Timeout};
use sanitizer::Sanitizer;

/// Longest label, in characters.
const LABEL_CHARS: usize = 80;
/// The longest limit that can be requested; 0 is no limit.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3_600.0;

/// A caller's text as one short line.
pub(super) fn short(sanitizer: &Sanitizer, text: &str) -> String {
    line(sanitizer, text, LABEL_CHARS)
}

/// The reason why an option of a request cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidOption {
    /// The time limit is negative, too long, or not a number.
    #[error("`runTimeoutSeconds` is {0}; expected a number from 0 (no limit) to {MAX_SECONDS}")]
    Timeout(f64),
    /// The clean-up is unknown. The text is one short line.
    #[error("`cleanup` is `{0}`; expected `keep` or `delete`")]
    Cleanup(String),
}

pub(super) fn timeout(seconds: Option<f64>) -> Result<Timeout, InvalidOption> {
    match seconds {
        None | Some(0.0) => Ok(Timeout::Never),
        Some(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
            Ok(Timeout::After(Duration::from_secs_f64(seconds)))
        }
        Some(seconds) => Err(InvalidOption::Timeout(seconds)),
    }
}

pub(super) fn cleanup(cleanup: Option<&str>, sanitizer: &Sanitizer) -> Result<Cleanup, InvalidOption> {
    cleanup.map_or(Ok(Cleanup::Keep), |text| {
        Cleanup::parse(text).ok_or_else(|| InvalidOption::Cleanup(short(sanitizer, text)))
    })
}
