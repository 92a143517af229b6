//! How long a child may take for what.

use std::time::Duration;

/// The bounds of a supervised run, apart from the silence limit, which the observer sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperviseLimits {
    /// From the start of the child to its end; `None` = no limit.
    pub hard: Option<Duration>,
    /// From the polite request to leave to the kill.
    pub grace: Duration,
    /// How long a child may stay once its work is settled.
    pub linger: Duration,
    /// How long output is awaited after the child has gone, in case somebody else holds its pipes.
    pub drain: Duration,
}

impl Default for SuperviseLimits {
    fn default() -> Self {
        Self {
            hard: None,
            // A pi that is asked to leave first ends the shells of its tools.
            grace: Duration::from_secs(5),
            // pi leaves within milliseconds; extensions may have something to save.
            linger: Duration::from_secs(2),
            // What a dead child wrote is in the pipe already; only an escaped descendant makes this wait.
            drain: Duration::from_secs(2),
        }
    }
}
