//! Recognizes changes that are refused, or that need a separate confirmation because of their paths or targets.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::names::{by_danger, folded};
use crate::root::REPOSITORY;
use crate::snapshot::{SnapshotStore, off_thread};
use crate::watch::{SearchLimits, WatchedFiles};

/// The short name by which Windows finds a repository, too.
const SHORT_REPOSITORY: &str = "git~1";

/// The time for the search for links and configurations that make a path run code.
const TIME: Duration = Duration::from_secs(10);

/// The changes of a branch that a person should check first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlaggedChanges {
    /// The worst first.
    pub paths: Vec<PathBuf>,
    /// The limit that ended the search for more of them.
    pub limit: Option<String>,
}

impl SnapshotStore {
    /// Finds the paths that run code later, or instruct agents, in the tree at `root`: because of their names, because
    /// a link such as `.husky` leads to them, or because the configuration of a repository names them.
    pub async fn flagged(&self, root: &Path, paths: Vec<PathBuf>) -> FlaggedChanges {
        if paths.is_empty() {
            return FlaggedChanges::default();
        }
        let store = self.clone();
        let root = root.to_owned();
        off_thread(move || {
            // The names of a search have no links.
            let root = root.canonicalize().unwrap_or(root);
            let found = WatchedFiles::find(&root, &[], SearchLimits::within(TIME));
            let flags = |path: &PathBuf| found.flags(path) || store.is_of_agents(path);
            let paths = by_danger(paths.into_iter().filter(flags));
            FlaggedChanges { paths, limit: found.limit() }
        })
        .await
    }
}

/// Returns true if no file of a work tree may have this name: it leads out of the tree, or into a repository.
pub(super) fn is_unsafe(path: &Path) -> bool {
    let is_bad = |part: Component<'_>| match part {
        Component::Normal(name) => [REPOSITORY, SHORT_REPOSITORY].contains(&&*folded(name)),
        _ => true,
    };
    // Two slashes or a dot in the middle are not components.
    let parts: std::path::PathBuf = path.components().collect();
    path.as_os_str().is_empty() || parts.as_os_str() != path.as_os_str() || path.components().any(is_bad)
}

/// Returns true if a symbolic link at `path` leads out of the tree.
pub(super) fn leads_out(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut has_entered = false;
    for part in target.components() {
        match part {
            Component::Normal(_) => has_entered = true,
            Component::CurDir => {}
            // An entered directory may be a link itself, and its parent is unknown.
            Component::ParentDir if depth > 0 && !has_entered => depth -= 1,
            _ => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_or_into_a_repository_are_unsafe() {
        for path in [
            "a/.g\u{200c}it/x",
            ".git ./x",
            "",
            "../x",
            "/x",
            "a/../../x",
            "./x",
            "a//x",
            ".git/hooks/x",
            "a/.GIT/config",
            "GIT~1/x",
        ] {
            assert!(is_unsafe(Path::new(path)), "{path}");
        }
        for path in ["a", ".gitignore", "a/..b", "a b\nc"] {
            assert!(!is_unsafe(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_link_leads_out_when_it_climbs_above_the_tree() {
        for (path, target, expected) in [
            ("a/b", "../c", false),
            ("a/b", "../../c", true),
            ("link", "/etc/passwd", true),
            ("link", "here/../../x", true),
            ("link", "here", false),
            ("a/link", "../../x", true),
            // `here` may be a link to the directory that it lies in.
            ("link", "here/../x", true),
            ("a/b/link", "../../x/../y", true),
        ] {
            assert_eq!(leads_out(Path::new(path), Path::new(target)), expected, "{path} {target}");
        }
    }
}
