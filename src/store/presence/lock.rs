//! Lock files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::exclusive::{Attempt, attempt, remove};

/// How often to open a file again that another process has removed meanwhile. Each repetition takes another such
/// process within microseconds.
const ATTEMPTS: usize = 64;
/// Pause between two attempts at a held lock.
const PAUSE: Duration = Duration::from_millis(5);

/// A locked file that is removed when the lock is released. A process that dies leaves the file, without a lock.
#[derive(Debug)]
pub(in crate::store) struct LockFile {
    path: PathBuf,
    file: Option<File>,
}

impl LockFile {
    /// Locks the file, and creates it if it is missing. `None`: it is held.
    ///
    /// # Errors
    ///
    /// When it cannot be created, or its file system does not support locks.
    pub(in crate::store) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..ATTEMPTS {
            match attempt(path, true)? {
                Attempt::Locked(file) => {
                    return Ok(Some(Self { path: path.to_owned(), file: Some(file) }));
                }
                Attempt::Held => return Ok(None),
                Attempt::Gone => (),
            }
        }
        Ok(None)
    }

    /// Locks the file, and waits up to `patience` for its holder.
    ///
    /// # Errors
    ///
    /// As for [`Self::try_take`].
    pub(in crate::store) fn take(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let since = Instant::now();
        loop {
            let taken = Self::try_take(path)?;
            if taken.is_some() || since.elapsed() >= patience {
                return Ok(taken);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether the file still exists; somebody may have removed it by hand.
    pub(in crate::store) fn is_there(&self) -> bool {
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

/// Whether nobody holds the file. Removes the file of a dead process. False if unknown.
pub(in crate::store) fn is_free(path: &Path) -> bool {
    for _ in 0..ATTEMPTS {
        match attempt(path, false) {
            Ok(Attempt::Locked(file)) => {
                remove(path, file);
                return true;
            }
            Ok(Attempt::Held) => return false,
            Ok(Attempt::Gone) => (),
            Err(error) => return error.kind() == io::ErrorKind::NotFound,
        }
    }
    false
}
