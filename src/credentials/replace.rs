//! Replaces the user's credentials so that a crash leaves the old text or the new one, never a part.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// The extended attribute that holds an access control list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// More names of attributes than any file has.
const ATTRIBUTE_NAMES: usize = 64 * 1024;

/// Replaces the text of a file that nobody else writes now. Owner, group and mode stay. `path` has its links resolved.
pub(super) fn replace(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if is_plain(path, &found) {
        let beside = Beside::write(path, new)?;
        if beside.resemble(&found).is_ok() {
            return beside.take_the_place_of(path);
        }
    }
    overwrite(path, old.len(), new)
}

/// Whether a new file of the same name can be the same to everybody.
fn is_plain(path: &Path, found: &Metadata) -> bool {
    let mut names = vec![0; ATTRIBUTE_NAMES];
    let has_list = match rustix::fs::listxattr(path, names.as_mut_slice()) {
        Ok(length) => names[..length].split(|byte| *byte == 0).any(|name| name == ACCESS_LIST),
        // Not every file system has attributes.
        Err(_) => false,
    };
    found.nlink() == 1 && !has_list
}

/// A new file in the same directory, removed unless it takes the old one's place.
struct Beside {
    path: PathBuf,
    file: File,
}

impl Beside {
    fn write(target: &Path, text: &[u8]) -> io::Result<Self> {
        // An ending that no private agent directory takes over.
        let path = target.with_file_name(format!(".auth.{}.tmp", Uuid::new_v4().simple()));
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let mut beside = Self { path, file };
        beside.file.write_all(text)?;
        Ok(beside)
    }

    fn resemble(&self, old: &Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(&self.file, Some(old.uid()), Some(old.gid()))?;
        }
        self.file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
    }

    fn take_the_place_of(self, target: &Path) -> io::Result<()> {
        self.file.sync_data()?;
        fs::rename(&self.path, target)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Gone already when it took the old one's place.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes over the old text in place, for a file with several names, a foreign owner or an access list. At each moment
/// the file is as long as the longer text, and what is behind the new one is blank, which pi reads as well.
fn overwrite(path: &Path, old: usize, new: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mut padded = new.to_vec();
    padded.resize(new.len().max(old), b'\n');
    file.write_all_at(&padded, 0)?;
    file.set_len(new.len() as u64)?;
    file.sync_data()
}
