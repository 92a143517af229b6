//! The result of a run: the shape every caller sees, whatever happened.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::progress::{Progress, Resources, TaskProgress, flat_usage};
use super::state::RunOutcome;
use crate::event::{DisplayItem, Usage};
use crate::text::text_enum;

text_enum! {
    /// Why a call did not simply succeed. The set is closed; callers match on it and never on message text.
    pub enum ErrorCode {
        /// The agent or the task is missing, empty or blank.
        InvalidInput = "INVALID_INPUT",
        /// Delegation is switched off, or its configuration cannot be read.
        SubagentsDisabled = "SUBAGENTS_DISABLED",
        /// No agent has this name.
        UnknownAgent = "UNKNOWN_AGENT",
        /// A project agent was refused by policy or by the user.
        SubagentDisabled = "SUBAGENT_DISABLED",
        /// The caller is itself a delegate, at the deepest level allowed.
        SubagentDepthExceeded = "SUBAGENT_DEPTH_EXCEEDED",
        /// The hard or the idle limit ended the run.
        SubagentTimeout = "SUBAGENT_TIMEOUT",
        /// The run failed; the message says how.
        SubagentFailed = "SUBAGENT_FAILED",
        /// The run succeeded, and its text was longer than the output limit.
        SubagentOutputTruncated = "SUBAGENT_OUTPUT_TRUNCATED",
    }
}

text_enum! {
    /// How many runs a call stands for.
    pub enum Mode {
        /// One agent, one task.
        Single = "single",
        /// Several tasks side by side.
        Parallel = "parallel",
        /// Several tasks one after the other.
        Chain = "chain",
        /// The call was about delegation itself, no agent was meant to run.
        Management = "management",
    }
}

text_enum! {
    /// Which limit ended a run.
    pub enum TimeoutReason {
        /// The hard limit of the whole run.
        Runtime = "runtime",
        /// The limit on silence.
        Idle = "idle",
    }
}

/// Whether the kernel held a child to reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SandboxReport {
    /// True when writes were refused by the kernel and not only by the choice of tools.
    pub enforced: bool,
    /// The mechanisms in force.
    pub mechanism: Vec<String>,
    /// Why it was not enforced, and what that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What one agent did with one task. All strings are sanitized and bounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SingleResult {
    /// The agent's name.
    pub agent: String,
    /// The task it was given.
    pub task: String,
    /// 0 for success; otherwise the child's own code, 124 for a limit, 130 for an abort, 128 + n for a signal.
    pub exit_code: i32,
    /// What the child spent; zeros when unknown.
    #[serde(serialize_with = "flat_usage")]
    pub usage: Usage,
    /// What went wrong; present exactly when `exit_code` is not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The child's session file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The text of the last complete assistant message, or what there was of it when the run ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The newest texts and tool calls, in order.
    pub display_items: Vec<DisplayItem>,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// How many times the child was started.
    pub attempts: u32,
    /// From the start of the run to its result, in milliseconds.
    pub duration_ms: u64,
    /// The model that really answered, `provider/id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the last assistant message ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The signal that ended the child, when nobody here sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Which limit ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_reason: Option<TimeoutReason>,
    /// Whether the kernel held the child to reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxReport>,
    /// How far the end of the child's processes was certain; absent when no child was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supervision: Option<&'static str>,
    /// What the child's processes used together; absent where nobody could measure it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Where the whole text lies when `content` was truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_output_file: Option<String>,
    /// The files the run changed, when the agent was allowed to write and works in a git work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<String>>,
    /// What the caller should know of how the run was set up, such as tools that were dropped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
    /// What the child announced once its work was done, where it was asked for that and has answered.
    #[serde(skip)]
    pub announcement: Option<Announcement>,
}

/// What a child says of its work when it is asked what its user should be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// This, within the output limit.
    Said(String),
    /// Nothing is to be told.
    Skipped,
}

/// A code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallError {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
}

/// Everything about a call that is not its text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDetails {
    /// How many runs the call stands for.
    pub mode: Mode,
    /// The run's id: eight hexadecimal characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// One entry per run that got as far as having a child to start, and per task of several; empty for refusals and in
    /// updates.
    pub results: Vec<SingleResult>,
    /// Why the call did not simply succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// Only in updates of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<Progress>,
    /// Only in updates of several, one entry per task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskProgress>,
}

impl RunDetails {
    /// Details of which nothing else is known yet.
    #[must_use]
    pub fn new(mode: Mode, run_id: Option<String>) -> Self {
        Self { mode, run_id, results: Vec::new(), error: None, streaming: None, tasks: Vec::new() }
    }

    /// Details of one run of which nothing else is known yet.
    #[must_use]
    pub fn single(run_id: &str) -> Self {
        Self::new(Mode::Single, Some(run_id.to_owned()))
    }
}

/// The result of a call, and, with `details.streaming`, an update on the way to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// For the model and the user: sanitized, within the output limit.
    pub text: String,
    /// True when the run failed. A truncated success is no failure.
    pub is_error: bool,
    /// What the child spent, with pi's own cost breakdown.
    #[serde(skip)]
    pub usage: Option<Usage>,
    /// Everything that is not text.
    pub details: RunDetails,
}

fn is_same<T: PartialEq + ?Sized>(one: &Arc<T>, other: &Arc<T>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

impl ToolResult {
    /// Adds to the result of a run that has no further child what its attempts before have come to.
    #[must_use]
    pub(super) fn after_attempts(mut self, attempts: u32, usage: &Usage, session: Option<&Path>) -> Self {
        self.usage = Some(usage.clone());
        for single in &mut self.details.results {
            (single.attempts, single.usage) = (attempts, usage.clone());
            let session = session.map(|path| path.to_string_lossy().into_owned());
            single.session_file = single.session_file.take().or(session);
        }
        self
    }

    /// Marks in an update of several tasks those whose text and items are the same as in the update before. The parts are
    /// shared between updates, so that being the same is one comparison of addresses more often than not.
    pub fn leave_out_unchanged(&mut self, before: Option<&Self>) {
        let before = before.map_or(&[][..], |before| &before.details.tasks);
        for (task, before) in self.details.tasks.iter_mut().zip(before) {
            task.is_unchanged = is_same(&task.progress.text, &before.progress.text)
                && is_same(&task.progress.display_items, &before.progress.display_items);
        }
    }
}
