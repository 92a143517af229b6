//! The timeouts for a child that is silent, or whose work is settled.

use std::time::{Duration, Instant};

/// The time within which settled work may resume before its input ends, which tells the child to exit. pi before 0.84
/// reports that it is done and announces a retry right after.
const SETTLING: Duration = Duration::from_millis(250);

/// The observer's conclusions from the output so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The chunk was a sign of life, which restarts the silence clock.
    pub alive: bool,
    /// The longest silence from now on; `None` pauses the clock. The end of a pause restarts it.
    pub silence: Option<Duration>,
    /// The work is done: the child should exit soon, and a limit reached afterwards is no failure. Work that resumes
    /// clears this again.
    pub settled: bool,
    /// The time for which the child may stay for a last message after its work settled. The silence limit still applies.
    pub stay: Option<Duration>,
    /// The child transfers its changes. It may stay until the transfer is complete, even after its work settled.
    pub is_transferring: bool,
}

/// The timeout that expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    /// No sign of life came for this long.
    Silence(Duration),
    /// The settled work did not resume, so the child can be dismissed.
    Resumption,
    /// The child did not exit after its work was settled.
    Linger,
}

/// The silence clock, which becomes the linger clock once the work is settled.
#[derive(Debug)]
pub(super) struct IdleTimer {
    linger: Duration,
    silence: Option<Duration>,
    /// The start of the current timeout.
    since: Instant,
    settled: bool,
    /// The time for which the child may stay for a last message after its work settled.
    stay: Option<Duration>,
    /// The time of the child's last sign of life.
    last_sign: Instant,
    /// True if the input has ended, so that the child knows to exit.
    dismissed: bool,
}

impl IdleTimer {
    pub(crate) fn new(silence: Option<Duration>, linger: Duration, now: Instant) -> Self {
        Self { linger, silence, since: now, settled: false, stay: None, last_sign: now, dismissed: false }
    }

    /// Notes that the input has ended, so that the child knows to exit.
    pub(super) fn dismiss(&mut self) {
        self.dismissed = true;
    }

    /// Restarts or switches the clock, as the observer's latest activity asks.
    pub(super) fn update(&mut self, activity: Activity, now: Instant) {
        let resumed = self.silence.is_none() && activity.silence.is_some();
        self.silence = activity.silence;
        // Output after the work is done does not extend the stay, so only a change of these two restarts the linger
        // clock.
        let has_changed = self.settled != activity.settled || self.stay != activity.stay;
        if has_changed || activity.is_transferring || (!self.settled && (activity.alive || resumed)) {
            self.since = now;
        }
        if activity.alive || resumed {
            self.last_sign = now;
        }
        (self.settled, self.stay) = (activity.settled, activity.stay);
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Returns the next timeout and its time; `None` means never.
    fn next(&self) -> Option<(Instant, Expired)> {
        Some(match (self.settled, self.dismissed, self.stay) {
            (true, _, Some(stay)) => {
                let silence = self.silence.and_then(|limit| self.last_sign.checked_add(limit));
                let sooner = [self.since.checked_add(stay), silence].into_iter().flatten().min();
                (sooner?, Expired::Linger)
            }
            (true, true, None) => (self.since.checked_add(self.linger)?, Expired::Linger),
            (true, false, None) => (self.since.checked_add(SETTLING.min(self.linger))?, Expired::Resumption),
            (false, ..) => (self.since.checked_add(self.silence?)?, Expired::Silence(self.silence?)),
        })
    }

    /// Returns the end of the wait; `None` means never.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.next().map(|(deadline, _)| deadline)
    }

