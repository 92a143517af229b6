//! Tells which processes are alive, and which of them are stopped.

mod heartbeat;
mod lock;
mod process;
mod stopped;

pub(super) use heartbeat::Heartbeat;
pub(crate) use lock::{LockFile, lock_of};
pub(super) use process::Presence;
pub(super) use stopped::children_of_stopped;
