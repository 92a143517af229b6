//! Records permissions, directories and ignore files of a work tree, which git does not record.
//!
//! Other ignored files and repositories inside the tree are left out, as they are in a snapshot.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::artifacts::Name;
use super::change::Change;
use super::error::SnapshotError;
use super::facts::off_thread;
use super::store::{INDEX, INDEX_NOW, Snapshot, SnapshotStore};
use super::undo::{Undone, change_time};
use crate::replace::{
    make_directory, permissions, remove_directory, set_directory_permissions, set_permissions,
};
use crate::root::REPOSITORY;
use files::{FileError, open, private};

/// The records of the start and of the end of a run.
const BEGIN: &str = "surroundings.json";
const END: &str = "surroundings.end.json";
/// The maximum number of entries in a tree. For a larger tree nothing is recorded.
const MAX_ENTRIES: usize = 200_000;
/// The largest record that is read.
const MAX_RECORD: u64 = 64 * 1024 * 1024;
/// The name of the files with git's rules for ignored files.
const IGNORE_FILE: &str = ".gitignore";
/// The type of a regular file in a mode of a tree.
const REGULAR: u32 = 0o100_000;

/// The permissions of a tree's files, and its directories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// The permissions of most files.
    usual: u32,
    files: Vec<(Name, u32)>,
    directories: Vec<(Name, u32)>,
    #[serde(default)]
    ignore_files: Vec<(Name, String)>,
}

/// A change of a run that git does not record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecorded {
    /// Relative to the root.
    pub path: PathBuf,
    /// False for a file.
    pub is_directory: bool,
    /// The permissions at the start of the run; `None` for a new directory.
    pub old: Option<u32>,
    /// The permissions at its end; `None` for a removed directory.
    pub new: Option<u32>,
}

/// The surroundings at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Surroundings {
    usual: u32,
    /// The permissions of the other files.
    files: BTreeMap<PathBuf, u32>,
    directories: BTreeMap<PathBuf, u32>,
    /// The files with rules for ignored files, even if they ignore themselves, each with its size and times.
    ignore_files: BTreeMap<PathBuf, String>,
}

/// The permissions and directories that an undo restores.
#[derive(Debug, Default)]
pub(super) struct Restoration {
    begin: Option<Surroundings>,
    end: Option<Surroundings>,
    /// The missing directories that existed at the end of the run.
    removed_since: BTreeSet<PathBuf>,
    /// The other missing directories.
    missing: BTreeSet<PathBuf>,
}

impl Surroundings {
    /// Records the permissions and directories of a tree, without `ignored` paths. `usual` has the usual permissions,
    /// if they are known. Returns `None` if there are too many entries. Blocks.
    fn of(root: &Path, ignored: &BTreeSet<PathBuf>, usual: Option<u32>) -> Option<Self> {
        let mut found = Self::default();
        let mut waiting = vec![PathBuf::new()];
        let mut count = 0;
        while let Some(directory) = waiting.pop() {
            // A directory that is closed, or is removed at this moment.
            let Ok(entries) = fs::read_dir(root.join(&directory)) else { continue };
            for entry in entries.flatten() {
                count += 1;
                if count > MAX_ENTRIES {
                    return None;
                }
                let path = directory.join(entry.file_name());
                if entry.file_name() == IGNORE_FILE {
                    found.add_ignore_file(root, path.clone());
                }
                if entry.file_name() == REPOSITORY || ignored.contains(&path) {
                    continue;
                }
                let Ok(metadata) = entry.metadata() else { continue };
                if metadata.is_dir() {
                    if fs::symlink_metadata(entry.path().join(REPOSITORY)).is_err() {
                        found.directories.insert(path.clone(), permissions(&metadata));
                        waiting.push(path);
                    }
                } else if metadata.is_file() {
                    found.files.insert(path, permissions(&metadata));
                }
            }
        }
        // A directory may ignore itself with such a file.
        for path in ignored.iter().filter(|path| path.file_name().is_some_and(|name| name == IGNORE_FILE)) {
            found.add_ignore_file(root, path.clone());
        }
        found.usual = usual.unwrap_or_else(|| most_frequent(found.files.values().copied()));
        let usual = found.usual;
        found.files.retain(|_, mode| *mode != usual);
        Some(found)
    }

