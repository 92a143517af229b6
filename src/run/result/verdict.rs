//! Judges how a run ended: the table of situations.

use std::process::ExitStatus;
use std::time::Duration;

use super::tool_result::{ErrorCode, TimeoutReason};
use crate::run::facts::{CheckReport, IsolationReport, StoredChanges};
use crate::run::launcher::RemoteEnd;
use crate::run::state::RunOutcome;
use agents::SUBMIT;
use pi_events::{Collected, MAX_SUBMITTED, RefusedResults, StopReason, Submitted, provider_message};
use sanitizer::{Sanitizer, quoted, quoted_path, quoted_within};
use supervisor::{CancelReason, Outcome, OverLimit, Supervised, exit_code, exit_signal, signal_name};
use worktree::{Gap, WatchedFiles};

/// The exit code of a run that a time limit ended, as in `timeout(1)`.
const EXIT_TIMEOUT: i32 = 124;
/// The exit code of a run that its caller aborted: 128 + SIGINT, as in a shell.
const EXIT_ABORTED: i32 = 130;
/// The exit code of a run whose processes exceeded a limit on resources: 128 + SIGKILL.
const EXIT_KILLED: i32 = 137;

/// Characters of a provider's error, or of pi's. It is one line: lines of its own could pass for ours.
const REASON_CHARS: usize = 2_000;

/// The start of pi's line about an extension that did not load.
const HOOK_FAILED: &str = "Failed to load extension \"";
/// The maximum length of the reason of a permission hook, in characters.
const HOOK_REASON_CHARS: usize = 1_000;

/// The activity that a child was waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Busy {
    /// A running tool.
    Tool,
    /// The answer to a question.
    Question,
    /// pi's summary of its context.
    Compaction,
}

/// A child's responses to its commands, and its activity when it was told to stop.
#[derive(Debug, Default)]
pub(crate) struct ProtocolReport {
    /// pi's reason for rejecting the prompt: no model worked on the task.
    pub prompt_rejected: Option<String>,
    /// pi's reason for rejecting the request for an announcement.
    pub announcement_rejected: Option<String>,
    /// pi's reason for rejecting the prompt about a failed check.
    pub check_rejected: Option<String>,
    /// The number of questions declined because the child has no extension that asks.
    pub forged_questions: u32,
    /// A question was declined because it was too long to be kept whole.
    pub has_cut_question: bool,
    /// The child's activity when it was told to stop.
    pub stopped_in: Option<Busy>,
    /// True if the child was asked to report its findings, because its time was up. Its reply is the epilogue of its
    /// stream.
    pub asked_to_report: bool,
    /// True if the child was sending a message when its time was up.
    pub was_speaking: bool,
    /// The repetition of which the child was last warned, with its count.
    pub loop_warning: Option<String>,
}

/// The outcome of an attempt.
pub(crate) struct AttemptReport {
    /// The observations of its supervisor.
    pub supervised: Supervised,
    /// The content of its events.
    pub collected: Collected,
    pub protocol_report: ProtocolReport,
    /// The setting of the limit for the whole run.
    pub limited_by: &'static str,
    /// The permission hooks without which it must not run.
    pub permission_hooks: Vec<String>,
    /// True if the child must submit its result.
    pub submits: bool,
    /// The outcome of the check of its work.
    pub check: Option<CheckReport>,
    /// True if its work has to be checked and no check of it has ended.
    pub lacks_check: bool,
    /// The progress of a remote child.
    pub remote_end: Option<RemoteEnd>,
}

/// The changed files that a person should look at first.
#[derive(Debug, Default)]
pub(crate) struct Flagged {
    /// Relative to the tree's root, the worst first, with the number of others where they are more than a result lists.
    pub paths: Vec<String>,
    /// The reason why there may be more of them.
    pub gap: Option<Gap>,
}

impl Flagged {
    /// Returns the outcome of a search that was not finished within `time`.
    pub(crate) fn unknown(time: Duration) -> Self {
        Self { paths: Vec::new(), gap: WatchedFiles::unknown(time).gap(None) }
    }
}

