//! Restores the files that a run has changed to their state before it.
//!
//! A file that has changed since the run ended is left as it is. `replace/` compares each file with its state at the
//! end of the run, and keeps the content if another program saves the file at that moment.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::change::{Change, Contents, File, state};
use super::error::SnapshotError;
use super::facts::off_thread;
use super::store::{INDEX, Snapshot, SnapshotStore};
use crate::replace::{Failure, OnFailure, Step, WriteError, has_asides, random, remove_asides, write_all};
use sanitizer::chain;

/// The mode of a repository in the tree.
const SUBMODULE: u32 = 0o160_000;
/// The maximum number of bytes that are in memory at a time, on both sides. A run may have removed far more.
const BATCH: u64 = 64 * 1024 * 1024;

/// The line for `core.fileMode` in our copy of a repository's configuration.
const NO_MODES: &str = "\tfilemode = false\n";
/// The reason for keeping a temporary file of a killed undo.
const LEFTOVER_REASON: &str = "an interrupted undo left this file behind, and no snapshot has its content: compare it with \
                               the files next to it";

/// The restored files, relative to the root of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// The files in their state before the run.
    pub restored: Vec<PathBuf>,
    /// The files that have changed since the run ended.
    pub changed_since: Vec<PathBuf>,
    /// The files that could not be restored, with the reasons.
    pub failed: Vec<(PathBuf, String)>,
    /// Files with two versions that were saved during the undo. The second path leads to the older version.
    pub kept_versions: Vec<(PathBuf, PathBuf)>,
    /// The ignore files that the run has changed. Files that git ignores because of them stay.
    pub ignore_files: Vec<PathBuf>,
    /// True if an earlier undo has restored every file.
    pub is_repeated: bool,
}

impl Undone {
    /// Adds a file that was not restored.
    fn add_failure(&mut self, (path, error): Failure) {
        match error {
            WriteError::Changed => self.changed_since.push(path),
            WriteError::KeptVersion { aside } => {
                self.changed_since.push(path.clone());
                self.kept_versions.push((path, aside));
            }
            error => self.failed.push((path, error.to_string())),
        }
    }
}

impl SnapshotStore {
    /// Notes the state of the tree at the end of the run. Returns false if the run has changed nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::take`].
    pub async fn note_end(&self, snapshot: &Snapshot) -> Result<bool, SnapshotError> {
        let end = self.tree_of_now(snapshot).await?;
        let has_changed = self.note_surroundings(snapshot).await || end != snapshot.tree;
        self.keep(&Snapshot { end: Some(end), ..snapshot.clone() }).await?;
        Ok(has_changed)
    }

    /// Notes that the run works in another tree, and that changes in this tree are not its own.
    ///
    /// # Errors
    ///
    /// If the note cannot be written.
    pub async fn note_other_tree(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        self.keep(&Snapshot { end: Some(snapshot.tree.clone()), ..snapshot.clone() }).await
    }

