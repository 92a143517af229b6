//! Finds the tree that the files make now.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use pi_subagent_warden::remove_tree;
#[cfg(not(unix))]
use std::fs::remove_dir_all as remove_tree;

use super::change::{listed, path_of};
use super::copies::copy_files;
use super::error::SnapshotError;
use super::facts::off_thread;
use crate::git::{Git, GitError, KEPT_OBJECTS, Scope};
use crate::index::{Entry, parse};
use crate::obstacle::{MAX_INDEX, Place, unless_blocked};
use files::{self, Directory, FileError, Hidden};

/// Copies of files, in our directory.
const COPIES: &str = "copies";

/// The size limits of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// The maximum size of all files together that differ from the last commit.
    pub bytes: u64,
    /// The maximum number of these files.
    pub files: usize,
}

/// A tree, and the files missing from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub tree: String,
    /// Separate repositories in the tree.
    pub submodules: Vec<PathBuf>,
    /// Files and directories that are hidden or cannot be read.
    pub omitted: Vec<PathBuf>,
}

/// A work tree, and the directory of ours that takes it in.
#[derive(Clone, Copy)]
pub(crate) struct Recorder<'a> {
    pub git: &'a Git,
    /// The directory of the snapshot.
    pub snapshot_dir: &'a Path,
    /// The root of the work tree.
    pub root: &'a Path,
    /// The objects of its repository.
    pub objects: &'a Path,
    pub object_bytes: usize,
    pub limits: SnapshotLimits,
}

/// The objects that a command sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Objects {
    /// Only ours: if git sees that the repository has an object, writing it would change the time of the repository's
    /// file.
    Snapshot,
    /// Ours and the repository's.
    Both,
}

