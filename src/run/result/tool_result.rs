//! The result of a run, with the same shape for every outcome.

use std::sync::Arc;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use serde_with_macros::skip_serializing_none;

use crate::run::background::RunRecord;
use crate::run::facts::{Caveat, CheckReport, IsolationReport, RunArtifacts, Settled, StoredChanges};
use crate::run::progress::{Resources, TaskProgress};
use crate::run::state::RunOutcome;
use agents::Network;
use pi_events::{ContextUse, DisplayItem, Usage, run_usage};
use sanitizer::figures::epoch_ms;
use sanitizer::{FullText, RedactedValues, text_enum};

text_enum! {
    /// The reason why a call failed, or succeeded only with a reservation. The set is closed; match on it, never on
    /// message text.
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
    /// The kind of a call: how many runs it has.
    pub enum Mode {
        /// One agent, one task.
        Single = "single",
        /// Several tasks in parallel.
        Parallel = "parallel",
        /// Several tasks one after the other.
        Chain = "chain",
        /// The call was about delegation itself and started no agent.
        Management = "management",
    }
}

text_enum! {
    /// The limit that ended a run.
    pub enum TimeoutReason {
        /// The hard limit of the whole run.
        Runtime = "runtime",
        /// The limit on silence.
        Idle = "idle",
    }
}

/// The report on a child's sandbox.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// True if the kernel enforced readonly, or write access only to its tree. False if only the choice of tools did,
    /// and for a child that may write everywhere.
    pub enforced: bool,
    /// The active mechanisms.
    pub mechanism: Vec<String>,
    /// The network access of the programs that the child's shell starts.
    pub network: Network,
    /// The reason why it was not enforced, or the remaining gaps.
    pub reason: Option<String>,
}

impl RunArtifacts {
    /// Returns the artifacts of a result. `None` without any.
    #[must_use]
    pub fn of(single: &SingleResult) -> Option<Self> {
        let artifacts = Self {
            run_id: None,
            check: single.check.clone(),
            changes: single.changes.clone().unwrap_or_default(),
            flagged: single.flagged.clone(),
            flagged_gap: single.flagged_gap.clone(),
            isolation: single.isolation.clone(),
            agent: None,
            settled: None,
        };
        let (run_id, agent) = (single.run_id.clone(), Some(single.agent.clone()));
        (artifacts != Self::default()).then_some(Self { run_id, agent, ..artifacts })
    }

    /// Returns the id by which commands find them. `run_id` is that of the record.
    #[must_use]
    pub fn id<'a>(&'a self, run_id: &'a str) -> &'a str {
        self.run_id.as_deref().unwrap_or(run_id)
    }

    /// Returns a result with only these artifacts, for a drawing. `run_id` is that of the record.
    #[must_use]
    pub fn as_result(&self, run_id: &str, settled: Option<Settled>) -> SingleResult {
        let Self { check, changes, flagged, flagged_gap, isolation, .. } = self.clone();
        SingleResult {
            run_id: Some(self.id(run_id).to_owned()),
            settled,
            check,
            changes: Some(changes).filter(|changes| !changes.is_empty()),
            flagged,
            flagged_gap,
            isolation,
            ..SingleResult::new(String::new(), String::new(), RunOutcome::Completed)
        }
    }
}