    fn add_ignore_file(&mut self, root: &Path, path: PathBuf) {
        let Ok(metadata) = fs::symlink_metadata(root.join(&path)) else { return };
        let times = [metadata.modified().ok(), change_time(&metadata)];
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
        let nanos = times.map(|time| time.and_then(since).map_or(0, |since| since.as_nanos()));
        self.ignore_files.insert(path, format!("{} {} {}", metadata.len(), nanos[0], nanos[1]));
    }

    /// Returns the ignore files that are new or changed later. A missing one may be in a directory that is now ignored.
    fn changed_ignore_files(&self, later: &Self) -> BTreeSet<PathBuf> {
        let differs = |(path, state): &(&PathBuf, &String)| self.ignore_files.get(*path) != Some(*state);
        later.ignore_files.iter().filter(differs).map(|(path, _)| path.clone()).collect()
    }

    fn mode(&self, path: &Path) -> u32 {
        self.files.get(path).copied().unwrap_or(self.usual)
    }

    /// Returns the changes that git does not record: permissions, except of files in `known`, and directories without a
    /// file in `known`.
    fn differences(&self, later: &Self, known: &BTreeSet<&Path>) -> Vec<Unrecorded> {
        let files = self.changed_modes(later, known).into_iter().map(|path| {
            let (old, new) = (Some(self.mode(&path)), Some(later.mode(&path)));
            Unrecorded { path, is_directory: false, old, new }
        });
        let paths: BTreeSet<_> = self.directories.keys().chain(later.directories.keys()).collect();
        let has_files = |path: &Path| known.iter().any(|file| file.starts_with(path));
        let directories = paths.into_iter().filter_map(|path| {
            let [old, new] = [self, later].map(|side| side.directories.get(path).copied());
            let is_shown = old != new && (old.is_some() == new.is_some() || !has_files(path));
            is_shown.then(|| Unrecorded { path: path.clone(), is_directory: true, old, new })
        });
        let mut all: Vec<_> = files.chain(directories).collect();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all
    }

    /// Returns the files whose permissions differ, except `added` files.
    fn changed_modes(&self, later: &Self, added: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
        let paths = self.files.keys().chain(later.files.keys());
        let differs = |path: &&PathBuf| self.mode(path) != later.mode(path) && !added.contains(&***path);
        paths.filter(differs).cloned().collect()
    }

    /// Returns true if a directory is missing later, or has other permissions.
    fn has_lost_directories(&self, later: &Self) -> bool {
        self.directories.iter().any(|(path, mode)| later.directories.get(path) != Some(mode))
    }
}

impl From<Record> for Surroundings {
    fn from(Record { usual, files, directories, ignore_files }: Record) -> Self {
        let paths =
            |list: Vec<(Name, u32)>| list.into_iter().map(|(name, mode)| (name.path(), mode)).collect();
        let ignore_files = ignore_files.into_iter().map(|(name, state)| (name.path(), state)).collect();
        Self { usual, files: paths(files), directories: paths(directories), ignore_files }
    }
}

impl From<&Surroundings> for Record {
    fn from(Surroundings { usual, files, directories, ignore_files }: &Surroundings) -> Self {
        let names =
            |map: &BTreeMap<PathBuf, u32>| map.iter().map(|(path, mode)| (Name::of(path), *mode)).collect();
        let ignore_files = ignore_files.iter().map(|(path, state)| (Name::of(path), state.clone())).collect();
        Self { usual: *usual, files: names(files), directories: names(directories), ignore_files }
    }
}

