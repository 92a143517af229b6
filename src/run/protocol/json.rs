//! The `json` protocol: the task is the child's standard input, its events are its standard output.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::event::Collector;
use crate::process::{Observer, Pulse};
use crate::run::files::RunId;

/// Sends a message into a run, and says whether that was possible: never, because a child that is driven by this
/// protocol has read its whole standard input before it starts.
#[must_use]
pub fn steer(_run: &RunId, message: String) -> bool {
    drop(message);
    false
}

/// How long a child may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SilenceLimits {
    /// Between events while no tool runs; `None` is for ever.
    pub idle: Option<Duration>,
    /// While a tool runs; `None` is for ever.
    pub tool: Option<Duration>,
}

impl SilenceLimits {
    fn in_force(self, running_tools: usize) -> Option<Duration> {
        if running_tools > 0 { self.tool } else { self.idle }
    }
}

/// A collector that the child's reader feeds and the update task looks at.
///
/// The lock is held for one chunk or one view at a time and never across an `await`.
#[derive(Clone)]
pub(crate) struct SharedCollector {
    state: Arc<Mutex<State>>,
    wake: Arc<Notify>,
}

struct State {
    collector: Collector,
    last_event: Instant,
    changed: bool,
}

impl SharedCollector {
    /// A collector that has seen nothing.
    #[must_use]
    pub(crate) fn new() -> Self {
        let state = State { collector: Collector::new(), last_event: Instant::now(), changed: false };
        Self { state: Arc::new(Mutex::new(state)), wake: Arc::new(Notify::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A collector that panicked half way still holds bounded, readable state; losing the run would be worse.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until an update would show something new. Cancel safe.
    pub(crate) async fn changed(&self) {
        while !self.lock().changed {
            self.wake.notified().await;
        }
    }

    /// Whether something changed since the last time this was asked.
    #[must_use]
    pub(crate) fn take_changed(&self) -> bool {
        std::mem::take(&mut self.lock().changed)
    }

    /// Looks at the collector and at how long its child has been silent.
    pub(crate) fn view<T>(&self, look: impl FnOnce(&Collector, Duration) -> T) -> T {
        let state = self.lock();
        look(&state.collector, state.last_event.elapsed())
    }

    /// Folds what is left of the stream and takes the collector out; an empty one stays.
    #[must_use]
    pub(crate) fn finish(&self) -> Collector {
        let mut collector = std::mem::take(&mut self.lock().collector);
        collector.finish();
        collector
    }
}

impl Default for SharedCollector {
    fn default() -> Self {
        Self::new()
    }
}

/// Folds a child's events and tells its supervisor what counts as life.
pub(crate) struct JsonChild {
    collector: SharedCollector,
    silence: SilenceLimits,
}

impl JsonChild {
    /// Observes a child whose events go to `collector`.
    #[must_use]
    pub(crate) fn new(collector: SharedCollector, silence: SilenceLimits) -> Self {
        Self { collector, silence }
    }
}

impl Observer for JsonChild {
    fn stdout(&mut self, chunk: &[u8]) -> Pulse {
        let mut state = self.collector.lock();
        let progress = state.collector.push(chunk);
        let alive = progress.events > 0;
        if alive {
            state.last_event = Instant::now();
        }
        let live = state.collector.live();
        let pulse =
            Pulse { alive, silence: self.silence.in_force(live.running_tools), settled: live.settled };
        state.changed |= progress.changed;
        drop(state);
        if progress.changed {
            self.collector.wake.notify_one();
        }
        pulse
    }
}
