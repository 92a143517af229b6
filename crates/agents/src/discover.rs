//! Finds the agent definitions of this package and on disk. Never fails: an unreadable file becomes a diagnostic.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;

use super::catalog::Catalog;
use super::definition::Source;
use super::parse::{MAX_FILE_BYTES, Parsed, READ_FAILED, parse};
use files::{Foreign, Hidden, canonical, open};
use sanitizer::{Code, Diagnostic, Position, Severity, chain, quoted};

/// The maximum number of agent files that are read from one directory. A model could not distinguish more agents, and
/// each file costs a read.
const MAX_FILES: usize = 256;
/// The maximum number of directory entries that a search for agent files examines.
const MAX_ENTRIES: usize = 8192;
/// The maximum depth of folders below a directory of agents. Collections have two levels.
const MAX_DEPTH: usize = 5;
/// The maximum number of folders that are read below a directory of agents.
const MAX_FOLDERS: usize = 256;
/// The folder of installed packages, which contains documents by other authors.
const PACKAGES: &str = "node_modules";
/// The maximum time for one directory. A model waits for it.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// The maximum number of cached files, and the maximum length of a cached prompt. Together they bound the cache to 16
/// MiB.
const MAX_CACHED: usize = 512;
const MAX_CACHED_PROMPT_BYTES: usize = 32 * 1024;
/// The age from which a file's cache entry is valid. A second change of a younger file could have the same timestamp.
const MIN_CACHEABLE_AGE: Duration = Duration::from_secs(2);

const FOREIGN: Code = (Severity::Warning, "AGENT_FILE_FOREIGN");
const DIRECTORY_MISSING: Code = (Severity::Warning, "AGENT_DIRECTORY_MISSING");
const DIRECTORY_MISSING_MESSAGE: &str = "does not exist; create it, or remove it from `agentDirs`";
const DIRECTORY_TOO_LARGE: Code = (Severity::Warning, "AGENT_DIRECTORY_TOO_LARGE");

const NO_PROGRAM_AGENT: Code = (Severity::Error, "AGENT_MISSING");
const NO_PROGRAM_AGENT_MESSAGE: &str =
    "the text defines no agent; expected frontmatter with a `name`, and a prompt";

/// The agents that come with this package, in listing order. They are compiled in, so no directory can replace them.
static BUILTIN: LazyLock<Vec<Parsed>> = LazyLock::new(|| {
    let files = [
        include_str!("../../../agents/explorer.md"),
        include_str!("../../../agents/researcher.md"),
        include_str!("../../../agents/reviewer.md"),
        include_str!("../../../agents/implementer.md"),
        include_str!("../../../agents/tester.md"),
        include_str!("../../../agents/worker.md"),
    ];
    files.map(|file| parse(file.as_bytes(), Source::Builtin, None)).into()
});

/// The agent directories of a project. Only the first existing one counts.
const PROJECT_AGENT_DIRS: [&str; 2] = [".pi/agents", ".agents"];

/// Additional agent directories. Their agents never replace agents of the same source in pi's own directories.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentDirs<'a> {
    /// The user's directories, in order.
    pub user: &'a [PathBuf],
    /// The project's directories, relative to each directory of the project.
    pub project: &'a [String],
    /// Files and directories that no file of a project may lead to, as paths without links.
    pub hidden: &'a [PathBuf],
    /// The texts of the agents that a program defines.
    pub program: &'a [String],
}