impl Recorder<'_> {
    /// Records the tree in the index at `index`, which is a copy of the repository's index or our own earlier one.
    /// `is_own_index` if all of its entries are known to match the disk when their times agree.
    pub(crate) async fn record(&self, index: &Path, is_own_index: bool) -> Result<Recorded, SnapshotError> {
        let root = self.root.to_owned();
        let opened = off_thread(move || Directory::open_real(&root).map_err(FileError::at(&root))).await?;
        let root = self.root.to_owned();
        let entries = self.entries(index).await?;
        let entries = off_thread(move || mark_present(&root, entries)).await;
        self.mark_unreliable(index, &entries, is_own_index).await?;
        let refresh =
            ["update-index", "-q", "--unmerged", "--ignore-missing", "--ignore-submodules", "--refresh"];
        // The command fails if files differ, which is not an error here.
        self.try_run(index, Objects::Both, &refresh).await?;
        let differ = ["diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all"];
        let differ = self.run(index, Objects::Both, &differ, Vec::new()).await?;
        let untracked = ["ls-files", "-z", "--others", "--exclude-standard"];
        let (untracked, closed) = self.run_warned(index, Objects::Both, &untracked, Vec::new()).await?;
        let submodules: BTreeSet<Vec<u8>> =
            entries.iter().filter(|entry| entry.is_submodule()).map(|entry| entry.path.clone()).collect();
        let unmerged = entries.iter().filter(|entry| entry.is_unmerged || entry.is_intended);
        let mut paths: BTreeSet<Vec<u8>> = unmerged.map(|entry| entry.path.clone()).collect();
        let unfinished = paths.clone();
        let listed = [differ, untracked];
        let listed = listed.iter().flat_map(|list| list.split(|byte| *byte == 0));
        paths.extend(listed.filter(|path| !path.is_empty()).map(<[u8]>::to_vec));
        paths.retain(|path| !submodules.contains(path));
        let files = paths.len();
        if files > self.limits.files {
            return Err(SnapshotError::TooMany {
                root: self.root.to_owned(),
                files,
                limit: self.limits.files,
            });
        }
        let root = self.root.to_owned();
        let hidden = self.git.hidden().showing(self.root);
        let mut disk = off_thread(move || DiskState::of(&root, paths, &hidden, &unfinished)).await;
        if disk.bytes > self.limits.bytes {
            let root = self.root.to_owned();
            let limit = self.limits.bytes;
            return Err(SnapshotError::TooLarge { root, bytes: disk.bytes, limit });
        }
        if !disk.missing.is_empty() {
            let none = "0".repeat(self.object_bytes * 2);
            let lines = disk.missing.iter().flat_map(|path| line("0", &none, path)).collect();
            self.run(index, Objects::Snapshot, &["update-index", "-z", "--index-info"], lines).await?;
        }
        if !disk.present.is_empty() {
            disk.omitted.extend(self.add_files(index, disk.present).await?);
        }
        // Objects missing from a partial clone are missing here too.
        let seen = if self.git.keeps_times() { Objects::Both } else { Objects::Snapshot };
        let tree = self.run(index, seen, &["write-tree", "--missing-ok"], Vec::new()).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        off_thread(move || {
            let exists = |path: &PathBuf| existing_part(&opened, path) == *path;
            let is_own =
                |path: &PathBuf| exists(path) || entries.iter().any(|entry| path_of(&entry.path) == *path);
            let nested = disk.nested.iter().map(|path| path_of(path)).filter(exists);
            let submodules = submodules.iter().map(|path| path_of(path)).chain(nested).collect();
            disk.omitted.retain(is_own);
            // git shortens a very long path in its warnings.
            let closed = closed.iter().map(|path| existing_part(&opened, path));
            disk.omitted.extend(closed.filter(|path| !path.as_os_str().is_empty()));
            Ok(Recorded { tree, submodules, omitted: disk.omitted.into_iter().collect() })
        })
        .await
    }

    /// Adds files to the index. Returns the files that git refuses.
    ///
    /// git checks a file first and opens it afterwards. In between a child can replace the file by a link to a hidden
    /// file, which git follows. The sandbox keeps git from reading that file. Without a sandbox, or if git fails
    /// because a file was exchanged, git gets copies that only this process can write. On systems other than Unix there
    /// are no sandboxed children that could exchange files.
    async fn add_files(&self, index: &Path, files: Vec<Vec<u8>>) -> Result<Vec<PathBuf>, SnapshotError> {
        let add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        let lines: Vec<u8> = files.iter().flat_map(|path| [path.as_slice(), b"\0"].concat()).collect();
        if self.git.is_sandboxed() || cfg!(not(unix)) {
            match self.run_warned(index, Objects::Snapshot, &add, lines.clone()).await {
                Err(SnapshotError::Git(GitError::Failed { .. })) if cfg!(unix) => {}
                added => return Ok(added?.1),
            }
        }
        let from = self.root.to_owned();
        let to = self.snapshot_dir.join(COPIES);
        let limit = self.limits.bytes;
        let copy_root = to.clone();
        let copying = off_thread(move || {
            // A killed process may have left copies.
            let _ = remove_tree(&to);
            copy_files(&from, &to, &files, limit)
        });
        let refused = match copying.await {
            Ok(Some(unreadable)) => {
                let of_copies = Recorder { root: &copy_root, ..*self };
                let added = of_copies.run_warned(index, Objects::Snapshot, &add, lines).await;
                added.map(|(_, refused)| [unreadable, refused].concat())
            }
            Ok(None) => {
                let root = self.root.to_owned();
                let bytes = limit.saturating_add(1);
                Err(SnapshotError::TooLarge { root, bytes, limit })
            }
            Err(error) => Err(FileError::at(&copy_root)(error).into()),
        };
        let _ = off_thread(move || remove_tree(&copy_root)).await;
        refused
    }

    /// Returns the entries of the index. If the index has another form, git rewrites it first.
    async fn entries(&self, index: &Path) -> Result<Vec<Entry>, SnapshotError> {
        if let Some(entries) = self.read(index).await? {
            return Ok(entries);
        }
        let plain = ["--index-version", "2", "--no-split-index", "--no-untracked-cache", "--no-fsmonitor"];
        let args = [&["update-index"], &plain[..], &["--force-write-index"]].concat();
        self.run(index, Objects::Both, &args, Vec::new()).await?;
        self.read(index).await?.ok_or(SnapshotError::Unreadable { command: "update-index" })
    }

    /// Returns the files and directories that git ignores.
    pub(super) async fn ignored(&self, index: &Path) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        let ask = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        Ok(listed(&self.run(index, Objects::Snapshot, &ask, Vec::new()).await?))
    }

    /// Returns the files that are in an index of ours and not in the tree, because git leaves them out
    /// (`skip-worktree`).
    pub(crate) async fn absent(&self, index: &Path) -> Result<BTreeSet<PathBuf>, SnapshotError> {
        let entries = self.read(index).await?.unwrap_or_default();
        Ok(entries.iter().filter(|entry| entry.is_sparse).map(|entry| path_of(&entry.path)).collect())
    }

    async fn read(&self, index: &Path) -> Result<Option<Vec<Entry>>, SnapshotError> {
        let path = index.to_owned();
        let object_bytes = self.object_bytes;
        off_thread(move || {
            let file = match fs::File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
                Err(error) => return Err(FileError::at(&path)(error).into()),
            };
            let bytes = files::open::read(file, MAX_INDEX).map_err(FileError::at(&path))?;
            Ok(parse(&bytes, object_bytes))
        })
        .await
    }

    /// Makes git read files again that it may consider unchanged although they differ from the repository: files that
    /// were converted at checkout, by filters or for their line ends, and files with `assume-unchanged`. In an
    /// index of ours only the latter are read again.
    ///
    /// Conversions show in the size. A conversion that keeps the size of a file, for example a filter that replaces
    /// letters, is not noticed.
    async fn mark_unreliable(
        &self,
        index: &Path,
        entries: &[Entry],
        is_own_index: bool,
    ) -> Result<(), SnapshotError> {
        let is_candidate = |entry: &&Entry| !entry.is_submodule() && !entry.is_sparse && !entry.is_unmerged;
        let objects: BTreeSet<&str> = if is_own_index {
            BTreeSet::new()
        } else {
            entries.iter().filter(is_candidate).map(|entry| entry.object.as_str()).collect()
        };
        let output = if objects.is_empty() {
            Vec::new()
        } else {
            let input = objects.iter().flat_map(|object| [object.as_bytes(), b"\n"].concat()).collect();
            let ask = ["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"];
            self.run(index, Objects::Both, &ask, input).await?
        };
        let output = String::from_utf8_lossy(&output);
        // For a missing object, git prints a word instead of its size.
        let sizes: HashMap<&str, u64> = output
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(object, size)| Some((object, size.parse().ok()?)))
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "the index has the lower 32 bits")]
        let is_doubtful = |entry: &&Entry| {
            let size = sizes.get(entry.object.as_str()).map(|size| *size as u32);
            entry.is_assumed || (!is_own_index && size != Some(entry.size))
        };
        let doubtful: Vec<u8> = entries
            .iter()
            .filter(is_candidate)
            .filter(is_doubtful)
            .flat_map(|entry| line(&format!("{:o}", entry.mode), &entry.object, &entry.path))
            .collect();
        if !doubtful.is_empty() {
            self.run(index, Objects::Both, &["update-index", "-z", "--index-info"], doubtful).await?;
        }
        Ok(())
    }

    /// Returns the output of a command.
    async fn run(
        &self,
        index: &Path,
        objects: Objects,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, SnapshotError> {
        Ok(self.run_warned(index, objects, args, input).await?.0)
    }

    /// Returns the output of a command, and the paths that git skips with a warning.
    async fn run_warned(
        &self,
        index: &Path,
        objects: Objects,
        args: &[&str],
        input: Vec<u8>,
    ) -> Result<(Vec<u8>, Vec<PathBuf>), SnapshotError> {
        let others = alternates(self.objects, self.snapshot_dir);
        let writable = [self.snapshot_dir];
        let reads = [self.objects];
        let env = self.env(index, objects, &others);
        // Boxed to keep the surrounding futures small.
        let git = Box::pin(self.git.run_captured(self.scope(&writable, &reads, &env), args, input));
        let captured = unless_blocked(self.place(), self.git.hidden(), git).await??;
        Ok((captured.stdout, skipped_paths(&captured.stderr)))
    }

    /// Runs a command that may fail where files differ.
    async fn try_run(&self, index: &Path, objects: Objects, args: &[&str]) -> Result<(), SnapshotError> {
        let others = alternates(self.objects, self.snapshot_dir);
        let writable = [self.snapshot_dir];
        let reads = [self.objects];
        let env = self.env(index, objects, &others);
        let git = Box::pin(self.git.try_run(self.scope(&writable, &reads, &env), args, Vec::new()));
        unless_blocked(self.place(), self.git.hidden(), git).await??;
        Ok(())
    }

    fn scope<'a>(
        &'a self,
        writable: &'a [&'a Path],
        reads: &'a [&'a Path],
        env: &'a [(&'static str, &'a OsStr)],
    ) -> Scope<'a> {
        Scope { git_dir: self.snapshot_dir, writable, reads, cwd: self.root, env }
    }

    fn place(&self) -> Place {
        Place::Files { root: self.root.to_owned(), objects: self.objects.to_owned() }
    }

    fn env<'a>(
        &'a self,
        index: &'a Path,
        objects: Objects,
        others: &'a OsStr,
    ) -> Vec<(&'static str, &'a OsStr)> {
        let mut env = vec![("GIT_WORK_TREE", self.root.as_os_str()), ("GIT_INDEX_FILE", index.as_os_str())];
        if objects == Objects::Both {
            env.push((ALTERNATES, others));
        }
        env
    }
}

