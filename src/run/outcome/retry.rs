//! Decides if and when another attempt follows a failed one.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use agents::config::Retry;
use pi_events::{Collected, RateLimit, StopReason};

/// The longest pause. No configuration can extend it.
const MAX_BACKOFF: Duration = Duration::from_secs(5 * 60);

/// Returns true if another attempt may help and cannot repeat a side effect: pi itself retried the last request until
/// it gave up, and every started tool is free of side effects. A tool without a known name counts as having some.
#[must_use]
pub(crate) fn may_retry(collected: &Collected, side_effect_free: impl Fn(&str) -> bool) -> bool {
    let gave_up = collected.retry.as_ref().is_some_and(|retry| retry.exhausted);
    let is_transient = gave_up && collected.stop_reason == Some(StopReason::Error);
    is_transient && has_no_side_effects(collected, side_effect_free)
}

/// Returns true if every tool that was started is free of side effects.
#[must_use]
pub(crate) fn has_no_side_effects(collected: &Collected, side_effect_free: impl Fn(&str) -> bool) -> bool {
    collected.tools_unnamed == 0 && collected.tool_names.iter().all(|name| side_effect_free(name))
}

/// Returns the pause before an attempt, counted from 1: none before the first, then `backoffMs`, doubled each time, up
/// to five minutes.
#[must_use]
pub(crate) fn backoff(policy: &Retry, attempt: u32) -> Duration {
    let Some(doublings) = attempt.checked_sub(2) else { return Duration::ZERO };
    2u32.checked_pow(doublings)
        .and_then(|factor| policy.backoff.checked_mul(factor))
        .map_or(MAX_BACKOFF, |pause| pause.min(MAX_BACKOFF))
}

/// The answers of a run's provider during an attempt: the pause that it has asked for, and whether it has answered a
/// request.
#[derive(Default)]
pub(crate) struct Limited(Mutex<Pause>);

#[derive(Clone, Copy, Default)]
struct Pause {
    until: Option<Instant>,
    is_quota: bool,
    has_answered: bool,
}

impl Limited {
    pub(crate) fn note(&self, limit: RateLimit) {
        let mut pause = self.0.lock();
        pause.until = Instant::now().checked_add(limit.delay).max(pause.until);
        pause.is_quota |= limit.is_quota;
    }

    /// Records an answer. Returns true for the first one.
    pub(crate) fn is_first_answer(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().has_answered, true)
    }

    /// Returns the rest of the pause.
    pub(crate) fn remaining(&self) -> Duration {
        let until = self.0.lock().until;
        until.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default()
    }

    /// Returns true if the provider's quota is used up.
    pub(crate) fn is_quota(&self) -> bool {
        self.0.lock().is_quota
    }

    /// Forgets everything before another attempt.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Pause::default();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use pi_events::Collector;

    fn collected(records: &[serde_json::Value]) -> Collected {
        let mut collector = Collector::new();
        for record in records {
            collector.push(format!("{record}\n").as_bytes());
        }
        collector.into_collected()
    }

    #[test]
    fn only_requests_that_pi_gave_up_on_without_side_effects_are_retried() {
        let message_end = |stop: &str| json!({"type": "message_end", "message": {"role": "assistant", "content": [], "stopReason": stop}});
        let retry = || json!({"type": "auto_retry_start", "attempt": 1, "errorMessage": "500"});
        let end = |success: bool, error: &str| json!({"type": "auto_retry_end", "success": success, "finalError": error});
        let tool = |name: &str| json!({"type": "tool_execution_start", "toolCallId": "a", "toolName": name});
        let failed = |tools: Vec<serde_json::Value>| {
            let rest = [message_end("error"), retry(), message_end("error"), end(false, "500")];
            tools.into_iter().chain(rest).collect::<Vec<_>>()
        };
        let cases = [
            ("gave up", failed(vec![]), true),
            ("gave up after reading", failed(vec![tool("read"), tool("grep"), tool("read")]), true),
            ("gave up after writing", failed(vec![tool("read"), tool("write")]), false),
            (
                "gave up after a tool without a name",
                failed(vec![json!({"type": "tool_execution_start"})]),
                false,
            ),
            ("a name that only begins like another", failed(vec![tool("reader")]), false),
            ("gave up after a shell, which is not confined", failed(vec![tool("bash")]), false),
            ("nothing", vec![], false),
            ("gave up without earlier text", vec![message_end("error"), end(false, "500")], true),
            ("an error that pi does not try again", vec![message_end("error")], false),
            ("cut off while it was retrying", vec![message_end("error"), retry()], false),
            ("called off", vec![message_end("error"), retry(), end(false, "Retry cancelled")], false),
            ("recovered", vec![message_end("error"), retry(), message_end("stop"), end(true, "")], false),
            ("gave up, then continued", [failed(vec![]), vec![message_end("stop")]].concat(), false),
            (
                "gave up, then failed for another reason",
                [failed(vec![]), vec![message_end("error")]].concat(),
                false,
            ),
            (
                "aborted",
                vec![message_end("error"), retry(), message_end("aborted"), end(false, "500")],
                false,
            ),
        ];
        for (label, records, expected) in cases {
            let verdict = may_retry(&collected(&records), |name| ["read", "grep"].contains(&name));
            assert_eq!(verdict, expected, "{label}");
        }
    }

    #[test]
    fn tools_beyond_the_64_with_known_names_count_as_side_effects() {
        let tool =
            |name: String| json!({"type": "tool_execution_start", "toolCallId": name, "toolName": name});
        let failed = [
            json!({"type": "message_end", "message": {"role": "assistant", "content": [], "stopReason": "error"}}),
            json!({"type": "auto_retry_end", "success": false}),
        ];
        for (tools, expected) in [(64, true), (65, false)] {
            let mut records: Vec<_> = (0..tools).map(|number| tool(number.to_string())).collect();
            records.extend(failed.clone());
            assert_eq!(may_retry(&collected(&records), |_| true), expected, "{tools} tools");
        }
    }

    #[test]
    fn pauses_double_and_stay_bounded() {
        let policy = |ms| Retry { enabled: true, max_attempts: 9, backoff: Duration::from_millis(ms) };
        let cases = [
            (1000, 0, 0),
            (1000, 1, 0),
            (1000, 2, 1000),
            (1000, 3, 2000),
            (1000, 4, 4000),
            (1000, 40, 300_000),
            (1000, u32::MAX, 300_000),
            (u64::MAX, 2, 300_000),
            (299_999, 2, 299_999),
            (300_000, 2, 300_000),
            (300_001, 2, 300_000),
            (149_999, 3, 299_998),
            (150_000, 3, 300_000),
            (150_001, 3, 300_000),
            (0, 3, 0),
            (0, 30, 0),
        ];
        for (ms, attempt, expected) in cases {
            assert_eq!(
                backoff(&policy(ms), attempt).as_millis(),
                expected,
                "{ms} ms before attempt {attempt}"
            );
        }
    }
}
