//! Finds what is protected in a tree, and what runs code later, within bounds.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::names::{IN_REPOSITORY, INSTALLED, PROTECTED, RUNS_LATER};
use super::root::{REPOSITORY, elsewhere, is_bare};

/// Entries that are looked at, those near the root first. A listing of so many takes a fraction of a second.
const MAX_ENTRIES: usize = 200_000;
/// Protected paths. Each is a mount of its own.
const MAX_PROTECTED: usize = 512;
/// What is said of a tree that was not looked at as a whole.
pub(crate) const PARTIAL: &str =
    "the tree is too large, or cannot be read, to find everything in it that should be protected";
/// Files that are watched for changes.
const MAX_WATCHED: usize = 4096;

/// What lies in a tree.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What a child must not change, without links. Some may lie outside of the tree.
    pub protected: Vec<PathBuf>,
    /// Links with a protected name: they can be replaced, only what they lead to is protected.
    pub links: Vec<PathBuf>,
    /// Whether something was not looked at, because the tree is too large or cannot be read.
    pub is_partial: bool,
    /// What runs code later or is protected, relative to the root, and how to tell that it has changed.
    watched: BTreeMap<PathBuf, Mark>,
}

/// Differs after every change of a file, and when another file takes its place. No program can set it back.
type Mark = (u64, u64, i64, i64);

impl Found {
    /// What of the tree is not protected as it should be.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let links = self.links.iter().map(|link| {
            format!("`{}` is a symbolic link: only what it leads to is protected", link.display())
        });
        self.is_partial.then(|| PARTIAL.to_owned()).into_iter().chain(links).collect()
    }

    /// Forgets a directory in the tree: it may be written, and nobody looks at it afterwards.
    pub(crate) fn leave_out(&mut self, root: &Path, name: &str) {
        self.protected.retain(|path| *path != root.join(name));
        self.watched.retain(|path, _| !path.starts_with(name));
    }

    /// The paths of what has appeared or changed since, relative to the root. What is gone runs nothing.
    pub(crate) fn changes(&self, later: &Self) -> Vec<PathBuf> {
        let is_new = |(path, mark): &(&PathBuf, &Mark)| self.watched.get(*path) != Some(mark);
        later.watched.iter().filter(is_new).map(|(path, _)| path.clone()).collect()
    }
}