impl SnapshotStore {
    /// Takes a snapshot as [`Self::take`] does, for a run that works in the tree itself: an undo restores permissions
    /// and directories as well.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub async fn take_in_place(&self, id: &str, root: &Path) -> Result<Snapshot, SnapshotError> {
        let snapshot = Snapshot { is_in_place: true, ..self.take(id, root).await? };
        if let Err(error) = self.keep(&snapshot).await {
            self.release(id).await?;
            return Err(error);
        }
        // Without the surroundings, an undo still restores the contents of files.
        if let Ok(Some(found)) = self.surroundings(&snapshot, INDEX, None).await {
            drop(self.write_surroundings(&snapshot, BEGIN, &found).await);
        }
        Ok(snapshot)
    }

    /// Records the surroundings at the end of a run. Returns true if there is a difference other than a new directory.
    pub(super) async fn note_surroundings(&self, snapshot: &Snapshot) -> bool {
        let Some(begin) = self.read_surroundings(snapshot, BEGIN).await else { return false };
        let Ok(Some(end)) = self.surroundings(snapshot, INDEX_NOW, Some(begin.usual)).await else {
            return false;
        };
        let differs = !begin.changed_modes(&end, &BTreeSet::new()).is_empty()
            || !begin.changed_ignore_files(&end).is_empty()
            || begin.has_lost_directories(&end);
        self.write_surroundings(snapshot, END, &end).await.is_ok() && differs
    }

    /// Returns the ignore files that a run has changed. Its new files may be ignored because of them.
    pub async fn changed_ignore_files(&self, snapshot: &Snapshot) -> Vec<PathBuf> {
        let begin = self.read_surroundings(snapshot, BEGIN).await;
        let both = begin.zip(self.read_surroundings(snapshot, END).await);
        both.map(|(begin, end)| begin.changed_ignore_files(&end).into_iter().collect()).unwrap_or_default()
    }

    /// Returns the files whose permissions a run has changed and that are not among its `changes`.
    pub async fn changed_modes(&self, snapshot: &Snapshot, changes: &[Change]) -> Vec<PathBuf> {
        let begin = self.read_surroundings(snapshot, BEGIN).await;
        let Some((begin, end)) = begin.zip(self.read_surroundings(snapshot, END).await) else {
            return Vec::new();
        };
        let known = changes.iter().map(|change| &*change.path).collect();
        begin.changed_modes(&end, &known).into_iter().collect()
    }

    /// Returns the changes of a run in place that git's comparison of the files, with these `changes`, does not show. Of
    /// a file with other content it shows only the permission to execute.
    pub(crate) async fn unrecorded(&self, snapshot: &Snapshot, changes: &[Change]) -> Vec<Unrecorded> {
        let begin = self.read_surroundings(snapshot, BEGIN).await;
        let Some((begin, end)) = begin.zip(self.read_surroundings(snapshot, END).await) else {
            return Vec::new();
        };
        let has_shown_mode = |change: &&Change| {
            let modes = [&change.old, &change.new].map(|file| file.as_ref().map(|file| file.mode));
            modes[0] != modes[1]
        };
        let known = changes.iter().filter(has_shown_mode).map(|change| &*change.path).collect();
        begin.differences(&end, &known)
    }

    /// Reads the records, and finds the missing directories before an undo.
    pub(super) async fn restoration(&self, snapshot: &Snapshot) -> Restoration {
        let begin = self.read_surroundings(snapshot, BEGIN).await;
        let end = self.read_surroundings(snapshot, END).await;
        let root = snapshot.root.clone();
        off_thread(move || {
            let directories = begin.iter().flat_map(|begin| begin.directories.keys());
            let is_missing = |path: &&PathBuf| fs::symlink_metadata(root.join(path)).is_err();
            let by_others =
                |path: &PathBuf| end.as_ref().is_some_and(|end| end.directories.contains_key(path));
            let (removed_since, missing) = directories.filter(is_missing).cloned().partition(by_others);
            Restoration { begin, end, removed_since, missing }
        })
        .await
    }

    async fn surroundings(
        &self,
        snapshot: &Snapshot,
        index: &str,
        usual: Option<u32>,
    ) -> Result<Option<Surroundings>, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let ignored = self.recorder(snapshot, &snapshot_dir).ignored(&snapshot_dir.join(index)).await?;
        let root = snapshot.root.clone();
        Ok(off_thread(move || Surroundings::of(&root, &ignored, usual)).await)
    }

    async fn read_surroundings(&self, snapshot: &Snapshot, name: &str) -> Option<Surroundings> {
        let path = self.directory(&snapshot.id).join(name);
        off_thread(move || {
            let text = open::read(open::regular_no_follow(&path).ok()?, MAX_RECORD).ok()?;
            serde_json::from_slice::<Record>(&text).ok().map(Surroundings::from)
        })
        .await
    }

    async fn write_surroundings(
        &self,
        snapshot: &Snapshot,
        name: &str,
        found: &Surroundings,
    ) -> Result<(), SnapshotError> {
        let path = self.directory(&snapshot.id).join(name);
        let record = Record::from(found);
        let written = off_thread(move || {
            let text = serde_json::to_vec(&record).map_err(io::Error::other);
            text.and_then(|text| private::write(&path, &text)).map_err(FileError::at(&path))
        });
        Ok(written.await?)
    }
}

