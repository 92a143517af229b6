//! What can be read, for a mechanism that knows only what is allowed: everything beside the paths to what is hidden.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, Dir, FileType, Mode, OFlags, access, openat};
use rustix::io::Errno;

/// Where the terminals are.
const DEVICES: &str = "/dev";
/// How the names of devices begin that show what a person types or sees: terminals, consoles, keyboards.
const PERSONAL: [&str; 8] = ["tty", "console", "vcs", "pts", "input", "uinput", "hidraw", "hvc"];
/// The directory of pseudoterminals, among the devices.
const PSEUDOTERMINALS: &str = "pts";
/// The most entries that are looked at. A sandbox that takes longer than that to set up is refused.
const MAX_ENTRIES: usize = 20_000;

/// Calls `allow` for files and directories that together contain everything but `hidden`, which has paths without
/// links. Each is opened only for the duration of the call.
pub(super) fn each(
    hidden: impl IntoIterator<Item = PathBuf>,
    mut allow: impl FnMut(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let hidden: HashSet<PathBuf> = hidden.into_iter().collect();
    let ways = hidden.iter().flat_map(|hidden| hidden.ancestors().skip(1)).collect();
    let mut walk = Walk { hidden: &hidden, ways, entries: 0, allow: &mut allow };
    walk.beside(Path::new("/"), &open(CWD, Path::new("/"), OFlags::DIRECTORY)?)
}

/// The devices that show what a person types or sees and that this user can read. Those at which no others than the
/// child's own processes sit, its `own` pseudoterminals, are none of them.
pub(super) fn terminals(own: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(DEVICES).into_iter().flatten().flatten();
    let is_personal = |path: &PathBuf| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        PERSONAL.iter().any(|personal| name.starts_with(personal)) && !(own && name == PSEUDOTERMINALS)
    };
    let paths = entries.map(|entry| entry.path()).filter(is_personal);
    paths.filter(|path| access(path, Access::READ_OK).is_ok()).collect()
}

struct Walk<'a> {
    hidden: &'a HashSet<PathBuf>,
    /// The directories on the way to something hidden.
    ways: HashSet<&'a Path>,
    entries: usize,
    allow: &'a mut dyn FnMut(BorrowedFd<'_>) -> io::Result<()>,
}

impl Walk<'_> {
    /// Allows the entries of a directory on the way to something hidden.
    fn beside(&mut self, path: &Path, directory: &OwnedFd) -> io::Result<()> {
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
            let here = path.join(OsStr::from_bytes(name.to_bytes()));
            if self.hidden.contains(&here) {
                continue;
            }
            let leads_on = self.ways.contains(&*here);
            let flags = if leads_on { OFlags::DIRECTORY } else { OFlags::PATH };
            match open(directory, name, flags) {
                Ok(opened) if leads_on => self.beside(&here, &opened)?,
                Ok(opened) => (self.allow)(opened.as_fd())?,
                // It has gone, or this user cannot get there anyway.
                Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn open(at: impl AsFd, path: impl rustix::path::Arg, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    openat(at, path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}