/// Finds all existing agents: in this package, in pi's own agent directory, in the project around `cwd`, and in
/// `more`. The search for the project stops at the user's home directory. Blocks. Unchanged files are not read again.
#[must_use]
pub fn discover(cwd: &Path, agent_dir: &Path, home: Option<&Path>, more: AgentDirs<'_>) -> Catalog {
    let mut diagnostics = Vec::new();
    let mut user_dirs = vec![agent_dir.join("agents")];
    for dir in more.user {
        match fs::metadata(dir) {
            Err(error) if is_absent(dir, &error) => {
                diagnostics.push(Diagnostic::new(
                    DIRECTORY_MISSING,
                    DIRECTORY_MISSING_MESSAGE.to_owned(),
                    Some(dir),
                    None,
                ));
            }
            _ => user_dirs.push(dir.clone()),
        }
    }
    let hidden = Hidden::new(more.hidden.to_vec());
    let known: Vec<PathBuf> = user_dirs.iter().map(|dir| canonical(dir)).collect();
    let mut files = BUILTIN.clone();
    for dir in &user_dirs {
        files.extend(directory(dir, Source::User, &hidden, &mut diagnostics));
    }
    let mut read: Vec<PathBuf> = Vec::new();
    let named = more.project.iter().map(|name| vec![name.as_str()]);
    for names in std::iter::once(PROJECT_AGENT_DIRS.to_vec()).chain(named) {
        let found = project_directory(cwd, home, &names, &known, &mut diagnostics);
        if let Some(dir) = found.filter(|dir| !read.contains(dir)) {
            files.extend(directory(&dir, Source::Project, &hidden, &mut diagnostics));
            read.push(dir);
        }
    }
    files.extend(more.program.iter().map(|text| parse(text.as_bytes(), Source::Program, None)));
    Catalog::merge(files, diagnostics)
}

/// Returns the mistakes in the text of an agent that a program defines. Empty if it can run.
#[must_use]
pub fn check_program_agent(text: &str) -> Vec<Diagnostic> {
    let Parsed { agent, mut diagnostics, .. } = parse(text.as_bytes(), Source::Program, None);
    if agent.is_none() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::new(NO_PROGRAM_AGENT, NO_PROGRAM_AGENT_MESSAGE.to_owned(), None, None));
    }
    diagnostics
}

/// Returns the nearest directory with one of these names. Searches upwards to the repository root or the home
/// directory.
fn project_directory(
    cwd: &Path,
    home: Option<&Path>,
    names: &[&str],
    user_dirs: &[PathBuf],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<PathBuf> {
    for dir in project_directories(cwd, home) {
        for candidate in names.iter().map(|name| dir.join(name)) {
            if open::is_placed_by_others(&candidate) {
                diagnostics.push(foreign(&candidate, &Foreign::Owner));
                continue;
            }
            match fs::metadata(&candidate) {
                // The user's own directory is not a project's, even if it is above the working directory.
                Ok(found) if found.is_dir() && user_dirs.contains(&canonical(&candidate)) => {}
                Ok(found) if found.is_dir() && !open::is_trusted(&found) => {
                    diagnostics.push(foreign(&candidate, &Foreign::Owner));
                }
                Ok(found) if found.is_dir() => return Some(candidate),
                Ok(_) => diagnostics.push(unreadable(&candidate, "it is not a directory")),
                Err(error) if is_absent(&candidate, &error) => {}
                Err(error) => diagnostics.push(unreadable(&candidate, &reason(&error))),
            }
        }
    }
    None
}

/// Reads the agent files of one directory and of the folders in it. Upper folders come first, and each folder is
/// sorted by name.
fn directory(dir: &Path, source: Source, hidden: &Hidden, diagnostics: &mut Vec<Diagnostic>) -> Vec<Parsed> {
    let mut paths = Search::new(dir, source).paths(diagnostics);
    if paths.len() > MAX_FILES {
        let first_omitted = paths[MAX_FILES].strip_prefix(dir).unwrap_or(&paths[MAX_FILES]).to_string_lossy();
        let message = format!(
            "has {} agent files; only the first {MAX_FILES} by name are read, {} is not",
            paths.len(),
            quoted(&first_omitted)
        );
        diagnostics.push(too_large(dir, message));
        paths.truncate(MAX_FILES);
    }
    let started = Instant::now();
    let mut files = Vec::new();
    for path in &paths {
        if started.elapsed() > READ_LIMIT {
            let message = format!(
                "takes longer than {} s to read; {} of {} agent files are ignored",
                READ_LIMIT.as_secs(),
                paths.len() - files.len(),
                paths.len()
            );
            diagnostics.push(too_large(dir, message));
            break;
        }
        files.extend(file(path, source, hidden));
    }
    files
}

/// The search for agent files below a directory.
struct Search<'a> {
    root: &'a Path,
    source: Source,
    /// Folders without links, so that a link to an upper folder is followed only once.
    seen: HashSet<PathBuf>,
    entries: usize,
    started: Instant,
    found: Vec<PathBuf>,
}

