//! The reason why the store cannot be used.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagent_warden::shortage;

use files::FileError;
use sanitizer::chain;

/// The store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or directory cannot be created or read.
    #[error(transparent)]
    Io(#[from] FileError),
    /// The file system does not support locks, which show processes which others are alive.
    #[error("`{path}` cannot be locked: a local file system is needed")]
    Locking {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Another process has held the store for too long.
    #[error("`{0}` is held by another process")]
    Busy(PathBuf),
    /// A second copy of this addon in the same process uses the database.
    #[error("another copy of this addon in the same process uses `{0}`")]
    SecondCopy(PathBuf),
    /// A newer release wrote the database; it is left untouched.
    #[error(
        "`{path}` has version {found}, but this release supports only versions up to {known}; update the package"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that this release supports.
        known: i64,
    },
    /// The database can be read but not written.
    #[error("`{0}` cannot be written")]
    ReadOnly(PathBuf),
    /// The file system cannot share the database between processes.
    #[error("`{0}` cannot be shared between processes here: a local file system is needed")]
    NotShared(PathBuf),
    /// `SQLite` reports another error.
    #[error("cannot use the database `{path}`")]
    Database {
        /// The database.
        path: PathBuf,
        /// The error.
        #[source]
        source: rusqlite::Error,
    },
}

/// The files that `SQLite` opens for a database: itself, its log, the index of the log and their directory.
const FILES: usize = 4;

impl StoreError {
    /// Converts an error of `SQLite`. `SQLite` does not say why it cannot open a file, so this opens other files to
    /// find out.
    #[must_use]
    pub fn of(path: &Path, source: rusqlite::Error) -> Self {
        if source.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) {
            // Never the database itself: closing it would end the locks that `SQLite` holds on it.
            let directory = path.parent().unwrap_or(Path::new("."));
            let opened: io::Result<Vec<File>> = (0..FILES).map(|_| File::open(directory)).collect();
            if let Err(short) = opened
                && shortage(&short).is_some()
            {
                return Self::Io(FileError::at(path)(short));
            }
        }
        Self::Database { path: path.to_owned(), source }
    }

    /// Returns true if a retry may succeed.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Busy { .. } => true,
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
            ),
            _ => false,
        }
    }

    /// The message with all its causes, in one line.
    #[must_use]
    pub fn in_full(&self) -> String {
        chain(self)
    }
}
