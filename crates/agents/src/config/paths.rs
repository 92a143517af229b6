//! The places of the configuration files.

use std::path::{Path, PathBuf};

use crate::project_directories;
use files::{canonical, open};

const FILE_NAME: &str = "subagents.json";

/// The files to read. None needs to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigPaths {
    /// The user's own file.
    pub user: PathBuf,
    /// The project files that apply; each can only make settings stricter.
    pub projects: Vec<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
}

impl ConfigPaths {
    /// Finds the user's file in pi's agent directory, and the nearest `.pi/subagents.json`. Searches upwards to the
    /// repository root or the home directory. Blocks.
    #[must_use]
    pub fn locate(cwd: &Path, agent_dir: &Path, home: Option<&Path>) -> Self {
        let user = agent_dir.join(FILE_NAME);
        let mut projects = Vec::new();
        for directory in project_directories(cwd, home) {
            let file = directory.join(".pi").join(FILE_NAME);
            // A dangling link counts as existing, so that reading it reports the problem. The user's own file is not a
            // project's, even if it is above the working directory.
            if file.symlink_metadata().is_err() || canonical(&file) == canonical(&user) {
                continue;
            }
            // A nearer file that another user has put there is reported and hides nothing.
            let is_foreign = open::is_placed_by_others(&file);
            projects.push(file);
            if !is_foreign {
                break;
            }
        }
        Self { user, projects, home: home.map(Path::to_owned) }
    }

    /// Adds the file of another directory's project.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let known: Vec<PathBuf> = self.projects.iter().map(|path| canonical(path)).collect();
        self.projects.extend(other.projects.into_iter().filter(|path| !known.contains(&canonical(path))));
        self
    }
}
