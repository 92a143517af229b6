//! A file or directory that may be written, or is protected inside one.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use pi_subagent_warden::{is_transient, sandbox_problem};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use rustix::io::Errno;

/// A file or directory that may be written, or is protected inside one. It is held open, so that the path cannot be made to mean something else
/// unnoticed.
#[derive(Debug)]
pub(super) struct Place {
    fd: OwnedFd,
    path: PathBuf,
    is_directory: bool,
}

impl Place {
    /// Opens a file or directory that may be written.
    ///
    /// # Errors
    ///
    /// `ELOOP` for a symbolic link in any part of the path: the host gives paths without links, so another process put the link
    /// there. `EINVAL` for an entry that is neither a file nor a directory.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let (place, kind) = Self::open_any(path)?;
        match kind {
            FileType::Directory | FileType::RegularFile => Ok(place),
            _ => Err(Errno::INVAL.into()),
        }
    }

    /// Opens a path for protection. Returns `None` if nothing is there. A FIFO, a socket or a device is protected like a file:
    /// the child can neither remove nor replace it, and the mount over it opens nothing.
    ///
    /// # Errors
    ///
    /// `ELOOP` for a symbolic link.
    pub(super) fn open_if_exists(path: &Path) -> io::Result<Option<Self>> {
        match Self::open_any(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(|(place, _)| Some(place)),
        }
    }

    fn open_any(path: &Path) -> io::Result<(Self, FileType)> {
        let fd = open_without_links(path)?;
        let kind = FileType::from_raw_mode(fstat(&fd)?.st_mode);
        if kind == FileType::Symlink {
            return Err(Errno::LOOP.into());
        }
        let path = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
        Ok((Self { fd, path, is_directory: kind == FileType::Directory }, kind))
    }

    /// Opens every existing path that lies below one of `directories`, which have no links. A path with a link in it is left
    /// out: a child may have put the link there, and it may lead to any hidden directory.
    ///
    /// # Errors
    ///
    /// For want of a resource.
    pub(super) fn below(directories: &[PathBuf], paths: &[PathBuf]) -> io::Result<Vec<Self>> {
        let mut places = Vec::new();
        for path in paths.iter().filter(|path| directories.iter().any(|place| path.starts_with(place))) {
            match Self::open_any(path) {
                Ok((place, _)) => places.push(place),
                Err(error) if is_transient(&error) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(places)
    }

    /// Returns true if it lies in one of `directories`.
    pub(super) fn is_in(&self, directories: &[PathBuf]) -> bool {
        directories.iter().any(|directory| self.path.starts_with(directory))
    }

    /// Returns true if both lie on the same file system.
    ///
    /// # Errors
    ///
    /// If the system does not report the file systems.
    pub(super) fn is_on_same_file_system(&self, other: &Self) -> io::Result<bool> {
        Ok(fstat(&self.fd)?.st_dev == fstat(&other.fd)?.st_dev)
    }

    /// Returns true if it is a directory, so that everything below may be written too.
    pub(super) fn is_directory(&self) -> bool {
        self.is_directory
    }

    /// Its path, without links and dots.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the same place again, as it is reached now: in another mount namespace or below another mount.
    ///
    /// # Errors
    ///
    /// `ESTALE` when the path now leads to something else.
    pub(super) fn reopen(&self) -> io::Result<OwnedFd> {
        let now = open_without_links(&self.path)?;
        let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
        if identity(fstat(&now)?) != identity(fstat(&self.fd)?) {
            return Err(Errno::STALE.into());
        }
        Ok(now)
    }
}

impl AsFd for Place {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A system error and its path.
#[derive(Debug)]
pub(crate) struct AtPath {
    pub path: PathBuf,
    pub source: io::Error,
}

impl AtPath {
    /// Adds a path to an error. An error for want of a resource stays as it is, because no path caused it.
    pub(super) fn of(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
        |source| {
            if is_transient(&source) {
                return source;
            }
            io::Error::new(source.kind(), Self { path: path.to_owned(), source })
        }
    }
}

impl fmt::Display for AtPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: ", self.path.display())?;
        match self.source.raw_os_error().and_then(sandbox_problem) {
            Some(problem) => f.write_str(problem),
            None => write!(f, "{}", self.source),
        }
    }
}

impl std::error::Error for AtPath {}

/// A path without links; `None` where nothing is there, or this user cannot get there.
///
/// # Errors
///
/// If a resource has run out: a path that cannot be found for now may still exist.
pub(super) fn real(path: &Path) -> io::Result<Option<PathBuf>> {
    match std::fs::canonicalize(path) {
        Err(error) if is_transient(&error) => Err(error),
        found => Ok(found.ok()),
    }
}

/// Opens a path if no link is in any part of it. Between the check of a path by the host and this call, a child that writes in a
/// directory above can exchange a part of it with a link to any other place. Every kernel with Landlock has this call.
pub(super) fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_or_a_directory_may_be_writable() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let file = scene.path().join("file");
        let link = scene.path().join("link");
        std::fs::write(&file, "").expect("the file is written");
        std::os::unix::fs::symlink(&file, &link).expect("the link is created");
        let above = scene.path().join("above");
        std::os::unix::fs::symlink(scene.path(), &above).expect("the link is created");
        let open = |path: &Path| {
            Place::open(path).map(|place| place.is_directory()).map_err(|error| error.raw_os_error())
        };
        for (label, path, expected) in [
            ("file", file.as_path(), Ok(false)),
            ("directory", scene.path(), Ok(true)),
            ("link", link.as_path(), Err(Some(libc::ELOOP))),
            ("below a link", above.join("file").as_path(), Err(Some(libc::ELOOP))),
            ("device", Path::new("/dev/null"), Err(Some(libc::EINVAL))),
            ("missing", Path::new("/nowhere/at/all"), Err(Some(libc::ENOENT))),
        ] {
            assert_eq!(open(path), expected, "{label}");
        }
    }

    #[test]
    fn anything_except_a_link_can_be_protected() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let link = scene.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).expect("the link is created");
        let exists = |path: &Path| {
            Place::open_if_exists(path).map(|place| place.is_some()).map_err(|error| error.raw_os_error())
        };
        for (label, path, expected) in [
            ("directory", scene.path(), Ok(true)),
            ("device", Path::new("/dev/null"), Ok(true)),
            ("link", link.as_path(), Err(Some(libc::ELOOP))),
            ("missing", Path::new("/nowhere/at/all"), Ok(false)),
        ] {
            assert_eq!(exists(path), expected, "{label}");
        }
    }

    #[test]
    fn a_replaced_place_is_refused() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let path = scene.path().join("tmp");
        std::fs::create_dir(&path).expect("the directory is created");
        let place = Place::open(&path).expect("the place is opened");
        assert!(place.reopen().is_ok());
        std::fs::rename(&path, scene.path().join("old")).expect("the rename succeeds");
        std::fs::create_dir(&path).expect("the other directory is created");
        assert_eq!(place.reopen().map_err(|error| error.raw_os_error()).err(), Some(Some(libc::ESTALE)));
    }
}
