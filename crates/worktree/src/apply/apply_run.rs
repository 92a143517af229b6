//! Merges the changes of a run into the work tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::Applied;
use super::error::{ApplyError, named};
use super::flagged::{is_unsafe, leads_out};
use super::merge::{Choice, Merged, choice};
use crate::names::by_danger;
use crate::replace::{Failure, LINK, OnFailure, Step, WriteError, permissions, write_all};
use crate::root::REPOSITORY;
use crate::snapshot::{
    self, Apply, Call, Change, Contents, File, INDEX_NOW, Name, Snapshot, SnapshotError, SnapshotStore,
    copy_with_time, index_line, off_thread, path_of, state,
};
use files::{FileError, private};
use sanitizer::figures::epoch_ms;

/// The maximum number of texts that are merged in one apply. Each merge starts a process.
const MAX_MERGED: usize = 500;
/// The maximum size of all files that are written or replaced, on both sides, in bytes: they are in memory. It is less
/// than the limit of data that is read from git.
const MAX_CONTENTS: u64 = 200 * 1024 * 1024;
/// The state after, as an index.
const INDEX: &str = "index.apply";
/// The lock file that is locked while a run is applied or its apply is undone.
const LOCK: &str = "apply.lock";
/// The permissions to execute, and to read.
const EXECUTE: u32 = 0o111;
const READ: u32 = 0o444;

impl SnapshotStore {
    /// Applies the changes of the isolated run `id`: a three-way merge, file by file, into the work tree that it
    /// started from. The index is left alone. `with_flagged` includes files that run code later, instruct agents or
    /// lead out of the tree.
    ///
    /// # Errors
    ///
    /// If nothing was applied; only [`ApplyError::HalfWritten`] leaves something to be undone.
    pub async fn apply(&self, id: &str, with_flagged: bool) -> Result<Applied, ApplyError> {
        self.artifacts(id).await?;
        let _lock = self.lock(id).await?;
        let (snapshot, artifacts) = self.artifacts(id).await?;
        match &snapshot.applied {
            Some(Apply { is_complete: true, .. }) => {
                return Err(ApplyError::AppliedAlready { id: id.to_owned() });
            }
            Some(_) => return Err(ApplyError::Interrupted { id: id.to_owned() }),
            None => {}
        }
        let run_tree =
            self.git_text(&snapshot, &["rev-parse", &format!("{}^{{tree}}", artifacts.commit)]).await?;
        let by_run = self.changes(&snapshot, &snapshot.tree, &run_tree).await?;
        let paths: Vec<PathBuf> =
            by_run.iter().map(|change| &change.path).filter(|path| is_unsafe(path)).cloned().collect();
        if !paths.is_empty() {
            return Err(ApplyError::Unsafe { paths });
        }
        let before = self.tree_of_now(&snapshot).await?;
        let label = artifacts.branch.unwrap_or_else(|| format!("run {id}"));
        let merged = self.merge(&snapshot, &label, by_run, &before).await?;
        let root = snapshot.root.clone();
        let Merged { files, conflicts, .. } = off_thread(move || without_blocked(&root, merged)).await;
        let at_ms = epoch_ms(SystemTime::now()).unsigned_abs();
        if files.is_empty() {
            if conflicts.is_empty() {
                // For example after a merge with git. The run does not wait any longer.
                let none = Apply {
                    before: before.clone(),
                    after: before,
                    at_ms,
                    is_complete: true,
                    ..Apply::default()
                };
                self.keep(&Snapshot { applied: Some(none), ..snapshot }).await?;
            }
            return Ok(Applied { written: Vec::new(), conflicts });
        }
        let after = self.tree_with(&snapshot, &files).await?;
        let absent = self.absent(&snapshot, INDEX_NOW).await?;
        let changes = in_tree(self.changes(&snapshot, &before, &after).await?, &absent);
        let bytes = self.sizes(&snapshot, objects(&changes)).await?.values().sum();
        if bytes > MAX_CONTENTS {
            return Err(ApplyError::TooLarge { bytes, limit: MAX_CONTENTS });
        }
        let contents = self.contents(&snapshot, &changes).await?;
        if !with_flagged {
            let path = |change: &Change| change.path.clone();
            let flagged = self.flagged(&snapshot.root, changes.iter().map(path).collect()).await;
            let out = changes.iter().filter(|change| is_link_out(change, &contents)).map(path);
            let links_out: BTreeSet<_> = out.collect();
            let paths = by_danger(flagged.paths.into_iter().chain(links_out.iter().cloned()));
            if !paths.is_empty() {
                return Err(ApplyError::Flagged { id: id.to_owned(), paths, links_out });
            }
            if let Some(why) = flagged.limit {
                return Err(ApplyError::Unsearched { id: id.to_owned(), why });
            }
        }
        let root = snapshot.root.clone();
        let checked = changes.clone();
        let (modes, made) = off_thread(move || surroundings(&root, &checked)).await;
        let absent =
            absent.iter().filter(|path| files.contains_key(*path)).map(|path| Name::of(path)).collect();
        let apply = Apply { before, after, at_ms, is_complete: false, modes, made, absent };
        let started = Snapshot { applied: Some(apply.clone()), ..snapshot.clone() };
        self.keep(&started).await?;
        let root = snapshot.root.clone();
        let aside_prefix = aside_prefix(id);
        let modes = apply.modes.clone();
        let todo = changes.clone();
        let contained = contents;
        let failed = off_thread(move || write_changes(&root, &aside_prefix, &todo, &contained, &modes)).await;
        if let Some((path, why)) = reason(&failed) {
            let failed = failed.into_iter().map(|(path, _)| path).collect();
            return Err(match self.restore(&started, &apply, Some(failed)).await {
                Ok(_) => ApplyError::NotWritten { path, why },
                Err(error) => {
                    let more = match error {
                        ApplyError::HalfWritten { path, why, .. } => {
                            format!("{} could not be restored: {why}", named(&[path]))
                        }
                        error => format!("the other files could not be restored: {error}"),
                    };
                    ApplyError::HalfWritten { id: id.to_owned(), path, why: format!("{why}. Then {more}") }
                }
            });
        }
        let done = Apply { is_complete: true, ..apply };
        self.keep(&Snapshot { applied: Some(done), ..snapshot }).await?;
        Ok(Applied { written: changes.into_iter().map(|change| change.path).collect(), conflicts })
    }

