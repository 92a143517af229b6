//! Handles a request for a background run: `plan` decides without storing or starting anything, `accept` hosts the run
//! or hands it over to a host process.

mod accept;
mod plan;
mod refusal;
mod request;

pub use accept::spawn;
pub use plan::spawnable;
pub use refusal::SpawnRefusal;
pub(super) use refusal::{max_runs, refusal, too_many};
pub use request::{SpawnRequest, receipts_of};
