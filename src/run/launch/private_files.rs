//! The inputs for a child's private files and directories.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::run::context::SessionKey;
use files::{FileError, private};

/// The inputs for creating a child's private directories.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has private directories"))]
pub(crate) struct PrivateDirsSpec<'a> {
    /// The user's agent directory, which is copied.
    pub agent_dir: &'a Path,
    /// The agent's own credentials, which override the user's.
    pub credentials: Option<&'a Path>,
    /// The keys of the session. They override the user's credentials, but not the agent's.
    pub keys: &'a [SessionKey],
    /// True if the child may write to no other directory.
    pub is_sandboxed: bool,
    /// The system's temporary directory, in which a sandboxed child gets its own.
    pub temporaries: Option<&'a Path>,
    /// pi's compile cache, for a sandboxed child to read.
    pub compile_cache: Option<&'a Path>,
    /// The provider of the child's model, if known.
    pub provider: Option<&'a str>,
    /// The latest time at which the child ends, if there is one.
    pub until: Option<SystemTime>,
    /// True if pi may have to download a program for the child's tools.
    pub downloads: bool,
}

/// The login that a child's copy of the credentials relies on.
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has private directories"))]
pub(crate) struct TokenUse {
    /// The user's agent directory.
    pub agent_dir: PathBuf,
    /// The agent's own credentials, which override the user's.
    pub credentials: Option<PathBuf>,
    pub provider: String,
    /// The latest time at which the child ends.
    pub until: SystemTime,
}

pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    private::write(path, bytes).map_err(FileError::at(path))
}
