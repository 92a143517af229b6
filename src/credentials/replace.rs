//! Replaces the user's credentials. Where a rename can do it, a crash leaves the old text or the new one, never a part.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;

use crate::files::private;

/// The extended attribute with the access control list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// Bytes for the names of a file's extended attributes; Linux allows no more.
const ATTRIBUTE_NAMES: usize = 64 * 1024;

/// Replaces the text of a file while the caller holds its lock. Owner, group and mode stay. `path` must have its links
/// resolved.
pub(super) fn replace(path: &Path, old: &[u8], new: &[u8]) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if is_plain(path, &found) {
        // The temporary file ends in `.tmp`, so no private agent directory copies or links it.
        let beside = private::beside(path, new)?;
        if resemble(beside.as_file(), &found).is_ok() {
            beside.as_file().sync_data()?;
            beside.persist(path)?;
            return Ok(());
        }
    }
    overwrite(path, old.len(), new)
}

/// Whether a new file can take the place of the old one without anybody noticing: one name, no access control list.
fn is_plain(path: &Path, found: &Metadata) -> bool {
    let mut names = vec![0; ATTRIBUTE_NAMES];
    let has_list = match rustix::fs::listxattr(path, names.as_mut_slice()) {
        Ok(length) => names[..length].split(|byte| *byte == 0).any(|name| name == ACCESS_LIST),
        // Not every file system has attributes.
        Err(_) => false,
    };
    found.nlink() == 1 && !has_list
}

/// Gives a file the owner, group and mode of another.
fn resemble(file: &File, old: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Overwrites the text in place, for a file with several names, a foreign owner or an access control list. Pads a
/// shorter text with line ends, which pi accepts, and cuts the file only after that.
fn overwrite(path: &Path, old: usize, new: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mut padded = new.to_vec();
    padded.resize(new.len().max(old), b'\n');
    file.write_all_at(&padded, 0)?;
    file.set_len(new.len() as u64)?;
    file.sync_data()
}
