//! Finds the files of a tree that run code later or instruct agents, and compares two searches.
//!
//! The search compares names and reads no contents. It visits every directory, small ones first: a child that fills a
//! directory with files does not keep the search from the others. If a limit ends the search, or a directory cannot be
//! read, [`WatchedFiles::gap`] says so.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirEntry, FileType, ReadDir};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::names::{HEAD, IN_REPOSITORY, folded, is_flagged, is_installed, role_of};
use super::root::{REPOSITORY, external_dirs};
use super::scan::could_be_opened;
use sanitizer::figures::{bytes, counted, duration};
use sanitizer::quoted_path;

/// The number of entries of a directory that are read before the search continues in other directories.
const SLICE: usize = 4_096;
/// The maximum number of directories that are partly read at a time. Each is an open file.
const MAX_OPEN: usize = 64;
/// The maximum number of bytes for remembered paths. A child can make millions of long paths.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that a path costs in addition to its name.
const PATH_COST: u64 = 128;
/// The maximum number of bytes of a repository's configuration that are read.
const MAX_CONFIG: u64 = 256 * 1024;
/// The maximum number of words of a setting that are looked up.
const MAX_PATHS_PER_VALUE: usize = 32;
/// The maximum depth of files that include one another.
const MAX_INCLUDES: usize = 4;
/// The number of entries between two checks of the clock.
const CLOCK: usize = 512;
/// The maximum number of unreadable directories that are named.
const MAX_NAMED: usize = 3;

/// The entries that a search may see. The time ends most searches first.
const MAX_ENTRIES: usize = 20_000_000;

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    /// The time that it may take. A million entries take about a second if the kernel knows them.
    pub time: Duration,
    /// The entries that it may see.
    pub entries: usize,
}

impl SearchLimits {
    /// Limits the time of a search.
    #[must_use]
    pub const fn within(time: Duration) -> Self {
        Self { time, entries: MAX_ENTRIES }
    }
}

/// The mark of a file, which differs after every change and if another file takes its place. No program can set it
/// back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(u64, u64, i64, i64);

/// The files of a tree that run code later or instruct agents, at one moment.
#[derive(Debug, Default)]
pub struct WatchedFiles {
    /// By their paths, relative to the root.
    files: BTreeMap<PathBuf, Mark>,
    /// The reason why the search ended early, if it did.
    end: Option<End>,
    /// The directories that could not be read. The flag is true if a child could have entered the directory.
    unreadable: BTreeMap<PathBuf, (Option<Mark>, bool)>,
    /// Files and directories in the tree that a link with one of the names leads to, or that a repository's
    /// configuration names. Relative to the root.
    targets: BTreeSet<PathBuf>,
}

/// The limit that ended a search.
#[derive(Clone, Copy, Debug)]
enum End {
    Time(Duration),
    Entries(usize),
    Memory,
}

/// The purpose of reading a directory.
#[derive(Clone, Copy, Debug)]
enum ReadPurpose {
    /// Names with a role.
    Names { in_installed: bool },
    /// Every file.
    All,
    /// The files of a repository that run code.
    Configuration,
    /// The repositories of submodules and linked work trees.
    Repositories,
}

impl WatchedFiles {
    /// Searches a tree, and the directories `more` in it, for files that run code later. Blocks.
    #[must_use]
    pub fn find(root: &Path, more: &[PathBuf], limits: SearchLimits) -> Self {
        let mut search = Search::new(root, limits);
        search.run(more);
        search.found
    }

    /// Creates the result of a search that has found nothing within its time.
    #[must_use]
    pub fn unknown(time: Duration) -> Self {
        Self { end: Some(End::Time(time)), ..Self::default() }
    }

    /// Returns the paths of files that have appeared or changed since, relative to the root. A removed file runs
    /// nothing. A file that this search has not seen counts as changed, even if a limit ended the search.
    #[must_use]
    pub fn changes(&self, later: &Self) -> BTreeSet<PathBuf> {
        let is_new = |(path, mark): &(&PathBuf, &Mark)| self.files.get(*path) != Some(mark);
        later.files.iter().filter(is_new).map(|(path, _)| path.clone()).collect()
    }

