//! Where the configuration files of a working directory are.

use std::fs;
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "subagents.json";

/// The files that count. None needs to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigPaths {
    /// The user's own file.
    pub user: PathBuf,
    /// The files of the projects that have a say, each towards the stricter side.
    pub projects: Vec<PathBuf>,
}

impl ConfigPaths {
    /// The user's file in pi's agent directory, and the nearest `.pi/subagents.json` upwards from the working directory;
    /// the repository's root and the home directory are the last places looked at. Blocking.
    #[must_use]
    pub fn locate(cwd: &Path, agent_dir: &Path, home: Option<&Path>) -> Self {
        let user = agent_dir.join(FILE_NAME);
        let home = home.map(canonical);
        let mut projects = Vec::new();
        for dir in canonical(cwd).ancestors() {
            let candidate = dir.join(".pi").join(FILE_NAME);
            // A link that leads nowhere exists: reading it will say so. The user's own file does not become the
            // project's by lying above it.
            if candidate.symlink_metadata().is_ok() && canonical(&candidate) != canonical(&user) {
                projects.push(candidate);
                break;
            }
            if home.as_deref() == Some(dir) || dir.join(".git").symlink_metadata().is_ok() {
                break;
            }
        }
        Self { user, projects }
    }

    /// Adds the files of another directory's project.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let known: Vec<PathBuf> = self.projects.iter().map(|path| canonical(path)).collect();
        self.projects.extend(other.projects.into_iter().filter(|path| !known.contains(&canonical(path))));
        self
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}
