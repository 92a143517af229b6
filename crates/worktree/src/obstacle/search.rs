//! Files that block git, and the search for them in a repository and in a work tree.

use std::collections::VecDeque;
use std::fs::{self, FileType, Metadata};
use std::path::{Path, PathBuf};

use crate::root::{OBJECTS, REPOSITORY, first_line, is_repository, named_by};
use files::{Hidden, open};
use sanitizer::{figures, without_quotes};

/// The maximum number of entries of a repository that are checked before git starts, mainly its references. This takes
/// a few milliseconds.
pub(super) const MAX_QUICK: usize = 20_000;
/// The maximum number of entries that are checked while git works, those near the root first.
pub(super) const MAX_ENTRIES: usize = 200_000;
/// The largest index, and list of packed references, that is read: four million entries.
pub(crate) const MAX_INDEX: u64 = 512 * 1024 * 1024;
/// The largest other file of a repository that git reads as a whole. Real ones have kilobytes.
pub(crate) const MAX_TEXT: u64 = 64 * 1024 * 1024;
/// The largest configuration that is searched for names of files.
const MAX_CONFIG: u64 = 1024 * 1024;
/// The maximum depth of configurations that include others, and of repositories that borrow objects from others. git
/// has similar limits.
const MAX_DEPTH: u32 = 5;
/// The maximum length of a path in a message, in characters.
const MAX_PATH: usize = 200;

/// The names that git opens in every directory of a work tree.
const IN_TREE: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];
/// The names that every command opens in the root.
const IN_ROOT: [&str; 2] = [".gitignore", ".gitattributes"];
/// Files that git opens in the directory of a repository. It also opens names in capitals there, such as `HEAD`.
const FILES: [&str; 7] =
    ["config", "config.worktree", "commondir", "gitdir", "packed-refs", "shallow", "index"];
/// The beginning of the name of a part of an index.
const SHARED_INDEX: &str = "sharedindex.";
/// The directories of references and of what git notes about them.
const REFERENCES: [&str; 4] = ["refs", "logs", "reftable", "worktrees"];
/// Directories that only a command with the repository's own settings opens.
const SETTINGS: [&str; 4] = ["info", "rebase-merge", "rebase-apply", "sequencer"];
/// The setting whose value is a further configuration.
const INCLUDE: &str = "path";
/// Other settings whose value is a file that git opens, in lower case.
const NAMES_A_FILE: [&str; 2] = ["excludesfile", "attributesfile"];

/// A file that blocks git.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// A FIFO or a device.
    #[error(
        "`{}` {} {kind}, and git would wait for it: remove it",
        shown(path), if *is_link { "leads to" } else { "is" }
    )]
    Special {
        /// The kind of the file, in words.
        kind: &'static str,
        /// The file, relative to the directory that was searched if it lies in it.
        path: PathBuf,
        /// True for a symbolic link to one.
        is_link: bool,
    },
    /// A file that is larger than any real one of its name.
    #[error(
        "`{}` has {}, more than the limit of {}: remove it",
        shown(path), figures::bytes(*bytes), figures::bytes(*limit)
    )]
    Huge {
        /// The file, as in [`Self::Special`].
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}

/// Returns the form of a path that can stand between backticks. A child may have chosen its name.
fn shown(path: &Path) -> String {
    without_quotes(&path.to_string_lossy(), MAX_PATH)
}

/// The part of a repository that a git command reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// References and objects. Settings and attributes are ours.
    References,
    /// Everything that `git status` reads.
    Everything,
}

impl Obstacle {
    /// Searches the repository around `directory`, and the files in other places that it names, except in `hidden`
    /// files. Takes milliseconds. Blocks.
    #[must_use]
    pub fn in_repository(directory: &Path, reads: Reads, hidden: &Hidden) -> Option<Self> {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let mut search = Search { base: &directory, reads, hidden, room: MAX_QUICK, found: None };
        search.around(&directory);
        search.found
    }
}

