//! The collector of a child, shared by its reader and its watchers.

use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use pi_events::Collector;

/// A collector that the child's reader feeds and the update task reads.
///
/// The lock is held for one chunk or one view at a time and never across an `await`.
pub(super) struct SharedCollector {
    state: Mutex<State>,
    wake: Notify,
}

pub(super) struct State {
    pub collector: Collector,
    pub last_event: Instant,
    pub changed: bool,
}

impl SharedCollector {
    /// Shares a collector.
    #[must_use]
    pub(super) fn new(collector: Collector) -> Self {
        let state = State { collector, last_event: Instant::now(), changed: false };
        Self { state: Mutex::new(state), wake: Notify::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // The lock is not poisoned: after a panic the state is still bounded and readable, and losing the run would be
        // worse.
        self.state.lock()
    }

    /// Notifies watchers of a change.
    pub(super) fn notify(&self) {
        self.wake.notify_one();
    }

    /// Waits until an update would show something new. Cancel safe.
    pub(super) async fn changed(&self) {
        while !self.lock().changed {
            self.wake.notified().await;
        }
    }

    /// Returns true if something changed since the last call.
    #[must_use]
    pub(super) fn take_changed(&self) -> bool {
        std::mem::take(&mut self.lock().changed)
    }

    /// Calls `read` with the collector and the time since its child's last event.
    pub(super) fn view<T>(&self, read: impl FnOnce(&Collector, Duration) -> T) -> T {
        let state = self.lock();
        read(&state.collector, state.last_event.elapsed())
    }

    /// Folds the rest of the stream and takes the collector, leaving an empty one.
    #[must_use]
    pub(super) fn finish(&self) -> Collector {
        let mut collector = std::mem::take(&mut self.lock().collector);
        collector.finish();
        collector
    }
}
