//! The result of a run that the store keeps for the key of the run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::run::{RunDetails, RunRecord, ToolResult};

/// The end of the note that a run replaces the last one of its key.
pub(crate) const RAN_AGAIN: &str = ", so it ran again";

/// A result without the fields that only one process needs.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptResult {
    text: String,
    details: RunDetails,
}

impl KeptResult {
    /// Returns the text that the store keeps of a result.
    pub(crate) fn of(result: &ToolResult) -> String {
        let kept = Self { text: result.text.clone(), details: result.details.clone() };
        serde_json::to_string(&kept).expect("texts and numbers are JSON")
    }

    /// Returns the result again, for a call that pays nothing for it. It has the usage of the stored run, with the usage of
    /// messages that continued the run after its result. `None` if a file with a
    /// part of it was removed, or if a newer release wrote it. Blocks.
    pub(crate) fn read(text: &str, run: &RunRecord) -> Option<ToolResult> {
        let Self { text, mut details } = serde_json::from_str(text).ok()?;
        let single = details.results.first_mut()?;
        let files = [&single.full_output_file, &single.structured_file];
        if !files.into_iter().flatten().all(|file| Path::new(file).is_file()) {
            return None;
        }
        single.reused = true;
        // It is about the call that ran.
        single.diagnostics.retain(|note| !note.ends_with(RAN_AGAIN));
        single.run_id = Some(run.run_id.clone());
        single.usage = run.progress.usage.clone();
        Some(ToolResult { text, is_error: false, usage: None, details })
    }
}
