//! Programs beside the children: short ones whose output is read, and one that outlives this process.

mod capture;
mod detached;

pub(crate) use capture::capture_observed;
pub use capture::{Captured, capture, capture_fed};
pub use detached::Detached;
