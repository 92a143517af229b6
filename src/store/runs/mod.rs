//! Background runs: their records, what is asked of them, and the deliveries of their ends.

mod deliveries;
mod fallback;
mod prune;
mod records;
mod requests;

pub use deliveries::Delivery;
pub use records::{StoredDirectory, StoredRun};
pub use requests::Request;
