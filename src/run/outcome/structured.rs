//! The result that a child has submitted: a value for programs, words for models, and a file where it is large.

use serde_json::Value;

use crate::run::launch::files::RunFiles;
use agents::OutputSchema;
use pi_events::Submitted;
use sanitizer::figures::bytes;
use sanitizer::{TruncateLimits, chain, fenced_as};

/// The maximum size of a value in `details`, as JSON, in bytes. A session file keeps `details`.
const MAX_DETAILS_BYTES: usize = 64 * 1024;
/// The maximum size of a value in the text, in bytes: as much as the store keeps of a background run's value.
const MAX_TEXT_BYTES: usize = 12 * 1024;

/// A submitted result. It is never truncated, because half a value is not valid JSON.
pub(super) struct Structured {
    /// The value, unless it is large.
    pub value: Option<Value>,
    /// The file that holds it, if it is large.
    pub file: Option<String>,
    /// The text for models and people.
    pub text: String,
    /// The reason why the file could not be written.
    pub lost: Option<String>,
}

impl Structured {
    /// Returns the sanitized result of a run. `None` if it is not JSON.
    pub(super) fn of(
        submitted: &Submitted,
        schema: &OutputSchema,
        limits: TruncateLimits,
        files: &RunFiles,
    ) -> Option<Self> {
        let value = schema.result(serde_json::from_slice(&submitted.json).ok()?);
        let json = serde_json::to_string_pretty(&value).ok()?;
        let fits = json.len() <= MAX_TEXT_BYTES.min(limits.max_bytes / 2)
            && json.lines().count() <= limits.max_lines / 2;
        if fits {
            let text = fenced_as("json", &json);
            return Some(Self { value: Some(value), file: None, text, lost: None });
        }
        let size = bytes(json.len() as u64);
        let (file, lost) = match files.save_submitted(&json) {
            Ok(path) => (Some(path.to_string_lossy().into_owned()), None),
            Err(error) => {
                (None, Some(format!("the submitted result could not be written: {}", chain(&error))))
            }
        };
        let text = match &file {
            Some(path) => format!("[The result is {size} of JSON: {path}]"),
            None => format!("[The result is {size} of JSON and could not be written to a file.]"),
        };
        Some(Self {
            value: (json.len() <= MAX_DETAILS_BYTES || file.is_none()).then_some(value),
            file,
            text,
            lost,
        })
    }
}
