//! What outlives a process, and what the processes of one user share: one `SQLite` file in the agent directory.
//!
//! Every function here blocks, on a disk and on other processes, so none is called where something else waits. The store
//! knows places in a queue and sums of money; it does not know what runs are.

mod attach;
mod connect;
mod error;
#[cfg_attr(windows, path = "exclusive_windows.rs")]
mod exclusive;
mod lock;
mod open;
mod presence;
mod pulse;
mod queue;
mod remote;
mod schema;
mod spending;

pub use attach::{Attached, attach};
pub use error::StoreError;
pub use open::Store;
pub use queue::{Bid, Kind, Place, Standing};