/// The variable with further directories of objects.
pub(crate) const ALTERNATES: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Returns the value of that variable for the objects of a repository and our own copies.
fn alternates(objects: &Path, snapshot_dir: &Path) -> std::ffi::OsString {
    let kept_objects = Some(snapshot_dir.join(KEPT_OBJECTS)).filter(|path| path.is_dir());
    let all: Vec<_> = [objects].into_iter().chain(kept_objects.as_deref()).map(alternate).collect();
    all.join(OsStr::new(":"))
}

/// Quotes a directory for the list of further directories with objects, because a colon would separate two directories.
pub(crate) fn alternate(directory: &Path) -> std::ffi::OsString {
    let mut quoted = vec![b'"'];
    for byte in directory.as_os_str().as_encoded_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b' '..=b'~' => quoted.push(*byte),
            _ => write!(quoted, "\\{byte:03o}").expect("a vector takes everything"),
        }
    }
    quoted.push(b'"');
    String::from_utf8(quoted).expect("it is ASCII").into()
}

/// Returns a line for `git update-index --index-info`.
pub(crate) fn line(mode: &str, object: &str, path: &[u8]) -> Vec<u8> {
    [format!("{mode} {object} 0\t").as_bytes(), path, b"\0"].concat()
}

/// Returns the paths that git skips according to its warnings: directories that it cannot list, and names that it
/// refuses.
fn skipped_paths(warnings: &str) -> Vec<PathBuf> {
    let path = |line: &str| match line.strip_prefix("warning: could not open directory '") {
        Some(closed) => Some(closed.rsplit_once('\'').map_or(closed, |(path, _)| path).into()),
        None => line.strip_prefix("Ignoring path ").map(PathBuf::from),
    };
    warnings.lines().filter_map(path).collect()
}

