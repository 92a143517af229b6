//! Tells which processes are alive, and which of them are stopped.

mod heartbeat;
mod lock;
mod process;
#[cfg_attr(not(target_os = "linux"), path = "stopped_unsupported.rs")]
mod stopped;

pub(super) use heartbeat::Heartbeat;
pub(crate) use lock::{LockFile, lock_of};
pub(super) use process::Presence;
pub(super) use stopped::children_of_stopped;
