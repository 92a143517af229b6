//! How a child is spoken to and understood.

mod json;

pub(super) use json::{JsonChild, SharedCollector, SilenceLimits};
