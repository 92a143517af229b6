//! Reads where the changes of runs are, from the records of their snapshots, without git.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::artifacts::Artifacts;
use super::store::{MAX_RECORD, RECORD};
use crate::root::RepositoryDirs;
use files::layout::{self, is_run_id};
use files::open;
use sanitizer::text_enum;

/// The maximum number of snapshots that are read. A directory with more holds something else.
const MAX_SNAPSHOTS: usize = 20_000;
/// The largest list of packed references that is read.
const MAX_PACKED: u64 = 64 * 1024 * 1024;

text_enum! {
    /// The state of a run's changes.
    pub enum ChangesState {
        /// They are on a branch or in a patch, and not in the user's tree.
        Unapplied = "unapplied",
        /// An apply was interrupted, and can be reverted.
        HalfApplied = "half_applied",
        /// They were applied to the user's tree, and the apply can be reverted.
        Applied = "applied",
        /// The same, and the branch was deleted by `discard`.
        AppliedOnly = "applied_only",
        /// The run wrote to the user's tree, and can be undone.
        InPlace = "in_place",
        /// An undo has restored every file.
        Undone = "undone",
        /// The branch was deleted, by `discard` or with git.
        Discarded = "discarded",
    }
}

/// The changes of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunChanges {
    /// The id of the run.
    pub id: String,
    /// The root of the tree in which it began.
    pub root: PathBuf,
    /// Their state.
    pub state: ChangesState,
    /// True if they are on a branch.
    pub has_branch: bool,
    /// The number of changed files, if it is known.
    pub files: Option<usize>,
}

/// The needed part of a snapshot's record.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    id: String,
    root: PathBuf,
    tree: String,
    #[serde(default)]
    end: Option<String>,
    #[serde(default, alias = "left")]
    artifacts: Option<Artifacts>,
    #[serde(default)]
    applied: Option<AppliedRecord>,
    #[serde(default)]
    is_in_place: bool,
    #[serde(default)]
    is_undone: bool,
}

/// The needed part of the record of an apply.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AppliedRecord {
    is_complete: bool,
}

/// Returns the changes of an ended run; `None` if it has none, or none that are known. Blocks.
#[must_use]
pub fn changes_of(agent_dir: &Path, id: &str) -> Option<RunChanges> {
    Reader::default().read(agent_dir, id)
}

/// Returns the changes of the runs in private trees of the work tree at `root`, in no particular order. Blocks.
#[must_use]
pub fn changes_in(agent_dir: &Path, root: &Path) -> Vec<RunChanges> {
    read_all(agent_dir, Reader { only: Some(root), ..Reader::default() })
}

/// Returns the changes of all runs that have some, in any tree and in no particular order. Blocks.
#[must_use]
pub fn all_changes(agent_dir: &Path) -> Vec<RunChanges> {
    read_all(agent_dir, Reader::default())
}

fn read_all(agent_dir: &Path, mut reader: Reader<'_>) -> Vec<RunChanges> {
    let entries = fs::read_dir(layout::snapshots(agent_dir)).into_iter().flatten().flatten();
    let ids = entries.take(MAX_SNAPSHOTS).filter_map(|entry| entry.file_name().into_string().ok());
    ids.filter_map(|id| reader.read(agent_dir, &id)).collect()
}

/// Reads records, and the references of each repository once.
#[derive(Default)]
struct Reader<'a> {
    /// Skips the snapshots of other trees, and the ones of runs in place.
    only: Option<&'a Path>,
    packed: HashMap<PathBuf, String>,
}