/// A search, which ends with the first file that blocks git.
pub(super) struct Search<'a> {
    pub base: &'a Path,
    pub reads: Reads,
    /// Files whose content is not used: a name in it could appear in a message.
    pub hidden: &'a Hidden,
    /// The number of entries that may still be checked.
    pub room: usize,
    pub found: Option<Obstacle>,
}

impl Search<'_> {
    /// Searches from a directory upwards, as git does, to the first repository that is one.
    pub(super) fn around(&mut self, directory: &Path) {
        for above in directory.ancestors() {
            let git = above.join(REPOSITORY);
            if fs::symlink_metadata(&git).is_ok() {
                self.repository(&git);
                if is_repository(&git) {
                    return IN_ROOT.iter().for_each(|name| self.check_unless_link(&above.join(name)));
                }
            }
            // If there is no repository, git checks if the directory itself is one.
            self.check(&above.join("HEAD"), MAX_TEXT);
            if self.found.is_some() {
                return;
            }
        }
    }

    /// Searches a repository: its directory, or the file that names the directory.
    pub(super) fn repository(&mut self, git: &Path) {
        let own = named_by(git).unwrap_or_else(|| git.to_owned());
        let shared = shared_by(&own);
        self.git_dir(&own);
        if shared != own {
            self.git_dir(&shared);
        }
        self.objects(&shared.join(OBJECTS), 0);
    }

    fn git_dir(&mut self, directory: &Path) {
        for Entry { path, name, .. } in self.list(directory) {
            let is_capital = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            if name == "packed-refs" || name == "index" || name.starts_with(SHARED_INDEX) {
                self.check(&path, MAX_INDEX);
            } else if is_capital || FILES.contains(&&*name) {
                self.check(&path, MAX_TEXT);
            }
        }
        let settings = if self.reads == Reads::Everything { &SETTINGS[..] } else { &[] };
        for name in REFERENCES.iter().chain(settings) {
            self.all_below(&directory.join(name), MAX_INDEX);
        }
        for name in ["config", "config.worktree"] {
            self.named_by_config(&directory.join(name), 0);
        }
    }

    /// Searches the files next to objects, and the directories of borrowed objects.
    pub(super) fn objects(&mut self, objects: &Path, depth: u32) {
        for name in ["info", "pack"] {
            self.list(&objects.join(name)).iter().for_each(|entry| self.check(&entry.path, u64::MAX));
        }
        let alternates = objects.join("info/alternates");
        self.check(&alternates, MAX_TEXT);
        for line in
            self.text_of(&alternates).lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            if depth < MAX_DEPTH && self.count_one() {
                self.objects(&objects.join(line), depth + 1);
            }
        }
    }

    /// Checks the files that a configuration names. Included configurations are searched as well.
    fn named_by_config(&mut self, config: &Path, depth: u32) {
        for line in self.text_of(config).lines() {
            let Some((key, value)) = line.split_once('=') else { continue };
            // The section may be on the same line.
            let key = key.rsplit(']').next().unwrap_or_default().trim().to_ascii_lowercase();
            let is_include = key == INCLUDE;
            let is_opened = self.reads == Reads::Everything && NAMES_A_FILE.contains(&&*key);
            if !(is_include || is_opened) || !self.count_one() {
                continue;
            }
            let named = config.with_file_name(value.trim().trim_matches('"'));
            self.check(&named, MAX_TEXT);
            if is_include && depth < MAX_DEPTH {
                self.named_by_config(&named, depth + 1);
            }
        }
    }

    /// Searches a work tree, and the repositories in it other than its own.
    pub(super) fn tree(&mut self, root: &Path) {
        let mut waiting = VecDeque::from([root.to_owned()]);
        while let Some(directory) = waiting.pop_front() {
            for Entry { path, name, kind } in self.list(&directory) {
                if name.eq_ignore_ascii_case(REPOSITORY) {
                    if directory != root {
                        self.git_dir(&named_by(&path).unwrap_or(path));
                    }
                } else if kind.is_dir() {
                    waiting.push_back(path);
                } else if IN_TREE.iter().any(|opened| name.eq_ignore_ascii_case(opened)) {
                    self.check_unless_link(&path);
                }
            }
        }
    }

    /// Checks every file below a directory.
    pub(super) fn all_below(&mut self, directory: &Path, limit: u64) {
        let mut waiting = vec![directory.to_owned()];
        while let Some(directory) = waiting.pop() {
            for Entry { path, kind, .. } in self.list(&directory) {
                if kind.is_dir() {
                    waiting.push(path);
                } else if !kind.is_file() || limit < u64::MAX {
                    self.check(&path, limit);
                }
            }
        }
    }

    /// Returns the entries of a directory up to the remaining limit.
    fn list(&mut self, directory: &Path) -> Vec<Entry> {
        if self.found.is_some() || self.room == 0 {
            return Vec::new();
        }
        let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(self.room);
        let entry = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some(Entry { path: entry.path(), name, kind: entry.file_type().ok()? })
        };
        let entries: Vec<_> = entries.filter_map(entry).collect();
        self.room -= entries.len();
        entries
    }

    /// Returns the content of a small file; nothing if it is hidden or cannot be read.
    fn text_of(&self, file: &Path) -> String {
        let read = self.hidden.regular(file).and_then(|file| open::read(file, MAX_CONFIG));
        String::from_utf8_lossy(&read.unwrap_or_default()).into_owned()
    }

    /// Counts one more file. Returns false if the limit is reached, or if an obstacle was found.
    fn count_one(&mut self) -> bool {
        self.room = self.room.saturating_sub(1);
        self.room > 0 && self.found.is_none()
    }

    /// Checks a file of a work tree. git opens no link there.
    fn check_unless_link(&mut self, path: &Path) {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink()) {
            self.check(path, MAX_TEXT);
        }
    }

    /// Checks a file. Follows a link.
    fn check(&mut self, path: &Path, limit: u64) {
        if self.found.is_some() {
            return;
        }
        let Ok(itself) = fs::symlink_metadata(path) else { return };
        let is_link = itself.is_symlink();
        let found = if is_link { fs::metadata(path).ok() } else { Some(itself) };
        let Some(found) = found else { return };
        let shown = || path.strip_prefix(self.base).unwrap_or(path).to_owned();
        if is_endless(&found) || (is_link && found.is_file() && is_of_kernel(path)) {
            self.found = Some(Obstacle::Special { kind: kind_of(&found), path: shown(), is_link });
        } else if found.is_file() && found.len() > limit {
            self.found = Some(Obstacle::Huge { path: shown(), bytes: found.len(), limit });
        }
    }
}

