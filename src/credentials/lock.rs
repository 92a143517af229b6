//! pi's own lock on its credentials.
//!
//! pi takes it with the npm package `proper-lockfile`: a directory `auth.json.lock`, made by `mkdir`, whose time of
//! modification its holder renews. pi 1.5.2 puts it beside the file that a linked `auth.json` leads to, pi 0.87.1 beside
//! the link, so both are taken where they differ.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// When the holder of a lock counts as dead: it has not renewed it for so long. pi's own figure; pi renews it twice
/// within that time.
const STALE: Duration = Duration::from_secs(30);
/// How long pi waits for a lock; one of a dead holder is taken over in that time.
pub(super) const PATIENCE: Duration = Duration::from_secs(35);
/// How long a lock may have been held when it is used. pi takes locks over from ten seconds on where it waits for them
/// without yielding, and ours is never renewed.
const HOLD: Duration = Duration::from_secs(5);
/// The pause after the first attempt. It doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// The lock was not to be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else held it all the time.
    #[error("`{path}` is held by another process")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// It can be neither made nor examined.
    #[error("cannot lock `{path}`")]
    Io {
        /// The lock, or the file to lock.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// pi's lock on a file of credentials, held until it is dropped.
#[derive(Debug)]
pub struct AuthLock {
    file: PathBuf,
    since: Instant,
    held: Vec<Held>,
}

impl AuthLock {
    /// Takes the lock, and waits for it at most as long as the caller has patience. A lock that its holder still renews
    /// is never taken over.
    ///
    /// # Errors
    ///
    /// When the file does not exist, when its directory cannot be written, or when the lock is held all the time.
    pub fn acquire(auth: &Path, patience: Duration) -> Result<Self, LockError> {
        let missing = |source| LockError::Io { path: auth.to_owned(), source };
        let file = fs::canonicalize(auth).map_err(missing)?;
        let named = std::path::absolute(auth).map_err(missing)?;
        let deadline = Instant::now() + patience;
        let mut pause = FIRST_PAUSE;
        loop {
            match Self::attempt(&file, &named) {
                Err(LockError::Busy { path }) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(LockError::Busy { path });
                    }
                    thread::sleep(pause.min(left));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                settled => return settled,
            }
        }
    }

    /// Both or none: whoever waits holds nothing.
    fn attempt(file: &Path, named: &Path) -> Result<Self, LockError> {
        let since = Instant::now();
        let mut held = vec![Held::take(&beside(file))?];
        if file != named {
            match Held::take(&beside(named)) {
                Ok(lock) => held.push(lock),
                // Where we cannot make one, pi cannot either.
                Err(LockError::Io { source, .. }) if is_denied(&source) => (),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { file: file.to_owned(), since, held })
    }

    /// The file that is locked, links resolved.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether the lock still excludes others. Asked right before something is written.
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

/// What tells a directory from another one of the same name. An inode number alone is used again at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    modified: (i64, i64),
}

impl Identity {
    fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino(), modified: (found.mtime(), found.mtime_nsec()) }
    }

    fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|found| Self::of(&found))
    }
}

/// One lock directory of ours.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    identity: Identity,
}

impl Held {
    fn take(path: &Path) -> Result<Self, LockError> {
        let failed = |source| LockError::Io { path: path.to_owned(), source };
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_stale(path).map_err(failed)?;
                match fs::create_dir(path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return Err(LockError::Busy { path: path.to_owned() });
                    }
                    made => made.map_err(failed)?,
                }
            }
            made => made.map_err(failed)?,
        }
        let found = fs::symlink_metadata(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), identity: Identity::of(&found) })
    }

    fn is_ours(&self) -> bool {
        Identity::at(&self.path) == Some(self.identity)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_ours() {
            // What cannot be removed is taken over by the next one as stale.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Removes a lock whose holder is gone; one that is alive stays. It is looked at twice, because another process may be
/// taking it over right now.
fn remove_stale(path: &Path) -> io::Result<()> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let age = SystemTime::now().duration_since(found.modified()?);
    // A time in the future is not stale: pi sets one to find out how exact the file system is.
    if age.is_ok_and(|age| age > STALE) && Identity::at(path) == Some(Identity::of(&found)) {
        match fs::remove_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
    }
    Ok(())
}
