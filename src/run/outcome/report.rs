//! From the end of a child to the result of its run: the situation table, in one place.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use super::clean::clean;
use crate::agent::ToolPlan;
use crate::event::{Collected, Usage};
use crate::process::{
    CancelReason, Outcome, OverLimit, Supervised, Supervision, exit_code, exit_signal, signal_name,
};
use crate::run::admit::prepare::Prepared;
use crate::run::admit::sandbox::SandboxPlan;
use crate::run::budget::meter::OverBudget;
use crate::run::drive::announcement::announced;
use crate::run::drive::protocol::{Busy, ProtocolReport};
use crate::run::launch::files::{RunFiles, RunId};
use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::result::{
    Announcement, CallError, ErrorCode, RunDetails, RunOutcome, SingleResult, TimeoutReason, ToolResult,
};
use crate::text::chain;
use crate::text::figures::millis;
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
pub(in crate::run) struct ResultBuilder {
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
pub(in crate::run) struct AttemptReport {
    /// What its supervisor saw.
    pub supervised: Supervised,
    /// What its events said.
    pub collected: Collected,
    /// What it has said of itself.
    pub protocol_report: ProtocolReport,
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

impl AttemptReport {
    /// What all attempts have spent.
    pub(in crate::run) fn usage(&self) -> Usage {
        let mut usage = self.collected.usage.clone();
        usage.add(&self.earlier);
        usage
    }
}

/// The verdict on a run: everything that follows from how it ended, and nothing about its text.
pub(in crate::run) struct Verdict {
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
            reason => Self::aborted(reason.to_string()),
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
    pub(in crate::run) fn is_provider_error(&self) -> bool {
        self.outcome == RunOutcome::Failed && self.is_by_provider
    }