    /// Undoes the changes of a run. `ended` is the time of its end, in case the state of the tree was not recorded
    /// then: later modifications count as changed since.
    ///
    /// # Errors
    ///
    /// If git fails, or an object is missing. Nothing has changed then.
    pub async fn undo(&self, snapshot: &Snapshot, ended: SystemTime) -> Result<Undone, SnapshotError> {
        let now = self.tree_of_now(snapshot).await?;
        let end = snapshot.end.as_deref().unwrap_or(&now);
        let paths =
            |changes: Vec<Change>| changes.into_iter().map(|change| change.path).collect::<BTreeSet<_>>();
        let of_run = self.changes(snapshot, &snapshot.tree, end).await?;
        let leftovers = self.remove_leftovers(snapshot, &of_run).await?;
        let by_run = paths(of_run.clone());
        let mark = snapshot.undo_mark.clone().unwrap_or_else(|| format!("{:016x}", random()));
        let snapshot = &Snapshot { undo_mark: Some(mark.clone()), ..snapshot.clone() };
        // Without the note, the next undo does not find the temporary files of a killed one. The disk may be full.
        drop(self.keep(snapshot).await);
        let restoration = self.restoration(snapshot).await;
        let mut since = paths(self.changes(snapshot, end, &now).await?);
        let mut wanted = self.changes(snapshot, &snapshot.tree, &now).await?;
        wanted.retain(|change| by_run.contains(&change.path));
        let absent = self.absent(snapshot, INDEX).await?;
        wanted.iter_mut().filter(|change| absent.contains(&change.path)).for_each(|change| change.old = None);
        if snapshot.end.is_none() {
            let root = snapshot.root.clone();
            let checked = wanted.clone();
            since = off_thread(move || modified_after(&root, &checked, ended)).await;
        }
        let mut undone = Undone::default();
        let (changed, wanted): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|change| since.contains(&change.path));
        undone.changed_since = changed.into_iter().map(|change| change.path).collect();
        let is_nested = |file: &Option<File>| file.as_ref().is_some_and(|file| file.mode == SUBMODULE);
        let (nested, wanted): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|change| is_nested(&change.old) || is_nested(&change.new));
        let why = || "it is a separate repository".to_owned();
        undone.failed = nested.into_iter().map(|change| (change.path, why())).collect();
        undone.failed.extend(leftovers.into_iter().map(|path| (path, LEFTOVER_REASON.to_owned())));
        let sizes = self.sizes(snapshot, wanted.iter().flat_map(both).collect()).await?;
        let root = snapshot.root.clone();
        let checked = wanted.clone();
        let (restoration, modes) = off_thread(move || {
            let modes = restoration.modes(&root, &checked);
            (restoration, Arc::new(modes))
        })
        .await;
        for batch in batches(wanted, &sizes) {
            let modes = Arc::clone(&modes);
            let contents = match self.contents(snapshot, &batch).await {
                Ok(contents) => contents,
                Err(error) => {
                    undone.failed.extend(batch.into_iter().map(|change| (change.path, chain(&error))));
                    continue;
                }
            };
            let root = snapshot.root.clone();
            let aside_prefix = aside_prefix(&snapshot.id, &mark);
            let (paths, failed) =
                off_thread(move || revert(&root, &aside_prefix, &batch, &contents, &modes)).await;
            let unrestored: BTreeSet<_> = failed.iter().map(|(path, _)| path.clone()).collect();
            undone.restored.extend(paths.into_iter().filter(|path| !unrestored.contains(path)));
            for failure in failed {
                undone.add_failure(failure);
            }
        }
        let root = snapshot.root.clone();
        let mut undone = off_thread(move || {
            restoration.finish(&root, &of_run, &mut undone);
            undone
        })
        .await;
        undone.restored.sort();
        undone.changed_since.sort();
        undone.changed_since.dedup();
        undone.failed.sort();
        undone.ignore_files = self.changed_ignore_files(snapshot).await;
        undone.is_repeated = snapshot.is_undone;
        let is_whole = undone.changed_since.is_empty() && undone.failed.is_empty();
        if is_whole && !snapshot.is_undone {
            // Without the note, only the words of a second undo differ.
            drop(self.keep(&Snapshot { is_undone: true, ..snapshot.clone() }).await);
        }
        Ok(undone)
    }

    /// Removes the temporary files of a killed undo. Returns the files with an unknown content.
    async fn remove_leftovers(
        &self,
        snapshot: &Snapshot,
        by_run: &[Change],
    ) -> Result<Vec<PathBuf>, SnapshotError> {
        let Some(mark) = &snapshot.undo_mark else { return Ok(Vec::new()) };
        let directory = |change: &Change| change.path.parent().unwrap_or(Path::new("")).to_owned();
        let mut directories: BTreeSet<PathBuf> = by_run.iter().map(directory).collect();
        let root = snapshot.root.clone();
        let aside_prefix = aside_prefix(&snapshot.id, mark);
        let searched = root.clone();
        let prefix = aside_prefix.clone();
        directories = off_thread(move || {
            directories.retain(|directory| has_asides(&searched, directory, &prefix));
            directories
        })
        .await;
        let mut leftovers = Vec::new();
        for at in directories {
            let in_directory: Vec<_> =
                by_run.iter().filter(|change| directory(change) == at).cloned().collect();
            let sizes = self.sizes(snapshot, in_directory.iter().flat_map(both).collect()).await?;
            // Files of other batches stay, too.
            let batch = batches(in_directory, &sizes).into_iter().next().unwrap_or_default();
            let contents = self.contents(snapshot, &batch).await?;
            let root = root.clone();
            let aside_prefix = aside_prefix.clone();
            let others = off_thread(move || {
                let files = batch.iter().flat_map(|change| [&change.old, &change.new]);
                let states =
                    files.filter_map(|file| state(file.as_ref(), &contents).ok().flatten()).collect();
                remove_asides(&root, &aside_prefix, &BTreeMap::from([(&*at, states)]))
                    .unwrap_or_else(|(path, _)| vec![path])
            });
            leftovers.extend(others.await);
        }
        Ok(leftovers)
    }

    /// Returns the contents of the files on both sides of changes. Reads the sides of a single change one by one,
    /// because together they may exceed the limit of a command.
    pub(crate) async fn contents(
        &self,
        snapshot: &Snapshot,
        changes: &[Change],
    ) -> Result<Contents, SnapshotError> {
        let mut objects = BTreeMap::new();
        if let [change] = changes {
            for object in both(change) {
                objects.extend(self.blobs(snapshot, [object].into()).await?);
            }
        } else {
            objects = self.blobs(snapshot, changes.iter().flat_map(both).collect()).await?;
        }
        let config = self.directory(&snapshot.id).join("config");
        let config = off_thread(move || std::fs::read_to_string(config).unwrap_or_default()).await;
        Ok(Contents { objects, has_modes: !config.contains(NO_MODES) })
    }

    /// Returns the sizes of objects. A missing object is an error.
    pub(crate) async fn sizes(
        &self,
        snapshot: &Snapshot,
        objects: BTreeSet<&str>,
    ) -> Result<BTreeMap<String, u64>, SnapshotError> {
        if objects.is_empty() {
            return Ok(BTreeMap::new());
        }
        let queried = objects.iter().flat_map(|object| [object.as_bytes(), b"\n"].concat()).collect();
        let how = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
        let printed = self.git(snapshot, &how, queried).await?;
        let size = |line: &str| {
            let (object, size) = line.split_once(' ')?;
            Some((object.to_owned(), size.parse().ok()?))
        };
        let sizes: Option<_> = String::from_utf8_lossy(&printed).lines().map(size).collect();
        sizes.ok_or(SnapshotError::Unreadable { command: "cat-file" })
    }

    /// Returns the content of objects.
    async fn blobs(
        &self,
        snapshot: &Snapshot,
        objects: BTreeSet<&str>,
    ) -> Result<BTreeMap<String, Vec<u8>>, SnapshotError> {
        if objects.is_empty() {
            return Ok(BTreeMap::new());
        }
        let queried = objects.iter().flat_map(|object| [object.as_bytes(), b"\n"].concat()).collect();
        let printed = self.git(snapshot, &["cat-file", "--batch"], queried).await?;
        read_batch(&printed).ok_or(SnapshotError::Unreadable { command: "cat-file" })
    }
}

