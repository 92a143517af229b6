//! The errors of taking, reading and finding snapshots.

use std::path::{Path, PathBuf};

use crate::git::GitError;
use crate::obstacle::Obstacle;
use files::FileError;
use sanitizer::{figures, without_quotes};

/// The longest path in a sentence: the longest that Linux accepts. A shortened path cannot be sanitized.
const MAX_PATH: usize = 4096;

/// Returns the form of a path that can stand between backticks. A child may have chosen its name.
pub(crate) fn named(path: &Path) -> String {
    without_quotes(&path.to_string_lossy(), MAX_PATH)
}

/// The reason why a snapshot cannot be taken, read or found.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The tree belongs to no git repository.
    #[error("`{}` is not in a git work tree", named(root))]
    NoRepository {
        /// The root of the tree.
        root: PathBuf,
    },
    /// The repository's directory is hidden, or leads to something hidden.
    #[error(
        "the repository of `{}` keeps files in `{}`, which is hidden from sub-agents: remove the link or the `gitdir:` line \
         that leads there",
        named(root),
        named(place)
    )]
    Hidden {
        /// The root of the tree.
        root: PathBuf,
        /// The hidden file or directory.
        place: PathBuf,
    },
    /// The uncommitted changes are too large to keep.
    #[error(
        "the uncommitted files in `{}` take up {}, more than `snapshot.maxBytes` allows, {}",
        named(root), figures::bytes(*bytes), figures::bytes(*limit)
    )]
    TooLarge {
        /// The root of the tree.
        root: PathBuf,
        /// The size of all changed and untracked files.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Too many files differ from the last commit.
    #[error("`{}` has {files} uncommitted files, more than {limit}", named(root))]
    TooMany {
        /// The root of the tree.
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