/// The entries on the disk where git reports a difference.
#[derive(Default)]
struct DiskState {
    /// Regular files and links.
    present: Vec<Vec<u8>>,
    /// The tracked files that are no longer regular files or links.
    missing: Vec<Vec<u8>>,
    /// Separate repositories.
    nested: Vec<Vec<u8>>,
    omitted: BTreeSet<PathBuf>,
    bytes: u64,
}

impl DiskState {
    /// Checks these paths on the disk. For `unfinished` paths the index has no complete entry.
    fn of(root: &Path, paths: BTreeSet<Vec<u8>>, hidden: &Hidden, unfinished: &BTreeSet<Vec<u8>>) -> Self {
        let mut disk = Self::default();
        let mut directories = Directories { root, known: HashMap::new() };
        for path in paths {
            let relative = path_of(&path);
            if let Some(place) = hidden.place_of(&root.join(&relative)) {
                let place = place.strip_prefix(root).map_or(relative, Path::to_path_buf);
                disk.omitted.insert(place);
                // The version in the index stays: children can read it in the repository.
                disk.missing.extend(unfinished.contains(&path).then_some(path));
                continue;
            }
            if path.ends_with(b"/") {
                disk.nested.push(path);
                continue;
            }
            if !directories.has_real_parents(&relative) {
                disk.missing.push(path);
                continue;
            }
            match fs::symlink_metadata(root.join(&relative)) {
                Ok(found) if found.is_symlink() => disk.present.push(path),
                Ok(found) if found.is_file() && is_readable(&root.join(&relative)) => {
                    disk.bytes = disk.bytes.saturating_add(found.len());
                    disk.present.push(path);
                }
                Ok(found) if found.is_file() => {
                    disk.omitted.insert(relative);
                    disk.missing.push(path);
                }
                found => {
                    // A path that is too long, or is in a directory that cannot be entered.
                    disk.omitted
                        .extend(found.err().filter(|error| !is_nothing_there(error)).map(|_| relative));
                    disk.missing.push(path);
                }
            }
        }
        disk
    }
}

