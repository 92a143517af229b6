//! Grants a child its turns: the guard in the child holds each request to the model until the host has granted its
//! turn.
//!
//! The guard's own file carries the number of granted turns: the host adds a line break for each. Every child on this
//! machine can read that file, with any protocol, and no sandboxed child can write to it.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::run::blocking::{off_thread, spawn_task};
use crate::run::launch::files::GUARD;
use sanitizer::chain;
use supervisor::{Cancel, CancelReason};

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
        let guard = self.guard.clone();
        let cancel = self.cancel.clone();
        spawn_task(async move {
            let path = guard.clone();
            let granted = off_thread(move || write_turns(&path, turns)).await;
            let error = match granted {
                // The child has ended, and its files are gone. A child that still works ends by itself.
                Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return,
                Ok(Ok(())) => return,
                Ok(Err(error)) => chain(&error),
                Err(error) => error.to_string(),
            };
            let why = format!("the child's next turn could not be granted: `{}`: {error}", guard.display());
            cancel.cancel(CancelReason::Stuck(why));
        });
    }
}

/// Writes the line breaks of all granted turns. The order of two calls does not matter.
fn write_turns(guard: &Path, turns: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(guard)?;
    file.seek(SeekFrom::Start(GUARD.len() as u64))?;
    file.write_all(&b"\n".repeat(usize::try_from(turns).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_grows_by_a_line_break_for_each_turn() {
        let directory = tempfile::tempdir().expect("a temporary directory is created");
        let guard = directory.path().join("guard.cjs");
        std::fs::write(&guard, GUARD).expect("the guard is written");
        for turns in [1, 3, 2] {
            write_turns(&guard, turns).expect("the turns are written");
        }
        let text = std::fs::read_to_string(&guard).expect("the guard is readable");
        assert_eq!(text, format!("{GUARD}\n\n\n"));
        assert!(write_turns(&directory.path().join("gone"), 1).is_err());
    }
}
