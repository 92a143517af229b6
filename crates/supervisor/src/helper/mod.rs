//! Helper programs other than the children: short ones whose output is read, and one that outlives this process.

mod capture;
mod detached;
mod stall;

pub use capture::{CaptureLimits, capture_observed, capture_within};
pub use capture::{Captured, capture, capture_fed};
pub use detached::Detached;
