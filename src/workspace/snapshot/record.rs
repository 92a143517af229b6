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
use crate::files::{FileError, Hidden};
use crate::workspace::git::{Git, GitError, KEPT, Scope};
use crate::workspace::index::{Entry, parse};
use crate::workspace::obstacle::{MAX_INDEX, Place, unless_blocked};

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
pub(in crate::workspace) struct Recorded {
    pub tree: String,
    /// Separate repositories in the tree.
    pub submodules: Vec<PathBuf>,
    /// Files and directories that are hidden or cannot be read.
    pub left_out: Vec<PathBuf>,
}

/// A work tree, and the directory of ours that takes it in.
#[derive(Clone, Copy)]
pub(in crate::workspace) struct Recorder<'a> {
    pub git: &'a Git,
    /// Our directory.
    pub ours: &'a Path,
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
    Ours,
    /// Ours and the repository's.
    Both,
}

impl Recorder<'_> {
    /// Records the tree in the index at `index`, which is a copy of the repository's index or our own earlier one.
    /// `is_ours` if all of its entries are known to match the disk when their times agree.
    pub(in crate::workspace) async fn record(
        &self,
        index: &Path,
        is_ours: bool,
    ) -> Result<Recorded, SnapshotError> {
        let root = self.root.to_owned();
        let entries = self.entries(index).await?;
        let entries = off_thread(move || with_present(&root, entries)).await;
        self.distrust(index, &entries, is_ours).await?;
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
        let unmerged = entries.into_iter().filter(|entry| entry.is_unmerged || entry.is_intended);
        let mut paths: BTreeSet<Vec<u8>> = unmerged.map(|entry| entry.path).collect();
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
        let mut looked = off_thread(move || Looked::at(&root, paths, &hidden, &unfinished)).await;
        looked.left_out.extend(closed);
        if looked.bytes > self.limits.bytes {
            let root = self.root.to_owned();
            let limit = self.limits.bytes;
            return Err(SnapshotError::TooLarge { root, bytes: looked.bytes, limit });
        }
        if !looked.gone.is_empty() {
            let none = "0".repeat(self.object_bytes * 2);
            let lines = looked.gone.iter().flat_map(|path| line("0", &none, path)).collect();
            self.run(index, Objects::Ours, &["update-index", "-z", "--index-info"], lines).await?;
        }
        if !looked.there.is_empty() {
            looked.left_out.extend(self.take(index, looked.there).await?);
        }
        // Objects missing from a partial clone are missing here too.
        let seen = if self.git.keeps_times() { Objects::Both } else { Objects::Ours };
        let tree = self.run(index, seen, &["write-tree", "--missing-ok"], Vec::new()).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let nested = looked.nested.into_iter().chain(submodules).map(|path| path_of(&path));
        Ok(Recorded { tree, submodules: nested.collect(), left_out: looked.left_out.into_iter().collect() })
    }

    /// Adds files to the index. Returns the files that git refuses.
    ///
    /// git checks a file first and opens it afterwards. In between a child can replace the file by a link to a hidden
    /// file, which git follows. The sandbox keeps git from reading that file. Without a sandbox, or if git fails
    /// because a file was exchanged, git gets copies that only this process can write. On systems other than Unix there
    /// are no sandboxed children that could exchange files.
    async fn take(&self, index: &Path, files: Vec<Vec<u8>>) -> Result<Vec<PathBuf>, SnapshotError> {
        let take = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        let lines: Vec<u8> = files.iter().flat_map(|path| [path.as_slice(), b"\0"].concat()).collect();
        if self.git.is_sandboxed() || cfg!(not(unix)) {
            match self.run_warned(index, Objects::Ours, &take, lines.clone()).await {
                Err(SnapshotError::Git(GitError::Failed { .. })) if cfg!(unix) => {}
                taken => return Ok(taken?.1),
            }
        }
        let from = self.root.to_owned();
        let to = self.ours.join(COPIES);
        let limit = self.limits.bytes;
        let ours = to.clone();
        let copied = off_thread(move || {
            // A killed process may have left copies.
            let _ = remove_tree(&to);
            copy_files(&from, &to, &files, limit)
        });
        let copied = copied.await;
        let taken = match copied {
            Ok(Some(unreadable)) => {
                let of_copies = Recorder { root: &ours, ..*self };
                let taken = of_copies.run_warned(index, Objects::Ours, &take, lines).await;
                taken.map(|(_, refused)| [unreadable, refused].concat())
            }
            Ok(None) => {
                let root = self.root.to_owned();
                let bytes = limit.saturating_add(1);
                Err(SnapshotError::TooLarge { root, bytes, limit })
            }
            Err(error) => Err(FileError::at(&ours)(error).into()),
        };
        let _ = off_thread(move || remove_tree(&ours)).await;
        taken
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
        Ok(listed(&self.run(index, Objects::Ours, &ask, Vec::new()).await?))
    }

    /// Returns the files that an index of ours has and the tree does not, because git was told to leave them out
    /// (`skip-worktree`).
    pub(in crate::workspace) async fn absent(
        &self,
        index: &Path,
    ) -> Result<BTreeSet<PathBuf>, SnapshotError> {
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
            let bytes = crate::files::open::read(file, MAX_INDEX).map_err(FileError::at(&path))?;
            Ok(parse(&bytes, object_bytes))
        })
        .await
    }

    /// Makes git read files again that it may consider unchanged although they differ from the repository: files that
    /// were converted at checkout, by filters or for their line ends, and files that git was told not to check. In an
    /// index of ours only the latter are read again.
    ///
    /// Conversions show in the size. A conversion that keeps the size of a file, for example a filter that replaces
    /// letters, is not noticed.
    async fn distrust(&self, index: &Path, entries: &[Entry], is_ours: bool) -> Result<(), SnapshotError> {
        let looks_for = |entry: &&Entry| !entry.is_submodule() && !entry.is_sparse && !entry.is_unmerged;
        let objects: BTreeSet<&str> = if is_ours {
            BTreeSet::new()
        } else {
            entries.iter().filter(looks_for).map(|entry| entry.object.as_str()).collect()
        };
        let said = if objects.is_empty() {
            Vec::new()
        } else {
            let input = objects.iter().flat_map(|object| [object.as_bytes(), b"\n"].concat()).collect();
            let ask = ["cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer"];
            self.run(index, Objects::Both, &ask, input).await?
        };
        let said = String::from_utf8_lossy(&said);
        // For a missing object, git prints a word instead of its size.
        let sizes: HashMap<&str, u64> = said
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(object, size)| Some((object, size.parse().ok()?)))
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "the index has the lower 32 bits")]
        let is_doubtful = |entry: &&Entry| {
            let size = sizes.get(entry.object.as_str()).map(|size| *size as u32);
            entry.is_assumed || (!is_ours && size != Some(entry.size))
        };
        let doubtful: Vec<u8> = entries
            .iter()
            .filter(looks_for)
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
        let others = alternates(self.objects, self.ours);
        let ours = [self.ours];
        let reads = [self.objects];
        let env = self.env(index, objects, &others);
        // Boxed to keep the surrounding futures small.
        let git = Box::pin(self.git.run_captured(self.scope(&ours, &reads, &env), args, input));
        let captured = unless_blocked(self.place(), self.git.hidden(), git).await??;
        Ok((captured.stdout, passed_over(&captured.stderr)))
    }

    /// Runs a command that may fail where files differ.
    async fn try_run(&self, index: &Path, objects: Objects, args: &[&str]) -> Result<(), SnapshotError> {
        let others = alternates(self.objects, self.ours);
        let ours = [self.ours];
        let reads = [self.objects];
        let env = self.env(index, objects, &others);
        let git = Box::pin(self.git.try_run(self.scope(&ours, &reads, &env), args, Vec::new()));
        unless_blocked(self.place(), self.git.hidden(), git).await??;
        Ok(())
    }

    fn scope<'a>(
        &'a self,
        ours: &'a [&'a Path],
        reads: &'a [&'a Path],
        env: &'a [(&'static str, &'a OsStr)],
    ) -> Scope<'a> {
        Scope { git_dir: self.ours, writable: ours, reads, cwd: self.root, env }
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
pub(in crate::workspace) const ALTERNATES: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Returns the value of that variable for the objects of a repository and our own copies.
fn alternates(objects: &Path, ours: &Path) -> std::ffi::OsString {
    let kept = Some(ours.join(KEPT)).filter(|kept| kept.is_dir());
    let all: Vec<_> = [objects].into_iter().chain(kept.as_deref()).map(alternate).collect();
    all.join(OsStr::new(":"))
}

