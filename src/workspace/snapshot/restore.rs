//! Writes and removes files below a root without following links.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::change::Change;

/// Makes the files what they were before the changes. What was added goes first, so that a directory can become a file
/// again.
pub(super) fn restore(
    root: &Path,
    changes: Vec<Change>,
    contents: &BTreeMap<String, Vec<u8>>,
) -> Vec<(PathBuf, io::Result<()>)> {
    let (added, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.old.is_none());
    let mut done = Vec::new();
    for Change { path, .. } in added {
        let removed = remove(root, &path);
        done.push((path, removed));
    }
    for Change { path, old, .. } in others {
        let Some(old) = old else { continue };
        let written = match contents.get(&old.object) {
            Some(content) => write(root, &path, old.mode, content),
            None => Err(io::Error::other("what it contained is missing")),
        };
        done.push((path, written));
    }
    done
}

#[cfg(not(unix))]
mod imp {
    use std::io;
    use std::path::Path;

    const HERE: &str = "files are brought back on Unix only";

    pub(super) fn remove(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, HERE))
    }

    pub(super) fn write(_: &Path, _: &Path, _: u32, _: &[u8]) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, HERE))
    }
}

#[cfg(unix)]
mod imp {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Component, Path};

    use rustix::fs::{
        AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat, renameat, statat, symlinkat,
        unlinkat,
    };
    use rustix::io::Errno;

    /// The modes of a tree: a link, and a file that can be executed.
    const LINK: u32 = 0o120_000;
    const EXECUTABLE: u32 = 0o100_755;
    /// The name of a file while it is written; a number follows.
    const BESIDE: &str = ".pi-subagent-undo-";
    /// How many of these names are tried.
    const ATTEMPTS: u32 = 100;

    const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// Removes a file, and the directories above it that are empty then.
    pub(super) fn remove(root: &Path, path: &Path) -> io::Result<()> {
        let (mut opened, name) = parents(root, path, false)?;
        let last = opened.last().expect("the root is one").0.as_fd();
        match unlinkat(last, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some((_, name)) = opened.pop() {
            let Some((above, _)) = opened.last() else { break };
            if unlinkat(above, &name, AtFlags::REMOVEDIR).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Writes a file beside the one it replaces, and moves it there.
    pub(super) fn write(root: &Path, path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
        let (opened, name) = parents(root, path, true)?;
        let parent = opened.last().expect("the root is one").0.as_fd();
        let (beside, file) = (0..ATTEMPTS)
            .find_map(|number| {
                let beside = OsString::from(format!("{BESIDE}{number}"));
                match make(parent, &beside, mode, content) {
                    Err(Errno::EXIST) => None,
                    result => Some(result.map(|file| (beside, file))),
                }
            })
            .unwrap_or(Err(Errno::EXIST))?;
        let written = file.map_or(Ok(()), |mut file| {
            narrow(parent, &name, &file)?;
            file.write_all(content)
        });
        let moved = written.and_then(|()| Ok(renameat(parent, &beside, parent, &name)?));
        if moved.is_err() {
            let _ = unlinkat(parent, &beside, AtFlags::empty());
        }
        moved
    }

    /// Takes the permissions from a new file that the one in its place does not have: what others cannot read stays so.
    fn narrow(parent: impl AsFd, name: &OsStr, file: &File) -> io::Result<()> {
        match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode).is_file() => {
                let kept = Mode::from_raw_mode(found.st_mode) | Mode::RWXU;
                Ok(fchmod(file, Mode::from_raw_mode(fstat(file)?.st_mode) & kept)?)
            }
            _ => Ok(()),
        }
    }

    /// Makes a link, or a file to write to. Its other permissions are those of a new file of this user.
    pub(in crate::workspace) fn make(
        parent: impl AsFd,
        name: &OsStr,
        mode: u32,
        content: &[u8],
    ) -> Result<Option<File>, Errno> {
        if mode == LINK {
            return symlinkat(OsStr::from_bytes(content), parent, name).map(|()| None);
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let permissions = if mode == EXECUTABLE { 0o777 } else { 0o666 };
        openat(parent, name, flags, Mode::from_raw_mode(permissions)).map(|file| Some(file.into()))
    }

    /// Opens the directories above a path, the root first, and returns the path's last name. `make`: those that are
    /// missing are made.
    pub(in crate::workspace) fn parents(
        root: &Path,
        path: &Path,
        make: bool,
    ) -> io::Result<(Vec<(OwnedFd, OsString)>, OsString)> {
        let mut names = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => names.push(name.to_owned()),
                _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no path below the tree")),
            }
        }
        let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
        let mut opened = vec![(openat(rustix::fs::CWD, root, DIRECTORY, Mode::empty())?, OsString::new())];
        for name in names {
            let above = opened.last().expect("the root is one").0.as_fd();
            let below = match openat(above, &name, DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    mkdirat(above, &name, Mode::from_raw_mode(0o777))?;
                    openat(above, &name, DIRECTORY, Mode::empty())?
                }
                below => below?,
            };
            opened.push((below, name));
        }
        Ok((opened, last))
    }
}

#[cfg(unix)]
pub(in crate::workspace) use imp::{make, parents};
use imp::{remove, write};