    /// Returns true if a change of a path would be flagged, even of a path that does not exist in the tree.
    pub(crate) fn flags(&self, path: &Path) -> bool {
        is_flagged(path) || path.ancestors().any(|above| self.targets.contains(above))
    }

    /// Returns the limit that ended the search, in words.
    pub(crate) fn limit(&self) -> Option<String> {
        self.end.map(|end| match end {
            End::Time(time) => format!("the search stopped after {}", duration(time)),
            End::Entries(entries) => format!("the search stopped after {}", counted(entries, "entry")),
            End::Memory => format!("the search stopped at {} of paths", bytes(MAX_BYTES)),
        })
    }

    /// Returns the reason if the search may have missed files that have changed since the search `before`.
    #[must_use]
    pub fn gap(&self, before: Option<&Self>) -> Option<Gap> {
        let limit = self.limit();
        let is_new = |(path, now): &(&PathBuf, &(Option<Mark>, bool))| {
            let (mark, could_enter) = now;
            let known = before.and_then(|before| before.unreadable.get(*path));
            *could_enter || mark.is_none() || known != Some(now)
        };
        let mut unreadable = self.unreadable.iter().filter(is_new);
        let named = unreadable.by_ref().take(MAX_NAMED);
        let named: Vec<String> = named.map(|(path, _)| path.to_string_lossy().into_owned()).collect();
        let is_whole = limit.is_none() && named.is_empty();
        (!is_whole).then(|| Gap { limit, unreadable: named, more: unreadable.count() })
    }
}

/// The reason why a search was incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The limit that ended it, in words.
    limit: Option<String>,
    /// The first directories that could not be read.
    unreadable: Vec<String>,
    /// The number of the others.
    more: usize,
}

impl Gap {
    /// Creates a gap for a reason other than a search.
    #[must_use]
    pub fn because(why: &str) -> Self {
        Self { limit: Some(why.to_owned()), unreadable: Vec::new(), more: 0 }
    }

    /// Returns the reasons in words. `shown` prepares the path of a directory to be quoted.
    pub fn message(&self, shown: impl Fn(&str) -> String) -> String {
        let Self { limit, unreadable, more } = self;
        let mut names: Vec<String> = unreadable.iter().map(|path| quoted_path(&shown(path))).collect();
        names.extend((*more > 0).then(|| format!("{more} more")));
        let closed =
            (!names.is_empty()).then(|| format!("directories that could not be read: {}", names.join(", ")));
        limit.iter().cloned().chain(closed).collect::<Vec<_>>().join("; ")
    }
}

/// A directory that is being read.
struct Open {
    path: PathBuf,
    purpose: ReadPurpose,
    entries: ReadDir,
}

struct Search<'a> {
    root: &'a Path,
    limits: SearchLimits,
    until: Option<Instant>,
    found: WatchedFiles,
    entries: usize,
    bytes: u64,
    /// Directories that were found and not yet opened.
    waiting: VecDeque<(PathBuf, ReadPurpose)>,
    /// Directories with more entries than one slice.
    large: VecDeque<Open>,
    /// The targets of links, and directories that repositories name: each is entered once.
    entered: BTreeSet<PathBuf>,
    /// The configuration files of repositories that were read, without links.
    configurations: BTreeSet<PathBuf>,
}

impl<'a> Search<'a> {
    fn new(root: &'a Path, limits: SearchLimits) -> Self {
        Self {
            root,
            limits,
            until: Instant::now().checked_add(limits.time),
            found: WatchedFiles::default(),
            entries: 0,
            bytes: 0,
            waiting: VecDeque::new(),
            large: VecDeque::new(),
            entered: BTreeSet::new(),
            configurations: BTreeSet::new(),
        }
    }