    pub(super) fn overdue(&self, now: Instant) -> Option<Expired> {
        self.next().filter(|(deadline, _)| *deadline <= now).map(|(_, expired)| expired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Option<Duration> = Some(Duration::from_secs(10));

    fn activity(alive: bool, silence: Option<Duration>, settled: bool) -> Activity {
        Activity { alive, silence, settled, ..Activity::default() }
    }

    #[test]
    fn the_deadline_follows_the_activity() {
        let noise = activity(false, LIMIT, false);
        let life = activity(true, LIMIT, false);
        let tool = activity(true, None, false);
        let done = activity(true, LIMIT, true);
        let longer = activity(false, Some(Duration::from_secs(30)), false);
        // Activities at the given seconds, and the second of the deadline after them.
        for (label, initial, pulses, deadline) in [
            ("nothing yet", LIMIT, vec![], Some(10)),
            ("no limit", None, vec![(5, tool)], None),
            ("life restarts the clock", LIMIT, vec![(4, life), (8, life)], Some(18)),
            ("noise does not", LIMIT, vec![(4, life), (8, noise)], Some(14)),
            ("a tool pauses it", LIMIT, vec![(4, tool), (90, tool)], None),
            ("and the end of the tool resumes it in full", LIMIT, vec![(4, tool), (90, noise)], Some(100)),
            ("a new limit counts from the last life", LIMIT, vec![(4, life), (8, longer)], Some(34)),
            ("a settled child exits", LIMIT, vec![(4, done)], Some(6)),
            ("settled while nothing limits silence", None, vec![(4, activity(false, None, true))], Some(6)),
            ("further output does not extend the stay", LIMIT, vec![(4, done), (5, done)], Some(6)),
            ("resumed work", LIMIT, vec![(4, done), (5, noise)], Some(15)),
            ("an endless limit", Some(Duration::MAX), vec![], None),
        ] {
            let start = Instant::now();
            let at = |second| start + Duration::from_secs(second);
            let mut idle_timer = IdleTimer::new(initial, Duration::from_secs(2), start);
            idle_timer.dismiss();
            for (second, activity) in pulses {
                idle_timer.update(activity, at(second));
            }
            assert_eq!(idle_timer.deadline(), deadline.map(at), "{label}");
            if let Some(second) = deadline {
                assert_eq!(idle_timer.overdue(at(second - 1)), None, "{label}");
                assert!(idle_timer.overdue(at(second)).is_some(), "{label}");
            }
        }
    }

    #[test]
    fn a_child_may_stay_for_a_last_message_within_a_limit() {
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        let word = |alive, silence| Activity {
            stay: Some(Duration::from_secs(60)),
            ..activity(alive, silence, true)
        };
        let mut idle_timer = IdleTimer::new(LIMIT, Duration::from_secs(2), start);
        idle_timer.update(word(true, LIMIT), at(100));
        assert_eq!(idle_timer.deadline(), Some(at(110)), "the limit for silence still applies");
        for second in [105, 114, 123, 132, 141, 150, 159] {
            idle_timer.update(word(true, LIMIT), at(second));
            assert!(idle_timer.is_settled());
        }
        assert_eq!(idle_timer.deadline(), Some(at(160)), "output does not extend the stay");
        assert_eq!(idle_timer.overdue(at(160)), Some(Expired::Linger));
        idle_timer.update(activity(true, LIMIT, true), at(159));
        idle_timer.dismiss();
        assert_eq!(idle_timer.deadline(), Some(at(161)), "the child exits after its last message");
        let mut idle_timer = IdleTimer::new(None, Duration::from_secs(2), start);
        idle_timer.update(word(true, None), at(100));
        assert_eq!(idle_timer.deadline(), Some(at(160)));
    }

    #[test]
    fn settled_work_may_resume_before_the_input_ends() {
        let start = Instant::now();
        let mut idle_timer = IdleTimer::new(LIMIT, Duration::from_secs(2), start);
        idle_timer.update(activity(true, LIMIT, true), start);
        assert_eq!(idle_timer.overdue(start + SETTLING / 2), None);
        assert_eq!(idle_timer.overdue(start + SETTLING), Some(Expired::Resumption));
        idle_timer.dismiss();
        assert_eq!(idle_timer.overdue(start + SETTLING), None);
        assert_eq!(idle_timer.overdue(start + Duration::from_secs(2)), Some(Expired::Linger));
    }
}
