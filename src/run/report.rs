//! From the end of a child to the result of its run: the situation table, in one place.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use super::announce::announced;
use super::budget::OverBudget;
use super::cause::chain;
use super::clean::clean;
use super::files::{RunFiles, RunId};
use super::places::Places;
use super::prepare::Prepared;
use super::protocol::{Busy, Sayings};
use super::result::{
    Announcement, CallError, ErrorCode, RunDetails, RunOutcome, SingleResult, TimeoutReason, ToolResult,
};
use super::sandbox::SandboxPlan;
use super::update::millis;
use crate::agent::ToolPlan;
use crate::event::{Collected, Usage};
use crate::process::{
    CancelReason, Outcome, OverLimit, Supervised, Supervision, exit_code, exit_signal, signal_name,
};
use crate::text::{Sanitizer, TruncateLimits, one_line, truncate};

/// The exit code of a run that a limit ended, as `timeout(1)` has it.
const EXIT_TIMEOUT: i32 = 124;
/// The exit code of a run that its caller ended: 128 + SIGINT, as a shell has it.
const EXIT_ABORTED: i32 = 130;
/// The exit code of a run whose processes used more than they may: 128 + SIGKILL.
const EXIT_KILLED: i32 = 137;
/// How long the lock on the user's credentials is waited for when a token returns: pi gives up on it after 30 s.
const LOCK: Duration = Duration::from_secs(35);
/// The same for a run that somebody has aborted, who is waiting.
const LOCK_AFTER_ABORT: Duration = Duration::from_secs(1);
/// What a task, an error or a diagnostic may fill in `details`. The full ones are in the session file.
const FIELD: TruncateLimits = TruncateLimits { max_bytes: 16 * 1024, max_lines: usize::MAX };
/// What the name of a changed file may fill in `details`.
const PATH_CHARS: usize = 300;
/// What `output` may fill in `details`; `content` has its own, configured limit.
const OUTPUT_FIELD: TruncateLimits = TruncateLimits { max_bytes: 64 * 1024, max_lines: usize::MAX };

/// What is known of a run before its child ends.
#[derive(Clone)]
pub(super) struct Subject {
    /// The agent's name.
    pub agent: String,
    /// The task as given.
    pub task: String,
    /// The run's id.
    pub run_id: RunId,
    /// The choke point that every string passes.
    pub sanitizer: Arc<Sanitizer>,
    /// The model that was chosen for the child, `provider/id`.
    pub model: Option<String>,
    /// What the text of the result may fill.
    pub limits: TruncateLimits,
    /// How the child is to be held to reading, once that is decided.
    pub sandbox: Option<SandboxPlan>,
    /// What the caller should know of how the run was set up.
    pub diagnostics: Vec<String>,
}

/// How a run ended, with all that its child left behind.
pub(super) struct Ending {
    /// What its supervisor saw.
    pub supervised: Supervised,
    /// What its events said.
    pub collected: Collected,
    /// What it has said of itself.
    pub sayings: Sayings,
    /// From the start of the run.
    pub duration: Duration,
    /// Files it changed.
    pub changes: Option<Vec<String>>,
    /// How often a child was started.
    pub attempts: u32,
    /// What the attempts before have spent.
    pub earlier: Usage,
    /// What has set the limit of the whole run.
    pub limited_by: &'static str,
}

impl Ending {
    /// What all attempts have spent.
    pub(super) fn usage(&self) -> Usage {
        let mut usage = self.collected.usage.clone();
        usage.add(&self.earlier);
        usage
    }
}

/// The verdict on a run: everything that follows from how it ended, and nothing about its text.
pub(super) struct Verdict {
    outcome: RunOutcome,
    exit_code: i32,
    code: Option<ErrorCode>,
    error: Option<String>,
    signal: Option<String>,
    timeout: Option<TimeoutReason>,
    /// The model's provider reported the error.
    is_by_provider: bool,
}

