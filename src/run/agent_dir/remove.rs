//! Removes a directory that a child could write.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fchmod, openat};

/// Removes a file or a directory with all that is in it, once nobody writes there any more. Links are removed, not
/// followed. What is not there is removed already.
///
/// However deep a child has nested its directories, neither the stack nor the number of open files grows: what lies in a
/// subdirectory is moved up until nothing is nested. Directories that their owner may not enter are opened up.
///
/// # Errors
///
/// When something cannot be removed; what could be is gone then.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => return fs::remove_file(path),
        Ok(_) => (),
    }
    open_up(path)?;
    let mut names = Names { top: path, next: 0 };
    let mut failed = None;
    loop {
        let mut again = false;
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let nested = entry.path();
            let removed =
                if entry.file_type()?.is_dir() { flatten(&nested, &mut names) } else { remove(&nested) };
            match removed {
                Ok(moved) => again |= moved,
                Err(error) => failed = Some(error),
            }
        }
        if !again {
            break;
        }
    }
    match failed {
        Some(error) => Err(error),
        None => fs::remove_dir(path),
    }
}

/// Unused names at the top. A child that could have guessed one has nothing of it: moving onto a name fails or replaces
/// what has to go anyway.
struct Names<'a> {
    top: &'a Path,
    next: u64,
}

impl Names<'_> {
    fn unused(&mut self) -> PathBuf {
        loop {
            self.next += 1;
            let path = self.top.join(format!(".gone-{}", self.next));
            if fs::symlink_metadata(&path).is_err() {
                return path;
            }
        }
    }
}

fn remove(path: &Path) -> io::Result<bool> {
    fs::remove_file(path).map(|()| false)
}

/// Removes one directory: its files at once, its subdirectories by moving them to the top. Says whether any was moved.
fn flatten(directory: &Path, names: &mut Names<'_>) -> io::Result<bool> {
    if fs::remove_dir(directory).is_ok() {
        return Ok(false);
    }
    open_up(directory)?;
    let mut moved = false;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            // A directory is moved only by who may write it, because its `..` changes.
            open_up(&entry.path())?;
            fs::rename(entry.path(), names.unused())?;
            moved = true;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(directory)?;
    Ok(moved)
}

/// Lets its owner list and change a directory; never what a link leads to.
fn open_up(directory: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(directory)?.permissions().mode();
    if mode & 0o700 == 0o700 {
        return Ok(());
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(CWD, directory, OFlags::RDONLY | flags, Mode::empty()) {
        Ok(opened) => Ok(fchmod(opened, Mode::RWXU)?),
        // Not even readable: by name then. Nobody is left to put a link there.
        Err(_) => fs::set_permissions(directory, fs::Permissions::from_mode(0o700)),
    }
}
