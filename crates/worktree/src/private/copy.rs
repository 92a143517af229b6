//! Brings ignored files and directories into a private tree.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::snapshot::named;
use files::{Directory, Entry, Hidden, private};

/// The maximum number of entries that are copied, as many as a large `node_modules` has.
const MAX_ENTRIES: usize = 500_000;
/// The number of bytes that are copied between two checks of `is_stopped`. A disk takes less than a second for them.
const CHUNK: u64 = 64 * 1024 * 1024;

/// The reason why a listed path is not in the private tree, or only a part of it. The messages contain the system's
/// error.
#[derive(Debug, thiserror::Error)]
enum CopyError {
    /// It leads out of the tree, or into its repository.
    #[error("it is not a path within the tree")]
    Outside,
    /// It is hidden from the child.
    #[error("it is hidden")]
    Hidden,
    /// The private tree has something else in the place of a directory above it.
    #[error("something else is in its place")]
    Occupied,
    /// The private tree already has it.
    #[error("it is part of the snapshot")]
    Present,
    /// It has too many entries.
    #[error("there are more than {limit} entries", limit = MAX_ENTRIES)]
    TooMany,
    /// The run has ended.
    #[error("the run has ended")]
    Stopped,
    /// The directories above it cannot be created.
    #[error(transparent)]
    Parent(io::Error),
    /// An entry cannot be copied.
    #[error("`{}`: {source}", named(path))]
    Entry {
        /// The entry, within the tree.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The remaining room for copies.
struct Room<'a> {
    entries: usize,
    is_stopped: &'a dyn Fn() -> bool,
}

/// Copies `listed` paths, which are relative, from one tree to another. The content is shared if the file system
/// supports this. Links are copied as links and are not followed. Stops soon after `is_stopped` returns true. Returns a
/// notice for each path that was not copied. `hidden` files are never copied. Blocks.
pub(super) fn copy_listed(
    from: &Path,
    to: &Path,
    listed: &[String],
    hidden: &Hidden,
    is_stopped: &dyn Fn() -> bool,
) -> Vec<String> {
    let mut room = Room { entries: MAX_ENTRIES, is_stopped };
    let mut notices = Vec::new();
    for path in listed {
        let listed = Path::new(path);
        let is_hidden = |place: &Path| hidden.place_of(&from.join(place)).is_some();
        if let Err(why) = copy_one(from, to, listed, &is_hidden, &mut room) {
            notices.push(format!("`{path}` (`isolation.copy`) is not in the private tree: {why}"));
        }
        let inside = hidden.paths().iter().filter_map(|place| place.strip_prefix(from).ok());
        let exists = |place: &&Path| fs::symlink_metadata(from.join(place)).is_ok();
        for place in inside.filter(|place| place.starts_with(listed) && *place != listed).filter(exists) {
            notices.push(format!("`{}` is not in the private tree: it is hidden", named(place)));
        }
    }
    notices
}

fn copy_one(
    from: &Path,
    to: &Path,
    path: &Path,
    is_hidden: &dyn Fn(&Path) -> bool,
    room: &mut Room<'_>,
) -> Result<(), CopyError> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    let Some(name) = path.file_name().filter(|_| is_plain) else {
        return Err(CopyError::Outside);
    };
    let parent = path.parent().unwrap_or(Path::new(""));
    // Not every project has all of the listed entries.
    let Ok(source) = Directory::open_real(from).and_then(|root| root.below(parent)) else { return Ok(()) };
    if !source.has(name) {
        return Ok(());
    }
    if is_hidden(path) {
        return Err(CopyError::Hidden);
    }
    for part in parent.ancestors().filter(|part| !part.as_os_str().is_empty()) {
        if fs::symlink_metadata(to.join(part)).is_ok_and(|found| !found.is_dir()) {
            return Err(CopyError::Occupied);
        }
    }
    if fs::symlink_metadata(to.join(path)).is_ok() {
        return Err(CopyError::Present);
    }
    fs::create_dir_all(to.join(parent)).map_err(CopyError::Parent)?;
    copy_tree(source, name, to, path, is_hidden, room)
}