/// Looks for protected names at any depth, and for `more` paths, relative to the root, that are protected too. Follows no
/// links. Blocks.
pub(crate) fn scan(root: &Path, more: &[PathBuf]) -> Found {
    let mut scan = Scan {
        root,
        found: Found::default(),
        entries: 0,
        waiting: VecDeque::from([(root.to_owned(), false)]),
    };
    for path in more {
        scan.also(&root.join(path));
    }
    while let Some((directory, is_installed)) = scan.waiting.pop_front() {
        scan.directory(&directory, is_installed);
    }
    let Found { protected, .. } = &mut scan.found;
    protected.sort();
    protected.dedup();
    if protected.len() > MAX_PROTECTED {
        // Those near the root are the ones that programs read first.
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
    /// Directories that are still to be looked at, and whether they hold what is installed.
    waiting: VecDeque<(PathBuf, bool)>,
}

impl Scan<'_> {
    fn directory(&mut self, directory: &Path, is_installed: bool) {
        if directory != self.root && is_bare(directory) {
            self.found.protected.push(directory.to_owned());
            return self.repository(directory);
        }
        for entry in self.list(directory) {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let name = name.to_str().unwrap_or_default();
            // Some file systems do not tell capitals from small letters.
            if PROTECTED.iter().any(|known| name.eq_ignore_ascii_case(known)) {
                self.protected(&entry.path(), kind.is_symlink());
            } else if !is_installed && runs_later(directory, name) {
                self.watch_all(&entry.path());
            } else if kind.is_dir() {
                self.waiting.push_back((entry.path(), is_installed || INSTALLED.contains(&name)));
            }
        }
    }

    /// The entries of a directory, if it can be read and there is room for them.
    fn list(&mut self, directory: &Path) -> Vec<DirEntry> {
        let Ok(entries) = fs::read_dir(directory) else {
            self.found.is_partial |= could_be_opened(directory);
            return Vec::new();
        };
        let room = MAX_ENTRIES.saturating_sub(self.entries);
        let entries: Vec<_> = entries.flatten().take(room + 1).collect();
        self.entries += entries.len();
        self.found.is_partial |= entries.len() > room;
        entries
    }

    fn protected(&mut self, path: &Path, is_link: bool) {
        self.watch(path);
        if is_link {
            self.found.links.push(path.to_owned());
            self.found.protected.extend(path.canonicalize().ok().filter(|path| path != self.root));
        } else {
            self.found.protected.push(path.to_owned());
        }
        if path.file_name().is_some_and(|name| name == REPOSITORY) {
            self.found.protected.extend(elsewhere(path));
            self.repository(path);
        } else if path.is_dir() && !is_link {
            self.watch_all(path);
        }
    }

    /// What is configured: a directory with agents, for example.
    fn also(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        if real.starts_with(self.root) && real != *self.root {
            self.watch_all(&real);
            self.found.protected.push(real);
        }
    }

    fn repository(&mut self, path: &Path) {
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            if !path.ends_with(REPOSITORY) && !path.join("HEAD").exists() {
                // The name of a submodule may have slashes.
                waiting.extend(self.directories(&path));
                continue;
            }
            for name in IN_REPOSITORY {
                self.watch_all(&path.join(name));
            }
            for name in ["modules", "worktrees"] {
                waiting.extend(self.directories(&path.join(name)));
            }
        }
    }

    /// The directories in a directory, without links.
    fn directories(&mut self, directory: &Path) -> Vec<PathBuf> {
        if !fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()) {
            return Vec::new();
        }
        let is_directory = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        self.list(directory).into_iter().filter(is_directory).map(|entry| entry.path()).collect()
    }

    /// Watches a file, or all files below a directory.
    fn watch_all(&mut self, path: &Path) {
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {
                    waiting.extend(self.list(&path).iter().map(DirEntry::path));
                }
                Ok(_) => self.watch(&path),
                Err(_) => {}
            }
            if self.found.watched.len() >= MAX_WATCHED {
                return self.found.is_partial = true;
            }
        }
    }

    /// Watches one file, or that a directory stays the same one.
    fn watch(&mut self, path: &Path) {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        if let Ok(inner) = path.strip_prefix(self.root) {
            self.found.watched.insert(inner.to_owned(), mark(&found));
        }
    }
}