/// The state of a run after an attempt.
pub(crate) struct RunReport {
    /// The last attempt.
    pub last: AttemptReport,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Time since the start of the run.
    pub duration: Duration,
    /// The files that the run changed.
    pub changes: Option<Vec<String>>,
    /// The files that run code later, or tell agents what to do.
    pub flagged: Flagged,
    /// The artifacts of an isolated run.
    pub isolation: Option<IsolationReport>,
    /// The stored changes, or the reason why none are stored.
    pub stored_changes: Option<StoredChanges>,
}

impl RunReport {
    /// Reports on a run after its last attempt. Judges it here, once.
    pub(crate) fn new(last: AttemptReport, duration: Duration, sanitizer: &Sanitizer) -> Self {
        let verdict = Verdict::of(&last, sanitizer);
        let Verdict { outcome, error, .. } = &verdict;
        tracing::info!(target: "run", %outcome, reason = error, "the attempt has ended");
        Self {
            verdict,
            last,
            duration,
            changes: None,
            flagged: Flagged::default(),
            isolation: None,
            stored_changes: None,
        }
    }

    /// Cancels a run that waits for another attempt.
    pub(crate) fn cancel(&mut self, reason: CancelReason, duration: Duration) {
        self.verdict = Verdict::cancelled(&reason);
        self.last.supervised.outcome = Outcome::Cancelled(reason);
        self.duration = duration;
    }
}

/// The verdict on a run: everything that follows from how it ended, apart from its text.
pub(crate) struct Verdict {
    pub outcome: RunOutcome,
    pub exit_code: i32,
    /// `None` for a success.
    pub code: Option<ErrorCode>,
    pub error: Option<String>,
    /// The end of a successful child, if its answer is the result although the child did not end by itself with success.
    pub note: Option<String>,
    /// The signal that killed the child, unless this process sent it.
    pub signal: Option<String>,
    pub timeout: Option<TimeoutReason>,
    /// The model's provider reported the error.
    is_by_provider: bool,
    /// The next step, if it does not follow from the outcome.
    step: Option<&'static str>,
}

impl Verdict {
    fn completed() -> Self {
        Self {
            outcome: RunOutcome::Completed,
            exit_code: 0,
            code: None,
            error: None,
            note: None,
            signal: None,
            timeout: None,
            is_by_provider: false,
            step: None,
        }
    }

    pub(crate) fn failed(exit_code: i32, error: String) -> Self {
        let code = Some(ErrorCode::SubagentFailed);
        Self { outcome: RunOutcome::Failed, exit_code, code, error: Some(error), ..Self::completed() }
    }

    fn aborted(error: String) -> Self {
        Self { outcome: RunOutcome::Aborted, ..Self::failed(EXIT_ABORTED, error) }
    }

    pub(crate) fn cancelled(reason: &CancelReason) -> Self {
        match reason {
            CancelReason::Bound(bound) => Self::over_budget(bound.clone()),
            CancelReason::Stuck(why) => Self::failed(1, why.clone()),
            reason => Self::aborted(reason.to_string()),
        }
    }

    pub(crate) fn over_budget(error: String) -> Self {
        Self { outcome: RunOutcome::Budget, ..Self::failed(1, error) }
    }

    pub(crate) fn skipped(error: String) -> Self {
        Self { outcome: RunOutcome::Skipped, ..Self::failed(1, error) }
    }

    fn timed_out(outcome: RunOutcome, reason: TimeoutReason, error: String) -> Self {
        let code = Some(ErrorCode::SubagentTimeout);
        Self { outcome, code, timeout: Some(reason), ..Self::failed(EXIT_TIMEOUT, error) }
    }

    /// Returns the verdict on a run that took longer than the setting `limited_by` allows.
    pub(crate) fn hard_limit(limit: Duration, limited_by: &str) -> Self {
        let error = format!("hard limit reached: {} ms (`{limited_by}`)", limit.as_millis());
        Self::timed_out(RunOutcome::HardTimeout, TimeoutReason::Runtime, error)
    }

