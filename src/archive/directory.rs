//! The directory of a run, held open, so that all work happens in it even if its path changes.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::names::is_run_file;
use super::usage::blocks;
use files::open::directory_no_follow_at;

/// Entries of the directory that are read. A run has a handful.
const MAX_ENTRIES: usize = 4096;

/// The directory of a run.
#[derive(Debug)]
pub(super) struct Directory {
    fd: OwnedFd,
    parent: OwnedFd,
    name: std::ffi::OsString,
}

impl Directory {
    /// Opens the directory `base`/`way`. Follows links up to `base`, and none after it. `None` when the directory does
    /// not exist.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotADirectory`] when a component is not a directory.
    pub(super) fn open(base: &Path, way: &[&OsStr]) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let step = |from: Result<OwnedFd, Errno>| match from {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(io::ErrorKind::NotADirectory.into()),
            Err(error) => Err(io::Error::from(error)),
        };
        let Some(mut parent) = step(openat(CWD, base, flags, Mode::empty()))? else { return Ok(None) };
        let Some((name, between)) = way.split_last() else { return Ok(None) };
        for part in between {
            let Some(next) = step(directory_no_follow_at(&parent, *part))? else { return Ok(None) };
            parent = next;
        }
        let fd = step(directory_no_follow_at(&parent, *name))?;
        Ok(fd.map(|fd| Self { fd, parent, name: (*name).to_owned() }))
    }

    /// The run's files, sorted by name, with the bytes that they take up on the disk. Ignores links and everything else that is not a
    /// regular file.
    pub(super) fn files(&self) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.fd)?.take(MAX_ENTRIES) {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().ok().filter(|name| is_run_file(name)) else {
                continue;
            };
            match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => {
                    files.push((name.to_owned(), blocks(u64::try_from(found.st_blocks).unwrap_or(0))));
                }
                Ok(_) | Err(Errno::NOENT) => (),
                Err(error) => return Err(error.into()),
            }
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Returns true if an entry of any kind has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.fd, from, &self.fd, to)?)
    }

    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.fd, name, AtFlags::empty())?)
    }

    /// Removes the directory if it is empty.
    pub(super) fn remove_if_empty(self) -> io::Result<()> {
        match unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            // The error differs between systems. An entry that has replaced the directory stays.
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
