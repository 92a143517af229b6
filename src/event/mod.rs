//! The event stream of a child, folded into a small state as its bytes arrive.
//!
//! Bytes are framed and skimmed by [`crate::text`]; here is what the records mean. This layer knows nothing of
//! processes, and nothing in its results is sanitized.

mod arguments;
mod collected;
mod collector;
mod display;
mod fast;
mod fold;
mod live;
mod record;
mod tail;
mod usage;
mod wire;

pub use collected::{Collected, Counts, Retry, UiRequest};
pub use collector::{Collector, Live, Progress};
pub use display::DisplayItem;
pub use usage::{Cost, Usage};