impl Verdict {
    fn completed() -> Self {
        Self {
            outcome: RunOutcome::Completed,
            exit_code: 0,
            code: None,
            error: None,
            signal: None,
            timeout: None,
            is_by_provider: false,
        }
    }

    fn failed(exit_code: i32, error: String) -> Self {
        let code = Some(ErrorCode::SubagentFailed);
        Self { outcome: RunOutcome::Failed, exit_code, code, error: Some(error), ..Self::completed() }
    }

    fn aborted(error: String) -> Self {
        Self { outcome: RunOutcome::Aborted, ..Self::failed(EXIT_ABORTED, error) }
    }

    fn cancelled(reason: &CancelReason) -> Self {
        match reason {
            CancelReason::Bound(bound) => Self::over_budget(bound.clone()),
            CancelReason::Interrupted => {
                Self { outcome: RunOutcome::Interrupted, ..Self::failed(1, cancel_text(reason)) }
            }
            reason => Self::aborted(cancel_text(reason)),
        }
    }

    fn over_budget(error: String) -> Self {
        Self { outcome: RunOutcome::Budget, ..Self::failed(1, error) }
    }

    fn timed_out(outcome: RunOutcome, reason: TimeoutReason, error: String) -> Self {
        let code = Some(ErrorCode::SubagentTimeout);
        Self { outcome, code, timeout: Some(reason), ..Self::failed(EXIT_TIMEOUT, error) }
    }

    /// Whether the run failed because its model's provider did.
    pub(super) fn is_provider_error(&self) -> bool {
        self.outcome == RunOutcome::Failed && self.is_by_provider
    }

    /// Judges a run by the first cause of its end, then by what its last assistant message says.
    pub(super) fn of(ending: &Ending) -> Self {
        if ending.collected.epilogue.is_some() {
            // The work was done, and nothing that came after it changes what it was.
            return Self::by_message(ending);
        }
        match &ending.supervised.outcome {
            Outcome::Cancelled(reason) => Self::cancelled(reason),
            Outcome::HardTimeout { limit } => Self::timed_out(
                RunOutcome::HardTimeout,
                TimeoutReason::Runtime,
                format!("hard limit reached: {} ms (`{}`)", limit.as_millis(), ending.limited_by),
            ),
            Outcome::IdleTimeout { limit } => {
                let (during, setting) = match ending.sayings.stopped_in {
                    Some(Busy::Tool) => (" while a tool ran", "toolTimeoutMs"),
                    Some(Busy::Question) => (" while a question waited for its answer", "toolTimeoutMs"),
                    None => ("", "idleTimeoutMs"),
                };
                let error = format!("no sign of life for {} ms{during} (`{setting}`)", limit.as_millis());
                Self::timed_out(RunOutcome::IdleTimeout, TimeoutReason::Idle, error)
            }
            Outcome::OverLimit(over) => {
                let OverLimit { limit, value, allowed, pid, name } = over;
                let limit = limit.as_str();
                Self {
                    outcome: RunOutcome::Killed,
                    ..Self::failed(
                        EXIT_KILLED,
                        format!(
                            "`limits.{limit}` reached: {value} of {allowed} (largest: {name}, process {pid})"
                        ),
                    )
                }
            }
            Outcome::Orphaned => Self::failed(
                1,
                "somebody killed the warden of the child; what could be found of its processes was ended"
                    .to_owned(),
            ),
            Outcome::Settled { lingered: true, .. }
            | Outcome::Settled { status: None, .. }
            | Outcome::Lost => Self::by_message(ending),
            Outcome::Settled { status: Some(status), .. } | Outcome::Exited(status) => {
                Self::by_status(*status, ending)
            }
        }
    }

    /// A child that left by itself, or was ended by somebody else.
    fn by_status(status: ExitStatus, ending: &Ending) -> Self {
        match (exit_signal(status).map(signal_name), exit_code(status)) {
            (Some(signal), code) => {
                let error = format!("the child was killed by {signal}");
                Self { signal: Some(signal), ..Self::failed(code, error) }
            }
            (None, 0) => Self::by_message(ending),
            (None, code) => Self::failed(code, exit_text(ending)),
        }
    }

