//! The reader of a child's output, and what it concludes from it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

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

    /// Notified when the activity may have changed although the child has written nothing; the observer then gets an
    /// empty chunk.
    fn news(&self) -> Option<Arc<Notify>> {
        None
    }
}

/// What an observer concludes from the output so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The chunk was a sign of life, which restarts the silence clock.
    pub alive: bool,
    /// The longest silence from now on; `None` pauses the clock. The end of a pause restarts it.
    pub silence: Option<Duration>,
    /// The work is done: the child should exit soon, and a limit reached afterwards is no failure. Work that resumes
    /// clears this again.
    pub settled: bool,
    /// How long the child may stay for a last word after its work settled. The silence limit still applies meanwhile.
    pub stay: Option<Duration>,
}
