//! The error of a file or directory, with its path.

use std::io;
use std::path::{Path, PathBuf};

/// A file or directory cannot be created, read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot use `{path}`")]
pub struct FileError {
    /// The file or directory.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl FileError {
    /// Names this path in an error of the system.
    pub fn at(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self { path: path.clone(), source }
    }
}