    /// A child that ended by itself: its last assistant message decides, because pi exits with 0 after a provider
    /// error.
    fn by_message(Ending { collected, sayings, .. }: &Ending) -> Self {
        if let Some(refused) = &sayings.refused {
            return Self::failed(1, format!("the child did not take the task: {refused}"));
        }
        let reason =
            collected.error_message.as_deref().map_or(String::new(), |message| format!(": {message}"));
        match collected.stop_reason.as_deref() {
            Some("error") => Self {
                is_by_provider: true,
                ..Self::failed(1, format!("the model's provider reported an error{reason}"))
            },
            Some("aborted") => Self::failed(1, format!("the child stopped its own turn{reason}")),
            _ if has_text(collected) => Self::completed(),
            _ => Self::failed(1, no_text(collected)),
        }
    }
}

fn has_text(collected: &Collected) -> bool {
    collected.text.as_deref().is_some_and(|text| !text.trim().is_empty())
}

pub(super) fn cancel_text(reason: &CancelReason) -> String {
    match reason {
        CancelReason::Caller(Some(why)) if !why.trim().is_empty() => format!("cancelled by user: {why}"),
        CancelReason::Caller(_) => "cancelled by user".to_owned(),
        CancelReason::Dropped => "cancelled: the handle of the run was dropped".to_owned(),
        CancelReason::Shutdown => "cancelled: the session ended".to_owned(),
        CancelReason::Interrupted => "the host ended during the run".to_owned(),
        CancelReason::Bound(bound) => bound.clone(),
    }
}

/// Why a child without a message worth quoting ended with a code: what it wrote for people.
fn exit_text(ending: &Ending) -> String {
    let stderr = ending.supervised.stderr.to_text();
    let said =
        [ending.collected.error_message.as_deref(), Some(stderr.trim()), Some(ending.collected.noise.trim())];
    match said.into_iter().flatten().find(|text| !text.is_empty()) {
        Some(text) => text.to_owned(),
        None => "the child gave no reason".to_owned(),
    }
}

/// What there is to say of a child that said nothing.
fn no_text(collected: &Collected) -> String {
    let last = collected.last_event.as_deref().unwrap_or("none");
    let stop = collected.stop_reason.as_deref().unwrap_or("none");
    let tools = collected.tools_completed;
    format!(
        "the child gave no answer (last event: {last}; stop reason: {stop}; tool executions completed: {tools})"
    )
}

impl Subject {
    /// Adds what was decided about the child's tools.
    pub(super) fn plan(&mut self, prepared: &Prepared, plan: &ToolPlan) {
        self.sandbox = Some(prepared.sandbox());
        self.diagnostics.extend(prepared.degraded());
        self.diagnostics.extend(plan.dropped.iter().map(ToString::to_string));
    }