/// Returns the part of a path that exists below a root.
///
/// git lists a work tree by its path. While a child has exchanged the root with a link to a hidden directory, git lists
/// the names of hidden files, and these do not exist below the directory that was opened as the root.
fn existing_part(root: &Directory, path: &Path) -> PathBuf {
    let mut existing = PathBuf::new();
    let mut directory = None;
    for name in path {
        match directory.as_ref().unwrap_or(root).entry(name) {
            Ok(found) => {
                existing.push(name);
                let files::Entry::Directory(below) = found else { break };
                directory = Some(below);
            }
            Err(error) if is_nothing_there(&error) => break,
            Err(_) => return path.to_owned(),
        }
    }
    existing
}

fn is_nothing_there(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Marks the files that exist in the tree although git was told to leave them out (`skip-worktree`). People do this
/// with files that they change locally.
fn mark_present(root: &Path, mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut directories = Directories { root, known: HashMap::new() };
    for entry in entries.iter_mut().filter(|entry| entry.is_sparse && !entry.is_submodule()) {
        let path = path_of(&entry.path);
        let is_present = directories.has_real_parents(&path)
            && fs::symlink_metadata(root.join(&path))
                .is_ok_and(|found| found.is_file() || found.is_symlink());
        (entry.is_sparse, entry.is_assumed) = (!is_present, is_present);
    }
    entries
}

/// The real directories below a root, without links.
struct Directories<'a> {
    root: &'a Path,
    known: HashMap<PathBuf, bool>,
}

impl Directories<'_> {
    /// Returns true if all parents of a path are real directories. A path behind a link is not part of the tree.
    fn has_real_parents(&mut self, path: &Path) -> bool {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return true };
        if let Some(known) = self.known.get(parent) {
            return *known;
        }
        let is_real = self.has_real_parents(parent)
            && fs::symlink_metadata(self.root.join(parent)).is_ok_and(|found| found.is_dir());
        self.known.insert(parent.to_owned(), is_real);
        is_real
    }
}

#[cfg(unix)]
fn is_readable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok()
}

#[cfg(not(unix))]
fn is_readable(path: &Path) -> bool {
    fs::File::open(path).is_ok()
}
