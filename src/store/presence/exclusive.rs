//! Locking a file, and the identity of a file, on Unix.
//!
//! A `flock` belongs to the open file and not to the process, so it also excludes a second holder in the same process.
//! The kernel releases it when the process ends, even after `SIGKILL`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::files::private;

/// How often to open a file again that another process has removed meanwhile. Each repetition takes another such
/// process within microseconds.
const ATTEMPTS: usize = 64;

/// Opens and locks a file. `None`: another process holds it, or another holder in this one. A missing file is an error
/// unless `make` is set.
pub(in crate::store) fn lock(path: &Path, make: bool) -> io::Result<Option<File>> {
    for _ in 0..ATTEMPTS {
        let file = private::options().read(true).write(true).create(make).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => (),
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let ours = file.metadata()?;
        // A file that was removed or replaced while we opened it excludes nobody.
        match fs::symlink_metadata(path) {
            Ok(found) if (found.dev(), found.ino()) == (ours.dev(), ours.ino()) => return Ok(Some(file)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
    }
    Ok(None)
}

/// Removes a locked file, then unlocks it. In this order, a process that opens it in between can tell that it is gone.
pub(in crate::store) fn remove(path: &Path, file: File) {
    // If this fails, the next process sweeps the file.
    let _ = fs::remove_file(path);
    drop(file);
}

/// Distinguishes a file from another one put in its place; `None` if there is none.
pub(in crate::store) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
