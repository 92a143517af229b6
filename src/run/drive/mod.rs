//! What is written to a child, and what its events mean for its run.

pub(crate) mod announcement;
pub(crate) mod attempt;
pub(crate) mod execute;
pub(crate) mod protocol;
pub(crate) mod updates;

pub use execute::{Control, Watchers, execute};
pub use protocol::Steering;
pub(crate) use updates::UPDATE_INTERVAL;
