//! The copy of an earlier run's session, for a child that boots before it is certain that it continues the run.
//!
//! pi and its extensions may write to a session as they start. So the child gets a copy, and the run stays as it is until the child
//! is needed. Then the copy replaces the session: both names lead to one file, and the child keeps its own name for it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::resume::{SessionLock, invalid, lock_session, whole_session};
use crate::run::spec::Resumption;
use files::{FileError, layout, private};

/// The largest session that is copied for a child that may not be needed, in bytes.
const MAX_COPY: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct SessionCopy {
    origin: Resumption,
    /// The name under which the child has the copy.
    path: PathBuf,
    /// The second name of the copy, which is moved over the session. It exists from the start: without hard links no child boots.
    replacement: PathBuf,
    bytes: u64,
    /// The lock on the run, once the copy is its session.
    lock: Option<SessionLock>,
}

impl SessionCopy {
    /// Copies the session of a run to `path`. Blocks.
    ///
    /// # Errors
    ///
    /// Fails if the session cannot be continued as it is, is too large, or cannot be copied.
    pub(super) fn create(origin: &Resumption, cwd: &Path, path: &Path) -> Result<Self, FileError> {
        let mut copy = Self {
            origin: origin.clone(),
            path: path.to_owned(),
            replacement: path.with_file_name(layout::SESSION_REPLACEMENT),
            bytes: 0,
            lock: None,
        };
        let written = copy.write(cwd);
        // An incomplete copy must not remain.
        written.inspect_err(|_| copy.paths().for_each(|path| drop(fs::remove_file(path))))?;
        Ok(copy)
    }

    fn write(&mut self, cwd: &Path) -> Result<(), FileError> {
        let session =
            whole_session(&self.origin.session, cwd).map_err(FileError::at(&self.origin.session))?;
        let write = || {
            let mut file = private::options().write(true).create_new(true).open(&self.path)?;
            let bytes = io::copy(&mut session.take(MAX_COPY + 1), &mut file)?;
            if bytes > MAX_COPY {
                return Err(invalid("the session is too large"));
            }
            // It may replace the session of a run.
            file.sync_all()?;
            fs::hard_link(&self.path, &self.replacement)?;
            Ok(bytes)
        };
        self.bytes = write().map_err(FileError::at(&self.path))?;
        Ok(())
    }

    /// Returns the run that the session belongs to.
    pub(super) fn origin(&self) -> &Resumption {
        &self.origin
    }

    /// Returns the names of the copy in the directory of the child.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [&*self.path, &*self.replacement].into_iter()
    }

    /// Locks the run, and replaces its session by the copy. Blocks.
    ///
    /// # Errors
    ///
    /// Fails if another process continues the run, or if the session has changed since it was copied.
    pub(super) fn adopt(&mut self, cwd: &Path) -> Result<(), FileError> {
        let session = &self.origin.session;
        let lock = lock_session(&self.origin, cwd)?;
        let replace = || {
            if fs::symlink_metadata(session)?.len() != self.bytes || !begins_with(&self.path, session)? {
                return Err(invalid("it has changed since a child was booted for it"));
            }
            fs::rename(&self.replacement, session)
        };
        replace().map_err(FileError::at(session))?;
        self.lock = Some(lock);
        Ok(())
    }
}

/// Returns true if a file begins with all bytes of another one.
fn begins_with(path: &Path, beginning: &Path) -> io::Result<bool> {
    let mut bytes = BufReader::new(File::open(path)?).bytes();
    for byte in BufReader::new(File::open(beginning)?).bytes() {
        if bytes.next().transpose()? != Some(byte?) {
            return Ok(false);
        }
    }
    Ok(true)
}