/// Returns the names of the objects on both sides of a change.
pub(crate) fn both(change: &Change) -> impl Iterator<Item = &str> {
    [&change.old, &change.new].into_iter().flatten().map(|file| file.object.as_str())
}

/// Returns the beginning of the names of temporary files of an undo.
fn aside_prefix(id: &str, mark: &str) -> String {
    format!(".pi-subagent-undo-{id}-{mark}")
}

/// Reverts changes. Returns all paths, and the failures.
fn revert(
    root: &Path,
    aside_prefix: &str,
    changes: &[Change],
    contents: &Contents,
    modes: &BTreeMap<PathBuf, u32>,
) -> (Vec<PathBuf>, Vec<Failure>) {
    let mut failed = Vec::new();
    let mut steps = Vec::new();
    for change in changes {
        let step = || {
            let from = state(change.new.as_ref(), contents)?;
            let to = state(change.old.as_ref(), contents)?;
            Ok::<_, io::Error>(Step {
                path: &change.path,
                from,
                to,
                permissions: modes.get(&change.path).copied(),
            })
        };
        match step() {
            Ok(step) => steps.push(step),
            Err(error) => failed.push((change.path.clone(), error.into())),
        }
    }
    failed.extend(write_all(root, aside_prefix, steps, OnFailure::Continue));
    (changes.iter().map(|change| change.path.clone()).collect(), failed)
}

