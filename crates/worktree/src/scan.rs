//! Finds the protected paths of a tree, within bounds.

use std::collections::VecDeque;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::names::{PROTECTED, role_of};
use super::root::{REPOSITORY, external_dirs, is_bare};
use sanitizer::quoted_path;

/// The maximum number of entries that are listed, those near the root first. This takes a fraction of a second.
const MAX_ENTRIES: usize = 200_000;
/// The maximum number of directories in which only the protected names are looked up, after the limit of entries is
/// reached. So a directory that a child has filled does not prevent the protection of other directories. The lookups
/// take a tenth of a second.
const MAX_LOOKUPS: usize = 20_000;
/// The maximum number of protected paths. Each needs its own mount.
const MAX_PROTECTED: usize = 512;
/// The beginning of the notice for a tree that was only scanned in part.
const PARTIAL: &str = "some files that should be protected may be unprotected";

/// The findings of a scan.
#[derive(Debug, Default)]
pub struct Found {
    /// The paths that a child must not change, without links. Some may lie outside of the tree.
    pub protected: Vec<PathBuf>,
    /// Links with a protected name: they can be replaced, only their targets are protected.
    pub links: Vec<PathBuf>,
    /// True if a part was not scanned, because the tree is too large or cannot be read.
    pub is_partial: bool,
    /// A directory that could not be read, and that a child could open.
    unreadable: Option<PathBuf>,
}

impl Found {
    /// Returns the parts of the tree that are not protected as they should be.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let links = self.links.iter().map(|link| {
            let link = quoted_path(&link.to_string_lossy());
            format!("{link} is a symbolic link: only its target is protected")
        });
        self.partial().into_iter().chain(links).collect()
    }

    /// Returns the reason why a part of the tree was not scanned, if there is one.
    #[must_use]
    pub fn partial(&self) -> Option<String> {
        self.is_partial.then(|| match &self.unreadable {
            Some(path) => format!("{PARTIAL}: {} cannot be read", quoted_path(&path.to_string_lossy())),
            None => format!("{PARTIAL}: the tree is too large"),
        })
    }

    /// Forgets a directory in the tree: the child may write in it.
    pub fn leave_out(&mut self, root: &Path, name: &str) {
        self.protected.retain(|path| *path != root.join(name));
    }
}

/// Looks for protected names at any depth, and for `more` paths, relative to the root, that are protected too. Follows
/// no links. Blocks.
#[must_use]
pub fn scan(root: &Path, more: &[PathBuf]) -> Found {
    let waiting = VecDeque::from([root.to_owned()]);
    let mut scan = Scan { root, found: Found::default(), entries: 0, lookups: 0, waiting };
    for path in more {
        scan.add_configured(&root.join(path));
    }
    while let Some(directory) = scan.waiting.pop_front() {
        scan.directory(&directory);
    }
    let Found { protected, links, .. } = &mut scan.found;
    for paths in [&mut *protected, links] {
        paths.sort();
        paths.dedup();
    }
    if protected.len() > MAX_PROTECTED {
        // Programs read the paths near the root first.
        protected.sort_by_key(|path| path.components().count());
        protected.truncate(MAX_PROTECTED);
        scan.found.is_partial = true;
    }
    scan.found
}

struct Scan<'a> {
    root: &'a Path,
    found: Found,
    entries: usize,
    /// The number of directories that were not listed as a whole.
    lookups: usize,
    /// The directories that were found and not yet listed.
    waiting: VecDeque<PathBuf>,
}

impl Scan<'_> {
    fn directory(&mut self, directory: &Path) {
        if directory != self.root && is_bare(directory) {
            return self.found.protected.push(directory.to_owned());
        }
        let entries = self.list(directory);
        if self.entries > MAX_ENTRIES {
            self.check_names(directory);
        }
        for entry in entries {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            if role_of(&name).is_some_and(|role| role.is_protected) {
                self.protected(&entry.path(), kind.is_symlink());
            } else if kind.is_dir() {
                self.waiting.push_back(entry.path());
            }
        }
    }

    /// Looks for protected names in a directory without listing it.
    fn check_names(&mut self, directory: &Path) {
        self.lookups += 1;
        if self.lookups > MAX_LOOKUPS {
            return;
        }
        for path in PROTECTED.map(|name| directory.join(name)) {
            if let Ok(found) = fs::symlink_metadata(&path) {
                self.protected(&path, found.is_symlink());
            }
        }
    }

    /// Returns the entries of a directory, if it can be read and the limit allows it.
    fn list(&mut self, directory: &Path) -> Vec<DirEntry> {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => {
                // A path that is too long does not stop a child, which can go there step by step.
                let is_too_long = error.kind() == io::ErrorKind::InvalidFilename;
                if is_too_long || could_be_opened(directory) {
                    self.found.is_partial = true;
                    self.found.unreadable.get_or_insert_with(|| directory.to_owned());
                }
                return Vec::new();
            }
        };
        let room = MAX_ENTRIES.saturating_sub(self.entries);
        let entries: Vec<_> = entries.flatten().take(room + 1).collect();
        self.entries += entries.len();
        self.found.is_partial |= entries.len() > room;
        entries
    }

    fn protected(&mut self, path: &Path, is_link: bool) {
        if is_link {
            self.found.links.push(path.to_owned());
            self.found.protected.extend(path.canonicalize().ok().filter(|path| path != self.root));
        } else {
            self.found.protected.push(path.to_owned());
        }
        if path.file_name().is_some_and(|name| name == REPOSITORY) {
            self.found.protected.extend(external_dirs(path));
        }
    }

    /// Adds a configured path, for example a directory with agents.
    fn add_configured(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        if real.starts_with(self.root) && real != *self.root {
            self.found.protected.push(real);
        }
    }
}

