//! Writes one file of a work tree, if it is still what it is expected to be.

use std::io;
use std::path::Path;

/// A file as it is, or is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct State<'a> {
    /// As a tree has it.
    pub mode: u32,
    pub content: &'a [u8],
}

/// A file, and what is to become of it.
pub(super) struct Step<'a> {
    pub root: &'a Path,
    pub path: &'a Path,
    /// The name of what is written, beside the file, until it takes its place.
    pub beside: &'a str,
    /// What it has to be.
    pub from: Option<State<'a>>,
    /// What it is to become.
    pub to: Option<State<'a>>,
    /// Its permissions, if they are not those of a new file.
    pub permissions: Option<u32>,
}

/// What is found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Same,
    Different,
    /// Something above it is no directory.
    Blocked,
}

/// The error of a file that is not what it has to be.
fn changed() -> io::Error {
    io::Error::other("it has changed meanwhile, or something is in the way")
}

#[cfg(not(unix))]
mod imp {
    use super::*;

    const HERE: &str = "changes are applied on Unix only";

    pub(in super::super) fn write(_: &Step<'_>) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, HERE))
    }

    pub(in super::super) fn look(_: &Path, _: &Path, _: Option<State<'_>>) -> io::Result<Place> {
        Err(io::Error::new(io::ErrorKind::Unsupported, HERE))
    }

    pub(in super::super) fn remove_beside(_: &Path, _: &Path, _: &str, _: &[State<'_>]) -> io::Result<bool> {
        Err(io::Error::new(io::ErrorKind::Unsupported, HERE))
    }

    pub(in super::super) fn permissions(_: &std::fs::Metadata) -> u32 {
        0
    }

    pub(in super::super) fn set_permissions(_: &Path, _: u32) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, HERE))
    }
}

#[cfg(unix)]
mod imp {
    use std::io::{Read as _, Write as _};
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{
        AtFlags, FileType, Mode, RawMode, RenameFlags, fchmod, readlinkat, renameat, renameat_with, statat,
        unlinkat,
    };
    use rustix::io::Errno;
    use std::ffi::OsStr;

    use super::super::merge::LINK;
    use super::{Path, Place, State, Step, changed, io};
    use crate::files::open;
    use crate::workspace::snapshot::{make, parents};

    /// The permission of a tree's executable files.
    const EXECUTES: u32 = 0o100;
    /// What `chmod` sets.
    const PERMISSIONS: u32 = 0o7777;

    /// Writes or removes it. What it replaces is looked at once more after it was taken away: if it is not what was expected,
    /// it is put back.
    pub(in super::super) fn write(step: &Step<'_>) -> io::Result<()> {
        let (mut opened, name) = parents(step.root, step.path, step.to.is_some())?;
        let parent = opened.last().expect("the root is one").0.as_fd();
        let beside = OsStr::new(step.beside);
        if let Some(to) = step.to {
            put(parent, beside, to, step.permissions)?;
        }
        let done = match (step.from, step.to) {
            (None, None) => Ok(()),
            (None, Some(_)) => move_new(parent, beside, &name),
            (Some(from), Some(_)) => exchange(parent, beside, &name, from),
            (Some(from), None) => take_away(parent, beside, &name, from),
        };
        if done.is_err() && step.to.is_some() {
            let _ = unlinkat(parent, beside, AtFlags::empty());
        }
        done?;
        if step.to.is_none() {
            while let Some((_, name)) = opened.pop() {
                let Some((above, _)) = opened.last() else { break };
                if unlinkat(above, &name, AtFlags::REMOVEDIR).is_err() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn put(
        parent: BorrowedFd<'_>,
        beside: &OsStr,
        to: State<'_>,
        permissions: Option<u32>,
    ) -> io::Result<()> {
        let file = make(parent, beside, to.mode, to.content)?;
        let written = file.map_or(Ok(()), |mut file| {
            file.write_all(to.content)?;
            match permissions {
                Some(mode) => Ok(fchmod(&file, Mode::from_raw_mode(mode as RawMode))?),
                None => Ok(()),
            }
        });
        if written.is_err() {
            let _ = unlinkat(parent, beside, AtFlags::empty());
        }
        written
    }

    fn move_new(parent: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match renameat_with(parent, from, parent, to, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => Err(changed()),
            // Some file systems cannot.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match statat(parent, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => Ok(renameat(parent, from, parent, to)?),
                    _ => Err(changed()),
                }
            }
            moved => Ok(moved?),
        }
    }

    fn exchange(parent: BorrowedFd<'_>, beside: &OsStr, name: &OsStr, from: State<'_>) -> io::Result<()> {
        // A directory would be exchanged, too.
        if !is_state(parent, name, from)? {
            return Err(changed());
        }
        match renameat_with(parent, beside, parent, name, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return Ok(renameat(parent, beside, parent, name)?);
            }
            moved => moved?,
        }
        if !is_state(parent, beside, from).unwrap_or(false) {
            renameat_with(parent, beside, parent, name, RenameFlags::EXCHANGE)?;
            return Err(changed());
        }
        Ok(unlinkat(parent, beside, AtFlags::empty())?)
    }