    /// The result of a run whose child was started.
    #[must_use]
    pub(super) fn ended(mut self, ending: Ending, files: &RunFiles) -> ToolResult {
        let verdict = Verdict::of(&ending);
        self.diagnostics.extend(self.lost_token(files, &ending));
        let Ending { collected, duration, changes, supervised, attempts, earlier, sayings, .. } = ending;
        let mut collected = clean(collected, &self.sanitizer);
        let epilogue = collected.epilogue.take();
        let (announcement, lost) =
            announced(&supervised.outcome, sayings.silenced.as_deref(), epilogue.as_deref());
        self.diagnostics.extend(lost);
        let cut = collected.omitted_bytes > 0;
        if cut {
            let left_out = collected.omitted_bytes;
            self.diagnostics
                .push(format!("{left_out} bytes in the middle of the answer were too many to keep"));
        }
        let is_completed = verdict.outcome == RunOutcome::Completed;
        let answer = if is_completed { collected.text } else { collected.partial.or(collected.text) };
        let answer = answer.filter(|text| !text.trim().is_empty());
        self.diagnostics.extend(files.places().into_iter().flat_map(Places::left_out));
        if !supervised.gone {
            self.diagnostics.push("not everything that the child has started could be ended".to_owned());
        }
        let mut single = self.single(&verdict, duration, files.session());
        let held = supervised.supervision.map(|_| supervised.mechanisms.as_slice());
        single.sandbox = self.sandbox.as_ref().map(|plan| plan.report(held));
        single.supervision = supervised.supervision.map(Supervision::as_str);
        single.resources = supervised.tally.map(Into::into);
        single.output = answer.as_deref().map(|text| truncate(text, OUTPUT_FIELD, None).text);
        single.attempts = attempts;
        single.usage = collected.usage;
        single.usage.add(&earlier);
        single.display_items = collected.display_items;
        single.model = collected.model.map(|model| self.field(&model));
        single.stop_reason = collected.stop_reason.map(|reason| self.field(&reason));
        single.announcement = announcement.map(|announcement| self.announcement(announcement));
        single.changes = changes.map(|paths| paths.iter().map(|path| self.path(path)).collect());

        let mut text = answer.unwrap_or_default();
        if is_completed && single.stop_reason.as_deref() == Some("length") {
            text.push_str("\n\n[The model reached its output limit; the answer ends here.]");
        }
        if let Some(changes) = single.changes.as_deref().filter(|changes| !changes.is_empty()) {
            text.push_str("\n\nFiles changed: ");
            text.push_str(&changes.join(", "));
        }
        if !is_completed {
            text = failure_text(&single, &text);
        }
        self.result(single, &verdict, text, cut, Some(files))
    }

    fn announcement(&self, announcement: Announcement) -> Announcement {
        match announcement {
            Announcement::Said(text) => {
                let (text, _) = self.sanitizer.sanitize(&text).truncate(self.limits, None);
                Announcement::Said(text.into_string())
            }
            Announcement::Skipped => Announcement::Skipped,
        }
    }

    /// Takes back into the user's credentials what an attempt that is not the last has refreshed. Blocks.
    pub(super) fn give_back(&self, files: &RunFiles, ending: &Ending) {
        // What is lost here is refreshed by the next attempt, or said by its result.
        drop(self.lost_token(files, ending));
    }

    /// Takes a token that the child has refreshed back into the user's credentials; what the user should know of it.
    fn lost_token(&self, files: &RunFiles, ending: &Ending) -> Option<String> {
        // What was chosen here and not what the child says, unless nothing was.
        let model = self.model.as_deref().or(ending.collected.model.as_deref());
        let (provider, _) = model?.split_once('/')?;
        let is_awaited = matches!(ending.supervised.outcome, Outcome::Cancelled(_));
        files.places()?.give_back(provider, if is_awaited { LOCK_AFTER_ABORT } else { LOCK })
    }