impl Restoration {
    /// Returns the permissions that files get with their contents. If the permissions of a file have changed since the
    /// end, the file keeps them. Blocks.
    pub(super) fn modes(&self, root: &Path, changes: &[Change]) -> BTreeMap<PathBuf, u32> {
        let Some(begin) = &self.begin else { return BTreeMap::new() };
        let is_file =
            |change: &&Change| change.old.as_ref().is_some_and(|file| file.mode & 0o170_000 == REGULAR);
        let has_end_mode = |change: &&Change| match fs::symlink_metadata(root.join(&change.path)) {
            Ok(found) if found.is_file() => {
                self.end.as_ref().is_some_and(|end| end.mode(&change.path) == permissions(&found))
            }
            _ => true,
        };
        let found = changes.iter().filter(is_file).filter(has_end_mode);
        found.map(|change| (change.path.clone(), begin.mode(&change.path))).collect()
    }

    /// Restores the directories, and the permissions of files whose content the run has not changed. `by_run` are the
    /// run's changes. Blocks.
    pub(super) fn finish(&self, root: &Path, by_run: &[Change], undone: &mut Undone) {
        let Some(begin) = &self.begin else { return };
        let end = self.end.as_ref();
        // The inner ones first: a directory of the run may hold others of it.
        for path in end.iter().flat_map(|end| end.directories.keys()).rev() {
            if !begin.directories.contains_key(path) {
                // Fails if it is not empty.
                let _ = remove_directory(root, path);
            }
        }
        for (path, mode) in &begin.directories {
            if self.removed_since.contains(path) {
                continue;
            }
            let now = fs::symlink_metadata(root.join(path)).ok();
            let is_new = self.missing.contains(path) || now.is_none();
            if now.is_none() && make_directory(root, path).is_err() {
                continue;
            }
            let by_run = end.and_then(|end| end.directories.get(path)).filter(|end| *end != mode);
            let has_run_mode = now.is_some_and(|now| now.is_dir() && Some(&permissions(&now)) == by_run);
            if is_new || has_run_mode {
                let _ = set_directory_permissions(root, path, *mode);
            }
        }
        let Some(end) = end else { return };
        // Files with changed contents have received their permissions together with the contents, or stay as they are.
        let known = by_run.iter().map(|change| &*change.path).collect();
        for path in begin.changed_modes(end, &known) {
            let from = end.mode(&path);
            let to = begin.mode(&path);
            match fs::symlink_metadata(root.join(&path)) {
                Ok(found) if found.is_file() && permissions(&found) == to => {}
                Ok(found) if found.is_file() && permissions(&found) == from => {
                    match set_permissions(root, &path, from, to) {
                        Ok(()) => undone.restored.push(path),
                        Err(error) => undone.failed.push((path, error.to_string())),
                    }
                }
                _ => undone.changed_since.push(path),
            }
        }
    }
}

fn most_frequent(modes: impl Iterator<Item = u32>) -> u32 {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    modes.for_each(|mode| *counts.entry(mode).or_default() += 1);
    counts.into_iter().max_by_key(|(mode, count)| (*count, *mode)).map_or(0o644, |(mode, _)| mode)
}