    fn run(&mut self, more: &[PathBuf]) {
        for path in more {
            let path = self.root.join(path);
            let is_inside = |real: PathBuf| real.starts_with(self.root) && real != *self.root;
            if path.canonicalize().is_ok_and(is_inside) {
                self.found.targets.insert(self.inner(&path));
                self.watch_all(&path);
            }
        }
        self.enter(self.root.to_owned(), ReadPurpose::Names { in_installed: false });
        while !self.has_ended() {
            if let Some((path, purpose)) = self.waiting.pop_front() {
                self.bytes -= cost(&path);
                self.open(path, purpose);
            } else if let Some(open) = self.large.pop_front() {
                self.read(open);
            } else {
                return;
            }
        }
    }

    fn open(&mut self, path: PathBuf, purpose: ReadPurpose) {
        match purpose {
            ReadPurpose::Configuration => return self.repository(&path),
            ReadPurpose::Names { .. } if path != *self.root && is_repository(&path) => self.repository(&path),
            _ => {}
        }
        match fs::read_dir(&path) {
            Ok(entries) => self.read(Open { path, purpose, entries }),
            Err(error) => self.unreadable(&path, error.kind()),
        }
    }

    /// Reads a slice of a directory, or the rest of it if too many are open.
    fn read(&mut self, mut open: Open) {
        let room = if self.large.len() < MAX_OPEN { SLICE } else { usize::MAX };
        for read in 0..room {
            if read % CLOCK == 0 && self.has_ended() {
                return;
            }
            match open.entries.next() {
                None => return,
                Some(Ok(entry)) => self.entry(&open.path, open.purpose, &entry),
                Some(Err(error)) => return self.unreadable(&open.path, error.kind()),
            }
        }
        self.large.push_back(open);
    }