    /// Returns the next step for a model that reads of a failure.
    pub(crate) fn next_step(&self) -> Option<&'static str> {
        if self.is_provider_error() {
            return Some(
                "the provider failed, not the task; try again later, or continue without this result",
            );
        }
        self.step.or_else(|| self.outcome.next_step())
    }

    /// Returns true if the run failed because its model's provider did.
    pub(crate) fn is_provider_error(&self) -> bool {
        self.outcome == RunOutcome::Failed && self.is_by_provider
    }

    /// Logs that a failed attempt was the last one, with the reasons.
    pub(crate) fn log_last(&self, attempt: u32, pause: Duration) {
        if !self.is_success() {
            let provider_failed = self.is_provider_error();
            tracing::debug!(target: "run", attempt, provider_failed, ?pause, "no other attempt follows");
        }
    }

    /// Judges a run by the first cause of its end, then by its last assistant message.
    pub(crate) fn of(report: &AttemptReport, sanitizer: &Sanitizer) -> Self {
        let verdict = Self::of_child(report, sanitizer);
        let verdict = match &report.remote_end {
            Some(remote_end) => verdict.of_remote_end(remote_end, report),
            None => verdict,
        };
        match report.check.as_ref().and_then(CheckReport::error) {
            Some(error) if verdict.is_success() => Self::failed(1, error),
            _ => verdict,
        }
    }

    /// Judges a remote child, whose launcher may be the cause of the failure.
    fn of_remote_end(self, remote_end: &RemoteEnd, report: &AttemptReport) -> Self {
        let (has_exited, is_success) = match &report.supervised.outcome {
            Outcome::Exited(status) => (true, status.success()),
            _ => (false, false),
        };
        let stderr = report.supervised.stderr.trim();
        let last = report.collected.last_event.as_deref();
        match self.outcome {
            // A launcher may end with success although its child was still working.
            RunOutcome::Completed
                if has_exited && !remote_end.has_ended() && !last.is_some_and(ends_work) =>
            {
                Self {
                    step: remote_end.next_step(),
                    ..Self::failed(1, remote_end.explained(or_if_empty(stderr, "it gave no reason")))
                }
            }
            RunOutcome::Failed if has_exited && !self.is_by_provider => Self {
                // A launcher that ends with success may still have printed the reason.
                error: self.error.map(|error| {
                    let reason = if is_success && !remote_end.has_ended() {
                        or_if_empty(stderr, &error)
                    } else {
                        &error
                    };
                    remote_end.explained(reason)
                }),
                step: remote_end.next_step(),
                ..self
            },
            RunOutcome::HardTimeout | RunOutcome::IdleTimeout => {
                Self { step: Some(RemoteEnd::after_limit()), ..self }
            }
            _ => self,
        }
    }

    /// Returns true if the work is done.
    pub(crate) fn is_success(&self) -> bool {
        self.outcome == RunOutcome::Completed
    }

    fn of_child(report: &AttemptReport, sanitizer: &Sanitizer) -> Self {
        if report.collected.epilogue.is_some() {
            // The work was done before the announcement. Later events do not change the verdict.
            return Self::by_message(report, sanitizer);
        }
        Self::of_end(report, sanitizer).or_answer(report, sanitizer)
    }

    /// Returns the verdict on the answer, if the child had finished its answer before it failed, and neither its caller,
    /// its warden nor a limit on its resources has ended it.
    fn or_answer(self, report: &AttemptReport, sanitizer: &Sanitizer) -> Self {
        let note = match &report.supervised.outcome {
            _ if self.is_success() || !report.collected.ends_with_answer => return self,
            // No time remains for the check that the answer needs.
            Outcome::HardTimeout { .. } if report.lacks_check => return self,
            Outcome::HardTimeout { .. } | Outcome::IdleTimeout { .. } => {
                format!("the child was ended after its answer: {}", self.error.as_deref().unwrap_or_default())
            }
            // The end of a launcher says nothing about its child, which may still have been at work.
            Outcome::Exited(_) if report.remote_end.is_some() => return self,
            Outcome::Settled { status: Some(status), .. } | Outcome::Exited(status) => {
                if let Some(signal) = exit_signal(*status).map(signal_name) {
                    format!("the child was killed by {signal} after its answer")
                } else {
                    let reason = exit_reason(report)
                        .map_or_else(String::new, |reason| format!(": {}", reason_of(&reason, sanitizer)));
                    let code = exit_code(*status);
                    format!("the child ended with exit code {code} after its answer{reason}")
                }
            }
            _ => return self,
        };
        let by_message = Self::by_message(report, sanitizer);
        if by_message.is_success() { Self { note: Some(note), ..by_message } } else { self }
    }

    /// Judges a child by its end alone.
    fn of_end(report: &AttemptReport, sanitizer: &Sanitizer) -> Self {
        match &report.supervised.outcome {
            Outcome::Cancelled(reason) => Self::cancelled(reason),
            Outcome::HardTimeout { limit } => Self::hard_limit(*limit, report.limited_by),
            Outcome::IdleTimeout { limit } => {
                let (during, setting) = match report.protocol_report.stopped_in {
                    Some(Busy::Tool) => (" while a tool ran", "toolTimeoutMs"),
                    Some(Busy::Question) => (" while a question waited for its answer", "toolTimeoutMs"),
                    Some(Busy::Compaction) => (" while pi compacted the context", "toolTimeoutMs"),
                    None => ("", "idleTimeoutMs"),
                };
                let error = format!("no activity for {} ms{during} (`{setting}`)", limit.as_millis());
                Self::timed_out(RunOutcome::IdleTimeout, TimeoutReason::Idle, error)
            }
            Outcome::OverLimit(exceeded) => {
                let OverLimit { limit, value, allowed, pid, name } = exceeded;
                let limit = limit.as_str();
                Self {
                    outcome: RunOutcome::Killed,
                    ..Self::failed(
                        EXIT_KILLED,
                        format!(
                            "`limits.{limit}` reached: {value} of {allowed} (largest: {}, process {pid})",
                            quoted(name)
                        ),
                    )
                }
            }
            Outcome::Orphaned => Self::failed(
                1,
                "the warden of the child was killed; every process of the child that could be found was ended"
                    .to_owned(),
            ),
            Outcome::Settled { lingered: true, .. }
            | Outcome::Settled { status: None, .. }
            | Outcome::Lost => Self::by_message(report, sanitizer),
            Outcome::Settled { status: Some(status), .. } | Outcome::Exited(status) => {
                Self::by_status(*status, report, sanitizer)
            }
        }
    }

    /// Judges a child that exited by itself, or that another program ended.
    fn by_status(status: ExitStatus, report: &AttemptReport, sanitizer: &Sanitizer) -> Self {
        match (exit_signal(status).map(signal_name), exit_code(status)) {
            (Some(signal), code) => {
                let error = format!("the child was killed by {signal}");
                Self { signal: Some(signal), ..Self::failed(code, error) }
            }
            (None, 0) => Self::by_message(report, sanitizer),
            (None, code) => {
                let refused = failed_hook(&report.permission_hooks, &report.supervised.stderr, sanitizer);
                Self::failed(code, refused.unwrap_or_else(|| exit_text(report)))
            }
        }
    }

    /// Judges a child that did not exit with an error: its last assistant message decides, because pi exits with 0
    /// after a provider error too.
    fn by_message(report: &AttemptReport, sanitizer: &Sanitizer) -> Self {
        let AttemptReport { collected, protocol_report, submits, .. } = report;
        if let Some(rejected) = &protocol_report.prompt_rejected {
            return Self::failed(
                1,
                format!("the child rejected the prompt: {}", reason_of(rejected, sanitizer)),
            );
        }
        let error = collected.error_message.as_deref();
        let reason = error
            .map_or(String::new(), |error| format!(": {}", reason_of(&provider_message(error), sanitizer)));
        match collected.stop_reason {
            Some(StopReason::Error) => Self {
                is_by_provider: true,
                ..Self::failed(1, format!("the model's provider reported an error{reason}"))
            },
            Some(StopReason::Aborted) => Self::failed(1, format!("the child stopped its own turn{reason}")),
            _ if *submits => match &collected.submitted {
                Some(Submitted { is_too_long: false, .. }) => Self::completed(),
                Some(_) => {
                    Self::failed(1, format!("the submitted result has more than {MAX_SUBMITTED} bytes"))
                }
                None => Self::failed(1, no_result(&collected.refused_results, sanitizer)),
            },
            _ if has_text(collected) => Self::completed(),
            _ => Self::failed(1, no_text(collected)),
        }
    }
}

