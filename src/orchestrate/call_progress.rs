//! The progress of a call's tasks, for its updates.

use std::convert::Infallible;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::call::UpdateSender;
use crate::run::{Mode, Progress, RunDetails, SingleResult, TaskProgress, TaskState, Throttle, ToolResult};
use sanitizer::figures::millis;

/// The progress of all tasks of a call.
pub(super) struct CallProgress {
    mode: Mode,
    id: String,
    tasks: Mutex<Vec<Task>>,
    changed: Notify,
}

/// A task as it was at its last report.
struct Task {
    seen: Instant,
    progress: TaskProgress,
}

impl Task {
    fn new(agent: String, state: TaskState) -> Self {
        Self { seen: Instant::now(), progress: TaskProgress::new(agent, state, Progress::default()) }
    }

    /// Returns the task as it is now: its clocks have advanced since its last report.
    fn now(&self) -> TaskProgress {
        let mut task = self.progress.clone();
        if let TaskState::Live(_) = task.state {
            let Progress { elapsed_ms, since_event_ms, rate_limited_for_ms, .. } = &mut task.progress;
            let age = millis(self.seen.elapsed());
            *elapsed_ms = elapsed_ms.saturating_add(age);
            *since_event_ms = since_event_ms.saturating_add(age);
            *rate_limited_for_ms = rate_limited_for_ms.map(|ms| ms.saturating_sub(age));
        }
        task
    }
}

impl CallProgress {
    /// All tasks begin in this state.
    pub(super) fn new(
        mode: Mode,
        id: String,
        agents: impl IntoIterator<Item = String>,
        state: TaskState,
    ) -> Self {
        let tasks = agents.into_iter().map(|agent| Task::new(agent, state)).collect();
        Self { mode, id, tasks: Mutex::new(tasks), changed: Notify::new() }
    }

    pub(super) fn update(&self, index: usize, progress: Progress) {
        self.change(index, |task| {
            let agent = task.agent.take().unwrap_or_default();
            *task = TaskProgress::new(agent, TaskState::Live(progress.state), progress);
        });
    }

    pub(super) fn finish(&self, index: usize, result: &ToolResult) {
        if let Some(single) = result.details.results.first() {
            self.end(index, single);
        }
    }

    pub(super) fn end(&self, index: usize, single: &SingleResult) {
        self.change(index, |task| {
            task.state = TaskState::Ended(single.outcome);
            task.error.clone_from(&single.error);
            task.progress.usage = single.usage.clone();
            task.progress.turn_count = single.usage.turns;
            task.progress.elapsed_ms = single.duration_ms;
        });
    }

    fn change(&self, index: usize, change: impl FnOnce(&mut TaskProgress)) {
        if let Some(task) = self.tasks.lock().get_mut(index) {
            change(&mut task.progress);
            task.seen = Instant::now();
        }
        self.changed.notify_one();
    }

    /// Sends an update after each change, as often as [`Throttle`] allows. Never resolves.
    pub(super) async fn forward(&self, updates: &UpdateSender) -> Infallible {
        let mut throttle = Throttle::default();
        loop {
            throttle.next(self.changed.notified()).await;
            self.send(updates);
        }
    }

    /// Sends the state as it is.
    pub(super) fn send(&self, updates: &UpdateSender) {
        let tasks: Vec<TaskProgress> = self.tasks.lock().iter().map(Task::now).collect();
        let ended = tasks.iter().filter(|task| matches!(task.state, TaskState::Ended(_))).count();
        let text = format!("({ended} of {} tasks have ended...)", tasks.len());
        let details = RunDetails { tasks, ..RunDetails::new(self.mode, Some(self.id.clone())) };
        updates.send_replace(Some(ToolResult { text, is_error: false, usage: None, details }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunOutcome, RunState};

    #[test]
    fn the_clocks_of_a_task_run_until_it_has_ended() {
        let clocks = |state, rate_limited_for_ms| {
            let mut task = Task::new("explorer".into(), state);
            let Progress { elapsed_ms, since_event_ms, .. } = &mut task.progress.progress;
            (*elapsed_ms, *since_event_ms) = (4_000, 1_000);
            task.progress.progress.rate_limited_for_ms = rate_limited_for_ms;
            task.seen = Instant::now()
                .checked_sub(std::time::Duration::from_secs(60))
                .expect("the clock is older than a minute");
            let Progress { elapsed_ms, since_event_ms, rate_limited_for_ms, .. } = task.now().progress;
            (elapsed_ms / 1_000, since_event_ms / 1_000, rate_limited_for_ms.map(|ms| ms.div_ceil(1_000)))
        };
        assert_eq!(clocks(TaskState::Live(RunState::Running), None), (64, 61, None));
        assert_eq!(clocks(TaskState::Live(RunState::Queued), Some(90_000)), (64, 61, Some(30)));
        assert_eq!(clocks(TaskState::Live(RunState::Queued), Some(3_000)), (64, 61, Some(0)));
        assert_eq!(clocks(TaskState::Ended(RunOutcome::Completed), None), (4, 1, None));
        assert_eq!(clocks(TaskState::Waiting, None), (4, 1, None));
    }
}
