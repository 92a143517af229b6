//! Finds the configuration files of a working directory.

use std::path::{Path, PathBuf};

use crate::agent::{canonical, project_directories};

const FILE_NAME: &str = "subagents.json";

/// The files to read. None needs to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigPaths {
    /// The user's own file.
    pub user: PathBuf,
    /// The project files that apply; each can only make settings stricter.
    pub projects: Vec<PathBuf>,
}

impl ConfigPaths {
    /// The user's file in pi's agent directory, and the nearest `.pi/subagents.json`, searched upwards to the
    /// repository root or the home directory. Blocking.
    #[must_use]
    pub fn locate(cwd: &Path, agent_dir: &Path, home: Option<&Path>) -> Self {
        let user = agent_dir.join(FILE_NAME);
        let candidates =
            project_directories(cwd, home).into_iter().map(|dir| dir.join(".pi").join(FILE_NAME));
        // A dangling link counts as existing, so that reading it reports the problem. The user's own file is not a
        // project's, even when it lies above the working directory.
        let found = candidates
            .into_iter()
            .find(|file| file.symlink_metadata().is_ok() && canonical(file) != canonical(&user));
        Self { user, projects: found.into_iter().collect() }
    }

    /// Adds the file of another directory's project.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let known: Vec<PathBuf> = self.projects.iter().map(|path| canonical(path)).collect();
        self.projects.extend(other.projects.into_iter().filter(|path| !known.contains(&canonical(path))));
        self
    }
}