/// The result of one agent for one task. All strings are sanitized and bounded. Callers and sessions have the same JSON.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SingleResult {
    /// The agent's name.
    pub agent: String,
    /// The task it was given.
    pub task: String,
    /// The id that finds the run in its conversation, once the run is stored. With a session file it can be continued.
    pub run_id: Option<String>,
    /// 0 for success; otherwise the child's own code, 124 for a limit, 130 for an abort, 128 + n for a signal.
    #[serde(default)]
    pub exit_code: i32,
    /// The child's usage; zeros when unknown.
    #[serde(with = "run_usage")]
    pub usage: Usage,
    /// The child's context use after its last turn, if the child reported it.
    pub context: Option<ContextUse>,
    /// The error message. Present exactly if `exit_code` is not 0.
    pub error: Option<String>,
    /// The child's session file.
    pub session_file: Option<String>,
    /// The text of the last complete assistant message, or the part that had arrived when the run ended early.
    pub output: Option<String>,
    /// The newest texts and tool calls, in order.
    #[serde(default)]
    pub display_items: Vec<DisplayItem>,
    /// The outcome of the run.
    pub outcome: RunOutcome,
    /// True if this is the stored result of an earlier run with the same key in a workflow. Its usage was paid then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// The provider whose quota is used up for longer than the run may wait, if that ended the run.
    pub quota_exhausted: Option<String>,
    /// The number of times that the child was started.
    pub attempts: u32,
    /// Time from the start of the run to its result, in milliseconds.
    #[serde(deserialize_with = "whole")]
    pub duration_ms: u64,
    /// The model that answered, `provider/id`.
    pub model: Option<String>,
    /// The reason why the last assistant message ended.
    pub stop_reason: Option<String>,
    /// The signal that ended the child, unless this process sent it.
    pub signal: Option<String>,
    /// The limit that ended the run.
    #[serde(default, deserialize_with = "if_known")]
    pub timeout_reason: Option<TimeoutReason>,
    /// The report on the child's sandbox.
    #[serde(default, deserialize_with = "if_known")]
    pub sandbox: Option<SandboxReport>,
    /// The mechanism that ensured the end of the child's processes. Absent if no child was started.
    #[serde(skip_deserializing)]
    pub supervision: Option<&'static str>,
    /// The resources of the child's processes together. Absent if they could not be measured.
    #[serde(default, deserialize_with = "if_known")]
    pub resources: Option<Resources>,
    /// The file with the text, if `content` was truncated. It lacks the middle of an answer of which bytes were
    /// omitted.
    pub full_output_file: Option<String>,
    /// The number of bytes in the middle of the answer that were omitted because it was too long. The session has them.
    #[serde(skip)]
    pub omitted_bytes: u64,
    /// The submitted result, if the agent had to submit one and it is not large.
    pub structured: Option<Value>,
    /// The file with it as JSON, if it is large.
    pub structured_file: Option<String>,
    /// The result of the check of its work, if there was one.
    pub check: Option<CheckReport>,
    /// The facts that its answer may contradict, the most important one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
    /// The files the run changed, when the agent was allowed to write and works in a git work tree.
    pub changes: Option<Vec<String>>,
    /// The files of the tree that the run created or changed and that run code later, or tell agents what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// The reason why there may be more of them: the search of the tree was not complete.
    pub flagged_gap: Option<String>,
    /// Its artifacts, if it worked in a private tree.
    pub isolation: Option<IsolationReport>,
    /// The number of secrets removed from the texts of this result, by rule, the most frequent first. Each value counts
    /// once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<RedactedValues>,
    /// The notice about a model that took the place of the agent's, also among the diagnostics.
    pub model_note: Option<String>,
    /// Notices about the set-up of the run, such as dropped tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<String>,
    /// The stored changes, or the reason why none are stored, as far as the end of the run decides it.
    #[serde(skip)]
    pub stored_changes: Option<StoredChanges>,
    /// What a command has done with its changes since then, for a drawing.
    #[serde(skip)]
    pub settled: Option<Settled>,
    /// True if the run was resumed since then, or has ended in the background, for a drawing.
    #[serde(skip)]
    pub has_later_end: bool,
    /// The child's announcement, if it was asked for one and has replied.
    #[serde(skip)]
    pub announcement: Option<Announcement>,
    /// The next step for a model that reads of a failure.
    #[serde(skip)]
    pub next_step: Option<&'static str>,
    /// Our notes next to the child's answer: refused commands, its check, its files. The text of a successful run ends
    /// with them, unless the limits leave too little room.
    #[serde(skip)]
    pub notes: String,
}

impl SingleResult {
    /// Returns true if the run could write, and git sees no change. A run that cannot write has no list of changes.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.changes.as_ref().is_some_and(Vec::is_empty)
            && self.flagged.is_empty()
            && self.isolation.as_ref().is_none_or(|report| report.kept_tree.is_none())
    }

    /// Returns the location of the result's text, as far as it is stored.
    pub(crate) fn full_text(&self) -> FullText<'_> {
        let session = self.session_file.as_deref().filter(|_| self.omitted_bytes > 0);
        FullText { path: self.full_output_file.as_deref(), missing_bytes: self.omitted_bytes, session }
    }

    /// Returns the entry of a run that continues in the background. Its usage so far is counted at its end.
    #[must_use]
    pub fn in_background(run: &RunRecord) -> Self {
        let lasted = run.started_ms.map(|started| epoch_ms(SystemTime::now()).saturating_sub(started));
        Self {
            run_id: Some(run.run_id.clone()),
            session_file: run.transcript.as_ref().map(|path| path.to_string_lossy().into_owned()),
            attempts: u32::from(run.started_ms.is_some()),
            duration_ms: lasted.and_then(|lasted| u64::try_from(lasted).ok()).unwrap_or_default(),
            model: run.model.clone(),
            ..Self::new(run.agent.clone(), run.task.clone(), RunOutcome::Background)
        }
    }

    /// Returns a result without anything that only a child could add.
    #[must_use]
    pub fn new(agent: String, task: String, outcome: RunOutcome) -> Self {
        Self {
            agent,
            task,
            run_id: None,
            exit_code: 0,
            usage: Usage::default(),
            context: None,
            error: None,
            session_file: None,
            output: None,
            display_items: Vec::new(),
            outcome,
            reused: false,
            quota_exhausted: None,
            attempts: 0,
            duration_ms: 0,
            model: None,
            stop_reason: None,
            signal: None,
            timeout_reason: None,
            sandbox: None,
            supervision: None,
            resources: None,
            full_output_file: None,
            omitted_bytes: 0,
            structured: None,
            structured_file: None,
            check: None,
            caveats: Vec::new(),
            changes: None,
            flagged: Vec::new(),
            flagged_gap: None,
            isolation: None,
            redacted: Vec::new(),
            model_note: None,
            diagnostics: Vec::new(),
            stored_changes: None,
            settled: None,
            has_later_end: false,
            announcement: None,
            next_step: None,
            notes: String::new(),
        }
    }
}

