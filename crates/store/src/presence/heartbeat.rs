//! Detects stopped processes.
//!
//! A stopped process, for example after Ctrl-Z, is alive but cannot start its runs, so others must not wait for it. Each
//! waiting process increments a number in the database; a process whose number does not change is passed over. Clocks
//! are not compared between processes: each observer measures the time without a change itself.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Interval between two beats of a waiting process. Each beat is a write.
const BEAT: Duration = Duration::from_secs(2);
/// A process without a beat for this long is passed over. Several beats, so that a loaded machine does not look
/// stopped.
const STOPPED: Duration = Duration::from_secs(10);

/// The beats of other processes, and our own.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    own: i64,
    written: Option<Instant>,
    seen: HashMap<String, (i64, Instant)>,
}

impl Heartbeat {
    /// Returns true if the next beat is due.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.written.is_none_or(|written| now.duration_since(written) >= BEAT)
    }

    /// The next beat, which differs from the one before.
    pub(crate) fn beat(&mut self, now: Instant) -> i64 {
        self.own += 1;
        self.written = Some(now);
        self.own
    }

    /// Records the beats of all waiting tickets. The newest beat of a process counts; processes that no longer wait are
    /// forgotten.
    pub(crate) fn observe<'a>(&mut self, waiting: impl Iterator<Item = (&'a str, i64)>, now: Instant) {
        let mut newest = HashMap::<&str, i64>::new();
        for (process, beat) in waiting {
            let known = newest.entry(process).or_insert(beat);
            *known = beat.max(*known);
        }
        let seen = newest.into_iter().map(|(process, beat)| {
            let before = self.seen.get(process).filter(|(known, _)| *known == beat);
            (process.to_owned(), (beat, before.map_or(now, |(_, since)| *since)))
        });
        self.seen = seen.collect();
    }

    /// Returns true if a process still beats, and therefore can still start its runs.
    pub(crate) fn beats(&self, process: &str, now: Instant) -> bool {
        self.seen.get(process).is_none_or(|(_, since)| now.duration_since(*since) < STOPPED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_heartbeat_is_waited_for_and_a_stopped_one_is_skipped() {
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        // Beats of a process at the given seconds, several for several tickets, and whether others still wait for it at
        // the end.
        for (label, seen, expected) in [
            ("never seen", vec![(0, vec![])], true),
            ("seen for the first time", vec![(5, vec![7])], true),
            ("seen for a while", vec![(0, vec![7]), (9, vec![7])], true),
            ("stopped", vec![(0, vec![7]), (10, vec![7])], false),
            ("counts", vec![(0, vec![7]), (9, vec![8]), (18, vec![8])], true),
            ("continues after a stop", vec![(0, vec![7]), (60, vec![7]), (61, vec![8])], true),
            ("several tickets, the newest counts", vec![(0, vec![7, 9]), (10, vec![9, 7])], false),
            ("a new ticket is a sign of life", vec![(0, vec![7]), (9, vec![7, 8]), (12, vec![7, 8])], true),
            ("waited before, and again", vec![(0, vec![7]), (5, vec![]), (20, vec![7])], true),
        ] {
            let mut heartbeat = Heartbeat::default();
            let mut now = start;
            for (second, beats) in seen {
                now = at(second);
                heartbeat.observe(beats.into_iter().map(|beat| ("p", beat)), now);
            }
            assert_eq!(heartbeat.beats("p", now), expected, "{label}");
        }
    }

    #[test]
    fn a_heartbeat_is_due_at_the_first_check_and_rarely_after_it() {
        let mut heartbeat = Heartbeat::default();
        let now = Instant::now();
        assert!(heartbeat.is_due(now));
        let first = heartbeat.beat(now);
        assert!(!heartbeat.is_due(now + BEAT / 2));
        assert!(heartbeat.is_due(now + BEAT));
        assert!(heartbeat.beat(now + BEAT) > first);
    }
}
