//! A file that is to be replaced, and the reasons why it was not.

use std::io;
use std::path::{Path, PathBuf};

use crate::workspace::snapshot::named;

/// The mode of a symbolic link in a tree.
pub(in crate::workspace) const LINK: u32 = 0o120_000;

/// A file as it is, or as it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) struct State<'a> {
    /// As a tree has it.
    pub mode: u32,
    pub content: &'a [u8],
    /// Whether the mode says if the file can be executed. Some file systems do not keep that.
    pub is_mode_kept: bool,
}

/// One file and its replacement.
#[derive(Clone, Copy, Debug)]
pub(in crate::workspace) struct Step<'a> {
    /// Relative to the root of the tree.
    pub path: &'a Path,
    /// The expected file. `None`: no file is there.
    pub from: Option<State<'a>>,
    /// The new file. `None`: the file is removed, and with it the directories above that are empty then.
    pub to: Option<State<'a>>,
    /// The permissions of the new file. Without them it gets those of any new file, except those that the file in its
    /// place does not have: a private file stays private.
    pub permissions: Option<u32>,
}

/// What to do with the other files when one could not be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum OnFailure {
    Continue,
    Stop,
}

/// The result of a comparison of a path with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum Place {
    Same,
    Different,
    /// Something above it is not a directory.
    Blocked,
}

/// A file that was not replaced.
pub(in crate::workspace) type Failure = (PathBuf, WriteError);

/// Why a file was not replaced. It is as another program left it.
#[derive(Debug, thiserror::Error)]
pub(in crate::workspace) enum WriteError {
    /// It is not what was expected.
    #[error("it has changed in the meantime, or something else is in its place")]
    Changed,
    /// Another program may still write into it.
    #[error("a program has it open for writing: close it there and try again")]
    OpenForWriting,
    /// It was saved more than once while it was replaced, and one version has no place.
    #[error("it was saved at the same moment: compare it with another version of it in `{}`", named(aside))]
    Kept {
        /// The other version, relative to the root of the tree.
        aside: PathBuf,
    },
    /// The system refuses it.
    #[error(transparent)]
    Io(#[from] io::Error),
}
