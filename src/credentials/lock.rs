//! pi's own lock on its credentials.
//!
//! pi locks with the npm package `proper-lockfile`: a directory `auth.json.lock`, created by `mkdir`, whose
//! modification time the holder renews. When `auth.json` is a link, pi 1.6.0 puts the lock beside its target and pi
//! 0.87.1 beside the link, so both are taken.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// A holder that has not renewed its lock for this long counts as dead. pi's own value; pi renews twice within that
/// time.
const STALE: Duration = Duration::from_secs(30);
/// How long to wait for the lock: as long as pi does, and long enough to take over the lock of a dead holder.
pub(super) const PATIENCE: Duration = Duration::from_secs(35);
/// How long the lock counts as ours. It is never renewed, and a pi that waits without yielding takes locks over after
/// ten seconds.
const HOLD: Duration = Duration::from_secs(5);
/// The pause after the first attempt; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

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
    held: Vec<Held>,
}

impl AuthLock {
    /// Acquires the lock and waits for it at most for `patience`. Never takes over a lock that its holder still renews.
    ///
    /// # Errors
    ///
    /// When the file does not exist, when its directory cannot be written, or when another process holds the lock the
    /// whole time.
    pub fn acquire(auth: &Path, patience: Duration) -> Result<Self, LockError> {
        let missing = |source| LockError::Io { path: auth.to_owned(), source };
        let file = fs::canonicalize(auth).map_err(missing)?;
        let named = std::path::absolute(auth).map_err(missing)?;
        let deadline = Instant::now() + patience;
        let mut pause = FIRST_PAUSE;
        loop {
            match Self::attempt(&file, &named) {
                Err(LockError::Busy(path)) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(LockError::Busy(path));
                    }
                    thread::sleep(pause.min(left));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                settled => return settled,
            }
        }
    }

    /// Takes both locks or none, so that a waiting process holds nothing.
    fn attempt(file: &Path, named: &Path) -> Result<Self, LockError> {
        let since = Instant::now();
        let mut held = vec![Held::take(&beside(file))?];
        if file != named {
            match Held::take(&beside(named)) {
                Ok(lock) => held.push(lock),
                // Where this process cannot create one, pi cannot either.
                Err(LockError::Io { source, .. }) if is_denied(&source) => (),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { file: file.to_owned(), since, held })
    }

    /// The locked file, with links resolved.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the lock still excludes others. Check it right before writing.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.since.elapsed() < HOLD && self.held.iter().all(Held::is_ours)
    }
}

fn beside(file: &Path) -> PathBuf {
    let mut lock = file.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Tells a directory from another one of the same name, by device, inode and modification time. The inode number alone
/// does not: file systems reuse it at once.
type Identity = (u64, u64, i64, i64);

fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino(), found.mtime(), found.mtime_nsec())
}

fn identity_at(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().as_ref().map(identity)
}

/// One lock directory that this process created.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    identity: Identity,
}

impl Held {
    fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        let is_taken = |made: &io::Result<()>| {
            made.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
        };
        let mut made = fs::create_dir(path);
        if is_taken(&made) {
            remove_stale(path).map_err(failed)?;
            made = fs::create_dir(path);
        }
        if is_taken(&made) {
            return Err(LockError::Busy(path.to_owned()));
        }
        made.map_err(failed)?;
        let found = fs::symlink_metadata(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), identity: identity(&found) })
    }

    fn is_ours(&self) -> bool {
        identity_at(&self.path) == Some(self.identity)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_ours() {
            // If this fails, the lock goes stale and the next process takes it over.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Removes the lock of a dead holder and keeps that of a live one. Looks twice, because another process may be taking
/// the lock over right now.
fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let age = SystemTime::now().duration_since(found.modified()?);
    // A time in the future is not stale: pi sets one to probe the precision of the file system.
    if age.is_ok_and(|age| age > STALE) && identity_at(path) == Some(identity(&found)) {
        match fs::remove_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
    }
    Ok(())
}
