//! Locking a file, and the identity of a file, on Unix.
//!
//! The lock belongs to the open file and not to the process, so it also excludes a second holder in the same process.
//! The kernel releases it when the process ends, even after `SIGKILL`. On Linux only a process that may write the file
//! can hold the lock: a child that may read everything cannot pass for a process of ours.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt as _};
use std::path::Path;

use rustix::io::Errno;

use super::owned;

#[cfg(target_os = "linux")]
use pi_subagent_warden::file_lock::{is_locked, try_lock};

/// The number of attempts to open a file that another process removes in the meantime. Each attempt fails only if another removal
/// happens within microseconds.
const ATTEMPTS: usize = 64;

/// The mode of lock files, which no process reads. A user without write permission cannot open them, and so cannot block the
/// others.
const WRITE_ONLY: u32 = 0o200;

/// Opens and locks a file. `None`: another process holds it, or another holder in this one. A missing file is an error
/// unless `create` is set.
///
/// # Errors
///
/// If the file cannot be opened or locked.
pub fn lock(path: &Path, create: bool) -> io::Result<Option<File>> {
    for _ in 0..ATTEMPTS {
        let file = open(path, create)?;
        if !try_lock(&file)? {
            return Ok(None);
        }
        let opened = file.metadata()?;
        // A lock on a file that was removed or replaced while we opened it excludes no other process.
        match fs::symlink_metadata(path) {
            Ok(found) if (found.dev(), found.ino()) == (opened.dev(), opened.ino()) => return Ok(Some(file)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
    }
    Ok(None)
}

/// Returns true if a process of ours has locked the file. An open file that is only read is not locked. A missing file is an
/// error.
///
/// # Errors
///
/// If the file cannot be opened, or its locks cannot be read.
pub fn is_path_locked(path: &Path) -> io::Result<bool> {
    is_locked(&open(path, false)?)
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    let mut options = File::options();
    owned::open(path, options.write(true).create(create).mode(WRITE_ONLY))
}

/// Removes a locked file, then unlocks it. In this order, a process that opens it in between can see that it was removed.
pub fn remove(path: &Path, file: File) {
    // If this fails, the next process sweeps the file.
    let _ = fs::remove_file(path);
    drop(file);
}

/// Returns true if an error means that the file system has no locks: none, not supported, not implemented.
#[must_use]
pub fn has_no_locks(error: &io::Error) -> bool {
    let unsupported = [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL];
    Errno::from_io_error(error).is_some_and(|error| unsupported.contains(&error))
}

/// Distinguishes a file from another one put in its place; `None` if there is none.
#[must_use]
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Other systems have no such lock with a safe call, so this uses `flock`.
#[cfg(not(target_os = "linux"))]
fn try_lock(file: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn is_locked(file: &File) -> io::Result<bool> {
    try_lock(file).map(|is_free| !is_free)
}
