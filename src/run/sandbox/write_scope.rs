//! The directories that a writing child may change: the tree of its directory, and the user's list.

use std::path::{Path, PathBuf};

use super::hidden::{below_home, place_of};
use crate::run::context::HostContext;
use agents::config::Config;
use files::canonical;
use files::layout;
use worktree::{Found, REPOSITORY, SearchLimits, WatchedFiles, is_bare, root_of, scan};

/// The directories for temporary files of all programs and all users.
const TEMPORARIES: [&str; 2] = ["/tmp", "/var/tmp"];

/// The reason why a child cannot work in its directory.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    /// The child could not see its working directory.
    #[error(
        "the working directory `{}` is in `{}`, which agents in a sandbox cannot see (`sandbox.hidden`)",
        cwd.display(), place.display()
    )]
    Hidden {
        /// The working directory.
        cwd: PathBuf,
        /// The hidden directory that contains it.
        place: PathBuf,
    },
    /// The tree in which the child may write would contain more than a project.
    #[error(
        "the agent may write, and `{}` contains `{}`; start it in the directory of a project, or let it write everywhere \
         (`allowWrite`: `all`)",
        tree.display(), place.display()
    )]
    TreeTooWide {
        /// The root of the tree.
        tree: PathBuf,
        /// The directory that the tree contains.
        place: PathBuf,
    },
    /// The tree of a writing child is a repository without a work tree, which is protected.
    #[error(
        "the agent may write, and `{}` is a bare repository, where nothing but git should write; start it in a work tree",
        tree.display()
    )]
    TreeIsRepository {
        /// The repository.
        tree: PathBuf,
    },
}

/// The paths that a child may write to, in addition to its own directories. No path contains links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteScope {
    /// The root of the git work tree around the working directory, or the working directory itself.
    pub root: PathBuf,
    /// Other paths that the user allows (`sandbox.writable`). Nothing in them is protected.
    pub also: Vec<PathBuf>,
    /// Directories that may contain a project's agents, relative to the root.
    agents: Vec<PathBuf>,
    /// True if the tree belongs to the run alone, so that the child may commit.
    pub is_private: bool,
}

impl WriteScope {
    /// Determines the scope of a child. Also returns notices about paths that are not available. Blocks.
    ///
    /// # Errors
    ///
    /// Fails if the tree would contain more than a project: the home directory, pi's directory or a temporary
    /// directory. Also fails if the tree is a bare repository.
    pub(crate) fn of(
        config: &Config,
        context: &HostContext,
        cwd: &Path,
    ) -> Result<(Self, Vec<String>), ScopeError> {
        let cwd = canonical(cwd);
        let wide = WidePlaces::of(context);
        let root = wide.tree_around(&cwd)?;
        // Admission checked another path, which may have led to another directory.
        if let Some(place) = place_of(config, context, &root) {
            return Err(ScopeError::Hidden { cwd, place });
        }
        if is_bare(&root) {
            return Err(ScopeError::TreeIsRepository { tree: root });
        }
        let own_dir = canonical(&context.agent_dir.join(layout::SUBAGENTS));
        let mut also = Vec::new();
        let mut notices = Vec::new();
        for listed in &config.sandbox.writable {
            let without =
                |why: &str| format!("the child cannot write in `{listed}` (`sandbox.writable`): {why}");
            let Some(path) = below_home(listed, context.home.as_deref()) else { continue };
            match path.canonicalize() {
                Ok(path) if wide.contained(&path).is_some() || path.starts_with(&own_dir) => {
                    notices.push(without("it contains files that the child must not change"));
                }
                Ok(path) if path.is_dir() || path.is_file() => also.push(path),
                Ok(_) => notices.push(without("it is neither a file nor a directory")),
                Err(_) => notices.push(without("it does not exist; create it first")),
            }
        }
        let inner = cwd.strip_prefix(&root).unwrap_or(Path::new(""));
        let agents = config.project_agent_dirs.iter();
        let agents = agents.flat_map(|place| inner.ancestors().map(move |above| above.join(place))).collect();
        Ok((Self { root, also, agents, is_private: false }, notices))
    }

    /// Finds the protected paths of the tree. Blocks.
    pub(crate) fn find_protected(&self) -> Found {
        let mut found = scan(&self.root, &self.agents);
        if self.is_private {
            found.leave_out(&self.root, REPOSITORY);
        }
        found
    }

    /// Finds the files of the tree that run code later or tell agents what to do. Blocks.
    pub(crate) fn watched_files(&self, limits: SearchLimits) -> WatchedFiles {
        WatchedFiles::find(&self.root, &self.agents, limits)
    }

    /// Returns the same scope for a run in a private tree.
    pub(crate) fn in_private(&self, root: &Path) -> Self {
        Self { root: root.to_owned(), is_private: true, ..self.clone() }
    }

    /// Returns all paths that may be written.
    pub(crate) fn writable(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(self.root.clone()).chain(self.also.iter().cloned())
    }
}

/// The places that no tree of a writing child contains. Their paths have no links.
struct WidePlaces {
    places: Vec<PathBuf>,
    /// The directory for temporary files may contain trees, but is no tree itself.
    temporaries: PathBuf,
}

impl WidePlaces {
    fn of(context: &HostContext) -> Self {
        let places = [context.home.as_deref(), Some(&*context.agent_dir)].into_iter().flatten();
        let places = places.chain(TEMPORARIES.map(Path::new)).map(canonical).collect();
        Self { places, temporaries: canonical(&context.temporaries()) }
    }

