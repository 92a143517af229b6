//! Which processes are alive, and which of them are stopped.

#[cfg_attr(windows, path = "exclusive_windows.rs")]
mod exclusive;
mod heartbeat;
mod lock;
mod process;

pub(super) use exclusive::identity;
pub(super) use heartbeat::Heartbeat;
pub(super) use lock::{LockFile, lock_of};
pub(super) use process::Presence;