    fn entry(&mut self, directory: &Path, purpose: ReadPurpose, entry: &DirEntry) {
        self.entries += 1;
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return self.unreadable(&entry.path(), error.kind()),
        };
        match purpose {
            ReadPurpose::Names { in_installed } => self.named(directory, entry, kind, in_installed),
            ReadPurpose::All => self.watch_all(&entry.path()),
            ReadPurpose::Repositories if kind.is_dir() => {
                let path = entry.path();
                if exists(&path.join(HEAD)) {
                    self.repository(&path);
                }
                // The name of a submodule may have slashes.
                if !exists(&path.join("objects")) {
                    self.enter(path, ReadPurpose::Repositories);
                }
            }
            ReadPurpose::Repositories | ReadPurpose::Configuration => {}
        }
    }

    fn named(&mut self, directory: &Path, entry: &DirEntry, kind: FileType, in_installed: bool) {
        let name = entry.file_name();
        let role = role_of(&name);
        if role.is_some_and(|role| role.is_protected) {
            return self.protected(&entry.path(), &name);
        }
        if let Some(role) = role.filter(|_| !in_installed) {
            if role.runs_later(directory.file_name()) {
                return self.watch_all(&entry.path());
            }
            if kind.is_symlink() && !role.contents.is_empty() {
                let path = entry.path();
                self.watch(&path);
                return role.contents.iter().for_each(|(name, _)| self.watch_all(&path.join(name)));
            }
        }
        if kind.is_dir() {
            let in_installed = in_installed || is_installed(&name);
            self.enter(entry.path(), ReadPurpose::Names { in_installed });
        }
    }

    fn protected(&mut self, path: &Path, name: &OsStr) {
        self.watch(path);
        if folded(name) != REPOSITORY {
            return self.watch_all(path);
        }
        self.repository(path);
        let Some(work_tree) = path.parent() else { return };
        for repository in std::iter::once(path.to_owned()).chain(external_dirs(path)) {
            for config in ["config", "config.worktree"] {
                self.configuration(&repository.join(config), work_tree, path, MAX_INCLUDES);
            }
        }
    }

    /// Watches the directory of hooks and the files of the tree that a repository's configuration names: git runs or
    /// reads them.
    fn configuration(&mut self, config: &Path, work_tree: &Path, repository: &Path, includes: usize) {
        let Ok(real) = config.canonicalize() else { return };
        let is_include = includes < MAX_INCLUDES;
        if (is_include && !real.starts_with(self.root)) || !self.configurations.insert(real) {
            return;
        }
        let Some(text) = configuration_text(config) else { return };
        let config_dir = config.parent().unwrap_or(work_tree);
        for (key, value) in settings(&text) {
            if self.has_ended() {
                return;
            }
            if key == "core.hookspath" {
                self.follow(&work_tree.join(unquoted(&value)), repository);
            }
            let includes_file = key.starts_with("include") && key.rsplit('.').next() == Some("path");
            let whole = unquoted(&value);
            let names = path_candidates(&value).chain(includes_file.then_some(&*whole));
            for named in names.flat_map(|word| [work_tree.join(word), config_dir.join(word)]) {
                if !fs::metadata(&named).is_ok_and(|found| found.is_file()) {
                    continue;
                }
                self.follow(&named, repository);
                if includes > 0 && includes_file {
                    self.configuration(&named, work_tree, repository, includes - 1);
                }
            }
        }
    }

    /// Watches the files of a repository that run code.
    fn repository(&mut self, path: &Path) {
        if !self.count_path(path) || !self.entered.insert(path.to_owned()) {
            return;
        }
        for name in IN_REPOSITORY {
            self.watch_all(&path.join(name));
        }
        for name in ["modules", "worktrees"] {
            let path = path.join(name);
            if fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
                self.enter(path, ReadPurpose::Repositories);
            }
        }
        // A directory that lends its objects and its configuration to others needs no `HEAD`.
        let shared = external_dirs(path).into_iter().filter(|shared| shared.starts_with(self.root));
        for shared in shared.collect::<Vec<_>>() {
            self.enter(shared, ReadPurpose::Configuration);
        }
    }

    /// Watches a file, all files below a directory, or a link and its target.
    fn watch_all(&mut self, path: &Path) {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => self.enter(path.to_owned(), ReadPurpose::All),
            Ok(found) => {
                self.insert(path, mark_of(&found));
                if found.is_symlink() {
                    self.follow(path, path);
                }
            }
            Err(error) => self.unreadable(path, error.kind()),
        }
    }

    /// Watches the target of a path that `source` names, if it is in the tree and does not contain the source.
    fn follow(&mut self, path: &Path, source: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        let is_inside = real.starts_with(self.root) && !source.starts_with(&real);
        if is_inside && self.count_path(&real) && self.entered.insert(real.clone()) {
            self.found.targets.insert(self.inner(&real));
            self.watch_all(&real);
        }
    }

    /// Watches one file, or watches that a directory is not replaced by another one.
    fn watch(&mut self, path: &Path) {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => {
                // The files in it have marks of their own.
                let Mark(device, inode, ..) = mark_of(&found);
                self.insert(path, Mark(device, inode, 0, 0));
            }
            Ok(found) => self.insert(path, mark_of(&found)),
            Err(error) => self.unreadable(path, error.kind()),
        }
    }

    fn insert(&mut self, path: &Path, mark: Mark) {
        if self.count_path(path) {
            self.found.files.insert(self.inner(path), mark);
        }
    }

    fn enter(&mut self, path: PathBuf, purpose: ReadPurpose) {
        if self.count_path(&path) {
            self.waiting.push_back((path, purpose));
        }
    }

    /// Notes a path that cannot be read. A path that no longer exists, or in which no child could write, is not noted.
    fn unreadable(&mut self, path: &Path, why: ErrorKind) {
        let is_missing = matches!(why, ErrorKind::NotFound | ErrorKind::NotADirectory);
        if is_missing
            || (why == ErrorKind::PermissionDenied && !could_be_opened(path))
            || !self.count_path(path)
        {
            return;
        }
        let found = fs::symlink_metadata(path).ok();
        let could_enter = found.as_ref().is_none_or(could_be_entered);
        self.found.unreadable.insert(self.inner(path), (found.as_ref().map(mark_of), could_enter));
    }

    /// Returns the path relative to the root, if it is in the tree.
    fn inner(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(self.root) {
            Ok(inner) if inner.as_os_str().is_empty() => PathBuf::from("."),
            Ok(inner) => inner.to_owned(),
            Err(_) => path.to_owned(),
        }
    }

    /// Counts the bytes of a path. The search ends if there are too many.
    fn count_path(&mut self, path: &Path) -> bool {
        self.bytes += cost(path);
        if self.bytes > MAX_BYTES {
            self.found.end.get_or_insert(End::Memory);
        }
        self.found.end.is_none()
    }

    fn has_ended(&mut self) -> bool {
        let SearchLimits { time, entries } = self.limits;
        if self.entries > entries {
            self.found.end.get_or_insert(End::Entries(entries));
        } else if self.until.is_some_and(|until| Instant::now() >= until) {
            self.found.end.get_or_insert(End::Time(time));
        }
        self.found.end.is_some()
    }
}