/// Returns true if a child could write in a directory that cannot be read, now or after a change of its mode. False for
/// another user's database, for example.
#[cfg(unix)]
pub(super) fn could_be_opened(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    use std::os::unix::fs::MetadataExt as _;
    let is_owned = |found: fs::Metadata| found.uid() == rustix::process::geteuid().as_raw();
    fs::symlink_metadata(directory).is_ok_and(is_owned)
        || access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
pub(super) fn could_be_opened(directory: &Path) -> bool {
    directory.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::tests::tree;

    fn names(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        let inner = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
        paths.iter().map(inner).collect()
    }

    #[test]
    fn protected_names_are_found_at_any_depth_and_nothing_below_them() {
        let (_root, root) = tree(&[
            ".git/hooks/pre-commit",
            ".git/modules/.pi/x",
            "a/b/c/d/.pi/settings.json",
            "packages/one/.mcp.json",
            "node_modules/x/.git/",
            "module/.git",
            "gitdir/config",
            "bare.git/HEAD",
            "bare.git/objects/",
            "bare.git/refs/",
            "team/agents/a.md",
            "plain.txt",
        ]);
        fs::write(root.join("module/.git"), "gitdir: ../gitdir").expect("the file is written");
        let found = scan(&root, &["team/agents".into(), "missing".into()]);
        assert_eq!(
            names(&root, &found.protected),
            [
                ".git",
                "a/b/c/d/.pi",
                "bare.git",
                "gitdir",
                "module/.git",
                "node_modules/x/.git",
                "packages/one/.mcp.json",
                "team/agents"
            ]
        );
        assert!(!found.is_partial && found.links.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_with_a_protected_name_is_reported_and_its_target_is_protected() {
        let (_root, root) = tree(&["real/settings.json"]);
        std::os::unix::fs::symlink("real", root.join(".pi")).expect("the link is created");
        std::os::unix::fs::symlink("/etc", root.join("out")).expect("the link is created");
        let found = scan(&root, &[]);
        assert_eq!(names(&root, &found.links), [".pi"]);
        assert_eq!(names(&root, &found.protected), ["real"]);
    }

    /// It could be replaced by a file that pi reads.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_special_file_with_a_protected_name_is_protected() {
        let (_root, root) = tree(&["sub/file"]);
        let fifo = root.join("sub/.mcp.json");
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0)
            .expect("the FIFO is created");
        assert_eq!(names(&root, &scan(&root, &[]).protected), ["sub/.mcp.json"]);
    }

    /// Root can read everything, so nothing is missing then.
    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_read_is_a_gap_only_where_something_could_be_written() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_root, root) = tree(&["closed/.pi/x"]);
        let closed = root.join("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o300)).expect("the permissions are set");
        let is_readable = fs::read_dir(&closed).is_ok();
        let found = scan(&root, &[]);
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("the permissions are set");
        assert_eq!(found.is_partial, !is_readable);
        assert!(!could_be_opened(&root.join("missing")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_directory_that_is_too_deep_to_read_is_a_gap() {
        use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
        let (_root, root) = tree(&[]);
        let mut inner =
            openat(CWD, &root, OFlags::DIRECTORY, Mode::empty()).expect("the directory is opened");
        for _ in 0..30 {
            let name = "d".repeat(200);
            mkdirat(&inner, &name, Mode::RWXU).expect("the directory is created");
            inner = openat(&inner, &name, OFlags::DIRECTORY, Mode::empty()).expect("the directory is opened");
        }
        assert!(scan(&root, &[]).is_partial);
        pi_subagent_warden::remove_tree(&root).expect("the directory is removed");
    }

    #[test]
    fn a_full_directory_does_not_prevent_the_protection_of_others() {
        let (_root, root) = tree(&["full/", "other/.pi/x", "other/deep/.mcp.json", ".git/x"]);
        for number in 0..=MAX_ENTRIES {
            fs::File::create(root.join(format!("full/{number}"))).expect("the file is created");
        }
        for number in 0..3 {
            fs::create_dir_all(root.join(format!("other{number}/.claude")))
                .expect("the directory is created");
        }
        let found = scan(&root, &[]);
        assert!(found.is_partial, "`other/deep` was not listed");
        let expected = [".git", "other/.pi", "other0/.claude", "other1/.claude", "other2/.claude"];
        for path in expected {
            assert!(found.protected.contains(&root.join(path)), "{path}: {:?}", found.protected);
        }
    }

    #[test]
    fn a_tree_that_is_too_large_is_scanned_in_part() {
        let many: Vec<String> = (0..=MAX_PROTECTED).map(|number| format!("d{number}/e/.pi/")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).chain([".git/"]).collect();
        let (_root, root) = tree(&many);
        let found = scan(&root, &[]);
        assert!(found.is_partial);
        assert_eq!(found.protected.len(), MAX_PROTECTED);
        assert!(found.protected.contains(&root.join(".git")));
    }
}
