//! What is written to a child, and what its events mean for its run.

pub(crate) mod announcement;
mod attempt;
mod child;
mod child_control;
mod control;
mod execute;
pub(crate) mod protocol;
mod questions;
mod shared_collector;
mod updates;

pub use control::{Control, Steering, Watchers};
pub use execute::execute;
pub(crate) use updates::UPDATE_INTERVAL;
