//! One try at a lock, and what a file is known by, on Unix.
//!
//! `flock` belongs to the open file and not to the process, so it also tells two users within one process apart; the
//! kernel lets go of it with the process, even after `SIGKILL`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::files::private;

/// What came of one try.
pub(in crate::store) enum Attempt {
    /// It is ours.
    Locked(File),
    /// Another process, or another user in this one, holds it.
    Held,
    /// It was removed or replaced while we opened it, so our lock keeps nobody out.
    Gone,
}

/// Tries once. A file that is missing is an error unless it may be made.
pub(in crate::store) fn attempt(path: &Path, make: bool) -> io::Result<Attempt> {
    let file = private::options().read(true).write(true).create(make).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => (),
        Err(Errno::WOULDBLOCK) => return Ok(Attempt::Held),
        Err(error) => return Err(error.into()),
    }
    let ours = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(found) if (found.dev(), found.ino()) == (ours.dev(), ours.ino()) => Ok(Attempt::Locked(file)),
        Ok(_) => Ok(Attempt::Gone),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Attempt::Gone),
        Err(error) => Err(error),
    }
}

/// Removes a file that we have locked, then unlocks it. In this order a process that opens it in between sees that it is
/// gone.
pub(in crate::store) fn remove(path: &Path, file: File) {
    // What stays is swept by the next process.
    let _ = fs::remove_file(path);
    drop(file);
}

/// What tells a file from another one that was put in its place; `None` when there is none.
pub(in crate::store) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
