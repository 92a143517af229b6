//! Background runs: their records, requests to them, and the deliveries of their ends.

mod deliveries;
mod fallback;
mod prune;
mod records;
mod requests;

pub use deliveries::Delivery;
pub use records::{StoredDirectory, StoredRun};
pub(crate) use records::{put_run, select as runs_where};
pub use requests::Request;