impl<'a> Search<'a> {
    fn new(root: &'a Path, source: Source) -> Self {
        let seen = HashSet::from([canonical(root)]);
        Self { root, source, seen, entries: 0, started: Instant::now(), found: Vec::new() }
    }

    /// Finds the files, level by level.
    fn paths(mut self, diagnostics: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
        let mut level = vec![self.root.to_path_buf()];
        for depth in 0..=MAX_DEPTH {
            let mut files = Vec::new();
            let mut folders = Vec::new();
            for folder in &level {
                self.read_folder(folder, &mut files, &mut folders, diagnostics);
            }
            if self.started.elapsed() > READ_LIMIT {
                let message =
                    format!("takes longer than {} s to search; the rest is ignored", READ_LIMIT.as_secs());
                diagnostics.push(too_large(self.root, message));
                folders.clear();
            }
            files.sort_unstable();
            self.found.extend(files);
            folders.sort_unstable();
            let all = folders.len();
            let is_last = depth == MAX_DEPTH;
            level =
                folders.into_iter().filter(|folder| !is_last && self.is_new(folder, diagnostics)).collect();
            if all > 0 && (is_last || self.seen.len() > MAX_FOLDERS) {
                let limit = if self.seen.len() > MAX_FOLDERS {
                    format!("{MAX_FOLDERS} folders")
                } else {
                    format!("{MAX_DEPTH} levels of folders")
                };
                let message = format!("has more than {limit}; the rest is ignored");
                diagnostics.push(too_large(self.root, message));
            }
        }
        self.found
    }

    /// Sorts the entries of one folder into files and folders.
    fn read_folder(
        &mut self,
        folder: &Path,
        files: &mut Vec<PathBuf>,
        folders: &mut Vec<PathBuf>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if self.started.elapsed() > READ_LIMIT {
            return;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if !is_absent(folder, &error) {
                    diagnostics.push(unreadable(folder, &reason(&error)));
                }
                return;
            }
        };
        for entry in entries {
            if self.entries == MAX_ENTRIES {
                let message = format!("has more than {MAX_ENTRIES} entries; the rest is ignored");
                diagnostics.push(too_large(self.root, message));
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return diagnostics.push(unreadable(folder, &reason(&error))),
            };
            let path = entry.path();
            let name = entry.file_name();
            let is_skipped = name.as_encoded_bytes().starts_with(b".") || name == PACKAGES;
            // An entry of another kind is checked when it is read.
            let is_folder = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => fs::metadata(&path).is_ok_and(|found| found.is_dir()),
                kind => kind.is_ok_and(|kind| kind.is_dir()),
            };
            match is_folder {
                true if is_skipped => {}
                true => folders.push(path),
                false if is_markdown(&path) => files.push(path),
                false => {}
            }
        }
    }

    /// Returns true if a folder has not been read yet. In a project it must not belong to another user.
    fn is_new(&mut self, folder: &Path, diagnostics: &mut Vec<Diagnostic>) -> bool {
        if self.source == Source::Project {
            let is_foreign = open::is_placed_by_others(folder)
                || fs::metadata(folder).is_ok_and(|found| !open::is_trusted(&found));
            if is_foreign {
                diagnostics.push(foreign(folder, &Foreign::Owner));
                return false;
            }
        }
        self.seen.len() <= MAX_FOLDERS && self.seen.insert(canonical(folder))
    }
}