/// Quotes a reason that came from the child.
fn reason_of(text: &str, sanitizer: &Sanitizer) -> String {
    quoted_within(&sanitizer.line(text, REASON_CHARS), REASON_CHARS)
}

/// Returns the reason for refusing a run whose child could not load one of its hooks, taken from the child's output.
/// `None` if the child ended for another reason.
fn failed_hook(hooks: &[String], written: &str, sanitizer: &Sanitizer) -> Option<String> {
    let of_line = |line: &str| {
        let (path, reason) = line.split_once(HOOK_FAILED)?.1.split_once("\": ")?;
        let hook = hooks.iter().find(|hook| *hook == path)?;
        let reason =
            sanitizer.line(reason.trim_start_matches("Failed to load extension: "), HOOK_REASON_CHARS);
        Some(format!(
            "the permission hook {} did not load, and this child does not run without it: {}",
            quoted_path(hook),
            quoted_within(&reason, HOOK_REASON_CHARS)
        ))
    };
    written.lines().find_map(of_line)
}

fn or_if_empty<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// Returns true if pi reports with this event that its work has ended.
fn ends_work(event: &str) -> bool {
    matches!(event, "agent_end" | "agent_settled")
}

fn has_text(collected: &Collected) -> bool {
    collected.text.as_deref().is_some_and(|text| !text.trim().is_empty())
}

