//! Restores the state before an apply.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::apply_run::{aside_prefix, in_tree, reason};
use super::error::ApplyError;
use crate::replace::{
    OnFailure, Place, State, Step, make_directory, probe, remove_asides, remove_directory,
    set_directory_permissions, write_all,
};
use crate::snapshot::{Apply, Change, Contents, Name, Snapshot, SnapshotStore, off_thread, state};

impl SnapshotStore {
    /// Restores the state before the run `id` was applied, even if the apply was interrupted at any point. Returns the
    /// files.
    ///
    /// # Errors
    ///
    /// If a file has changed since. Nothing has changed then.
    pub async fn abort_apply(&self, id: &str) -> Result<Vec<PathBuf>, ApplyError> {
        self.open(id).await.map_err(|_| ApplyError::Nothing)?;
        let _lock = self.lock(id).await?;
        let snapshot = self.open(id).await?;
        let apply = snapshot.applied.clone().ok_or(if snapshot.is_apply_undone {
            ApplyError::UndoneAlready
        } else {
            ApplyError::NotApplied
        })?;
        self.restore(&snapshot, &apply, None).await
    }

    /// Restores the files before an apply. `failed` has the files that this process has just failed to write; `None`
    /// means that another process applied the run, and may have been killed.
    pub(super) async fn restore(
        &self,
        snapshot: &Snapshot,
        apply: &Apply,
        failed: Option<BTreeSet<PathBuf>>,
    ) -> Result<Vec<PathBuf>, ApplyError> {
        let is_on_request = failed.is_none();
        let absent = apply.absent.iter().map(Name::path).collect();
        let changes = in_tree(self.changes(snapshot, &apply.before, &apply.after).await?, &absent);
        let contents = self.contents(snapshot, &changes).await?;
        let root = snapshot.root.clone();
        let id = snapshot.id.clone();
        let applied = apply.clone();
        let restored =
            off_thread(move || restore_all(&root, &id, &changes, &contents, &applied, failed)).await?;
        let is_apply_undone = snapshot.is_apply_undone || is_on_request;
        self.keep(&Snapshot { applied: None, is_apply_undone, ..snapshot.clone() }).await?;
        Ok(restored)
    }
}

/// Returns the step that restores a file.
fn restoring_step<'a>(
    change: &'a Change,
    contents: &'a Contents,
    permissions: Option<u32>,
) -> io::Result<Step<'a>> {
    let from = state(change.new.as_ref(), contents)?;
    let to = state(change.old.as_ref(), contents)?;
    Ok(Step { path: &change.path, from, to, permissions })
}

fn restore_all<'a>(
    root: &'a Path,
    id: &str,
    changes: &'a [Change],
    contents: &'a Contents,
    apply: &Apply,
    failed: Option<BTreeSet<PathBuf>>,
) -> Result<Vec<PathBuf>, ApplyError> {
    let aside_prefix = aside_prefix(id);
    let half_written = |path: &Path, error: &io::Error| ApplyError::HalfWritten {
        id: id.to_owned(),
        path: path.to_owned(),
        why: error.to_string(),
    };
    let mut todo = Vec::new();
    let mut differ = BTreeSet::new();
    for change in changes {
        let found = find_state(root, changes, change, contents)
            .map_err(|error| half_written(&change.path, &error))?;
        match found {
            Found::After => todo.push(change),
            Found::Before => {}
            Found::Neither => drop(differ.insert(change.path.clone())),
        }
    }
    match failed {
        Some(failed) => differ.retain(|path| !failed.contains(path)),
        None => differ.extend(
            remove_asides(root, &aside_prefix, &known_states(changes, contents))
                .map_err(|(path, error)| half_written(&path, &error))?,
        ),
    }
    if !differ.is_empty() {
        return Err(ApplyError::ChangedSince { paths: differ.into_iter().collect() });
    }
    let modes: BTreeMap<PathBuf, u32> = apply.modes.iter().map(|(name, mode)| (name.path(), *mode)).collect();
    let added: Vec<&Change> = todo.iter().copied().filter(|change| change.old.is_none()).collect();
    // An interrupted apply, or abort, may have removed directories.
    let missing: Vec<_> =
        modes.iter().filter(|(path, _)| fs::symlink_metadata(root.join(path)).is_err()).collect();
    let made: BTreeSet<PathBuf> = apply.made.iter().map(Name::path).collect();
    let empty = empty_directories(root, &added, &made);
    let mut steps = Vec::new();
    for change in &todo {
        let step = restoring_step(change, contents, modes.get(&change.path).copied());
        steps.push(step.map_err(|error| half_written(&change.path, &error))?);
    }
    let failed = write_all(root, &aside_prefix, steps, OnFailure::Stop);
    // After a failure, too: the next attempt cannot know the directories of this one.
    for directory in made.iter().rev() {
        // Fails if a directory is not empty.
        let _ = remove_directory(root, directory);
    }
    for directory in empty {
        let _ = make_directory(root, &directory);
    }
    for (path, mode) in missing {
        if fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.is_dir()) {
            set_directory_permissions(root, path, *mode).map_err(|error| half_written(path, &error))?;
        }
    }
    if let Some((path, why)) = reason(&failed) {
        return Err(ApplyError::HalfWritten { id: id.to_owned(), path, why });
    }
    Ok(todo.into_iter().map(|change| change.path.clone()).collect())
}

enum Found {
    Before,
    After,
    Neither,
}

/// Finds out if a file is in its state after the apply, in its state before it, or in neither.
fn find_state(root: &Path, changes: &[Change], change: &Change, contents: &Contents) -> io::Result<Found> {
    let at = |file: &Option<_>| -> io::Result<bool> {
        let state = state(file.as_ref(), contents)?;
        Ok(match probe(root, &change.path, state)? {
            Place::Same => true,
            Place::Different => false,
            // A file of the same changes is in the place of a parent directory.
            Place::Blocked => {
                let above: BTreeSet<&Path> = change.path.ancestors().skip(1).collect();
                state.is_none() && changes.iter().any(|other| above.contains(other.path.as_path()))
            }
        })
    };
    Ok(if at(&change.new)? {
        Found::After
    } else if at(&change.old)? {
        Found::Before
    } else {
        Found::Neither
    })
}

/// Returns the possible states of temporary files, by directory.
fn known_states<'a, 'b>(changes: &'b [Change], contents: &'a Contents) -> BTreeMap<&'b Path, Vec<State<'a>>> {
    let mut known: BTreeMap<&Path, Vec<State<'a>>> = BTreeMap::new();
    for change in changes {
        let files = [&change.old, &change.new].map(|file| state(file.as_ref(), contents).ok().flatten());
        let directory = change.path.parent().unwrap_or(Path::new(""));
        known.entry(directory).or_default().extend(files.into_iter().flatten());
    }
    known
}

/// Returns the directories that were empty before the apply. They stay when the files that the apply added are removed.
fn empty_directories(root: &Path, added: &[&Change], made: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let above = added.iter().flat_map(|change| change.path.ancestors().skip(1));
    let above = above.filter(|path| !path.as_os_str().is_empty() && !made.contains(*path));
    above.filter(|path| root.join(path).is_dir()).map(Path::to_path_buf).collect()
}