    async fn merge(
        &self,
        snapshot: &Snapshot,
        branch: &str,
        by_run: Vec<Change>,
        before: &str,
    ) -> Result<Merged, ApplyError> {
        let now = self.changes(snapshot, &snapshot.tree, before).await?;
        let now: BTreeMap<PathBuf, Option<File>> =
            now.into_iter().map(|change| (change.path, change.new)).collect();
        let mut merged = Merged::default();
        let mut texts = Vec::new();
        for change in by_run {
            if now.get(&change.path).unwrap_or(&change.old).is_some() {
                merged.seen.insert(change.path.clone());
            }
            match choice(&change, now.get(&change.path)) {
                Choice::Keep => {}
                Choice::Take => drop(merged.files.insert(change.path, change.new)),
                Choice::Conflict { takes, why } => {
                    merged.conflicts.push((change.path.clone(), why.to_owned()));
                    if takes {
                        merged.files.insert(change.path, change.new);
                    }
                }
                Choice::Merge => texts.push(change),
            }
        }
        if texts.len() > MAX_MERGED {
            return Err(ApplyError::TooMany { files: texts.len(), limit: MAX_MERGED });
        }
        for Change { path, old, new, .. } in texts {
            let yours = now.get(&path).and_then(Option::as_ref);
            let sides = [yours, old.as_ref(), new.as_ref()];
            match self.merge_text(snapshot, branch, sides).await? {
                None => merged
                    .conflicts
                    .push((path, "it is not text, and both have changed it: your version is kept".into())),
                Some((file, has_markers)) => {
                    if has_markers {
                        merged.conflicts.push((
                            path.clone(),
                            "both have changed the same lines: see the conflict markers".into(),
                        ));
                    }
                    if yours != Some(&file) {
                        merged.files.insert(path, Some(file));
                    }
                }
            }
        }
        Ok(merged)
    }

