//! How a child is spoken to and understood.

mod json;

pub use json::steer;
pub(super) use json::{JsonChild, SharedCollector, SilenceLimits};
