//! The state of a run: one mark, one word, and a note. Every screen uses these.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};
use serde_with_macros::skip_serializing_none;

use super::report::Mark;
use crate::run::{Caveat, NOT_STARTED, RetryNotice, RunOutcome, RunState, TaskState, for_person};
use sanitizer::figures::{self, epoch_ms};
use sanitizer::one_line;

/// The longest shown state or signal. A session may hold a longer word from a later release.
const MAX_WORD: usize = 40;

/// The facts that decide the label of a state.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunStatus {
    /// A [`TaskState`] as text, or `planned` for a call that is not under way yet.
    pub state: String,
    /// The question that it has asked and whose answer it waits for.
    pub pending_question: Option<String>,
    /// The position in the queue, from 1.
    pub position: Option<usize>,
    /// The time until a rate limit lets it start.
    #[serde(default, rename = "rateLimitedForMs", deserialize_with = "from_ms")]
    pub rate_limited_for: Option<Duration>,
    /// The run that writes to the same work tree and has to end first.
    pub blocked_by: Option<String>,
    /// The attempt, from 1; after the end, how many there were.
    pub attempt: Option<u32>,
    /// The pending retry.
    pub retry: Option<RetryNotice>,
    /// The reason why the model stopped.
    pub stop_reason: Option<String>,
    /// The signal that ended the child.
    pub signal: Option<String>,
    /// The most important fact that the answer of a completed run may contradict.
    #[serde(default, deserialize_with = "known_caveat")]
    pub caveat: Option<Caveat>,
}

fn from_ms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Ok(Duration::try_from_secs_f64(f64::deserialize(deserializer)? / 1_000.0).ok())
}

fn known_caveat<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Caveat>, D::Error> {
    Ok(Caveat::parse(&String::deserialize(deserializer)?))
}

/// The label of a state.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateLabel {
    /// Its mark, which must be enough if there is no room for a word.
    pub mark: Mark,
    /// The state in a word or two.
    pub word: String,
    /// The text next to the mark. `None` for a run that simply runs or has simply completed.
    pub note: Option<String>,
}

/// The words for a state. `now_ms` is the time, in milliseconds since 1970.
#[must_use]
pub fn state_label(status: &RunStatus, now_ms: i64) -> StateLabel {
    let RunStatus {
        state,
        pending_question,
        position,
        rate_limited_for,
        blocked_by,
        attempt,
        retry,
        stop_reason,
        signal,
        caveat,
    } = status;
    let same_note =
        |mark, word: &str| StateLabel { mark, word: word.to_owned(), note: Some(word.to_owned()) };
    let plain = |mark, word: &str| StateLabel { mark, word: word.to_owned(), note: None };
    let noted = |mark, word: &str, note: String| StateLabel { mark, word: word.to_owned(), note: Some(note) };
    let parsed = TaskState::parse(state);
    if let (Some(title), Some(TaskState::Live(_))) = (pending_question, parsed) {
        return noted(Mark::Asking, "asking", format!("asks: {title}"));
    }
    match parsed {
        None if state == "planned" => plain(Mark::Queued, state),
        None => same_note(Mark::Warning, &one_line(state, MAX_WORD).into_string()),
        Some(TaskState::Waiting) => same_note(Mark::Queued, "waiting"),
        Some(TaskState::Live(RunState::Queued)) => {
            let note = match (rate_limited_for, blocked_by, position) {
                (Some(wait), ..) if !wait.is_zero() => {
                    format!("rate limit, {} left", figures::elapsed(*wait))
                }
                (_, Some(writer), _) => {
                    format!("waits for {} to finish writing here", one_line(writer, MAX_WORD))
                }
                (.., Some(position)) => format!("queued #{position}"),
                (.., None) => "queued".to_owned(),
            };
            noted(Mark::Queued, "queued", note)
        }
        Some(TaskState::Live(RunState::AwaitingQuota)) => {
            noted(Mark::Retrying, "waiting for quota", quota_note(retry.as_ref(), now_ms))
        }
        Some(TaskState::Live(RunState::Starting)) => same_note(Mark::Starting, "starting"),
        Some(TaskState::Live(live)) => match (live, retry, attempt) {
            (_, Some(retry), _) => noted(Mark::Retrying, "retrying", retry_text(retry, now_ms)),
            (RunState::Retrying, None, attempt) => {
                let note = attempt.map(|attempt| format!("retrying, attempt {attempt}"));
                noted(Mark::Retrying, "retrying", note.unwrap_or_else(|| "retrying".to_owned()))
            }
            (_, None, Some(attempt @ 2..)) => noted(Mark::Running, "running", format!("attempt {attempt}")),
            _ => plain(Mark::Running, "running"),
        },
        Some(TaskState::Ended(outcome)) => match (outcome, signal) {
            (RunOutcome::Completed, _) if stop_reason.as_deref() == Some("length") => {
                noted(Mark::Warning, "completed", "cut at the output limit".to_owned())
            }
            (RunOutcome::Completed, _) if let Some(caveat) = caveat => {
                noted(Mark::Warning, "completed", caveat.note().to_owned())
            }
            (RunOutcome::Completed, _) => plain(Mark::Ok, outcome_word(outcome)),
            (_, Some(signal)) => {
                noted(outcome_mark(outcome), "killed", format!("killed by {}", one_line(signal, MAX_WORD)))
            }
            (RunOutcome::Aborted, None) if *attempt == Some(0) => {
                noted(Mark::Skipped, "stopped", "stopped before it started".to_owned())
            }
            (outcome, None) => same_note(outcome_mark(outcome), outcome_word(outcome)),
        },
    }
}