/// Returns the error of a child that exited with a code and without a usable message.
fn exit_text(report: &AttemptReport) -> String {
    exit_reason(report).unwrap_or_else(|| "the child gave no reason".to_owned())
}

/// Returns the first text that a child wrote for people.
fn exit_reason(report: &AttemptReport) -> Option<String> {
    let candidates = [
        report.collected.error_message.as_deref(),
        Some(report.supervised.stderr.trim()),
        Some(report.collected.noise.trim()),
    ];
    let text = candidates.into_iter().flatten().find(|text| !text.is_empty())?;
    Some(provider_message(text).into_owned())
}

/// Returns the error of a child that submitted no result that matches the schema.
fn no_result(RefusedResults { count, reason }: &RefusedResults, sanitizer: &Sanitizer) -> String {
    let error = format!("the child has not submitted a result: it never called `{SUBMIT}` with success");
    if *count == 0 {
        return error;
    }
    let reason = reason_of(&sanitizer.sanitize_growing(reason).into_string(), sanitizer);
    format!("{error}; pi refused {count}, the last for this reason: {reason}")
}

/// Returns the error of a child that gave no answer.
fn no_text(collected: &Collected) -> String {
    let or_none = |text: Option<&str>| text.map_or_else(|| "none".to_owned(), quoted);
    let last = or_none(collected.last_event.as_deref());
    let stop = or_none(collected.stop_reason.as_ref().map(StopReason::as_str));
    let tools = collected.tools_completed;
    format!(
        "the child gave no answer (last event: {last}; stop reason: {stop}; tool executions completed: {tools})"
    )
}

#[cfg(all(test, unix))]
mod tests;