    /// Judges a run by the first cause of its end, then by what its last assistant message says.
    pub(in crate::run) fn of(attempt_report: &AttemptReport) -> Self {
        if attempt_report.collected.epilogue.is_some() {
            // The work was done, and nothing that came after it changes what it was.
            return Self::by_message(attempt_report);
        }
        match &attempt_report.supervised.outcome {
            Outcome::Cancelled(reason) => Self::cancelled(reason),
            Outcome::HardTimeout { limit } => Self::timed_out(
                RunOutcome::HardTimeout,
                TimeoutReason::Runtime,
                format!("hard limit reached: {} ms (`{}`)", limit.as_millis(), attempt_report.limited_by),
            ),
            Outcome::IdleTimeout { limit } => {
                let (during, setting) = match attempt_report.protocol_report.stopped_in {
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
            | Outcome::Lost => Self::by_message(attempt_report),
            Outcome::Settled { status: Some(status), .. } | Outcome::Exited(status) => {
                Self::by_status(*status, attempt_report)
            }
        }
    }

    /// A child that left by itself, or was ended by somebody else.
    fn by_status(status: ExitStatus, attempt_report: &AttemptReport) -> Self {
        match (exit_signal(status).map(signal_name), exit_code(status)) {
            (Some(signal), code) => {
                let error = format!("the child was killed by {signal}");
                Self { signal: Some(signal), ..Self::failed(code, error) }
            }
            (None, 0) => Self::by_message(attempt_report),
            (None, code) => Self::failed(code, exit_text(attempt_report)),
        }
    }

    /// A child that ended by itself: its last assistant message decides, because pi exits with 0 after a provider
    /// error.
    fn by_message(AttemptReport { collected, protocol_report, .. }: &AttemptReport) -> Self {
        if let Some(refused) = &protocol_report.refused {
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

/// Why a child without a message worth quoting ended with a code: what it wrote for people.
fn exit_text(attempt_report: &AttemptReport) -> String {
    let said = [
        attempt_report.collected.error_message.as_deref(),
        Some(attempt_report.supervised.stderr.trim()),
        Some(attempt_report.collected.noise.trim()),
    ];
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

impl ResultBuilder {
    /// Adds what was decided about the child's tools.
    pub(in crate::run) fn plan(&mut self, prepared: &Prepared, plan: &ToolPlan) {
        self.sandbox = Some(prepared.sandbox());
        self.diagnostics.extend(prepared.degraded());
        self.diagnostics.extend(plan.dropped.iter().map(ToString::to_string));
    }

    /// The result of a run whose child was started.
    #[must_use]
    pub(in crate::run) fn ended(mut self, attempt_report: AttemptReport, files: &RunFiles) -> ToolResult {
        let verdict = Verdict::of(&attempt_report);
        self.diagnostics.extend(self.lost_token(files, &attempt_report));
        let AttemptReport {
            collected,
            duration,
            changes,
            supervised,
            attempts,
            earlier,
            protocol_report,
            ..
        } = attempt_report;
        let mut collected = clean(collected, &self.sanitizer);
        let epilogue = collected.epilogue.take();
        let (announcement, lost) =
            announced(&supervised.outcome, protocol_report.silenced.as_deref(), epilogue.as_deref());
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
        self.diagnostics.extend(files.private_dirs().into_iter().flat_map(PrivateDirs::left_out));
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
    pub(in crate::run) fn give_back(&self, files: &RunFiles, attempt_report: &AttemptReport) {
        // What is lost here is refreshed by the next attempt, or said by its result.
        drop(self.lost_token(files, attempt_report));
    }

    /// Takes a token that the child has refreshed back into the user's credentials; what the user should know of it.
    fn lost_token(&self, files: &RunFiles, attempt_report: &AttemptReport) -> Option<String> {
        // What was chosen here and not what the child says, unless nothing was.
        let model = self.model.as_deref().or(attempt_report.collected.model.as_deref());
        let (provider, _) = model?.split_once('/')?;
        let is_awaited = matches!(attempt_report.supervised.outcome, Outcome::Cancelled(_));
        files.private_dirs()?.give_back(provider, if is_awaited { LOCK_AFTER_ABORT } else { LOCK })
    }

    /// The result of a run that could not start within its budget.
    #[must_use]
    pub(in crate::run) fn over_budget(self, over: &OverBudget) -> ToolResult {
        let verdict = Verdict::over_budget(format!("not started: {over}"));
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// The result of a run that was aborted while it waited for its turn.
    #[must_use]
    pub(in crate::run) fn never_started(self, reason: &CancelReason) -> ToolResult {
        let mut verdict = Verdict::cancelled(reason);
        verdict.error = verdict.error.map(|error| format!("not started: {error}"));
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// The result of a run that others have kept from starting.
    #[must_use]
    pub(in crate::run) fn skipped(self, why: &str) -> ToolResult {
        let verdict =
            Verdict { outcome: RunOutcome::Skipped, ..Verdict::failed(1, format!("not started: {why}")) };
        self.without_child(&verdict, Duration::ZERO, None)
    }

    /// The result of a run whose child was never started, and why.
    #[must_use]
    pub(in crate::run) fn not_started(
        self,
        error: &str,
        duration: Duration,
        session: Option<&Path>,
    ) -> ToolResult {
        self.without_child(&Verdict::failed(1, error.to_owned()), duration, session)
    }

    /// The result of a run that was aborted before its child was started.
    #[must_use]
    pub(in crate::run) fn aborted_before_start(
        self,
        reason: &CancelReason,
        duration: Duration,
    ) -> ToolResult {
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::process::LimitKind;

    /// What is said of a child that [`failed_by_provider`].
    const PROVIDER: &str = "the model's provider reported an error: 500: overloaded";

    /// A child of which nothing is known but how it ended.
    fn attempt_report(outcome: Outcome) -> AttemptReport {
        let supervised = Supervised {
            outcome,
            status: None,
            complete: true,
            supervision: None,
            mechanisms: Vec::new(),
            gone: true,
            tally: None,
            stderr: String::new(),
            duration: Duration::ZERO,
        };
        AttemptReport {
            supervised,
            collected: Collected::default(),
            protocol_report: ProtocolReport { refused: None, stopped_in: None, silenced: None },
            duration: Duration::ZERO,
            changes: None,
            attempts: 1,
            earlier: Usage::default(),
            limited_by: "timeoutMs",
        }
    }

    fn collected(outcome: Outcome, change: impl FnOnce(&mut Collected)) -> AttemptReport {
        let mut attempt_report = attempt_report(outcome);
        change(&mut attempt_report.collected);
        attempt_report
    }

    fn answered(outcome: Outcome) -> AttemptReport {
        collected(outcome, |collected| {
            collected.text = Some("The answer.".into());
            collected.stop_reason = Some("stop".into());
        })
    }

    fn failed_by_provider(outcome: Outcome) -> AttemptReport {
        collected(outcome, |collected| {
            collected.text = Some("An answer before that.".into());
            collected.stop_reason = Some("error".into());
            collected.error_message = Some("500: overloaded".into());
        })
    }

    fn stopped_in(busy: Option<Busy>) -> AttemptReport {
        let mut attempt_report = attempt_report(Outcome::IdleTimeout { limit: Duration::from_millis(1500) });
        attempt_report.protocol_report.stopped_in = busy;
        attempt_report
    }

    fn complains(code: i32, stderr: &str, noise: &str) -> AttemptReport {
        let mut attempt_report = answered(left(code));
        attempt_report.supervised.stderr.push_str(stderr);
        attempt_report.collected.noise = noise.into();
        attempt_report
    }

    /// Leaving with a code.
    fn left(code: i32) -> Outcome {
        Outcome::Exited(ExitStatus::from_raw(code << 8))
    }

    fn killed(signal: i32) -> Outcome {
        Outcome::Exited(ExitStatus::from_raw(signal))
    }

    fn settled(status: Option<i32>, lingered: bool) -> Outcome {
        Outcome::Settled { status: status.map(ExitStatus::from_raw), lingered }
    }

    fn over(limit: LimitKind) -> Outcome {
        Outcome::OverLimit(OverLimit { limit, value: 5, allowed: 4, pid: 77, name: "node".into() })
    }

    fn cancelled(reason: CancelReason) -> Outcome {
        Outcome::Cancelled(reason)
    }

    /// A verdict as a row.
    fn row(verdict: &Verdict) -> (RunOutcome, i32, Option<&str>) {
        (verdict.outcome, verdict.exit_code, verdict.error.as_deref())
    }

    /// What a row expects: outcome, exit code, error.
    type Expected = (RunOutcome, i32, Option<&'static str>);

    /// Checks rows, and what follows from outcome and error alone.
    fn check(table: Vec<(&str, AttemptReport, Expected)>) {
        for (label, attempt_report, expected) in table {
            let verdict = Verdict::of(&attempt_report);
            assert_eq!(row(&verdict), expected, "{label}");
            let (code, timeout) = match verdict.outcome {
                RunOutcome::Completed => (None, None),
                RunOutcome::HardTimeout => (Some(ErrorCode::SubagentTimeout), Some(TimeoutReason::Runtime)),
                RunOutcome::IdleTimeout => (Some(ErrorCode::SubagentTimeout), Some(TimeoutReason::Idle)),
                _ => (Some(ErrorCode::SubagentFailed), None),
            };
            assert_eq!((verdict.code, verdict.timeout), (code, timeout), "{label}");
            let signal = expected.2.and_then(|error| error.strip_prefix("the child was killed by "));
            assert_eq!(verdict.signal.as_deref(), signal, "{label}");
            assert_eq!(verdict.is_provider_error(), expected.2 == Some(PROVIDER), "{label}");
        }
    }

    #[test]
    fn every_end_of_a_child_that_left_has_its_outcome_exit_code_and_reason() {
        use RunOutcome::{Completed, Failed};
        let silent =
            "the child gave no answer (last event: none; stop reason: none; tool executions completed: 0)";
        check(vec![
            ("an answer", answered(left(0)), (Completed, 0, None)),
            ("an answer, settled", answered(settled(Some(0), false)), (Completed, 0, None)),
            ("an answer, then no end", answered(settled(Some(9), true)), (Completed, 0, None)),
            ("an answer, then a lost status", answered(settled(None, false)), (Completed, 0, None)),
            ("an answer, not settled, status lost", answered(Outcome::Lost), (Completed, 0, None)),
            ("an answer, then a code", answered(left(3)), (Failed, 3, Some("the child gave no reason"))),
            (
                "an answer, settled, then a code",
                answered(settled(Some(4 << 8), false)),
                (Failed, 4, Some("the child gave no reason")),
            ),
            (
                "an answer, settled, then a signal",
                answered(settled(Some(15), false)),
                (Failed, 143, Some("the child was killed by SIGTERM")),
            ),
            ("a signal", answered(killed(9)), (Failed, 137, Some("the child was killed by SIGKILL"))),
            (
                "a signal without a name",
                answered(killed(42)),
                (Failed, 170, Some("the child was killed by SIG42")),
            ),
            ("nothing", attempt_report(left(0)), (Failed, 1, Some(silent))),
            ("nothing, status lost", attempt_report(Outcome::Lost), (Failed, 1, Some(silent))),
            ("nothing, lingering", attempt_report(settled(None, true)), (Failed, 1, Some(silent))),
            (
                "a code and no word",
                attempt_report(left(255)),
                (Failed, 255, Some("the child gave no reason")),
            ),
            ("an error", failed_by_provider(left(0)), (Failed, 1, Some(PROVIDER))),
            ("an error, lingering", failed_by_provider(settled(Some(9), true)), (Failed, 1, Some(PROVIDER))),
            ("an error, status lost", failed_by_provider(Outcome::Lost), (Failed, 1, Some(PROVIDER))),
            ("an error and a code", failed_by_provider(left(2)), (Failed, 2, Some("500: overloaded"))),
            (
                "an error and a signal",
                failed_by_provider(killed(11)),
                (Failed, 139, Some("the child was killed by SIGSEGV")),
            ),
        ]);
    }

    #[test]
    fn every_end_of_a_child_that_was_ended_has_its_outcome_exit_code_and_reason() {
        use RunOutcome::{Aborted, Budget, Failed, HardTimeout, IdleTimeout, Killed};
        let hard = || Outcome::HardTimeout { limit: Duration::from_millis(2500) };
        let orphaned =
            "somebody killed the warden of the child; what could be found of its processes was ended";
        let by_caller = |why: Option<&str>| cancelled(CancelReason::Caller(why.map(Into::into)));
        check(vec![
            (
                "the hard limit",
                answered(hard()),
                (HardTimeout, 124, Some("hard limit reached: 2500 ms (`timeoutMs`)")),
            ),
            (
                "silence",
                stopped_in(None),
                (IdleTimeout, 124, Some("no sign of life for 1500 ms (`idleTimeoutMs`)")),
            ),
            (
                "silence of a tool",
                stopped_in(Some(Busy::Tool)),
                (IdleTimeout, 124, Some("no sign of life for 1500 ms while a tool ran (`toolTimeoutMs`)")),
            ),
            (
                "silence of a person",
                stopped_in(Some(Busy::Question)),
                (
                    IdleTimeout,
                    124,
                    Some(
                        "no sign of life for 1500 ms while a question waited for its answer (`toolTimeoutMs`)",
                    ),
                ),
            ),
            (
                "too much memory",
                answered(over(LimitKind::Memory)),
                (Killed, 137, Some("`limits.memoryBytes` reached: 5 of 4 (largest: node, process 77)")),
            ),
            (
                "too many processes",
                answered(over(LimitKind::Processes)),
                (Killed, 137, Some("`limits.processes` reached: 5 of 4 (largest: node, process 77)")),
            ),
            ("a warden that was killed", answered(Outcome::Orphaned), (Failed, 1, Some(orphaned))),
            ("an abort", answered(by_caller(None)), (Aborted, 130, Some("cancelled by user"))),
            (
                "an abort with a reason",
                answered(by_caller(Some("enough"))),
                (Aborted, 130, Some("cancelled by user: enough")),
            ),
            (
                "an abort with a blank one",
                answered(by_caller(Some(" "))),
                (Aborted, 130, Some("cancelled by user")),
            ),
            (
                "a dropped handle",
                answered(cancelled(CancelReason::Dropped)),
                (Aborted, 130, Some("cancelled: the handle of the run was dropped")),
            ),
            (
                "the end of the session",
                answered(cancelled(CancelReason::Shutdown)),
                (Aborted, 130, Some("cancelled: the session ended")),
            ),
            (
                "a bound",
                answered(cancelled(CancelReason::Bound("`budget.maxTurns` reached: 2 of 2".into()))),
                (Budget, 1, Some("`budget.maxTurns` reached: 2 of 2")),
            ),
        ]);
    }

    #[test]
    fn of_a_child_that_left_by_itself_the_last_message_decides() {
        use RunOutcome::{Completed, Failed};
        let said = |stop: &str, text: Option<&str>, error: Option<&str>| {
            collected(left(0), |collected| {
                collected.stop_reason = Some(stop.into());
                collected.text = text.map(Into::into);
                collected.error_message = error.map(Into::into);
                collected.last_event = Some("agent_settled".into());
                collected.tools_completed = 3;
            })
        };
        let silent = |stop: &str| {
            format!(
                "the child gave no answer (last event: agent_settled; stop reason: {stop}; tool executions completed: 3)"
            )
        };
        let table = [
            (said("stop", Some("Yes."), None), Completed, None),
            (said("length", Some("Yes, bec"), None), Completed, None),
            (said("stop", Some("Yes."), Some("a warning")), Completed, None),
            (said("stop", Some(" \n\t"), None), Failed, Some(silent("stop"))),
            (said("stop", Some(""), None), Failed, Some(silent("stop"))),
            (said("toolUse", None, None), Failed, Some(silent("toolUse"))),
            (
                said("error", Some("Yes."), None),
                Failed,
                Some("the model's provider reported an error".into()),
            ),
            (
                said("error", Some("Yes."), Some("429")),
                Failed,
                Some("the model's provider reported an error: 429".into()),
            ),
            (said("aborted", Some("Yes."), None), Failed, Some("the child stopped its own turn".into())),
            (
                said("aborted", None, Some("by a key")),
                Failed,
                Some("the child stopped its own turn: by a key".into()),
            ),
        ];
        for (attempt_report, outcome, error) in table {
            let verdict = Verdict::of(&attempt_report);
            let exit_code = i32::from(outcome == Failed);
            assert_eq!(row(&verdict), (outcome, exit_code, error.as_deref()));
            let is_error = attempt_report.collected.stop_reason.as_deref() == Some("error");
            assert_eq!(verdict.is_provider_error(), is_error, "{error:?}");
        }
    }

    #[test]
    fn a_task_that_the_child_did_not_take_is_a_failure_whatever_it_says() {
        let refuses = |mut attempt_report: AttemptReport| {
            attempt_report.protocol_report.refused = Some("busy".into());
            attempt_report
        };
        let error = Some("the child did not take the task: busy");
        for attempt_report in [answered(left(0)), failed_by_provider(left(0)), answered(settled(None, true))]
        {
            let verdict = Verdict::of(&refuses(attempt_report));
            assert_eq!(row(&verdict), (RunOutcome::Failed, 1, error));
            assert!(!verdict.is_provider_error(), "nothing would be better another time");
        }
        let verdict = Verdict::of(&refuses(answered(left(5))));
        assert_eq!(row(&verdict), (RunOutcome::Failed, 5, Some("the child gave no reason")));
    }

    #[test]
    fn an_exit_code_is_explained_by_the_first_of_what_was_said_for_people() {
        let said = |mut attempt_report: AttemptReport| {
            attempt_report.collected.error_message = Some("the error".into());
            attempt_report
        };
        let table = [
            (said(complains(1, " stderr\n", "noise")), "the error"),
            (complains(1, " stderr\n", "noise"), "stderr"),
            (complains(1, " \n", " noise\n"), "noise"),
            (complains(1, "", " \n"), "the child gave no reason"),
        ];
        for (attempt_report, expected) in table {
            assert_eq!(Verdict::of(&attempt_report).error.as_deref(), Some(expected));
        }
    }

    #[test]
    fn work_that_was_done_before_the_last_word_stays_done() {
        let ends: [fn() -> Outcome; 8] = [
            || left(3),
            || killed(9),
            || Outcome::Lost,
            || Outcome::Orphaned,
            || Outcome::HardTimeout { limit: Duration::ZERO },
            || Outcome::IdleTimeout { limit: Duration::ZERO },
            || over(LimitKind::Cpu),
            || cancelled(CancelReason::Dropped),
        ];
        for outcome in ends {
            let mut announcing = answered(outcome());
            announcing.collected.epilogue = Some(Box::default());
            assert_eq!(row(&Verdict::of(&announcing)), (RunOutcome::Completed, 0, None), "{:?}", outcome());
            if outcome() != Outcome::Lost {
                assert_ne!(
                    Verdict::of(&answered(outcome())).outcome,
                    RunOutcome::Completed,
                    "{:?}",
                    outcome()
                );
            }
        }
    }

    #[test]
    fn only_a_run_that_the_provider_failed_is_one_that_the_provider_failed() {
        let ends: [fn() -> Outcome; 5] = [
            || left(1),
            || Outcome::HardTimeout { limit: Duration::ZERO },
            || Outcome::IdleTimeout { limit: Duration::ZERO },
            || Outcome::Orphaned,
            || cancelled(CancelReason::Caller(None)),
        ];
        for outcome in ends {
            assert!(!Verdict::of(&failed_by_provider(outcome())).is_provider_error(), "{:?}", outcome());
        }
        assert!(Verdict::of(&failed_by_provider(left(0))).is_provider_error());
    }

    #[test]
    fn a_limit_is_named_after_what_has_set_it() {
        let mut attempt_report = attempt_report(Outcome::HardTimeout { limit: Duration::from_secs(3) });
        attempt_report.limited_by = "runTimeoutSeconds";
        let error = Verdict::of(&attempt_report).error;
        assert_eq!(error.as_deref(), Some("hard limit reached: 3000 ms (`runTimeoutSeconds`)"));
    }

    #[test]
    fn all_attempts_together_are_what_was_spent() {
        let mut attempt_report = answered(left(0));
        attempt_report.collected.usage = Usage { input: 3, turns: 2, ..Usage::default() };
        attempt_report.earlier = Usage { input: 4, turns: 5, ..Usage::default() };
        assert_eq!((attempt_report.usage().input, attempt_report.usage().turns), (7, 7));
    }
}