/// Whether a child could write in a directory that cannot be read, now or after a change of its mode. Not where another
/// user's database lies, for example.
#[cfg(unix)]
fn could_be_opened(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    use std::os::unix::fs::MetadataExt as _;
    let is_ours = |found: fs::Metadata| found.uid() == rustix::process::geteuid().as_raw();
    fs::symlink_metadata(directory).is_ok_and(is_ours)
        || access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn could_be_opened(directory: &Path) -> bool {
    directory.exists()
}

/// Compares names before paths: most entries are none of these.
fn runs_later(directory: &Path, name: &str) -> bool {
    RUNS_LATER.iter().any(|known| match known.rsplit_once('/') {
        Some((above, last)) => {
            last.eq_ignore_ascii_case(name)
                && directory.file_name().is_some_and(|found| found.eq_ignore_ascii_case(above))
        }
        None => known.eq_ignore_ascii_case(name),
    })
}

#[cfg(unix)]
fn mark(found: &fs::Metadata) -> Mark {
    use std::os::unix::fs::MetadataExt as _;
    // What is in a directory is watched by itself.
    let (changed, part) = if found.is_dir() { (0, 0) } else { (found.ctime(), found.ctime_nsec()) };
    (found.dev(), found.ino(), changed, part)
}

#[cfg(not(unix))]
fn mark(found: &fs::Metadata) -> Mark {
    let modified = found.modified().ok().filter(|_| !found.is_dir());
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    (0, found.len(), i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = root.path().canonicalize().expect("it is there");
        for entry in entries {
            make(&path, entry);
        }
        (root, path)
    }

    fn make(root: &Path, entry: &str) {
        let path = root.join(entry);
        if entry.ends_with('/') {
            return fs::create_dir_all(path).expect("made");
        }
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(path, "text").expect("written");
    }

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
        fs::write(root.join("module/.git"), "gitdir: ../gitdir").expect("written");
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
    fn a_link_with_a_protected_name_is_said_and_what_it_leads_to_is_protected() {
        let (_root, root) = tree(&["real/settings.json"]);
        std::os::unix::fs::symlink("real", root.join(".pi")).expect("linked");
        std::os::unix::fs::symlink("/etc", root.join("out")).expect("linked");
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
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).expect("a FIFO");
        assert_eq!(names(&root, &scan(&root, &[]).protected), ["sub/.mcp.json"]);
    }

    /// Each row: what is done, and what is said of it.
    #[test]
    fn what_runs_code_later_is_told_when_it_appears_or_changes() {
        let table: &[(&str, &[&str])] = &[
            (".pi/extensions/x.ts", &[".pi", ".pi/extensions/x.ts"]),
            ("sub/.pi/settings.json", &["sub/.pi", "sub/.pi/settings.json"]),
            (".git/hooks/pre-commit", &[".git/hooks/pre-commit"]),
            (".git/config", &[".git/config"]),
            (".git/index", &[]),
            (".git/modules/a/b/config", &[".git/modules/a/b/config"]),
            (".git/modules/hooks/c/index", &[]),
            (".git/modules/hooks/c/hooks/post-checkout", &[".git/modules/hooks/c/hooks/post-checkout"]),
            (".git/worktrees/w/config.worktree", &[".git/worktrees/w/config.worktree"]),
            (".vscode/mcp.json", &[".vscode/mcp.json"]),
            ("agents.md", &["agents.md"]),
            (".GitHub/Workflows/ci.yml", &[".GitHub/Workflows/ci.yml"]),
            ("new/.git/config", &["new/.git", "new/.git/config"]),
            (".mcp.json", &[".mcp.json"]),
            (".vscode/tasks.json", &[".vscode/tasks.json"]),
            (".vscode/other.json", &[]),
            ("deep/down/.envrc", &["deep/down/.envrc"]),
            (".husky/pre-push", &[".husky/pre-push"]),
            (".github/workflows/ci.yml", &[".github/workflows/ci.yml"]),
            (".cargo/config.toml", &[".cargo/config.toml"]),
            ("AGENTS.md", &["AGENTS.md"]),
            ("node_modules/a/.npmrc", &[]),
            ("node_modules/a/.pi/x", &["node_modules/a/.pi", "node_modules/a/.pi/x"]),
            ("src/main.rs", &[]),
        ];
        for (path, expected) in table {
            let (_root, root) = tree(&[
                ".git/hooks/",
                ".git/objects/",
                ".git/modules/a/b/HEAD",
                ".git/modules/hooks/c/HEAD",
                ".git/worktrees/w/HEAD",
                "src/lib.rs",
            ]);
            let before = scan(&root, &[]);
            make(&root, path);
            assert_eq!(names(&root, &before.changes(&scan(&root, &[]))), *expected, "{path}");
        }
    }

    #[test]
    fn a_file_that_is_written_again_has_changed_and_one_that_is_gone_has_not() {
        let (_root, root) = tree(&[".envrc", ".mcp.json", ".pi/settings.json"]);
        let before = scan(&root, &[]);
        assert_eq!(before.changes(&scan(&root, &[])), Vec::<PathBuf>::new());
        fs::write(root.join("new"), "text").expect("written");
        fs::rename(root.join("new"), root.join(".envrc")).expect("moved");
        fs::remove_file(root.join(".mcp.json")).expect("removed");
        assert_eq!(names(&root, &before.changes(&scan(&root, &[]))), [".envrc"]);
    }

    /// Root can read everything, so nothing is missing then.
    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_read_is_a_gap_only_where_something_could_be_written() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_root, root) = tree(&["closed/.pi/x"]);
        let closed = root.join("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o300)).expect("set");
        let (is_readable, found) = (fs::read_dir(&closed).is_ok(), scan(&root, &[]));
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("set");
        assert_eq!(found.is_partial, !is_readable);
        assert!(!could_be_opened(&root.join("missing")));
    }

    #[test]
    fn a_tree_with_too_much_in_it_is_looked_at_in_part() {
        let many: Vec<String> = (0..=MAX_PROTECTED).map(|number| format!("d{number}/e/.pi/")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).chain([".git/"]).collect();
        let (_root, root) = tree(&many);
        let found = scan(&root, &[]);
        assert!(found.is_partial);
        assert_eq!(found.protected.len(), MAX_PROTECTED);
        assert!(found.protected.contains(&root.join(".git")));
    }
}