    fn contained(&self, tree: &Path) -> Option<PathBuf> {
        let inside = self.places.iter().find(|place| place.starts_with(tree));
        inside.or_else(|| Some(&self.temporaries).filter(|place| *place == tree)).cloned()
    }

    /// Returns the tree of a child that works in `cwd`, a path without links.
    fn tree_around(&self, cwd: &Path) -> Result<PathBuf, ScopeError> {
        let mut root = root_of(cwd);
        if self.contained(&root).is_some() {
            // This happens if the home directory is a repository, for example.
            cwd.clone_into(&mut root);
        }
        match self.contained(&root) {
            Some(place) => Err(ScopeError::TreeTooWide { tree: root, place }),
            None => Ok(root),
        }
    }
}

/// Returns the directories from which this host starts no program by its name, because agents may write there: the
/// trees around `cwd` and around the directory of the session, and the user's list. Their paths have no links. Blocks.
pub(crate) fn untrusted(config: &Config, context: &HostContext, cwd: &Path) -> Vec<PathBuf> {
    let wide = WidePlaces::of(context);
    let trees = std::iter::once(cwd).chain(context.host.cwd.as_deref()).map(canonical);
    let trees = trees.filter_map(|cwd| wide.tree_around(&cwd).ok());
    let listed = config.sandbox.writable.iter();
    let listed = listed.filter_map(|path| below_home(path, context.home.as_deref())?.canonicalize().ok());
    let mut found: Vec<PathBuf> = trees.chain(listed.filter(|path| wide.contained(path).is_none())).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Scene {
        _root: tempfile::TempDir,
        context: HostContext,
        at: PathBuf,
    }

    fn scene() -> Scene {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let at = root.path().canonicalize().expect("the path exists");
        for name in ["home/.pi/agent/subagents/runs", "home/src/one/.git/refs", "home/src/one/.git/objects"] {
            fs::create_dir_all(at.join(name)).expect("the directory is created");
        }
        for name in ["home/src/one/deep", "home/.npm", "bare/objects", "bare/refs"] {
            fs::create_dir_all(at.join(name)).expect("the directory is created");
        }
        for name in ["home/src/one/.git/HEAD", "bare/HEAD"] {
            fs::write(at.join(name), "ref: refs/heads/main\n").expect("the file is written");
        }
        let context = HostContext {
            agent_dir: at.join("home/.pi/agent"),
            home: Some(at.join("home")),
            env: Vec::new(),
            config: None,
            pi_command: None,
            warden: None,
            host: crate::run::Host::default(),
        };
        Scene { _root: root, context, at }
    }

    #[test]
    fn the_writable_tree_is_the_repository_and_never_more_than_a_project() {
        let Scene { context, at, _root } = &scene();
        let root = |cwd: &str| {
            WriteScope::of(&Config::default(), context, &at.join(cwd)).map(|(scope, _)| scope.root)
        };
        assert_eq!(root("home/src/one/deep").ok(), Some(at.join("home/src/one")));
        assert_eq!(root("home/src").ok(), Some(at.join("home/src")));
        // If the home directory is a repository, the child gets only the part that it works in.
        fs::create_dir_all(at.join("home/.git/objects")).expect("the directory is created");
        fs::create_dir_all(at.join("home/.git/refs")).expect("the directory is created");
        fs::write(at.join("home/.git/HEAD"), "").expect("the file is written");
        assert_eq!(root("home/src").ok(), Some(at.join("home/src")));
        for cwd in ["home", ".", "home/.pi", "home/.pi/agent"] {
            assert!(matches!(root(cwd), Err(ScopeError::TreeTooWide { .. })), "{cwd}");
        }
        assert!(matches!(root("bare"), Err(ScopeError::TreeIsRepository { .. })));
        fs::create_dir_all(at.join("home/.ssh/keys")).expect("the directory is created");
        assert!(matches!(root("home/.ssh/keys"), Err(ScopeError::Hidden { .. })));
    }

    #[test]
    fn listed_paths_are_writable_if_they_exist_and_are_not_too_wide() {
        let Scene { context, at, _root } = &scene();
        let mut config = Config::default();
        let bare = at.join("bare").display().to_string();
        config.sandbox.writable =
            ["~/.npm", "~/.missing", "~/", "~/.pi/agent/subagents/runs", &bare, "/dev/null"]
                .map(str::to_owned)
                .to_vec();
        let (scope, notices) = WriteScope::of(&config, context, &at.join("home/src/one"))
            .expect("the directory has a write scope");
        assert_eq!(scope.also, [at.join("home/.npm"), at.join("bare")]);
        let cannot = |place: &str, why: &str| {
            format!("the child cannot write in `{place}` (`sandbox.writable`): {why}")
        };
        assert_eq!(
            notices,
            [
                cannot("~/.missing", "it does not exist; create it first"),
                cannot("~/", "it contains files that the child must not change"),
                cannot("~/.pi/agent/subagents/runs", "it contains files that the child must not change"),
                cannot("/dev/null", "it is neither a file nor a directory"),
            ]
        );
    }

    #[test]
    fn directories_with_the_project_s_agents_are_protected() {
        let Scene { context, at, _root } = &scene();
        fs::create_dir_all(at.join("home/src/one/deep/team")).expect("the directory is created");
        let config = Config { project_agent_dirs: vec!["team".into()], ..Config::default() };
        let (scope, _) = WriteScope::of(&config, context, &at.join("home/src/one/deep"))
            .expect("the directory has a write scope");
        let protected = scope.find_protected().protected;
        assert_eq!(protected, [at.join("home/src/one/.git"), at.join("home/src/one/deep/team")]);
    }
}
