//! How long the loop goes on waiting for a child that says nothing, or that has said everything.

use std::time::{Duration, Instant};

use super::supervise::Pulse;

/// How long settled work may be taken up again before the end of its input tells the child to leave. A pi before 0.84 says
/// that it is done and announces a retry right after it.
const SETTLING: Duration = Duration::from_millis(250);

/// What the waiting was for when it became too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overdue {
    /// A sign of life, for this long.
    Silence(Duration),
    /// That the work is taken up again: it is not, so the child can be dismissed.
    Resumption,
    /// The child's leaving, after its work was settled.
    Linger,
}

/// The silence clock, which turns into the linger clock once the work is settled.
#[derive(Debug)]
pub(super) struct Patience {
    linger: Duration,
    silence: Option<Duration>,
    /// When the clock in force was last started.
    since: Instant,
    settled: bool,
    /// The child was told that nothing more will be asked of it.
    dismissed: bool,
}

impl Patience {
    pub(super) fn new(silence: Option<Duration>, linger: Duration, now: Instant) -> Self {
        Self { linger, silence, since: now, settled: false, dismissed: false }
    }

    /// Notes that the child has been told that nothing more will be asked of it.
    pub(super) fn dismiss(&mut self) {
        self.dismissed = true;
    }

    pub(super) fn feel(&mut self, pulse: Pulse, now: Instant) {
        let resumed = self.silence.is_none() && pulse.silence.is_some();
        self.silence = pulse.silence;
        // Output after the work is done does not prolong the stay, so only the change itself starts the linger clock.
        if self.settled != pulse.settled || (!self.settled && (pulse.alive || resumed)) {
            self.since = now;
        }
        self.settled = pulse.settled;
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// When to stop waiting; `None` = never.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let limit = match (self.settled, self.dismissed) {
            (true, true) => Some(self.linger),
            (true, false) => Some(SETTLING.min(self.linger)),
            (false, _) => self.silence,
        };
        limit.and_then(|limit| self.since.checked_add(limit))
    }

    pub(super) fn overdue(&self, now: Instant) -> Option<Overdue> {
        if self.deadline()? > now {
            return None;
        }
        Some(match (self.settled, self.dismissed) {
            (true, true) => Overdue::Linger,
            (true, false) => Overdue::Resumption,
            (false, _) => Overdue::Silence(self.silence?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

    fn pulse(alive: bool, silence: Option<Duration>, settled: bool) -> Pulse {
        Pulse { alive, silence, settled }
    }

    #[test]
    fn the_deadline_follows_the_pulses() {
        let noise = pulse(false, LIMIT, false);
        let life = pulse(true, LIMIT, false);
        let tool = pulse(true, None, false);
        let done = pulse(true, LIMIT, true);
        let longer = pulse(false, Some(Duration::from_secs(30)), false);
        // Pulses at the given seconds, and the second of the deadline after them.
        for (label, initial, pulses, deadline) in [
            ("nothing yet", LIMIT, vec![], Some(10)),
            ("no limit", None, vec![(5, tool)], None),
            ("life restarts the clock", LIMIT, vec![(4, life), (8, life)], Some(18)),
            ("noise does not", LIMIT, vec![(4, life), (8, noise)], Some(14)),
            ("a tool pauses it", LIMIT, vec![(4, tool), (90, tool)], None),
            ("and the end of the tool resumes it in full", LIMIT, vec![(4, tool), (90, noise)], Some(100)),
            ("a new limit counts from the last life", LIMIT, vec![(4, life), (8, longer)], Some(34)),
            ("settled means leave", LIMIT, vec![(4, done)], Some(6)),
            ("settled while nothing limits silence", None, vec![(4, pulse(false, None, true))], Some(6)),
            ("talking on wins no time", LIMIT, vec![(4, done), (5, done)], Some(6)),
            ("work taken up again", LIMIT, vec![(4, done), (5, noise)], Some(15)),
            ("for ever", Some(Duration::MAX), vec![], None),
        ] {
            let start = Instant::now();
            let at = |second| start + Duration::from_secs(second);
            let mut patience = Patience::new(initial, Duration::from_secs(2), start);
            patience.dismiss();
            for (second, pulse) in pulses {
                patience.feel(pulse, at(second));
            }
            assert_eq!(patience.deadline(), deadline.map(at), "{label}");
            if let Some(second) = deadline {
                assert_eq!(patience.overdue(at(second - 1)), None, "{label}");
                assert!(patience.overdue(at(second)).is_some(), "{label}");
            }
        }
    }

    #[test]
    fn settled_work_may_be_taken_up_again_before_the_child_is_dismissed() {
        let start = Instant::now();
        let mut patience = Patience::new(LIMIT, Duration::from_secs(2), start);
        patience.feel(pulse(true, LIMIT, true), start);
        assert_eq!(patience.overdue(start + SETTLING / 2), None);
        assert_eq!(patience.overdue(start + SETTLING), Some(Overdue::Resumption));
        patience.dismiss();
        assert_eq!(patience.overdue(start + SETTLING), None);
        assert_eq!(patience.overdue(start + Duration::from_secs(2)), Some(Overdue::Linger));
    }
}