    /// Returns the name of the tree that was recorded last, with these files changed.
    async fn tree_with(
        &self,
        snapshot: &Snapshot,
        files: &BTreeMap<PathBuf, Option<File>>,
    ) -> Result<String, ApplyError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let index = snapshot_dir.join(INDEX);
        let from = snapshot_dir.join(INDEX_NOW);
        let to = index.clone();
        off_thread(move || copy_with_time(&from, &to)).await.map_err(SnapshotError::from)?;
        let none = "0".repeat(if snapshot.is_sha256 { 64 } else { 40 });
        let line = |(path, file): (&PathBuf, &Option<File>)| {
            let path = path.as_os_str().as_encoded_bytes();
            match file {
                Some(file) => index_line(&format!("{:o}", file.mode), &file.object, path),
                None => index_line("0", &none, path),
            }
        };
        // Removed files go first: a directory may take their place.
        let removed = files.iter().filter(|(_, file)| file.is_none()).flat_map(line);
        let lines = removed.chain(files.iter().filter(|(_, file)| file.is_some()).flat_map(line)).collect();
        let objects: &[&Path] = &[&snapshot.objects];
        let call = Call { index: Some(&index), alternates: objects, ..Call::of(snapshot) };
        self.call(snapshot, call, &["update-index", "-z", "--index-info"], lines).await?;
        let tree = self.call(snapshot, call, &["write-tree", "--missing-ok"], Vec::new()).await?;
        Ok(String::from_utf8_lossy(&tree).trim().to_owned())
    }

    /// Locks a run. Only one process at a time can hold the lock.
    pub(super) async fn lock(&self, id: &str) -> Result<ApplyLock, ApplyError> {
        let path = self.directory(id).join(LOCK);
        let locked = off_thread(move || {
            let file = private::options().write(true).create(true).truncate(false).open(&path);
            let file = file.map_err(FileError::at(&path))?;
            Ok::<_, FileError>(try_lock(&file).then_some(ApplyLock(file)))
        });
        locked.await.map_err(SnapshotError::from)?.ok_or(ApplyError::Busy)
    }
}

/// The lock of a run that is applied, or whose apply is undone.
pub(super) struct ApplyLock(
    #[cfg_attr(not(unix), expect(dead_code, reason = "it is not locked there"))] fs::File,
);

#[cfg(unix)]
impl Drop for ApplyLock {
    /// Unlocks the file. Closing it is not enough: a forked process shares it until it runs its own program.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

/// Returns the objects on both sides.
fn objects(changes: &[Change]) -> BTreeSet<&str> {
    let files = changes.iter().flat_map(|change| [&change.old, &change.new]).flatten();
    files.map(|file| file.object.as_str()).collect()
}

/// Locks a file, unless another process has locked it.
#[cfg(unix)]
fn try_lock(file: &fs::File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(not(unix))]
fn try_lock(_: &fs::File) -> bool {
    true
}

/// Returns the beginning of the names of temporary files of an apply.
pub(super) fn aside_prefix(id: &str) -> String {
    format!(".pi-subagent-apply-{id}")
}

/// Returns the first failed file and the reason. The reason also names the kept versions of other files.
pub(super) fn reason(failed: &[Failure]) -> Option<(PathBuf, String)> {
    let (path, error) = failed.first()?;
    let more = failed[1..].iter().filter(|(_, error)| matches!(error, WriteError::KeptVersion { .. }));
    let more = more.map(|(path, error)| format!("; {}: {error}", named(std::slice::from_ref(path))));
    Some((path.clone(), more.fold(error.to_string(), |why, more| why + &more)))
}

fn is_link_out(change: &Change, contents: &Contents) -> bool {
    let link = change.new.as_ref().filter(|file| file.mode == LINK);
    let target = link.and_then(|file| contents.objects.get(&file.object));
    target.is_some_and(|target| leads_out(&change.path, &path_of(target)))
}

/// Converts changes of trees to changes of the files in the work tree, which does not have the `absent` files.
pub(super) fn in_tree(mut changes: Vec<Change>, absent: &BTreeSet<PathBuf>) -> Vec<Change> {
    changes.iter_mut().filter(|change| absent.contains(&change.path)).for_each(|change| change.old = None);
    changes.retain(|change| change.old.is_some() || change.new.is_some());
    changes
}

/// Removes the files that cannot be written because git does not know the entry in their place, such as an ignored
/// file. They become conflicts.
fn without_blocked(root: &Path, mut merged: Merged) -> Merged {
    let removed: BTreeSet<PathBuf> =
        merged.files.iter().filter(|(_, file)| file.is_none()).map(|(path, _)| path.clone()).collect();
    let mut blocked = Vec::new();
    for (path, file) in &merged.files {
        if file.is_none() {
            continue;
        }
        let Some(why) = blocking_entry(root, path, &removed, merged.seen.contains(path)) else { continue };
        blocked.push((path.clone(), why));
    }
    for (path, why) in blocked {
        merged.files.remove(&path);
        merged.conflicts.retain(|(known, _)| *known != path);
        merged.conflicts.push((path, why));
    }
    merged.conflicts.sort();
    merged
}

fn blocking_entry(root: &Path, path: &Path, removed: &BTreeSet<PathBuf>, is_seen: bool) -> Option<String> {
    let above: Vec<&Path> = path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
    for directory in above.iter().rev() {
        let at = root.join(directory);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {
                if fs::symlink_metadata(at.join(REPOSITORY)).is_ok() {
                    return Some(format!(
                        "`{}` is a separate repository: not written",
                        snapshot::named(directory)
                    ));
                }
            }
            Ok(_) if removed.contains(*directory) => return None,
            Ok(_) => return Some(format!("`{}` is in the way: not written", snapshot::named(directory))),
            Err(_) => return None,
        }
    }
    match fs::symlink_metadata(root.join(path)) {
        Ok(found) if found.is_dir() && !is_emptied(root, path, removed) => {
            Some("a directory of yours is in the way: not written".to_owned())
        }
        Ok(found) if !found.is_dir() && !is_seen => {
            let what = match fs::File::open(root.join(path)) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => "that cannot be read",
                _ => "that git ignores",
            };
            Some(format!("a file {what} is in the way: not written"))
        }
        _ => None,
    }
}