/// Copies the entry with this name of an open directory, which is `path` of its tree.
fn copy_tree(
    source: Directory,
    name: &OsStr,
    to: &Path,
    path: &Path,
    is_hidden: &dyn Fn(&Path) -> bool,
    room: &mut Room<'_>,
) -> Result<(), CopyError> {
    let mut waiting = vec![(Rc::new(source), name.to_owned(), path.to_owned())];
    while let Some((directory, name, path)) = waiting.pop() {
        room.count_one()?;
        let failed = |source| CopyError::Entry { path: path.clone(), source };
        let target = to.join(&path);
        if is_hidden(&path) {
            continue;
        }
        match directory.entry(&name).map_err(failed)? {
            Entry::Directory(inner) => {
                fs::create_dir(&target).map_err(failed)?;
                let inner = Rc::new(inner);
                for name in inner.names(MAX_ENTRIES).map_err(failed)? {
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
                // Shares the content if the file system supports this.
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
    fn count_one(&mut self) -> Result<(), CopyError> {
        let less = self.entries.checked_sub(1);
        self.entries = less.ok_or(CopyError::TooMany)?;
        self.check()
    }

    fn check(&self) -> Result<(), CopyError> {
        if (self.is_stopped)() { Err(CopyError::Stopped) } else { Ok(()) }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_directory_is_not_followed() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let [from, to, outside] = ["from", "to", "elsewhere"].map(|name| root.path().join(name));
        for directory in [&from.join("deep/inner"), &to.join("deep"), &outside.join("inner")] {
            fs::create_dir_all(directory).expect("the directory is created");
        }
        fs::write(from.join("deep/inner/file"), "of the tree").expect("the file is written");
        fs::write(outside.join("inner/file"), "a secret").expect("the file is written");

        let directory = Directory::open(&from)
            .and_then(|from| from.below(Path::new("deep")))
            .expect("the directory is opened");
        fs::rename(from.join("deep"), from.join("moved")).expect("the rename succeeds");
        symlink(&outside, from.join("deep")).expect("the link is created");
        let mut limits = Room { entries: 9, is_stopped: &|| false };
        let path = Path::new("deep/inner");
        copy_tree(directory, "inner".as_ref(), &to, path, &|_| false, &mut limits)
            .expect("the tree is copied");
        assert_eq!(
            fs::read_to_string(to.join("deep/inner/file")).expect("the file is readable"),
            "of the tree"
        );

        assert!(
            Directory::open(&from).expect("the directory is opened").below(Path::new("deep")).is_err(),
            "a link in place of a directory is not opened"
        );
    }

    #[test]
    fn everything_with_content_is_copied_unchanged() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let [from, to] = ["from", "to"].map(|name| root.path().join(name));
        for directory in [&from.join("modules/bin"), &to] {
            fs::create_dir_all(directory).expect("the directory is created");
        }
        fs::write(from.join("modules/bin/run"), "#!/bin/sh\n").expect("the file is written");
        fs::set_permissions(from.join("modules/bin/run"), fs::Permissions::from_mode(0o755))
            .expect("the permissions are set");
        symlink("bin/run", from.join("modules/link")).expect("the link is created");
        let fifo = from.join("modules/fifo");
        let status = std::process::Command::new("mkfifo").arg(fifo).status().expect("mkfifo runs");
        assert!(status.success());
        let copy = |listed: &[String]| copy_listed(&from, &to, listed, &Hidden::default(), &|| false);
        assert_eq!(copy(&["modules".into(), "missing".into()]), Vec::<String>::new());
        let mode = fs::metadata(to.join("modules/bin/run")).expect("the tree is copied").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(
            fs::read_link(to.join("modules/link")).expect("the link is readable"),
            Path::new("bin/run")
        );
        assert!(fs::symlink_metadata(to.join("modules/fifo")).is_err());
        let again = copy(&["modules".into(), "../from".into(), ".git".into()]);
        assert_eq!(again.len(), 3, "{again:?}");
    }

    #[test]
    fn a_hidden_file_is_skipped_and_reported() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let [from, to] = ["from", "to"].map(|name| root.path().join(name));
        for directory in [&from.join("keys/old"), &to] {
            fs::create_dir_all(directory).expect("the directory is created");
        }
        for name in [".env", "keys/public", "keys/private", "keys/old/private"] {
            fs::write(from.join(name), "text").expect("the file is written");
        }
        let hidden = [".env", "keys/private", "keys/old"].map(|name| from.join(name)).to_vec();
        let notices =
            copy_listed(&from, &to, &[".env".into(), "keys".into()], &Hidden::new(hidden), &|| false);
        assert_eq!(
            notices,
            [
                "`.env` (`isolation.copy`) is not in the private tree: it is hidden",
                "`keys/old` is not in the private tree: it is hidden",
                "`keys/private` is not in the private tree: it is hidden",
            ]
        );
        assert!(to.join("keys/public").exists());
        for name in [".env", "keys/private", "keys/old"] {
            assert!(!to.join(name).exists(), "{name}");
        }
    }
}
