//! The record of a run's branch and of its apply.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::change::path_of;

/// The artifacts of an isolated run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifacts {
    /// Its branch, if one could be made.
    pub branch: Option<String>,
    /// The commit with its changes, which the branch was made for.
    pub commit: String,
    /// The number of changed files. Absent in the record of an earlier version, and if they could not be counted.
    #[serde(default)]
    pub files: Option<usize>,
    /// True if branch and patch were deleted.
    #[serde(default)]
    pub is_discarded: bool,
}

/// The data for undoing an apply. It is saved before the first file is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Apply {
    /// The tree before.
    pub before: String,
    /// The tree that it is to become.
    pub after: String,
    /// The start, in milliseconds since 1970.
    pub at_ms: u64,
    /// True if every file was written.
    pub is_complete: bool,
    /// Permissions of the files that it replaces or removes, and of the directories above those it removes.
    pub(crate) modes: Vec<(Name, u32)>,
    /// The directories that it makes.
    pub(crate) made: Vec<Name>,
    /// The files of both trees that the work tree did not have, because git was told to leave them out.
    #[serde(default)]
    pub(crate) absent: Vec<Name>,
}

/// A path as text: a character for each byte, since a path need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Name(String);

impl Name {
    pub(crate) fn of(path: &Path) -> Self {
        Self(path.as_os_str().as_encoded_bytes().iter().map(|byte| char::from(*byte)).collect())
    }

    pub(crate) fn path(&self) -> PathBuf {
        let bytes: Vec<u8> = self.0.chars().filter_map(|letter| u8::try_from(letter).ok()).collect();
        path_of(&bytes)
    }
}
