//! Grants a child its turns: the guard in the child holds each request to the model until the host has granted its turn.
//!
//! The guard's own file carries the number of granted turns: the host lengthens it by one byte for each. Every child on this
//! machine can read that file, whatever its protocol, and no sandboxed child can write to it.

use std::fs::OpenOptions;
use std::path::PathBuf;

use crate::process::{Cancel, CancelReason};
use crate::run::blocking::{off_thread, spawn_task};
use crate::run::launch::files::GUARD;

/// Grants the turns of one child.
#[derive(Debug)]
pub(super) struct TurnGrants {
    guard: PathBuf,
    /// Ends the run if a turn cannot be granted: its child would wait forever.
    cancel: Cancel,
}

impl TurnGrants {
    pub(super) fn new(guard: PathBuf, cancel: Cancel) -> Self {
        Self { guard, cancel }
    }

    /// Grants all turns up to this one. Does not block.
    pub(super) fn grant(&self, turns: u64) {
        let (guard, cancel) = (self.guard.clone(), self.cancel.clone());
        spawn_task(async move {
            let length = GUARD.len() as u64 + turns;
            let path = guard.clone();
            let granted =
                off_thread(move || OpenOptions::new().write(true).open(path)?.set_len(length)).await;
            if let Ok(Err(error)) = granted {
                let why =
                    format!("the child's next turn could not be granted: `{}`: {error}", guard.display());
                cancel.cancel(CancelReason::Stuck(why));
            }
        });
    }
}
