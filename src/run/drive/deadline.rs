//! Warns a child before its time is up, and gives it a last turn when the time is up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::run::budget::meter::wrap_up;
use pi_events::Live;
use sanitizer::figures::duration;

/// The share of the limit at which the child is warned: 8 of 10, as for budgets.
const WARNING: (u32, u32) = (8, 10);
/// The divisor of the limit that gives the time of the last turn, and the bounds of that time. A model writes a report
/// in seconds.
const LAST_TURN_PART: u32 = 5;
const MIN_LAST_TURN: Duration = Duration::from_secs(2);
const MAX_LAST_TURN: Duration = Duration::from_secs(30);

/// The time limit of a run, as seen by its current child.
#[derive(Debug)]
pub(super) struct Deadline {
    started: Instant,
    limit: Option<Duration>,
    has_warned: AtomicBool,
}

impl Deadline {
    /// Creates the deadline of a run that got its permit at `started`.
    pub(super) fn new(started: Instant, limit: Option<Duration>) -> Self {
        Self { started, limit, has_warned: AtomicBool::new(false) }
    }

    /// Waits until the child must be warned. Never returns without a limit. Cancel safe.
    pub(super) async fn is_near(&self) {
        match self.warns_at().filter(|_| !self.has_warned.load(Ordering::Relaxed)) {
            Some(at) => tokio::time::sleep_until(at.into()).await,
            None => std::future::pending().await,
        }
    }

    fn warns_at(&self) -> Option<Instant> {
        self.started.checked_add(self.limit? * WARNING.0 / WARNING.1)
    }

    /// Tells the child once to finish, if most of its time is used and it continues.
    pub(super) fn warn(&self, live: &Live<'_>, steer: impl FnOnce(&str) -> bool) {
        let Some(limit) = self.limit else { return };
        let is_due = self.warns_at().is_some_and(|at| at <= Instant::now());
        if is_due && live.continues() && !self.has_warned.swap(true, Ordering::Relaxed) {
            let used = format!("{} of {}", duration(self.started.elapsed()), duration(limit));
            steer(&wrap_up("the time for this run", &used));
        }
    }

    /// Returns the time limit of the last turn, once the time is up.
    pub(super) fn last_turn(&self) -> Duration {
        (self.limit.unwrap_or_default() / LAST_TURN_PART).clamp(MIN_LAST_TURN, MAX_LAST_TURN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pi_events::Collector;

    #[test]
    fn a_child_is_warned_once_about_its_time_and_only_between_its_turns() {
        let record = |kind: &str, stop: &str| {
            format!(
                "{{\"type\":\"{kind}\",\"message\":{{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"{stop}\"}}}}\n"
            )
        };
        let long_ago = Instant::now()
            .checked_sub(Duration::from_secs(8))
            .expect("the clock is older than eight seconds");
        let near = || Deadline::new(long_ago, Some(Duration::from_secs(10)));
        for (label, deadline, records, expected) in [
            ("a tool runs", near(), record("message_end", "toolUse"), 1),
            ("an answer", near(), record("message_end", "stop"), 0),
            (
                "a message is under way",
                near(),
                record("message_end", "toolUse") + &record("message_start", "pending"),
                0,
            ),
            ("nothing yet", near(), String::new(), 0),
            ("no limit", Deadline::new(long_ago, None), record("message_end", "toolUse"), 0),
            (
                "much time left",
                Deadline::new(long_ago, Some(Duration::from_secs(100))),
                record("message_end", "toolUse"),
                0,
            ),
        ] {
            let mut collector = Collector::new();
            collector.push(records.as_bytes());
            let mut warnings = Vec::new();
            for _ in 0..3 {
                deadline.warn(&collector.live(), |message| {
                    warnings.push(message.to_owned());
                    true
                });
            }
            assert_eq!(warnings.len(), expected, "{label}");
            assert!(warnings.iter().all(|message| message.contains("of 10s")), "{warnings:?}");
        }
    }

    #[test]
    fn the_last_turn_is_a_fifth_of_the_limit_within_bounds() {
        for (limit, expected) in [(1, 2), (10, 2), (60, 12), (600, 30)] {
            let deadline = Deadline::new(Instant::now(), Some(Duration::from_secs(limit)));
            assert_eq!(deadline.last_turn(), Duration::from_secs(expected));
        }
    }
}
