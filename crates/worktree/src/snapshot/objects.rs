//! Keeps the objects of a repository for a snapshot.
//!
//! Rewriting history and `git gc` remove objects that an undo or an import needs. Each file with objects gets a second
//! name in the directory of the snapshot. That takes up no space, and the content stays until the snapshot is removed.

use std::fs;
use std::io;
use std::path::Path;

use super::error::SnapshotError;
use super::facts::off_thread;
use super::store::{Snapshot, SnapshotStore};
use crate::git::KEPT_OBJECTS;
use files::{FileError, private};

/// The maximum number of files that get a second name. git packs its objects long before there are this many.
const MAX_FILES: usize = 50_000;
/// The number of times the names are listed: git may pack its objects at this moment.
const ATTEMPTS: u32 = 3;
/// The files of a pack that git needs to read it.
const OF_PACKS: [&str; 3] = ["pack", "idx", "rev"];

impl SnapshotStore {
    /// Keeps the objects that a snapshot needs. All files with objects get second names. If that is impossible, on
    /// another file system for example, the objects of the snapshot's tree and commit are copied.
    ///
    /// # Errors
    ///
    /// If neither works. The snapshot works as long as the repository has the objects.
    pub(super) async fn keep_objects(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let from = snapshot.objects.clone();
        let to = self.directory(&snapshot.id).join(KEPT_OBJECTS);
        let linked = off_thread(move || {
            let linked = link_objects(&from, &to);
            if linked.is_err() {
                drop(fs::remove_dir_all(&to));
            }
            linked.map_err(FileError::at(&to))
        });
        let Err(error) = linked.await else { return Ok(()) };
        let base = snapshot.base.iter().map(String::as_str);
        let roots = [snapshot.tree.as_str()].into_iter().chain(base).collect::<Vec<_>>();
        let listing = ["rev-list", "--objects", "--no-object-names", "--no-walk"];
        let size = [&listing[..], &["--disk-usage"], &roots].concat();
        let size = self.git(snapshot, &size, Vec::new()).await?;
        let size: u64 = String::from_utf8_lossy(&size).trim().parse().unwrap_or(u64::MAX);
        if size > self.limits().bytes {
            return Err(error.into());
        }
        let listed = self.git(snapshot, &[&listing[..], &roots].concat(), Vec::new()).await?;
        // In our directory, where commands run.
        self.git(snapshot, &["pack-objects", "-q", "objects/pack/pack"], listed).await?;
        Ok(())
    }
}

/// Gives each file with objects a second name below `to`. Follows no links. Blocks.
fn link_objects(from: &Path, to: &Path) -> io::Result<()> {
    let mut count = 0;
    let mut is_complete = false;
    for _ in 0..ATTEMPTS {
        is_complete = true;
        for fan in fs::read_dir(from)? {
            let fan = fan?;
            let name = fan.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_fan = name.len() == 2 && is_hex(name);
            if !(is_fan || name == "pack") || !fan.file_type()?.is_dir() {
                continue;
            }
            private::create_dir_all(&to.join(name))?;
            for file in fs::read_dir(fan.path())? {
                let file = file?;
                let name = file.file_name();
                let Some(stem) = name.to_str() else { continue };
                let is_object = if is_fan { is_hex(stem) } else { is_of_pack(stem) };
                if !is_object || !file.file_type()?.is_file() {
                    continue;
                }
                count += 1;
                if count > MAX_FILES {
                    return Err(io::Error::other(format!(
                        "there are more than {MAX_FILES} files with objects"
                    )));
                }
                match fs::hard_link(file.path(), to.join(fan.file_name()).join(&name)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => is_complete = false,
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                    _ => {}
                }
            }
        }
        if is_complete {
            break;
        }
    }
    if is_complete { Ok(()) } else { Err(io::Error::other("its objects are being packed")) }
}

fn is_hex(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_of_pack(name: &str) -> bool {
    let parts = name.strip_prefix("pack-").and_then(|name| name.split_once('.'));
    parts.is_some_and(|(hash, kind)| is_hex(hash) && OF_PACKS.contains(&kind))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn files_with_objects_get_a_second_name_and_nothing_else_does() {
        let scene = tempfile::tempdir().expect("a temporary directory is created");
        let from = scene.path().join("from");
        let to = scene.path().join("to");
        let object = "0f/".to_owned() + &"a".repeat(38);
        let pack = "pack/pack-0f.pack";
        let others =
            ["info/alternates", "pack/tmp_pack_x", "pack/pack-0f.bitmap", "pack/multi-pack-index", "zz/x"];
        for name in [object.as_str(), pack].into_iter().chain(others) {
            let path = from.join(name);
            fs::create_dir_all(path.parent().expect("the path has a parent"))
                .expect("the directory is created");
            fs::write(path, name).expect("the file is written");
        }
        let secret = scene.path().join("secret");
        fs::write(&secret, "secret").expect("the file is written");
        symlink(&secret, from.join("pack/pack-0e.pack")).expect("the objects are linked");
        symlink(scene.path(), from.join("0d")).expect("the objects are linked");
        link_objects(&from, &to).expect("the objects are linked");
        link_objects(&from, &to).expect("the objects that are already linked stay");
        for name in [object.as_str(), pack] {
            let inode = |root: &Path| fs::metadata(root.join(name)).expect("the file exists").ino();
            assert_eq!(inode(&from), inode(&to), "{name}");
        }
        let count = |name: &str| fs::read_dir(to.join(name)).map_or(0, Iterator::count);
        assert_eq!((count(""), count("0f"), count("pack")), (2, 1, 1));
    }
}
