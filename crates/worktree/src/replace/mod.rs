//! Replaces files of a person's tree without losing a save of another program.
//!
//! Undo, apply and `apply --abort` write through [`write_all`] only. The writer exchanges a file with its new version
//! in one step. It compares the old file with the expected state before and after the exchange, and again when other
//! programs have had time to write. It removes the old file only if the content is still the same and no program has
//! the file open for writing. Otherwise it puts the old file back, or keeps it next to the new one and reports its
//! name. `docs/writing.md` lists the promises and their limits.
//!
//! The writer opens directories one by one and follows no link.

#[cfg(unix)]
mod aside;
#[cfg(unix)]
mod compare;
#[cfg(unix)]
mod directories;
mod step;
#[cfg(not(unix))]
mod unsupported;
#[cfg(unix)]
mod writer;

pub(crate) use step::{Failure, LINK, OnFailure, Place, State, Step, WriteError, random};
#[cfg(not(unix))]
pub(super) use unsupported::{
    has_asides, make_directory, permissions, probe, remove_asides, remove_directory,
    set_directory_permissions, set_permissions, write_all,
};
#[cfg(unix)]
pub(super) use {
    aside::{has_asides, remove_asides},
    compare::{permissions, probe},
    directories::{make_directory, remove_directory, set_directory_permissions, set_permissions},
    writer::write_all,
};