/// Returns `waiting for quota, next try in 2h05m: the quota of anthropic is used up`.
fn quota_note(retry: Option<&RetryNotice>, now_ms: i64) -> String {
    let Some(RetryNotice { at_ms, error, .. }) = retry else { return "waiting for quota".to_owned() };
    let next = (*at_ms > now_ms).then(|| format!(", next try in {}", figures::between(now_ms, *at_ms)));
    let error = error.as_ref().map(|error| format!(": {error}"));
    format!("waiting for quota{}{}", next.unwrap_or_default(), error.unwrap_or_default())
}

/// `retry 2 of 3 in 4s · overloaded`.
fn retry_text(RetryNotice { attempt, max_attempts, at_ms, error }: &RetryNotice, now_ms: i64) -> String {
    let of = max_attempts.map(|max| format!(" of {max}")).unwrap_or_default();
    let remaining_ms = u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or(0);
    let when = if remaining_ms == 0 {
        String::new()
    } else {
        // A countdown ends with its last second, not with a zero.
        format!(" in {}", figures::elapsed(Duration::from_secs(remaining_ms.div_ceil(1_000))))
    };
    let reason =
        error.as_deref().map(|error| format!(" · {}", short_provider(error.into()))).unwrap_or_default();
    format!("retry {attempt}{of}{when}{reason}")
}

/// The beginning of a provider's error with a reason.
const PROVIDER_ERROR: &str = "the model's provider reported an error: ";

/// The errors of runs that a person has stopped. The state says the same.
const STOPPED: [&str; 2] = ["cancelled by user", "stopped on request"];

/// Returns an error without the words that are for a model, and nothing if `state` says the same.
pub(super) fn reason<'a>(state: &str, error: &'a str) -> Cow<'a, str> {
    let fact = error.trim();
    let fact = fact.strip_prefix(NOT_STARTED).unwrap_or(fact);
    let is_said = state == RunOutcome::Aborted.as_str() && STOPPED.contains(&fact);
    if is_said { "".into() } else { short_provider(for_person(error)) }
}

/// Shortens the beginning of a provider's error: next to a mark and an agent, one word is enough.
fn short_provider(error: Cow<'_, str>) -> Cow<'_, str> {
    match error.strip_prefix(PROVIDER_ERROR) {
        Some(rest) => format!("provider: {rest}").into(),
        None => error,
    }
}

/// The word for an outcome.
pub(super) fn outcome_word(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Completed => "completed",
        RunOutcome::Failed => "failed",
        RunOutcome::Aborted => "stopped",
        RunOutcome::IdleTimeout => "timed out (silent)",
        RunOutcome::HardTimeout => "timed out",
        RunOutcome::Killed => "killed",
        RunOutcome::Budget => "over budget",
        RunOutcome::Skipped => "skipped",
        RunOutcome::Interrupted => "interrupted",
        RunOutcome::Background => "started",
    }
}

/// The mark of an outcome.
fn outcome_mark(outcome: RunOutcome) -> Mark {
    match outcome {
        RunOutcome::Completed => Mark::Ok,
        RunOutcome::Failed | RunOutcome::IdleTimeout | RunOutcome::HardTimeout | RunOutcome::Killed => {
            Mark::Error
        }
        // A requested end is no alarm.
        RunOutcome::Aborted | RunOutcome::Interrupted | RunOutcome::Budget => Mark::Warning,
        RunOutcome::Skipped => Mark::Skipped,
        RunOutcome::Background => Mark::Started,
    }
}

