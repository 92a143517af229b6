//! A run as other extensions see it, and its events, as promised in `docs/events.md`.

use std::path::PathBuf;

use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use crate::run::{BackgroundStatus, RunOutcome, RunRecord};
use pi_events::{Usage, run_usage};
use sanitizer::text_enum;

/// Characters of a task, of an error or of the text that is being written.
const MAX_TEXT: usize = 500;
/// Characters of a result.
const MAX_RESULT: usize = 4_000;

/// A run with the published fields of a [`RunRecord`] only, bounded. Changes of these fields cause an event.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of `RunRecord`")]
pub struct PublishedRun {
    pub run_id: String,
    pub session_key: String,
    pub label: Option<String>,
    pub agent: String,
    pub task: String,
    pub state: &'static str,
    pub position: Option<usize>,
    pub blocked_by: Option<String>,
    pub status: Option<BackgroundStatus>,
    pub outcome: Option<RunOutcome>,
    pub error: Option<String>,
    pub model: Option<String>,
    pub created_ms: i64,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    #[serde(with = "run_usage")]
    pub usage: Usage,
    pub last_tool: Option<String>,
    pub text: Option<String>,
    pub transcript: Option<PathBuf>,
    pub result: Option<String>,
}

impl PublishedRun {
    /// Returns the published fields of a run.
    #[must_use]
    pub fn of(run: &RunRecord) -> Self {
        let live = &run.progress;
        let end = |text: &String| {
            let skipped = text.chars().count().saturating_sub(MAX_TEXT);
            text.chars().skip(skipped).collect()
        };
        Self {
            run_id: run.run_id.clone(),
            session_key: run.session_key.clone(),
            label: run.label.clone(),
            agent: run.agent.clone(),
            task: start(&run.task, MAX_TEXT),
            state: run.state(),
            position: live.position,
            blocked_by: live.blocked_by.clone(),
            status: run.status(),
            outcome: run.outcome,
            error: run.error.as_deref().map(|error| start(error, MAX_TEXT)),
            model: run.model.clone(),
            created_ms: run.created_ms,
            started_ms: run.started_ms,
            ended_ms: run.ended_ms,
            usage: live.usage.clone(),
            last_tool: live.last_tool.clone(),
            text: live.text.as_ref().map(end),
            transcript: run.transcript.clone(),
            result: run.result.as_deref().map(|result| start(result, MAX_RESULT)),
        }
    }
}

text_enum! {
    /// The kinds of events of a run.
    pub enum RunEventKind {
        /// It was accepted, or resumed.
        Started = "subagent:started",
        /// Something about a run under way has changed.
        Updated = "subagent:update",
        /// It has ended.
        Ended = "subagent:ended",
    }
}

/// An event of a run, as other extensions receive it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunEvent {
    /// The kind of the event.
    #[serde(rename = "event")]
    pub kind: RunEventKind,
    /// The run.
    pub run: PublishedRun,
}

fn start(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_runs_are_bounded() {
        let mut run = RunRecord {
            task: "é".repeat(900),
            error: Some("e".repeat(900)),
            result: Some("r".repeat(9_000)),
            ..RunRecord::default()
        };
        run.progress.text = Some(format!("{}end", "x".repeat(900)));
        let published = PublishedRun::of(&run);
        let count = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
        let texts = [Some(published.task.as_str()), published.error.as_deref(), published.result.as_deref()];
        assert_eq!(texts.map(count), [500, 500, 4_000]);
        let text = published.text.expect("the run has a text");
        assert!(text.chars().count() == 500 && text.ends_with("end"), "{text}");
    }
}
