//! The observer reads a child's output; the intake feeds it.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::select;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::idle_timer::{Activity, IdleTimer};
use super::streams::{PIPE_BYTES, Streams};

/// The time that all reads together wait for bytes that are already in the pipe, until the runtime has noticed them.
const READ_WAIT: Duration = Duration::from_millis(20);

/// Reads a child's standard output as it arrives.
pub trait Observer: Send {
    /// Takes the next bytes, cut anywhere. Nothing else is read until it returns, so a slow observer slows the child
    /// down.
    fn stdout(&mut self, chunk: &[u8]) -> Activity;

    /// Tells the child, in the child's own protocol, to stop its work; returns whether it could. The child then gets
    /// a moment to settle before it is asked to exit.
    fn interrupt(&mut self) -> bool {
        false
    }

    /// Handles the end of the child's time limit. Returns the time that the child still has to report its results;
    /// `None` ends it now.
    fn time_limit_reached(&mut self) -> Option<Duration> {
        None
    }

    /// Notified when the activity may have changed although the child has written nothing; the observer then gets an
    /// empty chunk.
    fn activity_changed(&self) -> Option<Arc<Notify>> {
        None
    }
}

/// Feeds the child's output to the observer, and the timer with the observer's conclusions.
pub(super) struct Intake<'a> {
    pub(super) streams: Streams,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) idle_timer: IdleTimer,
    /// The hard limit, once it was reached by a child that may stay for a report.
    pub(super) reached_limit: Option<Duration>,
}

impl Intake<'_> {
    /// Shows the observer the newest output.
    pub(super) fn observe(&mut self) {
        let activity = self.observer.stdout(self.streams.chunk());
        self.update(activity);
    }

    /// Asks the observer for its activity when nothing was read.
    pub(super) fn refresh(&mut self) {
        let activity = self.observer.stdout(&[]);
        self.update(activity);
    }

    fn update(&mut self, activity: Activity) {
        self.idle_timer.update(activity, Instant::now());
        if self.streams.input.has_ended() {
            self.idle_timer.dismiss();
        }
    }

    /// Reads on until `event` resolves.
    pub(super) async fn pump<T>(&mut self, event: impl Future<Output = T>) -> T {
        let mut event = pin!(event);
        loop {
            if let Some(value) = self.read_or(event.as_mut()).await {
                return value;
            }
        }
    }

    /// Reads on until the work is settled or `ended` resolves.
    pub(super) async fn pump_until_settled(&mut self, ended: impl Future) {
        let mut ended = pin!(ended);
        while !self.idle_timer.is_settled() && self.read_or(ended.as_mut()).await.is_none() {}
    }

    /// Reads to the end of the output. Returns true if it reached the end. `bound` limits the wait for a leftover
    /// process that still holds the pipe: after it, only the bytes that are then in the pipe are read.
    pub(super) async fn drain(&mut self, bound: Duration) -> bool {
        self.streams.close_stdin();
        let mut bound = pin!(sleep(bound));
        while !self.streams.is_done() {
            if self.read_or(bound.as_mut()).await.is_some() {
                return self.read_remaining().await;
            }
        }
        true
    }

    /// Reads the content of the pipe: on a busy machine it can be the last lines of a child that has exited. Stops
    /// after the capacity of one pipe, so bytes that refill it during the read are left.
    async fn read_remaining(&mut self) -> bool {
        let mut remaining = PIPE_BYTES;
        let mut time_limit = READ_WAIT;
        while !self.streams.is_done() && remaining > 0 {
            let since = Instant::now();
            // Bytes that are already available are read even if no time remains.
            let Ok(more) = timeout(time_limit, self.streams.next()).await else { return false };
            time_limit = time_limit.saturating_sub(since.elapsed());
            if more {
                remaining = remaining.saturating_sub(self.streams.chunk().len());
                self.observe();
            }
        }
        self.streams.is_done()
    }

    /// Reads once, or returns the value of `event` if that comes first. Waits for the event when there is nothing to
    /// read any more.
    async fn read_or<T>(&mut self, event: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        select! {
            biased;
            value = event => return Some(value),
            more = self.streams.next(), if !self.streams.is_done() => if more { self.observe() },
        }
        None
    }
}