/// Returns the kind of a file without a fixed end, in words.
fn kind_of(found: &fs::Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = found.file_type();
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if found.is_file() { "a file of the kernel" } else { "a special file" }
}

struct Entry {
    path: PathBuf,
    name: String,
    kind: FileType,
}

/// Returns the directory that the repository's directory `own` shares with other work trees, or `own` itself if it
/// shares none.
pub(super) fn shared_by(own: &Path) -> PathBuf {
    let own = named_by(own).unwrap_or_else(|| own.to_owned());
    let shared = first_line(&own.join("commondir"));
    shared.map(|shared| own.join(shared)).unwrap_or(own)
}

/// Returns true if a link leads into `/proc` or `/sys`. Such a file may have no end, or no content yet.
fn is_of_kernel(link: &Path) -> bool {
    link.canonicalize().is_ok_and(|path| ["/proc", "/sys"].iter().any(|kernel| path.starts_with(kernel)))
}

/// Returns true if opening or reading such a file may never end. A socket cannot be opened, and `/dev/null` ends at
/// once.
#[cfg(unix)]
fn is_endless(found: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    let kind = found.file_type();
    let is_null = || fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == found.rdev());
    kind.is_fifo() || kind.is_block_device() || (kind.is_char_device() && !is_null())
}

#[cfg(not(unix))]
fn is_endless(_: &Metadata) -> bool {
    false
}