/// Quotes a directory for the list of further directories with objects, because a colon would separate two directories.
pub(in crate::workspace) fn alternate(directory: &Path) -> std::ffi::OsString {
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
pub(in crate::workspace) fn line(mode: &str, object: &str, path: &[u8]) -> Vec<u8> {
    [format!("{mode} {object} 0\t").as_bytes(), path, b"\0"].concat()
}

/// Returns the paths that git skips according to its warnings: directories that it cannot list, and names that it
/// refuses.
fn passed_over(warnings: &str) -> Vec<PathBuf> {
    let path = |line: &str| match line.strip_prefix("warning: could not open directory '") {
        Some(closed) => Some(closed.rsplit_once('\'').map_or(closed, |(path, _)| path).into()),
        None => line.strip_prefix("Ignoring path ").map(PathBuf::from),
    };
    warnings.lines().filter_map(path).collect()
}

/// The entries on the disk where git reports a difference.
#[derive(Default)]
struct Looked {
    /// Regular files and links.
    there: Vec<Vec<u8>>,
    /// The tracked files that are no longer regular files or links.
    gone: Vec<Vec<u8>>,
    /// Separate repositories.
    nested: Vec<Vec<u8>>,
    left_out: BTreeSet<PathBuf>,
    bytes: u64,
}

impl Looked {
    /// Checks these paths on the disk. For `unfinished` paths the index has no complete entry.
    fn at(root: &Path, paths: BTreeSet<Vec<u8>>, hidden: &Hidden, unfinished: &BTreeSet<Vec<u8>>) -> Self {
        let mut looked = Self::default();
        let mut directories = Directories { root, known: HashMap::new() };
        for path in paths {
            let relative = path_of(&path);
            if let Some(place) = hidden.place_of(&root.join(&relative)) {
                let place = place.strip_prefix(root).map_or(relative, Path::to_path_buf);
                looked.left_out.insert(place);
                // The version in the index stays: children can read it in the repository.
                looked.gone.extend(unfinished.contains(&path).then_some(path));
                continue;
            }
            if path.ends_with(b"/") {
                looked.nested.push(path);
                continue;
            }
            if !directories.hold(&relative) {
                looked.gone.push(path);
                continue;
            }
            match fs::symlink_metadata(root.join(&relative)) {
                Ok(found) if found.is_symlink() => looked.there.push(path),
                Ok(found) if found.is_file() && is_readable(&root.join(&relative)) => {
                    looked.bytes = looked.bytes.saturating_add(found.len());
                    looked.there.push(path);
                }
                Ok(found) if found.is_file() => {
                    looked.left_out.insert(relative);
                    looked.gone.push(path);
                }
                found => {
                    // A path that is too long, or is in a directory that cannot be entered.
                    let is_gone = |error: &std::io::Error| {
                        matches!(
                            error.kind(),
                            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                        )
                    };
                    looked.left_out.extend(found.err().filter(|error| !is_gone(error)).map(|_| relative));
                    looked.gone.push(path);
                }
            }
        }
        looked
    }
}

/// Marks the files that exist in the tree although git was told to leave them out (`skip-worktree`). People do this
/// with files that they change locally.
fn with_present(root: &Path, mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut directories = Directories { root, known: HashMap::new() };
    for entry in entries.iter_mut().filter(|entry| entry.is_sparse && !entry.is_submodule()) {
        let path = path_of(&entry.path);
        let is_there = directories.hold(&path)
            && fs::symlink_metadata(root.join(&path))
                .is_ok_and(|found| found.is_file() || found.is_symlink());
        (entry.is_sparse, entry.is_assumed) = (!is_there, is_there);
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
    fn hold(&mut self, path: &Path) -> bool {
        let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return true };
        if let Some(known) = self.known.get(parent) {
            return *known;
        }
        let holds = self.hold(parent)
            && fs::symlink_metadata(self.root.join(parent)).is_ok_and(|found| found.is_dir());
        self.known.insert(parent.to_owned(), holds);
        holds
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