/// Reads one agent file. Returns `None` if it is a directory.
fn file(path: &Path, source: Source, hidden: &Hidden) -> Option<Parsed> {
    let found = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return None,
        // Opening any other kind of file, such as a named pipe, could block forever.
        Ok(found) if !found.is_file() => return Some(broken(path, source, "it is not a regular file")),
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return Some(broken(path, source, "the symbolic link points to nothing"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(broken(path, source, &reason(&error))),
    };
    let stamp = Stamp::of(&found);
    if let Some(parsed) = cached(path, source, stamp.as_ref()) {
        return Some(parsed);
    }
    let mut bytes = Vec::new();
    let limit = MAX_FILE_BYTES as u64 + 1;
    let opened = if source == Source::Project { hidden.of_project(path) } else { open::regular(path) };
    match opened.and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if open::is_foreign(&error) => {
            return Some(Parsed { diagnostics: vec![foreign(path, &error)], source, ..Parsed::default() });
        }
        Err(error) => return Some(broken(path, source, &reason(&error))),
    }
    let parsed = parse(&bytes, source, Some(path));
    remember(path, source, stamp, &parsed);
    Some(parsed)
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

/// Returns true if nothing exists at this path, not even a dangling link.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound => !path.is_symlink(),
        io::ErrorKind::NotADirectory => !path.exists(),
        _ => false,
    }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the symbolic link points to nothing".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a directory".to_owned(),
        _ => chain(error),
    }
}

fn unreadable(path: &Path, reason: &str) -> Diagnostic {
    Diagnostic::new(READ_FAILED, format!("cannot be read: {reason}"), Some(path), Some(Position::START))
}

fn foreign(path: &Path, why: &dyn std::error::Error) -> Diagnostic {
    Diagnostic::new(FOREIGN, format!("is ignored: {why}"), Some(path), Some(Position::START))
}

fn broken(path: &Path, source: Source, reason: &str) -> Parsed {
    Parsed { diagnostics: vec![unreadable(path, reason)], source, ..Parsed::default() }
}

fn too_large(dir: &Path, message: String) -> Diagnostic {
    Diagnostic::new(DIRECTORY_TOO_LARGE, message, Some(dir), Some(Position::START))
}

/// Identifies one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: SystemTime,
    /// The device, inode, and change time. No program can set the change time back.
    identity: (u64, u64, i64, i64),
}

impl Stamp {
    fn of(found: &fs::Metadata) -> Option<Self> {
        let modified = found.modified().ok()?;
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt as _;
            (found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
        };
        #[cfg(not(unix))]
        let identity = (0, 0, 0, 0);
        Some(Self { bytes: found.len(), modified, identity })
    }
}

type Cache = HashMap<(PathBuf, Source), (Stamp, Parsed)>;

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

fn cached(path: &Path, source: Source, stamp: Option<&Stamp>) -> Option<Parsed> {
    let cache = CACHE.lock();
    let (known, parsed) = cache.get(&(path.to_path_buf(), source))?;
    (Some(known) == stamp).then(|| parsed.clone())
}

fn remember(path: &Path, source: Source, stamp: Option<Stamp>, parsed: &Parsed) {
    let Some(stamp) = stamp else { return };
    let settled = stamp.modified.elapsed().is_ok_and(|age| age > MIN_CACHEABLE_AGE);
    let small = parsed.agent.as_ref().is_none_or(|agent| agent.prompt.len() <= MAX_CACHED_PROMPT_BYTES);
    if !settled || !small {
        return;
    }
    let mut cache = CACHE.lock();
    if cache.len() >= MAX_CACHED {
        cache.clear();
    }
    cache.insert((path.to_path_buf(), source), (stamp, parsed.clone()));
}

/// Returns the directories of a project, from the working directory upwards to the repository root or the home
/// directory. Blocks.
pub fn project_directories(cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let home = home.map(canonical);
    let mut directories = Vec::new();
    for directory in canonical(cwd).ancestors() {
        directories.push(directory.to_owned());
        if home.as_deref() == Some(directory) || directory.join(".git").symlink_metadata().is_ok() {
            break;
        }
    }
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_builtins_except_the_worker_are_readonly_and_none_has_a_diagnostic() {
        for file in BUILTIN.iter().cloned() {
            assert_eq!(file.diagnostics, []);
            let agent = file.agent.expect("a builtin file is a valid agent");
            assert_eq!(agent.readonly, agent.name != "worker");
            assert!(agent.tools.is_some() && !agent.prompt.is_empty(), "{}", agent.name);
        }
    }
}
