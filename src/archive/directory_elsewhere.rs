//! The directory of a run, by its path.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::names::is_ours;

/// How many entries are looked at. A run has a handful.
const MAX_ENTRIES: usize = 4096;

/// The directory of a run.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Opens the directory at the end of a way; links are followed up to `base`, and not from there on. `None` when it is
    /// not there.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotADirectory`] when something else is on the way.
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

    /// The files of a run that are in it, by name, with their sizes. Links and whatever else has such a name are none.
    pub(super) fn files(&self) -> io::Result<Vec<(String, u64)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.0)?.take(MAX_ENTRIES) {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().filter(|name| is_ours(name)).map(str::to_owned)
            else {
                continue;
            };
            match entry.metadata() {
                Ok(found) if found.is_file() => files.push((name, found.len())),
                _ => (),
            }
        }
        files.sort();
        Ok(files)
    }

    /// Whether anything has this name.
    pub(super) fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Removes the directory, unless something is in it. Whether it is gone.
    pub(super) fn remove_if_empty(self) -> io::Result<bool> {
        if fs::read_dir(&self.0)?.next().is_some() {
            return Ok(false);
        }
        fs::remove_dir(&self.0).map(|()| true)
    }
}
