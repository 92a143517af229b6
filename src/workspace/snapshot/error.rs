//! Why there is no snapshot.

use std::path::{Path, PathBuf};

use crate::files::FileError;
use crate::text::{figures, one_line};
use crate::workspace::git::GitError;
use crate::workspace::obstacle::Obstacle;

/// Longest path in a sentence.
const MAX_PATH: usize = 200;

/// A path in a sentence. A child may have chosen its name: it gets no line of its own.
pub(in crate::workspace) fn named(path: &Path) -> String {
    one_line(&path.to_string_lossy(), MAX_PATH).into_string()
}

/// Why a snapshot cannot be taken, read or found.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The tree belongs to no git repository.
    #[error("`{}` is not in a git work tree", root.display())]
    NoRepository {
        /// Where the tree begins.
        root: PathBuf,
    },
    /// What differs from the last commit is too much to keep.
    #[error(
        "what is not committed in `{}` takes up {}, more than `snapshot.maxBytes` allows, {}",
        root.display(), figures::bytes(*bytes), figures::bytes(*limit)
    )]
    TooLarge {
        /// Where the tree begins.
        root: PathBuf,
        /// The size of all changed and untracked files.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Too many files differ from the last commit.
    #[error("in `{}` {files} files are not committed, more than {limit}", root.display())]
    TooMany {
        /// Where the tree begins.
        root: PathBuf,
        /// Changed and untracked files.
        files: usize,
        /// The limit.
        limit: usize,
    },
    /// There is no snapshot of this run, or it cannot be read.
    #[error("run `{id}` has no snapshot")]
    Unknown {
        /// The id of the run.
        id: String,
    },
    /// This file system cannot hold the tree as it is.
    #[error("`{}` cannot be checked out as it is: another name becomes the same file here", named(path))]
    Differs {
        /// The first file that differs.
        path: PathBuf,
    },
    /// git printed something that cannot be read.
    #[error("`git {command}` printed something unexpected")]
    Unreadable {
        /// The command.
        command: &'static str,
    },
    /// git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// git would wait for a file.
    #[error(transparent)]
    Blocked(#[from] Obstacle),
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}
