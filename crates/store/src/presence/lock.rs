//! Lock files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::StoreError;
use files::FileError;
use files::exclusive::{has_no_locks, is_path_locked, lock, remove};

/// The extension of lock files.
pub(super) const EXTENSION: &str = "lock";
/// Pause between two attempts at a held lock.
const PAUSE: Duration = Duration::from_millis(5);

/// A locked file that is removed when the lock is released. A process that dies leaves the file, without a lock.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    file: Option<File>,
}

impl LockFile {
    fn open(path: &Path, make: bool) -> io::Result<Option<Self>> {
        Ok(lock(path, make)?.map(|file| Self { path: path.to_owned(), file: Some(file) }))
    }

    /// Locks the file, and creates it if it is missing. `None`: it is held.
    ///
    /// # Errors
    ///
    /// If it cannot be created, or its file system does not support locks.
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::open(path, true).map_err(|source| refused(path, source))
    }

    /// Locks the file, and waits up to `timeout` for its holder.
    ///
    /// # Errors
    ///
    /// As for [`Self::try_acquire`], and when it is still held.
    pub(crate) fn acquire(path: &Path, timeout: Duration) -> Result<Self, StoreError> {
        let since = Instant::now();
        loop {
            if let Some(lock_file) = Self::try_acquire(path)? {
                return Ok(lock_file);
            }
            if since.elapsed() >= timeout {
                return Err(StoreError::Busy(path.to_owned()));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns true if the file still exists. A user may have removed it by hand.
    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            remove(&self.path, file);
        }
    }
}

/// Returns true if no process has locked the file. Removes the file of a dead process. False if unknown.
pub(super) fn is_free(path: &Path) -> bool {
    let is_free = match LockFile::open(path, false) {
        Ok(Some(_)) => Ok(true),
        // A process that may only read can keep us from taking the lock, but cannot hold it.
        Ok(None) => is_path_locked(path).map(|is_locked| !is_locked),
        Err(error) => Err(error),
    };
    is_free.unwrap_or_else(|error| error.kind() == io::ErrorKind::NotFound)
}

/// The path of the lock file with this name.
pub(crate) fn lock_of(directory: &Path, name: &str) -> PathBuf {
    directory.join(name).with_extension(EXTENSION)
}

/// Interprets the error of a lock attempt.
fn refused(path: &Path, source: io::Error) -> StoreError {
    if has_no_locks(&source) {
        return StoreError::Locking { path: path.to_owned(), source };
    }
    FileError::at(path)(source).into()
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_file_system_without_locks_is_reported() {
        for (error, is_locking) in [
            (Errno::NOLCK, true),
            (Errno::OPNOTSUPP, true),
            (Errno::NOSYS, true),
            (Errno::INVAL, true),
            (Errno::ACCESS, false),
            (Errno::ROFS, false),
            (Errno::NOSPC, false),
        ] {
            let refused = refused(Path::new("/remote/x.lock"), error.into());
            assert_eq!(matches!(refused, StoreError::Locking { .. }), is_locking, "{error}");
        }
    }
}
