//! Files and directories that only their owner may read. On Windows they inherit the permissions of their parent.

use std::ffi::OsString;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::owned;

/// Options that give a new file mode 0600.
#[must_use]
pub fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has a mode to set"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a file of ours and replaces the content of an existing one.
///
/// # Errors
///
/// If the file cannot be written; a part of it may remain. If the entry at `path` is not a [file of ours](owned); it
/// stays unchanged.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = owned::open(path, options().write(true).create(true).truncate(false))?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// Writes a file that must not exist yet.
///
/// # Errors
///
/// If the file exists or cannot be written. A part of it may remain.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    options().write(true).create_new(true).open(path)?.write_all(bytes)
}

/// Writes `.<name>.<random>.tmp` in the directory of `path`. [`NamedTempFile::persist`] then puts it in the place of
/// `path`, so that readers see the old content or the new one; dropping it removes it.
///
/// # Errors
///
/// If the file cannot be written. Nothing remains.
pub fn write_temporary(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    let directory = path.parent().unwrap_or(Path::new("."));
    // `tempfile` creates files with mode 0600 on Unix.
    let mut file = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").tempfile_in(directory)?;
    file.write_all(bytes)?;
    Ok(file)
}

/// Creates a directory of mode 0700. It must not exist yet; its parent must.
///
/// # Errors
///
/// If the directory exists or cannot be created.
pub fn create_dir(path: &Path) -> io::Result<()> {
    builder().create(path)
}

/// Creates a directory of mode 0700 and its missing parents. An existing directory stays as it is.
///
/// # Errors
///
/// If the directory cannot be created.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

fn builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has a mode to set"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_file_is_not_written_through() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let target = root.path().join("target");
        let link = root.path().join("link");
        fs::write(&target, "precious").expect("the file is written");
        std::os::unix::fs::symlink(&target, &link).expect("the link is created");
        assert!(write(&link, b"ours").is_err());
        fs::remove_file(&link).expect("the permissions are set");
        fs::hard_link(&target, &link).expect("the hard link is created");
        assert!(write(&link, b"ours").is_err());
        assert_eq!(fs::read_to_string(&target).expect("the file is readable"), "precious");
    }

    #[test]
    fn new_files_are_readable_by_their_owner_only() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let directory = root.path().join("new/deep");
        create_dir_all(&directory).expect("the directory is created");
        create_dir(&directory.join("own")).expect("the directory is created");
        write(&directory.join("written"), b"one").expect("the file is written");
        write_new(&directory.join("fresh"), b"one").expect("the file is written");
        assert!(write_new(&directory.join("fresh"), b"two").is_err());
        write_temporary(&directory.join("moved"), b"one")
            .expect("the file is written")
            .persist(directory.join("moved"))
            .expect("the file is persisted");
        drop(write_temporary(&directory.join("dropped"), b"one").expect("the file is written"));
        let mut modes: Vec<(String, u32)> = fs::read_dir(&directory)
            .expect("the directory is readable")
            .map(|entry| entry.expect("the entry is readable"))
            .map(|entry| {
                let mode = entry.metadata().expect("the file exists").permissions().mode() & 0o777;
                (entry.file_name().to_string_lossy().into_owned(), mode)
            })
            .collect();
        modes.sort_unstable();
        let expected = [("fresh", 0o600), ("moved", 0o600), ("own", 0o700), ("written", 0o600)];
        assert_eq!(modes, expected.map(|(name, mode)| (name.to_owned(), mode)));
        let mode = |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(&root.path().join("new"))), (0o700, 0o700));
    }
}