fn cost(path: &Path) -> u64 {
    path.as_os_str().len() as u64 + PATH_COST
}

/// Returns the text of a configuration of git, without asking git.
fn configuration_text(config: &Path) -> Option<String> {
    let file = files::open::regular(config).ok()?;
    let text = files::open::read(file, MAX_CONFIG).ok()?;
    Some(String::from_utf8_lossy(&text).replace("\\\r\n", "").replace("\\\n", ""))
}

/// Returns the settings of a configuration: `section.key` or `section.subsection.key` in small letters, and the value.
fn settings(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in text.lines().map(str::trim) {
        let mut setting = line;
        if let Some(line) = line.strip_prefix('[') {
            let mut in_quotes = false;
            let is_end = |letter: char| {
                in_quotes ^= letter == '"';
                letter == ']' && !in_quotes
            };
            let (name, rest) = line.split_at(line.find(is_end).unwrap_or(line.len()));
            section = name.split_whitespace().collect::<Vec<_>>().join(".").to_lowercase();
            // A key may follow its section on the same line.
            setting = rest.trim_start_matches(']');
        }
        let Some((key, value)) = setting.split_once('=') else { continue };
        settings.push((format!("{section}.{}", key.trim().to_lowercase()), value.trim().to_owned()));
    }
    settings
}

/// Returns a value without its quotes and without a comment after it.
fn unquoted(value: &str) -> String {
    let mut in_quotes = false;
    let mut is_escaped = false;
    let mut plain = String::new();
    for letter in value.chars() {
        match letter {
            _ if is_escaped => plain.push(letter),
            '"' => in_quotes = !in_quotes,
            '#' | ';' if !in_quotes => break,
            '\\' => {}
            _ => plain.push(letter),
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    plain.trim_end().to_owned()
}

/// Returns the words of a value that can be paths of a tree: the value may be a command.
fn path_candidates(value: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| letter.is_whitespace() || "\"'`;|&(){}<>=$!,".contains(letter);
    // Most other words are names of branches or remotes.
    value.split(is_between).filter(|word| word.contains(['/', '.'])).take(MAX_PATHS_PER_VALUE)
}

/// Returns true if an entry with this name exists, even a dangling link.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Returns true if git treats a directory as a repository. The names decide, so links count like files.
fn is_repository(directory: &Path) -> bool {
    let has = |name: &str| exists(&directory.join(name));
    has(HEAD) && (has("commondir") || (has("objects") && has("refs")))
}

/// Returns the mark of a file.
#[cfg(unix)]
#[must_use]
pub fn mark_of(found: &fs::Metadata) -> Mark {
    use std::os::unix::fs::MetadataExt as _;
    Mark(found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
}

/// Returns the mark of a file, which a program can set back here.
#[cfg(not(unix))]
pub fn mark_of(found: &fs::Metadata) -> Mark {
    let modified = found.modified().ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    Mark(0, found.len(), i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos()))
}

/// Returns true if the owner of a directory may use names in it, readable or not.
#[cfg(unix)]
fn could_be_entered(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn could_be_entered(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
pub(crate) mod tests;
