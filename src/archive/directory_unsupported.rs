//! The directory of a run, by its path, where directories cannot be held open.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::names::is_run_file;
use super::usage::space;

/// Entries of the directory that are read. A run has a handful.
const MAX_ENTRIES: usize = 4096;

/// The directory of a run.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Opens the directory `base`/`way`. Follows links up to `base`, and none after it. `None` when the directory does
    /// not exist.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotADirectory`] when a component is not a directory.
    pub(super) fn open(base: &Path, way: &[&OsStr]) -> io::Result<Option<Self>> {
        let mut path = base.to_owned();
        for part in way {
            path.push(part);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => (),
                Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(Self(path)))
    }

    /// The run's files, sorted by name, with the bytes that they take up on the disk. Ignores links and everything else that is not a
    /// regular file.
    pub(super) fn files(&self) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.0)?.take(MAX_ENTRIES) {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let found = entry.metadata().ok().filter(fs::Metadata::is_file);
            files.extend(found.filter(|_| is_run_file(&name)).map(|found| (name, space(&found))));
        }
        files.sort_unstable();
        Ok(files)
    }

    /// Returns true if an entry of any kind has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes the directory if it is empty.
    pub(super) fn remove_if_empty(self) -> io::Result<()> {
        match fs::remove_dir(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }
}
