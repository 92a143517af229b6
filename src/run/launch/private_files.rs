//! What private files and directories are made from.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::files::{FileError, private};
use crate::run::context::SessionKey;

/// What a child's private directories are created from.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has private directories"))]
pub(crate) struct PrivateDirsSpec<'a> {
    /// The user's agent directory, which is copied.
    pub agent_dir: &'a Path,
    /// The agent's own credentials, which win over the user's.
    pub credentials: Option<&'a Path>,
    /// The keys of the session, which win over the user's credentials, too, but not over the agent's.
    pub keys: &'a [SessionKey],
    /// Whether the child may write nowhere else.
    pub is_sandboxed: bool,
    /// The system's temporary directory, for that of a sandboxed child.
    pub temporaries: Option<&'a Path>,
    /// pi's compile cache, for a sandboxed child to read.
    pub compile_cache: Option<&'a Path>,
}

/// The login that a child's copy of the credentials relies on.
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has private directories"))]
pub(crate) struct TokenUse {
    /// The user's agent directory.
    pub agent_dir: PathBuf,
    /// The agent's own credentials, which win over the user's.
    pub credentials: Option<PathBuf>,
    pub provider: String,
    /// When the child is ended at the latest.
    pub until: SystemTime,
}

pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    private::write(path, bytes).map_err(FileError::at(path))
}