/// Returns true if a directory is empty once these files are removed.
fn is_emptied(root: &Path, directory: &Path, removed: &BTreeSet<PathBuf>) -> bool {
    let Ok(entries) = fs::read_dir(root.join(directory)) else { return false };
    let mut count = 0;
    let is_removed = |entry: io::Result<fs::DirEntry>| {
        count += 1;
        let Ok(entry) = entry else { return false };
        let path = directory.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => is_emptied(root, &path, removed),
            Ok(_) => removed.contains(&path),
            Err(_) => false,
        }
    };
    let mut entries = entries;
    entries.all(is_removed) && count > 0
}

/// Returns the permissions of the replaced or removed entries, and the directories that will be made.
fn surroundings(root: &Path, changes: &[Change]) -> (Vec<(Name, u32)>, Vec<Name>) {
    let mut modes = BTreeMap::new();
    let mut made = BTreeSet::new();
    let found = |path: &Path| fs::symlink_metadata(root.join(path)).ok();
    for change in changes {
        let above = change.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        if change.old.is_some() {
            modes.extend(found(&change.path).map(|found| (change.path.clone(), permissions(&found))));
        }
        if change.new.is_none() {
            for directory in above {
                if !modes.contains_key(directory) {
                    modes.extend(found(directory).map(|found| (directory.to_owned(), permissions(&found))));
                }
            }
        } else if change.old.is_none() {
            let missing = above.take_while(|path| !found(path).is_some_and(|found| found.is_dir()));
            made.extend(missing.map(Path::to_path_buf));
        }
    }
    let modes = modes.into_iter().map(|(path, mode)| (Name::of(&path), mode)).collect();
    (modes, made.iter().map(|path| Name::of(path)).collect())
}

/// Writes all files, and stops at the first failure.
fn write_changes(
    root: &Path,
    aside_prefix: &str,
    changes: &[Change],
    contents: &Contents,
    modes: &[(Name, u32)],
) -> Vec<Failure> {
    let modes: BTreeMap<PathBuf, u32> = modes.iter().map(|(name, mode)| (name.path(), *mode)).collect();
    let step = |change| step(change, contents, &modes).map_err(|error| (change.path.clone(), error.into()));
    match changes.iter().map(step).collect() {
        Ok(steps) => write_all(root, aside_prefix, steps, OnFailure::Stop),
        Err(failed) => vec![failed],
    }
}

fn step<'a>(
    change: &'a Change,
    contents: &'a Contents,
    modes: &BTreeMap<PathBuf, u32>,
) -> io::Result<Step<'a>> {
    let from = state(change.old.as_ref(), contents)?;
    let to = state(change.new.as_ref(), contents)?;
    let executes = to.is_some_and(|to| to.mode & EXECUTE != 0);
    let is_file = to.is_some_and(|to| to.mode != LINK) && from.is_some_and(|from| from.mode != LINK);
    let permissions = modes.get(&change.path).filter(|_| is_file).map(|mode| {
        let has = mode & 0o100 != 0;
        match (has, executes) {
            (false, true) => mode | ((mode & READ) >> 2),
            (true, false) => mode & !EXECUTE,
            _ => *mode,
        }
    });
    Ok(Step { path: &change.path, from, to, permissions })
}
