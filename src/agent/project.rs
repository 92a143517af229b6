//! Where to look for a project's files.

use std::fs;
use std::path::{Path, PathBuf};

/// The directories of a project, from the working directory upwards to the repository root or the home directory.
/// Blocking.
pub(crate) fn project_directories(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let home = home.map(canonical);
    let mut directories = Vec::new();
    for directory in canonical(cwd).ancestors() {
        directories.push(directory.to_owned());
        if home.as_deref() == Some(directory) || directory.join(".git").symlink_metadata().is_ok() {
            break;
        }
    }
    directories
}

/// Resolves links and `..` as far as the path exists.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
