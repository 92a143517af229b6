//! Errors of files and directories: an error with its path, and the reason why a file is not ours.

use std::io;
use std::path::{Path, PathBuf};

use sanitizer::quoted_path;

/// A file or directory cannot be created, read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {}", quoted_path(&path.to_string_lossy()))]
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

/// The reason why a file is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// A symbolic link.
    #[error("it is a link, which is not followed here")]
    Link,
    /// A directory, a device, a FIFO or a socket.
    #[error("it is not a regular file")]
    Kind,
    /// Another name leads to the same file.
    #[error("it has another name (a hard link)")]
    Names,
    /// Another user's.
    #[error("it belongs to another user")]
    Owner,
}
