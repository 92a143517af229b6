//! What outlives a process, and what the processes of one user share: one `SQLite` file in the agent directory.
//!
//! Every function here blocks, on a disk and on other processes, so none is called where something else waits. The store
//! knows places in a queue, sums of money, and of a run in the background who works on it, when it ended and whether its
//! session was told; what else there is to say of a run is a text that it does not read.
//!
//! What was committed survives the end of the process, however that comes about. A loss of power may cost the last commits,
//! never the file: a run whose end was among them is found as one whose process is gone, and a delivery that was marked is
//! offered again, which its session knows by its id.

mod attach;
mod connect;
mod deliveries;
mod error;
#[cfg_attr(windows, path = "exclusive_windows.rs")]
mod exclusive;
mod lock;
mod open;
mod presence;
mod prune;
mod pulse;
mod queue;
mod remote;
mod requests;
mod runs;
mod schema;
mod spending;
mod transact;

pub use attach::{Attached, attach};
pub use deliveries::Delivery;
pub use error::StoreError;
pub use open::Store;
pub use queue::{Bid, Kind, Place, Standing};
pub use requests::Request;
pub use runs::{StoredDirectory, StoredRun};
pub(crate) use transact::now_ms;
