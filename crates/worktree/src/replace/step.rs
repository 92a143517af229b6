//! Describes one replacement and its possible failures.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::snapshot::named;

/// The mode of a symbolic link in a tree.
pub(crate) const LINK: u32 = 0o120_000;

/// The state of a file in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State<'a> {
    /// The mode in git's notation.
    pub mode: u32,
    pub content: &'a [u8],
    /// True if the file system keeps the permission to execute.
    pub has_mode: bool,
}

/// One file and its replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    /// Relative to the root of the tree.
    pub path: &'a Path,
    /// The expected file. `None` stands for no file.
    pub from: Option<State<'a>>,
    /// The new file. With `None` the file is removed, and then the empty directories above it.
    pub to: Option<State<'a>>,
    /// The permissions of the new file. By default these are the usual permissions of a new file, limited to the
    /// permissions of the old file, so that a private file stays private.
    pub permissions: Option<u32>,
}

/// The treatment of the remaining files after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Continue,
    Stop,
}

/// The result of comparing a path with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Same,
    Different,
    /// A parent is not a directory.
    Blocked,
}

/// A file that was not replaced, and the reason.
pub(crate) type Failure = (PathBuf, WriteError);

/// The reason for a file that was not replaced. The file is as another program left it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// The file is not in the expected state.
    #[error("it has changed in the meantime")]
    Changed,
    /// Another program may still write into the file.
    #[error("a program has it open for writing: close it there and try again")]
    OpenForWriting,
    /// Other programs saved two versions during the replacement.
    #[error(
        "it was saved more than once at the same moment: compare it with the older version in `{}`",
        named(aside)
    )]
    KeptVersion {
        /// The path of the older version, relative to the root of the tree.
        aside: PathBuf,
    },
    /// The system refused the replacement.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns a number that a child cannot predict. Otherwise it could take all names of temporary files.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