    fn take_away(parent: BorrowedFd<'_>, beside: &OsStr, name: &OsStr, from: State<'_>) -> io::Result<()> {
        if !is_state(parent, name, from)? {
            return Err(changed());
        }
        move_new(parent, name, beside)?;
        if !is_state(parent, beside, from).unwrap_or(false) {
            move_new(parent, beside, name)?;
            return Err(changed());
        }
        Ok(unlinkat(parent, beside, AtFlags::empty())?)
    }

    fn is_state(parent: BorrowedFd<'_>, name: &OsStr, state: State<'_>) -> io::Result<bool> {
        let found = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(false),
            found => found?,
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        if state.mode == LINK {
            let is_same = || Ok(readlinkat(parent, name, Vec::new())?.as_bytes() == state.content);
            return if kind == FileType::Symlink { is_same() } else { Ok(false) };
        }
        let executes = Mode::from_raw_mode(found.st_mode).contains(Mode::XUSR);
        if kind != FileType::RegularFile || executes != (state.mode & EXECUTES != 0) {
            return Ok(false);
        }
        let read = read(parent, name, state.content.len() as u64 + 1)?;
        Ok(read == state.content)
    }

    fn read(parent: BorrowedFd<'_>, name: &OsStr, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open::regular_no_follow_at(parent, name)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Compares what lies at a path, without following links.
    pub(in super::super) fn look(root: &Path, path: &Path, state: Option<State<'_>>) -> io::Result<Place> {
        let (opened, name) = match parents(root, path, false) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(if state.is_none() { Place::Same } else { Place::Different });
            }
            Err(error) if [Errno::NOTDIR, Errno::LOOP].contains(&errno(&error)) => return Ok(Place::Blocked),
            Err(error) => return Err(error),
        };
        let parent = opened.last().expect("the root is one").0.as_fd();
        let is_same = match state {
            Some(state) => is_state(parent, &name, state)?,
            None => match statat(parent, &name, AtFlags::SYMLINK_NOFOLLOW) {
                // A directory is no file: git knows nothing of it.
                Ok(found) => FileType::from_raw_mode(found.st_mode) == FileType::Directory,
                Err(Errno::NOENT) => true,
                Err(error) => return Err(error.into()),
            },
        };
        Ok(if is_same { Place::Same } else { Place::Different })
    }

    fn errno(error: &io::Error) -> Errno {
        error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
    }

    /// Removes what an interrupted write has left beside a file, unless it is something that is known nowhere else. Says
    /// whether nothing is there any more.
    pub(in super::super) fn remove_beside(
        root: &Path,
        path: &Path,
        beside: &str,
        known: &[State<'_>],
    ) -> io::Result<bool> {
        let Ok((opened, _)) = parents(root, path, false) else { return Ok(true) };
        let parent = opened.last().expect("the root is one").0.as_fd();
        let beside = OsStr::new(beside);
        let found = match statat(parent, beside, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(true),
            found => found?,
        };
        let content = match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => readlinkat(parent, beside, Vec::new())?.into_bytes(),
            FileType::RegularFile => {
                let longest = known.iter().map(|state| state.content.len()).max().unwrap_or(0);
                read(parent, beside, longest as u64 + 1)?
            }
            _ => return Ok(false),
        };
        // It may have been written in part.
        if !known.iter().any(|state| state.content.starts_with(&content)) {
            return Ok(false);
        }
        unlinkat(parent, beside, AtFlags::empty())?;
        Ok(true)
    }

    pub(in super::super) fn permissions(found: &std::fs::Metadata) -> u32 {
        found.permissions().mode() & PERMISSIONS
    }

    pub(in super::super) fn set_permissions(path: &Path, mode: u32) -> io::Result<()> {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    }
}

pub(super) use imp::{look, permissions, remove_beside, set_permissions, write};

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    /// Each row: what the file is, what it was expected to be, and what it was to become.
    #[test]
    fn what_somebody_has_written_meanwhile_stays() {
        let text = |content: &'static str| State { mode: 0o100_644, content: content.as_bytes() };
        let (old, new) = (Some(text("old")), Some(text("new")));
        for (is, from, to) in [
            (Some("theirs"), old, new),
            (Some("theirs"), old, None),
            (Some("theirs"), None, new),
            (Some("old and more"), old, new),
            (None, old, new),
            (None, old, None),
        ] {
            let root = tempfile::tempdir().expect("a directory");
            let file = root.path().join("file");
            if let Some(is) = is {
                fs::write(&file, is).expect("written");
            }
            let (path, beside) = (Path::new("file"), ".beside");
            let step = Step { root: root.path(), path, beside, from, to, permissions: None };
            let error = write(&step).expect_err("it has changed").to_string();
            assert!(error.contains("it has changed meanwhile"), "{is:?}: {error}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), is);
            let left = fs::read_dir(root.path()).expect("there").count();
            assert_eq!(left, usize::from(is.is_some()), "{is:?}: nothing of ours is left");
        }
    }
}
