//! Resolves files that have changed both in the run and in the work tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::Scope;
use crate::replace::LINK;
use crate::snapshot::{Change, File, Snapshot, SnapshotError, SnapshotStore, off_thread};
use files::{FileError, private};
use supervisor::Outcome;

/// The mode of a repository in a tree.
pub(super) const SUBMODULE: u32 = 0o160_000;
/// The paths of the three sides of a file while it is merged.
const SIDES: [&str; 3] = ["merge.yours", "merge.base", "merge.run"];

/// The new state of a file, and the decisions that a person has to make about it.
#[derive(Default)]
pub(super) struct Merged {
    /// The new states of files that change. `None` removes the file.
    pub files: BTreeMap<PathBuf, Option<File>>,
    pub conflicts: Vec<(PathBuf, String)>,
    /// The run's files that git sees in the tree now. If a file exists at another path of the run, git does not know
    /// it, because it is ignored, for example.
    pub seen: BTreeSet<PathBuf>,
}

/// The treatment of a file that does not depend on its content.
pub(super) enum Choice {
    /// The file stays.
    Keep,
    /// The file takes the run's state.
    Take,
    /// The file stays, or takes the run's state, and a person decides.
    Conflict { takes: bool, why: &'static str },
    /// Both are texts.
    Merge,
}

/// Returns the treatment of a file. `by_run` is the run's state of the file; `now` is its current state, if that
/// differs from its state at the start.
pub(super) fn choice(by_run: &Change, now: Option<&Option<File>>) -> Choice {
    let conflict = |takes, why| Choice::Conflict { takes, why };
    let Some(now) = now else {
        return if is_nested(by_run.old.as_ref()) || is_nested(by_run.new.as_ref()) {
            conflict(false, "it is a separate repository: your version is kept")
        } else {
            Choice::Take
        };
    };
    if *now == by_run.new {
        return Choice::Keep;
    }
    match (now, &by_run.new) {
        (Some(now), Some(new)) if [now.mode, new.mode].iter().all(|mode| *mode & 0o170_000 == 0o100_000) => {
            Choice::Merge
        }
        (Some(_), Some(_)) => {
            conflict(false, "it is of another kind on the run's branch: your version is kept")
        }
        (Some(_), None) => {
            conflict(false, "the run has deleted it, you have changed it: your version is kept")
        }
        (None, Some(new)) if new.mode != SUBMODULE => {
            conflict(true, "you have deleted it, the run has changed it: the run's version is in your tree")
        }
        (None, _) => Choice::Keep,
    }
}

fn is_nested(file: Option<&File>) -> bool {
    file.is_some_and(|file| file.mode == SUBMODULE)
}

impl SnapshotStore {
    /// Merges a text that both sides have changed. Returns the merged file, and true if it has conflict markers.
    /// Returns `None` if the files are not texts.
    pub(super) async fn merge_text(
        &self,
        snapshot: &Snapshot,
        branch: &str,
        [yours, base, run]: [Option<&File>; 3],
    ) -> Result<Option<(File, bool)>, SnapshotError> {
        let snapshot_dir = self.directory(&snapshot.id);
        let mut sides = Vec::new();
        for side in [yours, base, run] {
            sides.push(match side.filter(|file| file.mode != LINK && file.mode != SUBMODULE) {
                Some(file) => self.read(snapshot, &file.object).await?,
                None => Vec::new(),
            });
        }
        let at = snapshot_dir.clone();
        off_thread(move || {
            SIDES.iter().zip(&sides).try_for_each(|(name, bytes)| {
                let path = at.join(name);
                private::write(&path, bytes).map_err(FileError::at(&path))
            })
        })
        .await?;
        let scope = Scope {
            git_dir: &snapshot_dir,
            writable: &[&snapshot_dir],
            reads: &[],
            cwd: &snapshot_dir,
            env: &[],
        };
        let labels = ["-L", "yours", "-L", "before the run", "-L", branch];
        let args = [&["merge-file", "-p", "-q"], &labels[..], &SIDES[..]].concat();
        let merged = self.program().try_run(scope, &args, Vec::new()).await;
        remove_sides(&snapshot_dir).await;
        let merged = merged?;
        // The exit status is the number of conflicts, at most 127. For files that cannot be merged it is higher.
        let conflicts = match merged.outcome {
            Outcome::Exited(status) => status.code().filter(|code| (0..128).contains(code)),
            _ => None,
        };
        let Some(conflicts) = conflicts else { return Ok(None) };
        let object = self.git(snapshot, &["hash-object", "-w", "--stdin"], merged.stdout).await?;
        let object = String::from_utf8_lossy(&object).trim().to_owned();
        let mode = |file: Option<&File>| file.map(|file| file.mode);
        // The side that has changed the mode wins.
        let mode = if mode(yours) == mode(base) { mode(run) } else { mode(yours) };
        Ok(Some((File { mode: mode.unwrap_or(0o100_644), object }, conflicts > 0)))
    }
}

async fn remove_sides(snapshot_dir: &Path) {
    let snapshot_dir = snapshot_dir.to_owned();
    off_thread(move || SIDES.iter().for_each(|name| drop(fs::remove_file(snapshot_dir.join(name))))).await;
}