/// Reads a part that no card draws. If another release has written it in another form, it is absent.
fn if_known<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

fn known_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ErrorCode, D::Error> {
    let code = String::deserialize(deserializer)?;
    Ok(ErrorCode::parse(&code).unwrap_or(ErrorCode::SubagentFailed))
}

/// Reads milliseconds, of which JavaScript may have written a fraction.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    Ok(f64::deserialize(deserializer)? as u64)
}

/// The answer that announces nothing.
pub(crate) const ANNOUNCE_SKIP: &str = "ANNOUNCE_SKIP";

/// A child's reply to the request for an announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Announcement {
    /// The text of the announcement, within the output limit.
    Text(String),
    /// The child says that there is nothing to announce.
    Skipped,
}

/// A code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// The code, for programs. An unknown code in a session counts as [`ErrorCode::SubagentFailed`].
    #[serde(deserialize_with = "known_code")]
    pub code: ErrorCode,
    /// The message, for people.
    pub message: String,
}

/// Everything about a call that is not its text.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDetails {
    /// [`RunDetails::KIND`].
    #[serde(skip_deserializing, default = "RunDetails::kind")]
    pub kind: &'static str,
    /// [`RunDetails::VERSION`].
    #[serde(skip_deserializing, default = "RunDetails::version")]
    pub version: u32,
    /// The kind of the call.
    pub mode: Mode,
    /// The run's id: eight hexadecimal characters.
    pub run_id: Option<String>,
    /// One entry per run that was admitted, with `attempts: 0` where no child was started, and one per task of a call
    /// with several. Empty for refusals and in updates.
    pub results: Vec<SingleResult>,
    /// The reason why the call failed, or succeeded only with a reservation.
    pub error: Option<CallError>,
    /// The progress of the run; only in updates of a single run.
    pub streaming: Option<TaskProgress>,
    /// The progress of each task; only in updates of several runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<TaskProgress>,
}

impl RunDetails {
    /// The kind of these details in a session file, which outlives releases and may hold details of other tools.
    pub const KIND: &str = "subagent-run";
    /// The version of the format. It changes when the meaning of a field changes.
    pub const VERSION: u32 = 1;

    fn kind() -> &'static str {
        Self::KIND
    }

    fn version() -> u32 {
        Self::VERSION
    }

    /// Creates details with only the mode and the run's id.
    #[must_use]
    pub fn new(mode: Mode, run_id: Option<String>) -> Self {
        Self {
            kind: Self::KIND,
            version: Self::VERSION,
            mode,
            run_id,
            results: Vec::new(),
            error: None,
            streaming: None,
            tasks: Vec::new(),
        }
    }

    /// Creates details of a single run with only its id.
    #[must_use]
    pub fn single(run_id: &str) -> Self {
        Self::new(Mode::Single, Some(run_id.to_owned()))
    }
}

/// The result of a call. With `details.streaming`, it is an update before the result.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The text for the model and the user: sanitized, within the output limit.
    #[serde(rename = "content", serialize_with = "text_content")]
    pub text: String,
    /// True when the run failed. A truncated success is not a failure.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The usage of the children, with pi's own cost breakdown.
    pub usage: Option<Usage>,
    /// Everything but the text.
    pub details: RunDetails,
}

/// Writes a text as pi has the content of a tool's result.
///
/// # Errors
///
/// If the serializer fails.
pub(crate) fn text_content<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    json!([{ "type": "text", "text": text }]).serialize(serializer)
}

fn is_same<T: PartialEq + ?Sized>(one: &Arc<T>, other: &Arc<T>) -> bool {
    Arc::ptr_eq(one, other) || one == other
}

impl ToolResult {
    /// Logs the outcome of a run and its cost, in USD.
    pub(crate) fn log(&self, cost: f64) {
        if let Some(SingleResult { outcome, error, attempts, duration_ms, .. }) = self.details.results.first()
        {
            tracing::info!(
                target: "run", %outcome, reason = error, attempts, duration_ms, cost,
                "the run has ended"
            );
        }
    }

    /// Leaves out the text and items of the tasks where they have not changed since the update `before`. Updates share
    /// these parts, so mostly one comparison of addresses decides.
    pub fn leave_out_unchanged(&mut self, before: Option<&Self>) {
        let before = before.map_or(&[][..], |before| &before.details.tasks);
        for (task, before) in self.details.tasks.iter_mut().zip(before) {
            let (new, old) = (&task.progress, &before.progress);
            if is_same(&new.text, &old.text) && is_same(&new.display_items, &old.display_items) {
                (task.text, task.display_items) = (None, None);
            }
        }
    }
}
