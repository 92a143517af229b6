//! pi's own lock on its credentials.
//!
//! pi locks with the npm package `proper-lockfile`. The lock is a directory `auth.json.lock`, created by `mkdir`, and
//! its holder renews its modification time. If `auth.json` is a link, pi 1.6.0 creates the lock next to the target and
//! pi 0.87.1 next to the link. So this module takes both.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The time after which a holder that has not renewed its lock counts as dead. This is pi's own value; pi renews twice
/// within this time.
const STALE_AFTER: Duration = Duration::from_secs(30);
/// The maximum waiting time for the lock. It equals pi's, and is long enough to take over the lock of a dead holder.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(35);
/// The time during which the lock counts as ours. The lock is never renewed, and a pi that waits without yielding takes
/// over locks after ten seconds.
const VALIDITY: Duration = Duration::from_secs(5);
/// The pause after the first attempt. It doubles after each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The maximum pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_millis(250);

/// The lock could not be acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process held the lock the whole time.
    #[error("`{0}` is held by another process")]
    Busy(PathBuf),
    /// The lock cannot be created or examined.
    #[error("cannot lock `{path}`")]
    Io {
        /// The lock, or the file to lock.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// pi's lock on a credentials file. Dropping it releases the lock.
#[derive(Debug)]
pub struct AuthLock {
    file: PathBuf,
    since: Instant,
    directories: Vec<LockDirectory>,
}

impl AuthLock {
    /// Acquires the lock, waiting for at most `timeout`. Never takes over a lock that its holder still renews.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist, if its directory cannot be written, or if another process holds
    /// the lock the whole time.
    pub fn acquire(auth: &Path, timeout: Duration) -> Result<Self, LockError> {
        let missing = |source| LockError::Io { path: auth.to_owned(), source };
        let file = fs::canonicalize(auth).map_err(missing)?;
        let named = std::path::absolute(auth).map_err(missing)?;
        let deadline = Instant::now() + timeout;
        let mut pause = FIRST_PAUSE;
        loop {
            match Self::attempt(&file, &named) {
                Err(LockError::Busy(path)) => {
                    let remaining = deadline.saturating_duration_since(Instant::now());
                    if remaining.is_zero() {
                        return Err(LockError::Busy(path));
                    }
                    thread::sleep(pause.min(remaining));
                    pause = (pause * 2).min(MAX_PAUSE);
                }
                settled => return settled,
            }
        }
    }

    /// Takes both locks or none, so that a waiting process holds no lock.
    fn attempt(file: &Path, named: &Path) -> Result<Self, LockError> {
        let since = Instant::now();
        let mut directories = vec![LockDirectory::take(&lock_path(file))?];
        if file != named {
            match LockDirectory::take(&lock_path(named)) {
                Ok(lock) => directories.push(lock),
                // If this process cannot create the lock, pi cannot either.
                Err(LockError::Io { source, .. }) if is_denied(&source) => (),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { file: file.to_owned(), since, directories })
    }

    /// Returns the locked file, with links resolved.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns true if the lock still excludes other processes. Check this directly before writing.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.since.elapsed() < VALIDITY && self.directories.iter().all(LockDirectory::is_unchanged)
    }
}

fn lock_path(file: &Path) -> PathBuf {
    let mut lock = file.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Identifies a directory by device, inode and modification time, to distinguish it from another one with the same
/// name. The inode alone is not enough, because file systems reuse it immediately.
type Identity = (u64, u64, i64, i64);

fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino(), found.mtime(), found.mtime_nsec())
}

fn identity_at(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().as_ref().map(identity)
}

/// One lock directory that this process created.
#[derive(Debug)]
struct LockDirectory {
    path: PathBuf,
    identity: Identity,
}

impl LockDirectory {
    fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        let already_exists = |created: &io::Result<()>| {
            created.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
        };
        let mut created = fs::create_dir(path);
        if already_exists(&created) {
            remove_stale(path).map_err(failed)?;
            created = fs::create_dir(path);
        }
        if already_exists(&created) {
            return Err(LockError::Busy(path.to_owned()));
        }
        created.map_err(failed)?;
        let found = fs::symlink_metadata(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), identity: identity(&found) })
    }

    fn is_unchanged(&self) -> bool {
        identity_at(&self.path) == Some(self.identity)
    }
}

impl Drop for LockDirectory {
    fn drop(&mut self) {
        if self.is_unchanged() {
            // If this fails, the lock becomes stale and the next process takes it over.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Removes the lock of a dead holder and keeps the lock of a live one. Checks twice, because another process may be
/// taking over the lock right now.
fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let age = SystemTime::now().duration_since(found.modified()?);
    // A time in the future is not stale: pi sets one to probe the precision of the file system.
    if age.is_ok_and(|age| age > STALE_AFTER) && identity_at(path) == Some(identity(&found)) {
        match fs::remove_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
    }
    Ok(())
}
