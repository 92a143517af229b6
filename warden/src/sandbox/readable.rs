//! What can be read, for a mechanism that knows only what is allowed: everything beside the paths to what is hidden.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};
use rustix::io::Errno;

/// Where the devices are. They show what a person types and sees, and as root the disks with all that is hidden.
const DEVICES: &str = "/dev";
/// What lies among the devices and is none: memory that programs share, and queues.
const NO_DEVICES: [&CStr; 2] = [c"shm", c"mqueue"];
/// The most entries that are looked at. A sandbox that takes longer than that to set up is refused.
const MAX_ENTRIES: usize = 20_000;

/// Calls `allow` for files and directories that together contain everything but the devices and `hidden`, which has paths
/// without links. Each is opened only for the duration of the call.
pub(super) fn each(
    hidden: &[PathBuf],
    mut allow: impl FnMut(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let devices = Path::new(DEVICES);
    let hidden: HashSet<&Path> = hidden.iter().map(PathBuf::as_path).collect();
    let ways = hidden.iter().flat_map(|hidden| hidden.ancestors().skip(1)).chain([Path::new("/"), devices]);
    let ways = ways.collect();
    let mut walk = Walk { hidden, ways, entries: 0, allow: &mut allow };
    let root = open(CWD, Path::new("/"), OFlags::DIRECTORY)?;
    walk.each_in(Path::new("/"), &root)
}

struct Walk<'a> {
    hidden: HashSet<&'a Path>,
    /// The directories on the way to something hidden.
    ways: HashSet<&'a Path>,
    entries: usize,
    allow: &'a mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
}

impl Walk<'_> {
    /// Allows the entries of a directory on the way to something hidden.
    fn each_in(&mut self, path: &Path, directory: &OwnedFd) -> io::Result<()> {
        if path == Path::new(DEVICES) {
            return NO_DEVICES.iter().try_for_each(|name| self.entry(path, directory, name));
        }
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            // What a link leads to is allowed where it lies.
            if [c".", c".."].contains(&name) || entry.file_type() == FileType::Symlink {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(io::Error::other(format!(
                    "{} is too full to hide something in it",
                    path.display()
                )));
            }
            self.entry(path, directory, name)?;
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path, directory: &OwnedFd, name: &CStr) -> io::Result<()> {
        let here = path.join(OsStr::from_bytes(name.to_bytes()));
        if self.hidden.contains(&*here) {
            return Ok(());
        }
        let leads_on = self.ways.contains(&*here);
        let flags = if leads_on { OFlags::DIRECTORY } else { OFlags::PATH };
        match open(directory, name, flags) {
            Ok(opened) if leads_on => self.each_in(&here, &opened),
            Ok(opened) => (self.allow)(opened.as_fd()),
            // It has gone, or this user cannot get there anyway.
            Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn open(at: impl AsFd, path: impl rustix::path::Arg, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    openat(at, path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}