impl Reader<'_> {
    fn read(&mut self, agent_dir: &Path, id: &str) -> Option<RunChanges> {
        if !is_run_id(id) {
            return None;
        }
        let path = layout::snapshots(agent_dir).join(id).join(RECORD);
        let text = open::read(open::regular_no_follow(&path).ok()?, MAX_RECORD).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        let is_wanted = self.only.is_none_or(|root| root == record.root && record.artifacts.is_some());
        if record.id != id || !is_wanted {
            return None;
        }
        let state = self.state(&record)?;
        let artifacts = record.artifacts;
        Some(RunChanges {
            id: record.id,
            root: record.root,
            state,
            has_branch: artifacts.as_ref().is_some_and(|artifacts| artifacts.branch.is_some()),
            files: artifacts.and_then(|artifacts| artifacts.files),
        })
    }

    fn state(&mut self, record: &Record) -> Option<ChangesState> {
        let Some(artifacts) = &record.artifacts else {
            let is_of_private_tree = !record.is_in_place && record.end.as_ref() == Some(&record.tree);
            let state = if record.is_undone { ChangesState::Undone } else { ChangesState::InPlace };
            return (!is_of_private_tree).then_some(state);
        };
        Some(match &record.applied {
            Some(AppliedRecord { is_complete: true }) if artifacts.is_discarded => ChangesState::AppliedOnly,
            Some(AppliedRecord { is_complete: true }) => ChangesState::Applied,
            Some(_) => ChangesState::HalfApplied,
            None if artifacts.is_discarded => ChangesState::Discarded,
            None if artifacts
                .branch
                .as_deref()
                .is_some_and(|branch| !self.has_branch(&record.root, branch)) =>
            {
                ChangesState::Discarded
            }
            None => ChangesState::Unapplied,
        })
    }

    /// Returns true if the repository has the branch. A branch in a format that is not read here counts as existing.
    fn has_branch(&mut self, root: &Path, branch: &str) -> bool {
        let Some(dirs) = RepositoryDirs::of(root) else { return false };
        let name = format!("refs/heads/{branch}");
        if fs::symlink_metadata(dirs.shared.join(&name)).is_ok() || dirs.shared.join("reftable").exists() {
            return true;
        }
        let packed = self.packed.entry(root.to_owned()).or_insert_with(|| {
            let file = open::regular(&dirs.shared.join("packed-refs"));
            let text = file.and_then(|file| open::read(file, MAX_PACKED)).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        });
        packed.lines().any(|line| line.split_once(' ').is_some_and(|(_, known)| known == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the record of a snapshot and returns the state that is read from it.
    fn state(agent_dir: &Path, root: &Path, fields: &str) -> Option<ChangesState> {
        let directory = layout::snapshots(agent_dir).join("0badcafe");
        fs::create_dir_all(&directory).expect("the directory is created");
        let root = serde_json::to_string(root).expect("a path is text");
        let record = format!(r#"{{"id":"0badcafe","root":{root},"tree":"t"{fields}}}"#);
        fs::write(directory.join(RECORD), record).expect("the file is written");
        changes_of(agent_dir, "0badcafe").map(|changes| changes.state)
    }

    #[test]
    fn the_state_follows_from_the_record_and_from_the_branch_in_the_repository() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let git = root.path().join(".git");
        for name in ["objects", "refs/heads/subagent"] {
            fs::create_dir_all(git.join(name)).expect("the directory is created");
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("the file is written");
        let read = |fields: &str| state(agent_dir.path(), root.path(), fields);
        let branch = |more: &str| {
            let (one, other) = (r#","end":"t","artifacts":{"branch":"subagent/0badcafe","commit":"c""#, more);
            format!("{one}{other}")
        };
        assert_eq!(read(&branch("}")), Some(ChangesState::Discarded), "the branch was deleted with git");
        fs::write(git.join("packed-refs"), "# pack-refs\nc refs/heads/subagent/0badcafe\n")
            .expect("the file is written");
        assert_eq!(read(&branch("}")), Some(ChangesState::Unapplied));
        fs::remove_file(git.join("packed-refs")).expect("the file is removed");
        fs::write(git.join("refs/heads/subagent/0badcafe"), "c\n").expect("the file is written");
        assert_eq!(read(&branch("}")), Some(ChangesState::Unapplied));
        assert_eq!(read(&branch(r#","isDiscarded":true}"#)), Some(ChangesState::Discarded));
        assert_eq!(read(&branch(r#"},"applied":{"isComplete":true}"#)), Some(ChangesState::Applied));
        assert_eq!(read(&branch(r#"},"applied":{"isComplete":false}"#)), Some(ChangesState::HalfApplied));
        let applied_only = read(&branch(r#","isDiscarded":true},"applied":{"isComplete":true}"#));
        assert_eq!(applied_only, Some(ChangesState::AppliedOnly));
        let patch = r#","end":"t","artifacts":{"branch":null,"commit":"c"}"#;
        assert_eq!(read(patch), Some(ChangesState::Unapplied), "a patch needs no branch");
        assert_eq!(read(r#","end":"t""#), None, "nothing of a private tree was imported");
        assert_eq!(read(r#","end":"u""#), Some(ChangesState::InPlace));
        assert_eq!(read(r#","end":"u","isUndone":true"#), Some(ChangesState::Undone));
        assert_eq!(read(r#","end":"t","isInPlace":true"#), Some(ChangesState::InPlace));
        assert_eq!(changes_in(agent_dir.path(), root.path()), [], "a run in place is not listed");
        assert_eq!(read(&branch(r#","files":3}"#)), Some(ChangesState::Unapplied));
        let [listed] = &changes_in(agent_dir.path(), root.path())[..] else { panic!("one run is listed") };
        assert_eq!((listed.files, listed.has_branch), (Some(3), true));
        assert_eq!(changes_in(agent_dir.path(), agent_dir.path()), [], "another tree has none");
    }
}
