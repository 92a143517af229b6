//! Who reads a child's output, and what they make of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

/// Reads a child's standard output as it comes.
pub trait Observer: Send {
    /// Takes the next bytes, cut anywhere. Nothing else is read until it returns, so a slow observer slows the child.
    fn stdout(&mut self, chunk: &[u8]) -> Activity;

    /// Tells the child, in words that it understands, to stop its work, and says whether there are such words. It gets a
    /// moment to settle then before it is asked to leave.
    fn interrupt(&mut self) -> bool {
        false
    }

    /// Notified when the pulse may be another one although the child has written nothing; the observer is then given an
    /// empty chunk.
    fn news(&self) -> Option<Arc<Notify>> {
        None
    }
}

/// What an observer makes of the output so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The chunk was a sign of life: the silence clock starts again.
    pub alive: bool,
    /// The longest silence from now on; `None` = silence is fine. The end of a pause starts the clock again.
    pub silence: Option<Duration>,
    /// The work is done, so the child should leave soon, and no limit that is reached afterwards is a failure. Work that is
    /// taken up again takes this back.
    pub settled: bool,
    /// Settled work may be followed by a last word, for which the child may stay for so long, and be silent for as long as it
    /// ever may.
    pub stay: Option<Duration>,
}
