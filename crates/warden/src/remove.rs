//! Removes a directory whose content a child has made, and the control group of a tree that has ended.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

/// The maximum number of directories open at once. A more deeply nested directory is moved up first, so that neither the stack
/// nor the number of open files depends on the child.
const MAX_OPEN: usize = 64;

/// Removes a file, or a directory with everything in it. No process may still write there. Links are removed, not
/// followed. Directories may be nested to any depth, and may deny access to their owner. A path that does not exist
/// counts as removed.
///
/// # Errors
///
/// If an entry cannot be removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => return fs::remove_file(path),
        Ok(_) => (),
    }
    remove_directory(path, None)
}

/// A moment by the clock of a file system, in seconds and nanoseconds: a file that changes later has a later time of its last
/// change, which no program can set back.
pub type FileTime = (i64, i64);

/// Removes a directory as [`remove_tree`] does, unless one of its files has changed after `moment`. Such a file and the remaining
/// ones stay. Returns its path, or none if everything was removed.
///
/// # Errors
///
/// If an entry cannot be removed.
pub fn remove_unless_changed(path: &Path, moment: FileTime) -> io::Result<Option<PathBuf>> {
    // Before anything is removed: a person who has saved a file needs the others next to it.
    if let Some(changed) = first_changed(path, moment) {
        return Ok(Some(changed));
    }
    let mut linked = BTreeSet::new();
    let mut has_changed = false;
    let mut stays = |file: &Stat| {
        // The removal of another name of the file was a change, too.
        let has_other = linked.contains(&(file.st_dev, file.st_ino));
        if file.st_nlink > 1 {
            linked.insert((file.st_dev, file.st_ino));
        }
        let changed = (wide(file.st_ctime), wide(file.st_ctime_nsec));
        let modified = (wide(file.st_mtime), wide(file.st_mtime_nsec));
        has_changed |= if has_other { modified } else { changed } > moment;
        has_changed
    };
    let removed = remove_directory(path, Some(&mut stays));
    if has_changed { Ok(Some(path.to_owned())) } else { removed.map(|()| None) }
}

/// Converts a part of a time, which has another type on each system.
fn wide(part: impl TryInto<i64>) -> i64 {
    part.try_into().unwrap_or(i64::MAX)
}

/// Returns the first file below a directory that has changed after a moment. Directories that cannot be read are left out.
fn first_changed(path: &Path, moment: FileTime) -> Option<PathBuf> {
    let mut waiting = vec![path.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                waiting.push(entry.path());
            } else if (found.ctime(), found.ctime_nsec()) > moment {
                return Some(entry.path());
            }
        }
    }
    None
}

/// Returns true for a file that stays.
type Guard<'a> = Option<&'a mut dyn FnMut(&Stat) -> bool>;

/// Removes a directory. Stops before a file that `stays`.
fn remove_directory(path: &Path, stays: Guard<'_>) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    empty(&enter(CWD, &name)?, stays)?;
    fs::remove_dir(path)
}

/// A directory that is being emptied, and its name in its parent.
struct Level {
    directory: OwnedFd,
    name: CString,
}

/// Empties a directory, the innermost directories first.
fn empty(top: &OwnedFd, mut stays: Guard<'_>) -> io::Result<()> {
    let mut inner: Vec<Level> = Vec::new();
    let mut moved = 0_u64;
    loop {
        let directory = inner.last().map_or(top, |level| &level.directory);
        match first_nested(directory, &mut stays)? {
            Some(name) if inner.len() < MAX_OPEN => {
                let directory = enter(directory, &name)?;
                inner.push(Level { directory, name });
            }
            Some(name) => {
                // Moving a directory changes its `..`, so it must be writable first.
                enter(directory, &name)?;
                renameat(directory, &name, top, unused(top, &mut moved)?)?;
            }
            None => {
                let Some(level) = inner.pop() else { return Ok(()) };
                let above = inner.last().map_or(top, |level| &level.directory);
                unlinkat(above, &level.name, AtFlags::REMOVEDIR)?;
            }
        }
    }
}

/// Removes files and empty directories. Stops at the first directory that is not empty, and returns its name.
fn first_nested(directory: &OwnedFd, stays: &mut Guard<'_>) -> io::Result<Option<CString>> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let stat = || statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = match entry.file_type() {
            FileType::Unknown => FileType::from_raw_mode(stat()?.st_mode),
            known => known,
        };
        if let Some(stays) = stays.as_mut().filter(|_| kind != FileType::Directory)
            && stays(&stat()?)
        {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let flags = if kind == FileType::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        match unlinkat(directory, name, flags) {
            Err(Errno::NOTEMPTY | Errno::EXIST) if kind == FileType::Directory => {
                return Ok(Some(name.to_owned()));
            }
            removed => removed?,
        }
    }
    Ok(None)
}

/// Gives the owner all rights over a directory that cannot be opened for reading. Does not follow a link of that
/// name.
#[cfg(target_os = "linux")]
fn open_up(above: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(above, name, flags, Mode::empty())?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", opened.as_raw_fd()), Mode::RWXU)
}

/// The same on systems that can change a mode without following links.
#[cfg(not(target_os = "linux"))]
fn open_up(above: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<()> {
    rustix::fs::chmodat(above, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

/// Opens a directory, after giving its owner all rights over it.
fn enter(above: impl std::os::fd::AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(above.as_fd(), name, flags, Mode::empty());
    let directory = match open() {
        Err(Errno::ACCESS) => {
            open_up(above.as_fd(), name)?;
            open()?
        }
        opened => opened?,
    };
    if !Mode::from_raw_mode(fstat(&directory)?.st_mode).contains(Mode::RWXU) {
        fchmod(&directory, Mode::RWXU)?;
    }
    Ok(directory)
}

/// Creates an empty directory with an unused name, which another one can be moved onto.
fn unused(top: &OwnedFd, moved: &mut u64) -> io::Result<String> {
    loop {
        *moved += 1;
        let name = format!(".gone-{moved}");
        match mkdirat(top, &name, Mode::RWXU) {
            Err(Errno::EXIST) => (),
            made => return Ok(made.map(|()| name)?),
        }
    }
}

/// The maximum depth to which groups are removed below a group, and their maximum number. A child that may make groups
/// can make more; those stay.
#[cfg(target_os = "linux")]
const MAX_DEPTH: usize = 64;
#[cfg(target_os = "linux")]
const MAX_GROUPS: usize = 10_000;

/// Removes a control group and the groups below it, which the processes in it have made: a sub-agent that delegates
/// makes one for each child. A group that does not exist counts as removed.
///
/// # Errors
///
/// If a process is left in one of them; then nothing is removed. If the group cannot be removed.
#[cfg(target_os = "linux")]
pub fn remove_group(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        // A process or a group below it blocks the removal.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => return removed,
    }
    // A process in one of the groups may be about to enter an empty group that it made.
    if fs::read_to_string(path.join("cgroup.events"))?.contains("populated 1") {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    let mut remaining = MAX_GROUPS;
    remove_below(path, MAX_DEPTH, &mut remaining);
    fs::remove_dir(path)
}

#[cfg(target_os = "linux")]
fn remove_below(path: &Path, depth: usize, remaining: &mut usize) {
    if depth == 0 {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if *remaining > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            *remaining -= 1;
            remove_below(&entry.path(), depth - 1, remaining);
            let _ = fs::remove_dir(entry.path());
        }
    }
}
