//! Brings ignored files and directories into a private tree.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

#[cfg(unix)]
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};

use crate::files::private;
use crate::workspace::snapshot::named;

/// Entries that are copied at most. A large `node_modules` has so many.
const MAX_ENTRIES: usize = 500_000;
/// Bytes between two checks whether to stop. A disk takes less than a second for them.
const CHUNK: u64 = 64 * 1024 * 1024;

/// The remaining room for copies.
struct Room<'a> {
    entries: usize,
    is_stopped: &'a dyn Fn() -> bool,
}

/// Copies `listed` paths, which are relative, from one tree to another; file systems that can share the content do.
/// Links are copied as links, and none is followed. Stops soon after `is_stopped` returns true. Returns a notice for each
/// path that was not copied. Blocks.
pub(super) fn copy_listed(
    from: &Path,
    to: &Path,
    listed: &[String],
    is_stopped: &dyn Fn() -> bool,
) -> Vec<String> {
    let mut room = Room { entries: MAX_ENTRIES, is_stopped };
    let mut notices = Vec::new();
    for path in listed {
        if let Err(why) = copy_one(from, to, Path::new(path), &mut room) {
            notices.push(format!("`{path}` (`isolation.copy`) is not in the private tree: {why}"));
        }
    }
    notices
}

fn copy_one(from: &Path, to: &Path, path: &Path, room: &mut Room<'_>) -> Result<(), String> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    let Some(name) = path.file_name().filter(|_| is_plain) else {
        return Err("it is no path within the tree".into());
    };
    let parent = path.parent().unwrap_or(Path::new(""));
    // Not every project has what is listed for all.
    let Some(source) = Directory::open(from).and_then(|root| root.enter(parent)) else { return Ok(()) };
    if !source.has(name) {
        return Ok(());
    }
    for part in parent.ancestors().filter(|part| !part.as_os_str().is_empty()) {
        if fs::symlink_metadata(to.join(part)).is_ok_and(|found| !found.is_dir()) {
            return Err("something else lies in its place".into());
        }
    }
    if fs::symlink_metadata(to.join(path)).is_ok() {
        return Err("it is part of the snapshot".into());
    }
    fs::create_dir_all(to.join(parent)).map_err(|error| error.to_string())?;
    copy_tree(source, name, to, path, room)
}

/// Copies what has this name in an open directory, which is `path` of its tree.
fn copy_tree(
    source: Directory,
    name: &OsStr,
    to: &Path,
    path: &Path,
    room: &mut Room<'_>,
) -> Result<(), String> {
    let mut waiting = vec![(Rc::new(source), name.to_owned(), path.to_owned())];
    while let Some((directory, name, path)) = waiting.pop() {
        room.take_one()?;
        let failed = |error: io::Error| format!("`{}`: {error}", named(&path));
        let target = to.join(&path);
        match directory.look(&name).map_err(failed)? {
            Entry::Directory(inner) => {
                fs::create_dir(&target).map_err(failed)?;
                let inner = Rc::new(inner);
                for name in inner.names().map_err(failed)? {
                    waiting.push((Rc::clone(&inner), name.clone(), path.join(name)));
                }
            }
            #[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix makes links without rights"))]
            Entry::Link(link) => {
                #[cfg(unix)]
                std::os::unix::fs::symlink(link, &target).map_err(failed)?;
            }
            Entry::File(mut file) => {
                let permissions = file.metadata().map_err(failed)?.permissions();
                let mut copy =
                    private::options().write(true).create_new(true).open(&target).map_err(failed)?;
                // Shares the content where the file system can.
                while io::copy(&mut io::Read::take(&mut file, CHUNK), &mut copy).map_err(failed)? == CHUNK {
                    room.check()?;
                }
                copy.set_permissions(permissions).map_err(failed)?;
            }
            Entry::Other => {}
        }
    }
    Ok(())
}

impl Room<'_> {
    fn take_one(&mut self) -> Result<(), String> {
        let less = self.entries.checked_sub(1);
        self.entries = less.ok_or_else(|| format!("there are more than {MAX_ENTRIES} entries"))?;
        self.check()
    }

    fn check(&self) -> Result<(), String> {
        if (self.is_stopped)() { Err("the run has ended".to_owned()) } else { Ok(()) }
    }
}

