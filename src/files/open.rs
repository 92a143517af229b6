//! Opens paths that somebody else may have put there, and reads within bounds.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

#[cfg(unix)]
use rustix::fs::{CWD, Mode, OFlags, openat};
#[cfg(unix)]
use rustix::io::Errno;

/// Neither waits for the other end of a FIFO nor makes a terminal our controlling one.
#[cfg(unix)]
const CAREFUL: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens a regular file for reading. Follows links.
///
/// # Errors
///
/// When it cannot be opened, or is not a regular file.
pub fn regular(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let file = openat(CWD, path, OFlags::RDONLY | CAREFUL, Mode::empty())?.into();
    #[cfg(not(unix))]
    let file = File::open(path)?;
    only_regular(file)
}

/// Opens a regular file for reading. On Unix, refuses a link in its place.
///
/// # Errors
///
/// When it cannot be opened, or is not a regular file.
pub fn regular_no_follow(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    return regular_no_follow_at(CWD, path);
    #[cfg(not(unix))]
    only_regular(File::open(path)?)
}

/// Opens a regular file in `directory` for reading. Refuses a link in its place.
///
/// # Errors
///
/// When it cannot be opened, or is not a regular file.
#[cfg(unix)]
pub fn regular_no_follow_at(directory: impl AsFd, path: impl AsRef<Path>) -> io::Result<File> {
    let flags = OFlags::RDONLY | CAREFUL | OFlags::NOFOLLOW;
    only_regular(openat(directory, path.as_ref(), flags, Mode::empty())?.into())
}

/// Reads a whole file. One of more than `most` bytes is an error; it is never cut.
///
/// # Errors
///
/// When it cannot be read, or is larger.
pub fn read(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let is_larger = file.metadata()?.len() > most;
    // It may grow meanwhile.
    if is_larger || file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Opens a directory in `parent`. Refuses a link in its place.
///
/// # Errors
///
/// [`Errno::LOOP`] or [`Errno::NOTDIR`] when something else is there.
#[cfg(unix)]
pub fn directory_no_follow_at(parent: impl AsFd, path: impl AsRef<Path>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(parent, path.as_ref(), flags, Mode::empty())
}

/// On Unix, sets `options` to refuse a link in the place of the file, and to return at once from a FIFO.
pub fn refuse_links(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        options,
        (CAREFUL | OFlags::NOFOLLOW).bits().cast_signed(),
    );
    options
}

fn only_regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}