/// Divides changes so that each part fits into memory. Added files come first, because their removal makes room for the
/// others.
pub(crate) fn batches(changes: Vec<Change>, sizes: &BTreeMap<String, u64>) -> Vec<Vec<Change>> {
    let (added, others): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.old.is_none());
    let mut batches = Vec::<Vec<_>>::new();
    let mut room = BATCH;
    for change in added.into_iter().chain(others) {
        let size: u64 = both(&change).filter_map(|object| sizes.get(object)).sum();
        if let Some(batch) = batches.last_mut().filter(|_| size <= room) {
            batch.push(change);
        } else {
            batches.push(vec![change]);
            room = BATCH;
        }
        room = room.saturating_sub(size);
    }
    batches
}

/// Reads what `git cat-file --batch` prints: `object blob bytes`, the content, and the end of a line.
fn read_batch(mut printed: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut contents = BTreeMap::new();
    while !printed.is_empty() {
        let end = printed.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&printed[..end]).ok()?;
        let rest = &printed[end + 1..];
        let mut fields = line.split(' ');
        let object = fields.next()?;
        if fields.next()? != "blob" {
            return None;
        }
        let (content, rest) = rest.split_at_checked(fields.next()?.parse().ok()?)?;
        contents.insert(object.to_owned(), content.to_vec());
        printed = rest.strip_prefix(b"\n")?;
    }
    Some(contents)
}

/// Returns the files that were modified after a moment, or moved there after it. A moved file keeps the modification
/// time of its content.
pub(crate) fn modified_after(root: &Path, changes: &[Change], moment: SystemTime) -> BTreeSet<PathBuf> {
    let is_newer = |change: &&Change| {
        std::fs::symlink_metadata(root.join(&change.path)).is_ok_and(|found| {
            let modified = found.modified().is_ok_and(|modified| modified > moment);
            modified || change_time(&found).is_some_and(|changed| changed > moment)
        })
    };
    changes.iter().filter(is_newer).map(|change| change.path.clone()).collect()
}

/// Returns the time of the file's last change of any kind, which no program can set back.
#[cfg(unix)]
pub(super) fn change_time(found: &std::fs::Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt as _;
    let since = std::time::Duration::new(found.ctime().try_into().ok()?, found.ctime_nsec().try_into().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(not(unix))]
pub(super) fn change_time(_: &std::fs::Metadata) -> Option<SystemTime> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_changes_are_split_into_batches_with_added_files_first() {
        let file = |name: &str| Some(File { mode: 0o100_644, object: name.into() });
        let change = |path: &str, old| Change {
            path: path.into(),
            kind: super::super::change::ChangeKind::Modified,
            old,
            new: None,
        };
        let changes = [("a", 2), ("b", BATCH - 2), ("c", 1), ("d", BATCH + 1), ("e", 1)];
        let sizes = changes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        let listed = changes.iter().map(|(name, _)| change(name, file(name))).chain([change("new", None)]);
        let names = |batch: &Vec<Change>| {
            batch.iter().map(|change| change.path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        let divided: Vec<_> = batches(listed.collect(), &sizes).iter().map(names).collect();
        assert_eq!(divided, ["new a b", "c", "d", "e"]);
    }

    #[test]
    fn contents_with_line_feeds_are_read() {
        let read = read_batch(b"aa blob 4\na\nb\n\nbb blob 0\n\n").expect("the batch is parsed");
        assert_eq!(read, [("aa".to_owned(), b"a\nb\n".to_vec()), ("bb".to_owned(), Vec::new())].into());
        assert_eq!(read_batch(b"aa missing\n"), None);
        assert_eq!(read_batch(b"aa blob 9\nshort\n"), None);
    }
}