/// What lies in a directory.
enum Entry {
    Directory(Directory),
    Link(PathBuf),
    File(File),
    /// A FIFO, a socket, a device.
    Other,
}

impl Directory {
    /// The directory at a path below it, if no link leads there.
    fn enter(self, path: &Path) -> Option<Self> {
        path.components().try_fold(self, |directory, part| match directory.look(part.as_os_str()) {
            Ok(Entry::Directory(inner)) => Some(inner),
            _ => None,
        })
    }
}

/// A directory of the tree that is copied. It is open, so that nobody who works in that tree can put a link in its place.
#[cfg(unix)]
struct Directory(OwnedFd);

#[cfg(unix)]
impl Directory {
    fn open(path: &Path) -> Option<Self> {
        openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok().map(Self)
    }

    fn has(&self, name: &OsStr) -> bool {
        statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Opens what has this name, unless it is a link.
    fn look(&self, name: &OsStr) -> io::Result<Entry> {
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
                let file = File::from(open(OFlags::empty())?);
                // Another one may lie there by now.
                if file.metadata()?.is_file() { Entry::File(file) } else { Entry::Other }
            }
            _ => Entry::Other,
        })
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }
}

/// A directory of the tree that is copied. By its path: this system has no sandbox whose children could exchange it.
#[cfg(not(unix))]
struct Directory(PathBuf);

#[cfg(not(unix))]
impl Directory {
    fn open(path: &Path) -> Option<Self> {
        path.is_dir().then(|| Self(path.to_owned()))
    }

    fn has(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    fn look(&self, name: &OsStr) -> io::Result<Entry> {
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

    fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_that_is_put_in_the_place_of_a_directory_leads_nowhere() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let [from, to, elsewhere] = ["from", "to", "elsewhere"].map(|name| root.path().join(name));
        for directory in [&from.join("deep/inner"), &to.join("deep"), &elsewhere.join("inner")] {
            fs::create_dir_all(directory).expect("made");
        }
        fs::write(from.join("deep/inner/file"), "of the tree").expect("written");
        fs::write(elsewhere.join("inner/file"), "a secret").expect("written");

        let directory = Directory::open(&from).and_then(|from| from.enter(Path::new("deep"))).expect("open");
        fs::rename(from.join("deep"), from.join("moved")).expect("moved");
        symlink(&elsewhere, from.join("deep")).expect("a link");
        let mut room = Room { entries: 9, is_stopped: &|| false };
        copy_tree(directory, "inner".as_ref(), &to, Path::new("deep/inner"), &mut room).expect("copied");
        assert_eq!(fs::read_to_string(to.join("deep/inner/file")).expect("readable"), "of the tree");

        assert!(Directory::open(&from).expect("open").enter(Path::new("deep")).is_none(), "it is a link now");
    }

    #[test]
    fn everything_is_copied_as_it_is_but_what_has_no_content() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let [from, to] = ["from", "to"].map(|name| root.path().join(name));
        for directory in [&from.join("modules/bin"), &to] {
            fs::create_dir_all(directory).expect("made");
        }
        fs::write(from.join("modules/bin/run"), "#!/bin/sh\n").expect("written");
        fs::set_permissions(from.join("modules/bin/run"), fs::Permissions::from_mode(0o755)).expect("set");
        symlink("bin/run", from.join("modules/link")).expect("a link");
        let fifo = from.join("modules/fifo");
        let status = std::process::Command::new("mkfifo").arg(fifo).status().expect("mkfifo runs");
        assert!(status.success());
        let copy = |listed: &[String]| copy_listed(&from, &to, listed, &|| false);
        assert_eq!(copy(&["modules".into(), "missing".into()]), Vec::<String>::new());
        let mode = fs::metadata(to.join("modules/bin/run")).expect("copied").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(fs::read_link(to.join("modules/link")).expect("a link"), Path::new("bin/run"));
        assert!(fs::symlink_metadata(to.join("modules/fifo")).is_err());
        let again = copy(&["modules".into(), "../from".into(), ".git".into()]);
        assert_eq!(again.len(), 3, "{again:?}");
    }
}
