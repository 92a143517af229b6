//! Locking a file, and the identity of a file, on Windows.
//!
//! A file opened without sharing cannot be opened again, and the system closes it when the process ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

/// `ERROR_SHARING_VIOLATION`: the file is open elsewhere.
const SHARING_VIOLATION: i32 = 32;
/// `ERROR_ACCESS_DENIED`: the file is being deleted.
const ACCESS_DENIED: i32 = 5;

/// Opens and locks a file. `None`: another process holds it, or another holder in this one. A missing file is an error
/// unless `create` is set.
pub fn lock(path: &Path, create: bool) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).write(true).create(create).share_mode(0).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.raw_os_error(), Some(SHARING_VIOLATION | ACCESS_DENIED)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns true if a process has locked the file. A missing file is an error.
pub fn is_path_locked(path: &Path) -> io::Result<bool> {
    lock(path, false).map(|lock| lock.is_none())
}

/// Removes a locked file. It must be closed first; if another process locks it in between, it stays.
pub fn remove(path: &Path, file: File) {
    drop(file);
    let _ = fs::remove_file(path);
}

/// Returns false: no error on Windows means that the file system has no locks.
pub fn has_no_locks(_error: &io::Error) -> bool {
    false
}

/// Always the same: a file that is open cannot be replaced. `None` if there is none.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    path.exists().then_some((0, 0))
}