/// Milliseconds since 1970.
#[must_use]
pub fn now_ms() -> i64 {
    epoch_ms(std::time::SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "one line per state")]
    fn every_state_has_a_mark_and_a_label_and_some_have_a_note() {
        let of = |state: &str| RunStatus { state: state.to_owned(), ..RunStatus::default() };
        let retry = |at_ms, error: Option<&str>| RetryNotice {
            attempt: 2,
            max_attempts: Some(3),
            at_ms,
            error: error.map(str::to_owned),
        };
        for (status, mark, word, note) in [
            (of("planned"), Mark::Queued, "planned", None),
            (of("waiting"), Mark::Queued, "waiting", Some("waiting")),
            (of("queued"), Mark::Queued, "queued", Some("queued")),
            (RunStatus { position: Some(3), ..of("queued") }, Mark::Queued, "queued", Some("queued #3")),
            (
                RunStatus { pending_question: Some("Which colour?".into()), ..of("starting") },
                Mark::Asking,
                "asking",
                Some("asks: Which colour?"),
            ),
            (
                RunStatus { pending_question: Some("Which?".into()), ..of("failed") },
                Mark::Error,
                "failed",
                Some("failed"),
            ),
            (
                RunStatus { blocked_by: Some("worker (1a2b3c4d)".into()), position: Some(1), ..of("queued") },
                Mark::Queued,
                "queued",
                Some("waits for worker (1a2b3c4d) to finish writing here"),
            ),
            (
                RunStatus {
                    position: Some(3),
                    rate_limited_for: Some(Duration::from_millis(9_900)),
                    ..of("queued")
                },
                Mark::Queued,
                "queued",
                Some("rate limit, 9s left"),
            ),
            (
                RunStatus { rate_limited_for: Some(Duration::ZERO), ..of("queued") },
                Mark::Queued,
                "queued",
                Some("queued"),
            ),
            (of("starting"), Mark::Starting, "starting", Some("starting")),
            (of("running"), Mark::Running, "running", None),
            (RunStatus { attempt: Some(1), ..of("running") }, Mark::Running, "running", None),
            (RunStatus { attempt: Some(2), ..of("running") }, Mark::Running, "running", Some("attempt 2")),
            (
                RunStatus { retry: Some(retry(14_000, Some("overloaded"))), ..of("running") },
                Mark::Retrying,
                "retrying",
                Some("retry 2 of 3 in 4s · overloaded"),
            ),
            (
                RunStatus { retry: Some(retry(9_000, None)), ..of("running") },
                Mark::Retrying,
                "retrying",
                Some("retry 2 of 3"),
            ),
            (
                RunStatus { attempt: Some(2), ..of("retrying") },
                Mark::Retrying,
                "retrying",
                Some("retrying, attempt 2"),
            ),
            (of("completed"), Mark::Ok, "completed", None),
            (
                RunStatus { stop_reason: Some("length".into()), ..of("completed") },
                Mark::Warning,
                "completed",
                Some("cut at the output limit"),
            ),
            (
                RunStatus { caveat: Some(Caveat::WriteOff), ..of("completed") },
                Mark::Warning,
                "completed",
                Some("changed nothing"),
            ),
            (
                RunStatus { caveat: Some(Caveat::Refused), ..of("failed") },
                Mark::Error,
                "failed",
                Some("failed"),
            ),
            (of("failed"), Mark::Error, "failed", Some("failed")),
            (
                RunStatus { signal: Some("SIGKILL".into()), ..of("failed") },
                Mark::Error,
                "killed",
                Some("killed by SIGKILL"),
            ),
            (of("aborted"), Mark::Warning, "stopped", Some("stopped")),
            (
                RunStatus { attempt: Some(0), ..of("aborted") },
                Mark::Skipped,
                "stopped",
                Some("stopped before it started"),
            ),
            (of("idle_timeout"), Mark::Error, "timed out (silent)", Some("timed out (silent)")),
            (of("background"), Mark::Started, "started", Some("started")),
            (of("skipped"), Mark::Skipped, "skipped", Some("skipped")),
            (of("of\na later release"), Mark::Warning, "of a later release", Some("of a later release")),
        ] {
            let expected = StateLabel { mark, word: word.to_owned(), note: note.map(str::to_owned) };
            assert_eq!(state_label(&status, 10_000), expected, "{status:?}");
        }
    }
}
