//! Which changes need a yes of their own, and which are refused.

use std::path::{Component, Path};

use crate::workspace::names::{INSTALLED, PROTECTED, RUNS_LATER};
use crate::workspace::root::REPOSITORY;

/// Whether a path is protected, or runs code later.
pub(crate) fn is_flagged(path: &Path) -> bool {
    let names: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase()).collect();
    let is_listed = |known: &[&str], name: &str| known.iter().any(|known| name.eq_ignore_ascii_case(known));
    let installed = names.iter().position(|name| is_listed(&INSTALLED, name)).unwrap_or(names.len());
    let runs_later = |known: &str| {
        let known: Vec<String> = known.split('/').map(str::to_ascii_lowercase).collect();
        names[..installed].windows(known.len()).any(|some| some == known)
    };
    names.iter().any(|name| is_listed(&PROTECTED, name)) || RUNS_LATER.iter().any(|known| runs_later(known))
}

/// Whether no file of a work tree may have this name: it leads out of it, or into a repository.
pub(super) fn is_unsafe(path: &Path) -> bool {
    let is_bad = |part: Component<'_>| match part {
        Component::Normal(name) => name.eq_ignore_ascii_case(REPOSITORY),
        _ => true,
    };
    // Two slashes or a dot in the middle are no components.
    let parts: std::path::PathBuf = path.components().collect();
    path.as_os_str().is_empty() || parts.as_os_str() != path.as_os_str() || path.components().any(is_bad)
}

/// Whether a symbolic link at `path` leads out of the tree.
pub(super) fn leads_out(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut has_entered = false;
    for part in target.components() {
        match part {
            Component::Normal(_) => has_entered = true,
            Component::CurDir => {}
            // What was entered may be a link itself: what lies above that is not known.
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
    fn what_runs_code_later_is_flagged_at_any_depth() {
        for (path, expected) in [
            (".pi/extensions/x.ts", true),
            ("a/.PI/x", true),
            ("a/.mcp.json", true),
            (".vscode/tasks.json", true),
            (".vscode/other.json", false),
            ("a/.github/workflows/x.yml", true),
            (".husky/pre-commit", true),
            ("CLAUDE.md", true),
            ("node_modules/x/.npmrc", false),
            ("node_modules/x/.pi/y", true),
            ("src/main.rs", false),
        ] {
            assert_eq!(is_flagged(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn names_that_lead_out_or_into_a_repository_are_unsafe() {
        for path in ["", "../x", "/x", "a/../../x", "./x", "a//x", ".git/hooks/x", "a/.GIT/config"] {
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
