//! Compares a file with its expected state.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, fstat, readlinkat, statat};
use rustix::io::Errno;

use super::directories::parent;
use super::step::{LINK, Place, State, WriteError};
use files::open;

/// The permission of a tree's executable files.
const EXECUTES: u32 = 0o100;
/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;
/// Bytes of a file that are compared at a time.
const PIECE: usize = 64 * 1024;

/// Fails unless `name` is exactly in this state and no program can write into it.
pub(super) fn expect(directory: impl AsFd, name: &OsStr, state: State<'_>) -> Result<(), WriteError> {
    match compare(directory, name, state, Writers::Refused)? {
        Compared::Same => Ok(()),
        Compared::Different => Err(WriteError::Changed),
        Compared::OpenForWriting => Err(WriteError::OpenForWriting),
    }
}

/// Compares the file at a path with a state. `None` stands for no file; a directory counts as no file.
pub(crate) fn probe(root: &Path, path: &Path, state: Option<State<'_>>) -> io::Result<Place> {
    let (directory, name) = match parent(root, path, false) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(if state.is_none() { Place::Same } else { Place::Different });
        }
        Err(error) if is_no_directory(&error) => return Ok(Place::Blocked),
        Err(error) => return Err(error),
    };
    let is_same = match state {
        Some(state) => compare(&directory, &name, state, Writers::Ignored)? == Compared::Same,
        None => match statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW) {
            // git does not record directories.
            Ok(found) => FileType::from_raw_mode(found.st_mode) == FileType::Directory,
            Err(Errno::NOENT) => true,
            Err(error) => return Err(error.into()),
        },
    };
    Ok(if is_same { Place::Same } else { Place::Different })
}

/// Returns true if an error reports a file or a link in the place of a directory.
pub(super) fn is_no_directory(error: &io::Error) -> bool {
    error
        .raw_os_error()
        .map(Errno::from_raw_os_error)
        .is_some_and(|errno| matches!(errno, Errno::NOTDIR | Errno::LOOP))
}

#[derive(PartialEq, Eq)]
enum Compared {
    Same,
    Different,
    OpenForWriting,
}

/// The treatment of programs that have the file open for writing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writers {
    Refused,
    Ignored,
}

fn compare(directory: impl AsFd, name: &OsStr, state: State<'_>, writers: Writers) -> io::Result<Compared> {
    let found = match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Compared::Different),
        found => found?,
    };
    let mut is_open = false;
    let is_same = match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink if state.mode == LINK => {
            readlinkat(directory, name, Vec::new())?.as_bytes() == state.content
        }
        FileType::RegularFile if state.mode != LINK => {
            let file = match open::regular_no_follow_at(directory, name) {
                // Another file has just taken its place.
                Err(error) if error.kind() == io::ErrorKind::NotFound || is_no_directory(&error) => {
                    return Ok(Compared::Different);
                }
                file => file?,
            };
            // Before the comparison, so that the comparison sees everything that a closed file has received.
            is_open = writers == Writers::Refused && is_open_for_writing(&file);
            let found = fstat(&file)?;
            let executes = Mode::from_raw_mode(found.st_mode).contains(Mode::XUSR);
            let is_as_long = u64::try_from(found.st_size) == Ok(state.content.len() as u64);
            let is_as_executable = !state.has_mode || executes == (state.mode & EXECUTES != 0);
            is_as_executable && is_as_long && contains(file, state.content)?
        }
        _ => false,
    };
    Ok(match (is_same, is_open) {
        (false, _) => Compared::Different,
        (true, true) => Compared::OpenForWriting,
        (true, false) => Compared::Same,
    })
}

/// Returns true if a file has exactly this content.
fn contains(mut file: File, mut content: &[u8]) -> io::Result<bool> {
    let mut piece = vec![0; PIECE.min(content.len() + 1)];
    loop {
        let bytes = file.read(&mut piece)?;
        if bytes == 0 {
            return Ok(content.is_empty());
        }
        match content.strip_prefix(&piece[..bytes]) {
            Some(rest) => content = rest,
            None => return Ok(false),
        }
    }
}

/// Returns true if the system reports a program that has the file open for writing.
pub(super) fn is_open_for_writing(file: &File) -> bool {
    #[cfg(target_os = "linux")]
    return pi_subagent_warden::file_lock::is_open_for_writing(file).unwrap_or(false);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        false
    }
}

/// Returns the permissions of a file.
pub(crate) fn permissions(found: &Metadata) -> u32 {
    found.permissions().mode() & PERMISSIONS
}
