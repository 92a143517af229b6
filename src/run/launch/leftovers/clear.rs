//! Removes the leftovers of one run, unless it is alive.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use pi_subagent_warden::remove_tree;
use rustix::fs::{AtFlags, CWD, fstat, unlinkat};

use crate::run::launch::private_dirs::PrivateDirs;
use crate::run::launch::resume::lock_dead;
use files::{layout, open};

/// The extension of notes.
pub(super) const NOTE: &str = "run";
/// The name of the guard in earlier releases.
pub(super) const FORMER_GUARD: &str = "guard.ts";

/// The directories that a note names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Noted {
    pub run: PathBuf,
    pub temporary: Option<PathBuf>,
}

/// Removes the leftovers of a run and the agent directory of its child, unless the run is alive. Returns true if
/// nothing is left.
pub(super) fn clear(Noted { run, temporary }: &Noted, agent: Option<&Path>) -> io::Result<bool> {
    let directory = match open::directory_no_follow_at(CWD, run) {
        Err(error) if io::Error::from(error).kind() == io::ErrorKind::NotFound => None,
        opened => Some(opened?),
    };
    // Kept until everything is removed, so that no process continues the run in the meantime.
    let mut lock = None;
    if let Some(directory) = &directory {
        if fstat(directory)?.st_uid != our_uid() {
            return Ok(false);
        }
        // Without locks, it is unknown whether the run is alive.
        lock = lock_dead(run);
        if lock.is_none() {
            return Ok(false);
        }
        PrivateDirs::clear(run)?;
        let copies = [layout::SESSION_COPY, layout::SESSION_REPLACEMENT];
        for name in [layout::PROMPT, layout::GUARD, FORMER_GUARD].into_iter().chain(copies) {
            match unlinkat(directory, name, AtFlags::empty()).map_err(io::Error::from) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    agent.map_or(Ok(()), remove_tree)?;
    if let Some(temporary) = temporary {
        match fs::symlink_metadata(temporary) {
            // Only its owner can have created it, because the system's temporary directory is sticky.
            Ok(found) if found.is_dir() && found.uid() == our_uid() => remove_tree(temporary)?,
            _ => {}
        }
    }
    drop(lock);
    // Fails on purpose if the directory still contains files.
    let _ = fs::remove_dir(run);
    Ok(true)
}

pub(super) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
