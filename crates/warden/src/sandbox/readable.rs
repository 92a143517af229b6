//! The readable paths, for a mechanism that can only allow paths and refuse none: all entries except the hidden ones
//! and the directories that lead to them.

use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, openat};
use rustix::io::Errno;

use super::place::AtPath;

/// The directory of the devices. They show the user's input and output, and to root the disks with all hidden files.
const DEVICES: &str = "/dev";
/// The entries of `/dev` that are not devices: shared memory and message queues.
const NO_DEVICES: [&CStr; 2] = [c"shm", c"mqueue"];
/// The most entries that are looked at. A sandbox that takes longer than that to set up is refused.
const MAX_ENTRIES: usize = 20_000;
/// The number of bytes of a directory that are read at once.
const BUFFER_BYTES: usize = 2 * 1024;

/// Calls `allow` for files and directories that together contain everything in `root` but the devices and the paths in
/// `hidden`. No path has links. Each is opened only for the duration of the call.
///
/// # Errors
///
/// `E2BIG` at a directory with too many entries.
///
/// This runs before each shell command, and home directories have many entries. Nothing is allocated for allowed entries.
pub(super) fn for_each(
    root: &Path,
    hidden: &[PathBuf],
    allow: &mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let hidden: Vec<&Path> = hidden.iter().filter_map(|path| path.strip_prefix(root).ok()).collect();
    let hidden: Vec<&Path> = hidden.into_iter().filter(|path| !path.as_os_str().is_empty()).collect();
    let mut walk = Walk { entries: 0, allow };
    walk.allow_entries(root, &open(CWD, root, OFlags::DIRECTORY)?, &hidden)
}

/// The first name in a path to something hidden, and the rest, which is empty where that is the hidden one itself.
type SplitPath<'a> = (&'a OsStr, &'a Path);

fn split_first_names<'a>(hidden: &[&'a Path]) -> Vec<SplitPath<'a>> {
    let step = |path: &&'a Path| {
        let mut names = path.components();
        Some((names.next()?.as_os_str(), names.as_path()))
    };
    hidden.iter().filter_map(step).collect()
}

struct Walk<'a> {
    entries: usize,
    allow: &'a mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
}

impl Walk<'_> {
    /// Allows the entries of a directory on the way to something hidden, whose paths are relative to it.
    fn allow_entries(&mut self, path: &Path, directory: &OwnedFd, hidden: &[&Path]) -> io::Result<()> {
        let hidden_below = &split_first_names(hidden)[..];
        if path == Path::new(DEVICES) {
            return NO_DEVICES
                .iter()
                .try_for_each(|name| self.allow_entry(path, directory, name, hidden_below));
        }
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut entries = RawDir::new(directory, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            // The target of a link is allowed at its own path.
            if [c".", c".."].contains(&name) || entry.file_type() == FileType::Symlink {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(AtPath::of(path)(Errno::TOOBIG.into()));
            }
            self.allow_entry(path, directory, name, hidden_below)?;
        }
        Ok(())
    }

    fn allow_entry(
        &mut self,
        path: &Path,
        directory: &OwnedFd,
        name: &CStr,
        hidden_below: &[SplitPath<'_>],
    ) -> io::Result<()> {
        let own = OsStr::from_bytes(name.to_bytes());
        let below: Vec<&Path> =
            hidden_below.iter().filter(|(name, _)| *name == own).map(|(_, rest)| *rest).collect();
        if below.iter().any(|rest| rest.as_os_str().is_empty()) {
            return Ok(());
        }
        let must_descend = !below.is_empty() || (path.parent().is_none() && own == &DEVICES[1..]);
        let flags = if must_descend { OFlags::DIRECTORY } else { OFlags::PATH };
        match open(directory, name, flags) {
            Ok(opened) if must_descend => self.allow_entries(&path.join(own), &opened, &below),
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
