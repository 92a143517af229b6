//! One try at a lock, and what a file is known by, on Windows.
//!
//! A file that is open without sharing cannot be opened by anybody else, and the system
//! closes it with the process, however it ends.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

/// `ERROR_SHARING_VIOLATION`: the file is open elsewhere.
const SHARING_VIOLATION: i32 = 32;
/// `ERROR_ACCESS_DENIED`, which is what a file says that is being deleted.
const ACCESS_DENIED: i32 = 5;

/// What came of one try.
pub(in crate::store) enum Attempt {
    /// It is ours.
    Locked(File),
    /// Another process, or another user in this one, holds it.
    Held,
    /// It was removed while we opened it.
    #[expect(dead_code, reason = "an open file cannot be removed here; elsewhere it can")]
    Gone,
}

/// Tries once. A file that is missing is an error unless it may be made.
pub(in crate::store) fn attempt(path: &Path, make: bool) -> io::Result<Attempt> {
    match OpenOptions::new().read(true).write(true).create(make).share_mode(0).open(path) {
        Ok(file) => Ok(Attempt::Locked(file)),
        Err(error) if matches!(error.raw_os_error(), Some(SHARING_VIOLATION | ACCESS_DENIED)) => {
            Ok(Attempt::Held)
        }
        Err(error) => Err(error),
    }
}

/// Removes a file that we have locked. It has to be closed first; if another process locks it in between, it stays.
pub(in crate::store) fn remove(path: &Path, file: File) {
    drop(file);
    let _ = fs::remove_file(path);
}

/// What tells a file from another one that was put in its place: nothing, because an open file cannot be replaced.
pub(in crate::store) fn identity(path: &Path) -> Option<(u64, u64)> {
    path.exists().then_some((0, 0))
}