    /// The result of a run that could not start within its budget.
    #[must_use]
    pub(super) fn over_budget(self, over: &OverBudget) -> ToolResult {
        let verdict = Verdict::over_budget(format!("not started: {over}"));
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// The result of a run that was aborted while it waited for its turn.
    #[must_use]
    pub(super) fn never_started(self, reason: &CancelReason) -> ToolResult {
        let mut verdict = Verdict::cancelled(reason);
        verdict.error = verdict.error.map(|error| format!("not started: {error}"));
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// The result of a run that others have kept from starting.
    #[must_use]
    pub(super) fn skipped(self, why: &str) -> ToolResult {
        let verdict =
            Verdict { outcome: RunOutcome::Skipped, ..Verdict::failed(1, format!("not started: {why}")) };
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// The result of a run whose child was never started, and why.
    #[must_use]
    pub(super) fn not_started(self, error: &str, duration: Duration, session: Option<&Path>) -> ToolResult {
        self.without_child(&Verdict::failed(1, error.to_owned()), duration, session)
    }

    /// The result of a run that was aborted before its child was started.
    #[must_use]
    pub(super) fn aborted_before_start(self, reason: &CancelReason, duration: Duration) -> ToolResult {
        self.without_child(&Verdict::cancelled(reason), duration, None)
    }

    fn without_child(self, verdict: &Verdict, duration: Duration, session: Option<&Path>) -> ToolResult {
        let mut single = self.single(verdict, duration, session);
        single.attempts = 0;
        let text = failure_text(&single, "");
        self.result(single, verdict, text, false, None)
    }

    fn single(&self, verdict: &Verdict, duration: Duration, session: Option<&Path>) -> SingleResult {
        SingleResult {
            agent: self.agent.clone(),
            task: self.field(&self.task),
            exit_code: verdict.exit_code,
            usage: Usage::default(),
            error: verdict.error.as_deref().map(|error| self.field(error)),
            session_file: session.map(|path| path.to_string_lossy().into_owned()),
            output: None,
            display_items: Vec::new(),
            outcome: verdict.outcome,
            attempts: 1,
            duration_ms: millis(duration),
            model: None,
            stop_reason: None,
            signal: verdict.signal.clone(),
            timeout_reason: verdict.timeout,
            sandbox: self.sandbox.as_ref().map(|plan| plan.report(None)),
            supervision: None,
            resources: None,
            full_output_file: None,
            changes: None,
            diagnostics: self.diagnostics.iter().map(|text| self.field(text)).collect(),
            announcement: None,
        }
    }

    /// The cause of a failure stands at the end of what a program printed, its kind at the beginning.
    fn field(&self, text: &str) -> String {
        self.sanitizer.sanitize(text).truncate(FIELD, None).0.into_string()
    }

    /// A file's name on one line: git allows anything in it.
    fn path(&self, path: &str) -> String {
        self.sanitizer.sanitize(&one_line(path, PATH_CHARS)).into_string()
    }

    fn result(
        &self,
        mut single: SingleResult,
        verdict: &Verdict,
        text: String,
        cut: bool,
        files: Option<&RunFiles>,
    ) -> ToolResult {
        let whole = self.sanitizer.sanitize(&text);
        // A long answer is held once, not twice, while it is cut and written.
        drop(text);
        let (mut shown, truncated) = whole.truncate(self.limits, None);
        if truncated && let Some(files) = files {
            match files.keep_output(&whole) {
                Ok(path) => {
                    let path = path.to_string_lossy().into_owned();
                    shown = whole.truncate(self.limits, Some(&path)).0;
                    single.full_output_file = Some(path);
                }
                Err(error) => {
                    single.diagnostics.push(self.field(&format!("the full text is lost: {}", chain(&error))));
                }
            }
        }
        let truncation = (truncated || cut).then_some(ErrorCode::SubagentOutputTruncated);
        let code = verdict.code.or(truncation);
        let message = match (&single.error, code) {
            (Some(error), _) => error.clone(),
            (None, Some(_)) => "the answer was longer than the output limit".to_owned(),
            (None, None) => String::new(),
        };
        ToolResult {
            text: shown.into_string(),
            is_error: verdict.code.is_some(),
            usage: Some(single.usage.clone()),
            details: RunDetails {
                results: vec![single],
                error: code.map(|code| CallError { code, message }),
                ..RunDetails::single(&self.run_id.get())
            },
        }
    }
}

/// The text of a failure, its parts in a fixed order, empty ones left out.
fn failure_text(single: &SingleResult, partial: &str) -> String {
    let parts = [
        Some(format!("{} failed with exit code {}", single.agent, single.exit_code)),
        (single.attempts > 1).then(|| format!("attempts: {}", single.attempts)),
        single.error.as_ref().map(|error| format!("error: {error}")),
        (!partial.trim().is_empty()).then(|| format!("partial output:\n{partial}")),
        single.session_file.as_ref().map(|path| format!("session: {path}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}
