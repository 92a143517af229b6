//! Checks that a path is the directory of a run, and opens it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::directory::Directory;
use super::usage::disk_use;
use files::FileError;
use files::layout::{self, is_run_id};

/// The recorded directory of a run, with the facts needed to check it.
#[derive(Clone, Copy, Debug)]
pub struct RunPlace<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The user's agent directory.
    pub agent_dir: &'a Path,
    /// The session file of the run's conversation, if it has one.
    pub session_file: Option<&'a Path>,
}

/// A directory was left alone, or only partly archived or removed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The path is not where the runs of this conversation have their directories, or is not a directory.
    #[error("`{0}` is not a run directory, so it was left unchanged")]
    Foreign(PathBuf),
    /// The directory cannot be read or changed.
    #[error(transparent)]
    Io(#[from] FileError),
}

impl RunPlace<'_> {
    /// Opens the directory. Returns `None` if it no longer exists.
    pub(super) fn open(&self) -> Result<Option<Directory>, ArchiveError> {
        let foreign = || ArchiveError::Foreign(self.directory.to_owned());
        let id = self.directory.file_name().and_then(OsStr::to_str).filter(|name| is_run_id(name));
        let id = id.ok_or_else(foreign)?;
        if !self.directory.is_absolute() || has_parent_component(self.directory) {
            return Err(foreign());
        }
        let parent = layout::runs(self.agent_dir, self.session_file);
        if self.session_file.is_some_and(|file| !file.is_absolute() || has_parent_component(file)) {
            return Err(foreign());
        }
        // The path up to `base` is the user's and may have links. The rest was created for runs and has none.
        let levels = if self.session_file.is_some() { 1 } else { 2 };
        let base = parent.ancestors().nth(levels).filter(|base| !base.as_os_str().is_empty());
        let base = base.ok_or_else(foreign)?;
        let components: Vec<&OsStr> =
            parent.strip_prefix(base).map_err(|_| foreign())?.iter().chain([OsStr::new(id)]).collect();
        // One directory may have several spellings.
        let actual = fs::canonicalize(self.directory);
        let expected = fs::canonicalize(parent.join(id));
        match (actual, expected) {
            (Ok(actual), Ok(expected)) if actual == expected => (),
            (Err(error), _) if error.kind() == io::ErrorKind::NotFound && !is_link(self.directory) => {
                return Ok(None);
            }
            _ => return Err(foreign()),
        }
        match Directory::open(base, &components) {
            Ok(directory) => Ok(directory),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(foreign()),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// The snapshot of the tree that the run has changed, which is in another directory.
    fn snapshot(&self) -> Option<PathBuf> {
        let id = self.directory.file_name()?.to_str().filter(|name| is_run_id(name))?;
        Some(layout::snapshots(self.agent_dir).join(id))
    }

    pub(super) fn snapshot_size(&self) -> u64 {
        self.snapshot().map_or(0, |snapshot| disk_use(&[snapshot]).bytes)
    }

    pub(super) fn remove_snapshot(&self) -> Result<(), ArchiveError> {
        let Some(snapshot) = self.snapshot() else { return Ok(()) };
        if snapshot.join(layout::PRIVATE_TREE).exists() {
            // The changes in its private tree have not been imported yet.
            return Ok(());
        }
        match fs::remove_dir_all(&snapshot) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::at(&snapshot)(error).into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn failed(&self, source: io::Error) -> ArchiveError {
        FileError::at(self.directory)(source).into()
    }
}

fn has_parent_component(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}
