//! Directories and files of a run that only the user can read.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::private;

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

pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FilesError> {
    private::write(path, bytes).map_err(|source| FilesError { path: path.to_path_buf(), source })
}
