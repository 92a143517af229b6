//! Replaces files of a person's tree without losing a save of another program.
//!
//! Undo, apply and `apply --abort` write through [`write_all`] only. A file is exchanged with its new version in one step.
//! What comes out is compared with what was expected, and a second time when the other program has had time to write. It
//! is removed only if it is the same both times and no program has it open for writing. Otherwise it goes back to its
//! place, or is kept under a name next to the file. `docs/writing.md` says what this promises and what it does not.
//!
//! Directories are opened one by one, and no link is followed.

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

pub(super) use step::{Failure, LINK, OnFailure, Place, State, Step, WriteError};
#[cfg(not(unix))]
pub(super) use unsupported::{
    has_asides, look, make_directory, permissions, remove_asides, remove_directory,
    set_directory_permissions, write_all,
};
#[cfg(unix)]
pub(super) use {
    aside::{has_asides, remove_asides},
    compare::{look, permissions},
    directories::{make_directory, remove_directory, set_directory_permissions},
    writer::write_all,
};
