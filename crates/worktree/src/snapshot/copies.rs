//! Copies files of a tree into a directory of ours, where no child can exchange them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::change::path_of;
use files::{Directory, Entry, private};

/// Copies files and links with these paths from one tree to another, with the permission to execute. Follows no links,
/// and skips missing files. Returns the unreadable files, or `None` if the files together have more than `limit` bytes.
/// Blocks.
pub(super) fn copy_files(
    from: &Path,
    to: &Path,
    files: &[Vec<u8>],
    limit: u64,
) -> io::Result<Option<Vec<PathBuf>>> {
    private::create_dir_all(to)?;
    let source = Directory::open_real(from)?;
    let mut room = limit;
    let mut unreadable = Vec::new();
    // The paths are sorted, so most files have the same parent as the file before them.
    let mut last: Option<(PathBuf, Directory)> = None;
    for path in files.iter().map(|path| path_of(path)) {
        let Some(name) = path.file_name() else { continue };
        let parent = path.parent().unwrap_or(Path::new(""));
        let opened = match last.take().filter(|(known, _)| known == parent) {
            Some((_, directory)) => Ok(directory),
            None => source.below(parent),
        };
        let found = opened.and_then(|directory| {
            let found = directory.entry(name);
            last = Some((parent.to_owned(), directory));
            found
        });
        match found {
            // A path can be a file at first and a directory of another path later. Then the first copy counts.
            Ok(found) if fs::create_dir_all(to.join(parent)).is_ok() => {
                match copy_one(found, &to.join(&path), room)? {
                    Some(bytes) => room -= bytes,
                    None => return Ok(None),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => unreadable.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Some(unreadable))
}

/// Copies a file of at most `room` bytes, or a link. Returns the number of its bytes, or `None` if it has more.
fn copy_one(entry: Entry, target: &Path, room: u64) -> io::Result<Option<u64>> {
    match entry {
        Entry::File(mut file) => {
            let mut copy = private::options().write(true).create_new(true).open(target)?;
            let bytes = io::copy(&mut io::Read::take(&mut file, room.saturating_add(1)), &mut copy)?;
            #[cfg(unix)]
            keep_executable(&file, &copy)?;
            Ok((bytes <= room).then_some(bytes))
        }
        #[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix makes links without rights"))]
        Entry::Link(link) => {
            #[cfg(unix)]
            std::os::unix::fs::symlink(link, target)?;
            Ok(Some(0))
        }
        Entry::Directory(_) | Entry::Other => Ok(Some(0)),
    }
}

#[cfg(unix)]
fn keep_executable(file: &fs::File, copy: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    /// The permissions of a copy, and the one of its original that git notes.
    const OWN: u32 = 0o600;
    const EXECUTES: u32 = 0o100;
    let mode = file.metadata()?.permissions().mode() & EXECUTES;
    copy.set_permissions(fs::Permissions::from_mode(OWN | mode))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn scene() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let [from, to] = ["from", "to"].map(|name| root.path().join(name));
        fs::create_dir_all(from.join("deep")).expect("the directory is created");
        for (name, mode) in [("deep/plain", 0o644), ("deep/program", 0o755), ("secret", 0o600)] {
            fs::write(from.join(name), name).expect("the file is written");
            fs::set_permissions(from.join(name), fs::Permissions::from_mode(mode))
                .expect("the permissions are set");
        }
        symlink("../secret", from.join("deep/link")).expect("the link is created");
        symlink("deep", from.join("elsewhere")).expect("the link is created");
        (root, from, to)
    }

    fn paths(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    #[test]
    fn files_and_links_are_copied_and_links_are_not_followed() {
        let (_root, from, to) = scene();
        let files =
            paths(&["deep/link", "deep/plain", "deep/program", "elsewhere/plain", "gone", "../from/secret"]);
        assert_eq!(copy_files(&from, &to, &files, 100).expect("the files are copied"), Some(Vec::new()));
        assert_eq!(
            fs::read_link(to.join("deep/link")).expect("the link is readable"),
            Path::new("../secret")
        );
        assert_eq!(fs::read_to_string(to.join("deep/plain")).expect("the file is copied"), "deep/plain");
        let executes =
            |name: &str| fs::metadata(to.join(name)).expect("the copy exists").permissions().mode() & 0o111;
        assert_eq!((executes("deep/plain"), executes("deep/program")), (0, 0o100));
        assert_eq!(fs::read_dir(&to).expect("the directory is readable").count(), 1);
    }

    #[test]
    fn more_bytes_than_the_limit_are_not_copied() {
        let (_root, from, to) = scene();
        let files = paths(&["deep/plain", "secret"]);
        let bytes = "deep/plainsecret".len() as u64;
        assert_eq!(copy_files(&from, &to, &files, bytes - 1).expect("the files are copied"), None);
        fs::remove_dir_all(&to).expect("the directory is removed");
        assert_eq!(copy_files(&from, &to, &files, bytes).expect("the files are copied"), Some(Vec::new()));
    }
}
