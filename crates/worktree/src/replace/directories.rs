//! Opens, makes and removes directories of a tree without following links.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode, fchmod, fstat, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use files::open;

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The open directories of a path and their names, the root first.
type Opened = Vec<(OwnedFd, OsString)>;

/// Opens the parent directory of a path, and returns it with the last name of the path. With `makes`, makes missing
/// directories.
pub(super) fn parent(root: &Path, path: &Path, makes: bool) -> io::Result<(OwnedFd, OsString)> {
    let (mut opened, name) = parents(root, path, makes)?;
    let (parent, _) = opened.pop().expect("the root is one");
    Ok((parent, name))
}

fn parents(root: &Path, path: &Path, makes: bool) -> io::Result<(Opened, OsString)> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.to_owned()),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a path in the tree")),
        }
    }
    let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
    let top = openat(CWD, root, DIRECTORY, Mode::empty())?;
    // A child may have exchanged a directory above the root with a link.
    if !open::is_real(&top, root)? {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "a symbolic link leads to the tree"));
    }
    let mut opened = vec![(top, OsString::new())];
    for name in names {
        let above = opened.last().expect("the root is one").0.as_fd();
        let below = match openat(above, &name, DIRECTORY, Mode::empty()) {
            Err(Errno::NOENT) if makes => {
                make(above, &name)?;
                openat(above, &name, DIRECTORY, Mode::empty())?
            }
            below => below?,
        };
        opened.push((below, name));
    }
    Ok((opened, last))
}

/// Makes a directory, unless another program has just made it.
fn make(above: impl std::os::fd::AsFd, name: &OsString) -> Result<(), Errno> {
    match mkdirat(above, name, Mode::from_raw_mode(0o777)) {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

/// Removes the empty directories above a path, the innermost first.
pub(super) fn remove_empty(root: &Path, path: &Path) {
    let Ok((mut opened, _)) = parents(root, path, false) else { return };
    while let Some((_, name)) = opened.pop() {
        let Some((above, _)) = opened.last() else { return };
        if unlinkat(above, &name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
    }
}

/// Makes a directory and its missing parents.
pub(crate) fn make_directory(root: &Path, path: &Path) -> io::Result<()> {
    let (above, name) = parent(root, path, true)?;
    Ok(make(above, &name)?)
}

/// Removes an empty directory.
pub(crate) fn remove_directory(root: &Path, path: &Path) -> io::Result<()> {
    let (above, name) = parent(root, path, false)?;
    Ok(unlinkat(above, name, AtFlags::REMOVEDIR)?)
}

/// Changes the permissions of a regular file from `old`.
pub(crate) fn set_permissions(root: &Path, path: &Path, old: u32, new: u32) -> io::Result<()> {
    let (above, name) = parent(root, path, false)?;
    let file = open::regular_no_follow_at(&above, &name)?;
    if Mode::from_raw_mode(fstat(&file)?.st_mode) != Mode::from_raw_mode(old as RawMode) {
        return Err(io::Error::other("its permissions have changed in the meantime"));
    }
    Ok(fchmod(&file, Mode::from_raw_mode(new as RawMode))?)
}

/// Sets the permissions of a directory.
pub(crate) fn set_directory_permissions(root: &Path, path: &Path, mode: u32) -> io::Result<()> {
    let (above, name) = parent(root, path, false)?;
    let directory = openat(above, name, DIRECTORY, Mode::empty())?;
    Ok(fchmod(directory, Mode::from_raw_mode(mode as RawMode))?)
}
