//! The events of background runs for other extensions, as promised in `docs/events.md`.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::event::{BackgroundEvent, RunEvent, RunEventKind};
use super::published_run::PublishedRun;

/// The shortest time between two updates of a working run.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_secs(1);

/// The selection of events for other extensions, with a limited rate of updates.
#[derive(Debug, Default)]
pub(in super::super) struct EventThrottle {
    /// The last event of each active run, with its time.
    published: HashMap<String, (PublishedRun, Instant)>,
    /// The active runs that have changed since their last event.
    changed: HashMap<String, PublishedRun>,
}

impl EventThrottle {
    /// Returns the events for other extensions. A live run without an earlier event was already live when its session
    /// was opened, and gets an update.
    pub(in super::super) fn select(&mut self, event: &BackgroundEvent, now: Instant) -> Vec<RunEvent> {
        let mut events = Vec::new();
        for run in &event.started {
            events.push(RunEvent { kind: RunEventKind::Started, run: PublishedRun::of(run) });
            self.published.insert(run.key.clone(), (PublishedRun::of(run), now));
        }
        if let Some(runs) = &event.runs {
            let live = runs.iter().filter(|run| run.is_live() && !run.is_foreground);
            self.changed = live.map(|run| (run.key.clone(), PublishedRun::of(run))).collect();
        }
        self.changed.retain(|key, run| self.published.get(key).is_none_or(|(published, _)| published != run));
        let is_due =
            |key: &String| self.published.get(key).is_none_or(|(_, at)| now >= *at + MIN_UPDATE_INTERVAL);
        for (key, run) in self.changed.extract_if(|key, _| is_due(key)).collect::<Vec<_>>() {
            events.push(RunEvent { kind: RunEventKind::Updated, run: run.clone() });
            self.published.insert(key, (run, now));
        }
        for run in &event.ended {
            self.published.remove(&run.key);
            events.push(RunEvent { kind: RunEventKind::Ended, run: PublishedRun::of(run) });
        }
        events
    }

    /// Returns the time at which the next delayed update is due.
    pub(in super::super) fn next(&self) -> Option<Instant> {
        self.changed
            .keys()
            .filter_map(|key| self.published.get(key))
            .map(|(_, at)| *at + MIN_UPDATE_INTERVAL)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunOutcome, RunRecord, RunState};

    fn working(turns: u64) -> RunRecord {
        let mut run = RunRecord { key: "k".to_owned(), ..RunRecord::default() };
        run.state = RunState::Running;
        run.progress.usage.turns = turns;
        run
    }

    fn ended_run() -> RunRecord {
        RunRecord { outcome: Some(RunOutcome::Completed), ..working(9) }
    }

    fn runs(run: RunRecord) -> BackgroundEvent {
        BackgroundEvent { runs: Some(vec![run]), ..BackgroundEvent::default() }
    }

    #[test]
    fn a_run_has_at_most_one_update_event_a_second() {
        let mut throttle = EventThrottle::default();
        let start = Instant::now();
        let mut at = |ms, event: BackgroundEvent| {
            let events = throttle.select(&event, start + Duration::from_millis(ms));
            let published: Vec<_> = events.iter().map(|event| (event.kind, event.run.usage.turns)).collect();
            (published, throttle.next().map(|next| (next - start).as_millis()))
        };
        let started = BackgroundEvent { started: vec![working(0)], ..runs(working(0)) };
        assert_eq!(at(0, started), (vec![(RunEventKind::Started, 0)], None));
        assert_eq!(at(200, runs(working(1))), (vec![], Some(1_000)));
        assert_eq!(at(400, runs(working(2))), (vec![], Some(1_000)));
        assert_eq!(at(1_000, BackgroundEvent::default()), (vec![(RunEventKind::Updated, 2)], None));
        assert_eq!(at(1_100, runs(working(2))), (vec![], None), "an unchanged run has no event");
        assert_eq!(at(2_500, runs(working(3))), (vec![(RunEventKind::Updated, 3)], None));
        let ended = BackgroundEvent { ended: vec![ended_run()], ..runs(ended_run()) };
        assert_eq!(at(2_600, ended), (vec![(RunEventKind::Ended, 9)], None));
        assert_eq!(
            at(9_000, BackgroundEvent::default()),
            (vec![], None),
            "an ended run has no further event"
        );
    }

    #[test]
    fn a_run_started_earlier_appears_as_an_update_and_a_foreground_run_never() {
        let now = Instant::now();
        let mut throttle = EventThrottle::default();
        let foreground = RunRecord { is_foreground: true, key: "f".to_owned(), ..working(1) };
        let event =
            BackgroundEvent { runs: Some(vec![working(1), foreground]), ..BackgroundEvent::default() };
        let events = throttle.select(&event, now);
        assert_eq!(events, [RunEvent { kind: RunEventKind::Updated, run: PublishedRun::of(&working(1)) }]);
        assert_eq!((throttle.select(&event, now), throttle.next()), (vec![], None));
        assert_eq!(
            throttle.select(&runs(ended_run()), now),
            [],
            "a run that ended before its first event has no event"
        );
    }
}
