//! Tells which processes are alive.
//!
//! Each process keeps a file locked while it lives. Unlike a process id, a lock is never reused, and the kernel
//! releases it even after `SIGKILL`.

use std::fs;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::lock::{EXTENSION, LockFile, is_free, lock_of};
use super::stopped::suffix;
use crate::error::StoreError;
use files::{FileError, private};

/// The number of ids that are tried. A UUID does not repeat, but a file system may lose the new file at once.
const ATTEMPTS: usize = 4;

/// Shows other processes that this one is alive.
#[derive(Debug)]
pub(crate) struct Presence {
    id: String,
    /// Former ids of this process.
    former: Vec<String>,
    /// `None`: only this process sees the store.
    lock: Option<LockFile>,
    directory: PathBuf,
}

impl Presence {
    /// Creates and locks a file under a new id.
    ///
    /// # Errors
    ///
    /// If the directory cannot be used or does not support locks.
    pub(crate) fn show(directory: &Path) -> Result<Self, StoreError> {
        private::create_dir_all(directory).map_err(FileError::at(directory))?;
        for _ in 0..ATTEMPTS {
            let id = format!("{}{}", Uuid::new_v4().simple(), suffix());
            if let Some(lock) = LockFile::try_acquire(&lock_of(directory, &id))? {
                return Ok(Self {
                    id,
                    former: Vec::new(),
                    lock: Some(lock),
                    directory: directory.to_owned(),
                });
            }
        }
        Err(StoreError::Busy(directory.to_owned()))
    }

    /// Shows it under another id, because its lock file may have been removed.
    ///
    /// # Errors
    ///
    /// As for [`Self::show`].
    pub(crate) fn show_again(&self) -> Result<Self, StoreError> {
        let former = self.former.iter().chain([&self.id]).cloned().collect();
        Ok(Self { former, ..Self::show(&self.directory)? })
    }

    /// Hides this process until [`Self::show_again`].
    pub(crate) fn hide(&mut self) {
        self.lock = None;
    }

    /// Returns the presence for a store in memory, which no other process sees.
    pub(crate) fn unshared() -> Self {
        Self {
            id: Uuid::new_v4().simple().to_string(),
            former: Vec::new(),
            lock: None,
            directory: PathBuf::new(),
        }
    }

    /// The id of this process.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The current id of a process. Callers may hold a former id of this one.
    pub(crate) fn current<'a>(&'a self, process: &'a str) -> &'a str {
        if self.former.iter().any(|former| former == process) { &self.id } else { process }
    }

    /// Returns true if the lock file still exists.
    pub(crate) fn is_shown(&self) -> bool {
        self.lock.as_ref().is_none_or(LockFile::exists)
    }

    /// The directory of the lock files.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns true if a process has ended; its lock file is then removed. Text that is no process id counts as ended.
    pub(crate) fn has_ended(&self, id: &str) -> bool {
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        id != self.id && (self.lock.is_none() || !is_name || is_free(&lock_of(&self.directory, id)))
    }

    /// Removes the lock files of dead processes.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let own = lock_of(&self.directory, &self.id);
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path != own && path.extension().is_some_and(|found| found == EXTENSION) {
                is_free(&path);
            }
        }
    }
}
