//! Directories and files of a run that only the user can read.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file or directory of the run could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{path}`")]
pub(crate) struct FilesError {
    /// What could not be written, or read.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// What a child's own places are made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrivateDirsSpec<'a> {
    /// The user's agent directory, of which it gets a copy.
    pub agent_dir: &'a Path,
    /// The credentials of its agent, which lie over the user's.
    pub credentials: Option<&'a Path>,
    /// It may write nowhere else.
    pub is_sandboxed: bool,
    /// Where temporary files lie, for a sandboxed child's own.
    pub temporaries: Option<&'a Path>,
    /// Where pi keeps its compiled code, for a sandboxed child to start from.
    pub compile_cache: Option<&'a Path>,
}

#[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has a mode to set"))]
pub(crate) fn private_dir_builder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FilesError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|source| FilesError { path: path.to_path_buf(), source })
}
