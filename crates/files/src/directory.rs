//! Directories that are read entry by entry without following links.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

#[cfg(not(unix))]
use std::fs;
#[cfg(unix)]
use std::os::fd::OwnedFd;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;

use super::open;

#[cfg(unix)]
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};
#[cfg(unix)]
use rustix::io::Errno;

/// The number of attempts to read an entry that another program replaces in the meantime. Each attempt fails only if another
/// replacement happens within microseconds.
#[cfg(unix)]
const ATTEMPTS: usize = 256;

/// An entry of a directory.
#[derive(Debug)]
pub enum Entry {
    /// A directory.
    Directory(Directory),
    /// A symbolic link, with its target.
    Link(PathBuf),
    /// A regular file, open for reading.
    File(File),
    /// A FIFO, a socket, a device.
    Other,
}

fn too_many_error(limit: usize) -> io::Error {
    io::Error::other(format!("a directory has more than {limit} entries"))
}

/// A directory that is open, so that no other program can put a link in its place.
#[cfg(unix)]
#[derive(Debug)]
pub struct Directory(OwnedFd);

/// A directory, by its path: this system has no sandbox whose children could exchange it.
#[cfg(not(unix))]
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Opens a directory at a path without links. Refuses a link that another program has put into the path since.
    ///
    /// # Errors
    ///
    /// If a part of the path is a link, or the directory cannot be opened.
    pub fn open_real(path: &Path) -> io::Result<Self> {
        let directory = Self::open(path)?;
        if !open::is_real(&directory.0, path)? {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "a symbolic link leads there"));
        }
        Ok(directory)
    }

    /// Opens the directory at a path below this one, if no link leads there. An empty path is this directory.
    ///
    /// # Errors
    ///
    /// If a link or a non-directory is there, or `path` leads upwards.
    pub fn below(&self, path: &Path) -> io::Result<Self> {
        path.components().try_fold(self.try_clone()?, |directory, part| match part {
            Component::Normal(name) => match directory.entry(name)? {
                Entry::Directory(inner) => Ok(inner),
                _ => Err(io::ErrorKind::NotADirectory.into()),
            },
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a path below the directory")),
        })
    }

    /// Opens the regular file at a path below this directory, if no link leads there.
    ///
    /// # Errors
    ///
    /// If a link or a non-file is there, or `path` leads upwards.
    pub fn file(&self, path: &Path) -> io::Result<File> {
        let parent = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name();
        let name = name.ok_or(io::ErrorKind::InvalidInput)?;
        match self.below(parent)?.entry(name)? {
            Entry::File(file) => Ok(file),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        }
    }
}

#[cfg(unix)]
impl Directory {
    /// Opens a directory. Follows links.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(openat(CWD, path, flags, Mode::empty())?))
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Returns whether anything has this name.
    #[must_use]
    pub fn has(&self, name: &OsStr) -> bool {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Opens the entry of this name, unless it is a link. If another program replaces the entry at the same time, the result is
    /// the old entry or the new one.
    ///
    /// # Errors
    ///
    /// If nothing is there, or it cannot be opened.
    pub fn entry(&self, name: &OsStr) -> io::Result<Entry> {
        let mut opened = self.open_once(name);
        for _ in 1..ATTEMPTS {
            match opened {
                // It is of another kind by now.
                Err(Errno::INVAL | Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {}
                opened => return Ok(opened?),
            }
            opened = self.open_once(name);
        }
        Ok(opened?)
    }

    fn open_once(&self, name: &OsStr) -> Result<Entry, Errno> {
        let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let open = |more| openat(&self.0, name, flags | more, Mode::empty());
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => Entry::Directory(Self(open(OFlags::DIRECTORY)?)),
            FileType::Symlink => {
                let link = readlinkat(&self.0, name, Vec::new())?;
                Entry::Link(PathBuf::from(OsStr::from_bytes(link.as_bytes())))
            }
            FileType::RegularFile => {
                let file = open(OFlags::empty())?;
                // Another one may lie there by now.
                match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
                    FileType::RegularFile => Entry::File(file.into()),
                    FileType::Directory => Entry::Directory(Self(file)),
                    _ => Entry::Other,
                }
            }
            _ => Entry::Other,
        })
    }

    /// Lists the names in it.
    ///
    /// # Errors
    ///
    /// If it cannot be listed, or has more than `limit` names.
    pub fn names(&self, limit: usize) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
            if names.len() > limit {
                return Err(too_many_error(limit));
            }
        }
        Ok(names)
    }
}

#[cfg(not(unix))]
impl Directory {
    /// Opens a directory. Follows links.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path.is_dir() { Ok(Self(path.to_owned())) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.clone()))
    }

    /// Returns whether anything has this name.
    #[must_use]
    pub fn has(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    /// Opens the entry of this name, unless it is a link.
    ///
    /// # Errors
    ///
    /// If nothing is there, or it cannot be opened.
    pub fn entry(&self, name: &OsStr) -> io::Result<Entry> {
        let path = self.0.join(name);
        let found = fs::symlink_metadata(&path)?;
        Ok(if found.is_dir() {
            Entry::Directory(Self(path))
        } else if found.is_symlink() {
            Entry::Link(fs::read_link(path)?)
        } else if found.is_file() {
            Entry::File(File::open(path)?)
        } else {
            Entry::Other
        })
    }

    /// Lists the names in it.
    ///
    /// # Errors
    ///
    /// If it cannot be listed, or has more than `limit` names.
    pub fn names(&self, limit: usize) -> io::Result<Vec<OsString>> {
        let names: Vec<_> = fs::read_dir(&self.0)?
            .take(limit.saturating_add(1))
            .map(|entry| Ok(entry?.file_name()))
            .collect::<io::Result<_>>()?;
        if names.len() > limit { Err(too_many_error(limit)) } else { Ok(names) }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_through_links_are_not_opened() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("tree/deep")).expect("the directory is created");
        for name in ["tree/deep/file", "beside"] {
            fs::write(at(name), "text").expect("the file is written");
        }
        for (target, link) in [("deep", "tree/directory"), ("deep/file", "tree/link")] {
            symlink(target, at(link)).expect("the link is created");
        }
        let tree = Directory::open(&at("tree")).expect("the directory is opened");
        for (path, is_opened) in [
            ("deep/file", true),
            ("directory/file", false),
            ("link", false),
            ("deep", false),
            ("../beside", false),
            ("deep/../../beside", false),
            ("", false),
        ] {
            assert_eq!(tree.file(Path::new(path)).is_ok(), is_opened, "{path}");
        }
        assert!(tree.below(Path::new("deep")).is_ok() && tree.below(Path::new("directory")).is_err());
    }
}
