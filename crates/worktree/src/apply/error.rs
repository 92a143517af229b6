//! The applied changes of a run, and the errors of applying, undoing, showing and discarding them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use sanitizer::figures;

use crate::names::effect_of;
use crate::snapshot::{Artifacts, Snapshot, SnapshotError, SnapshotStore, named as shown};

/// The applied files, relative to the root of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The files that were written or removed, including files with conflict markers.
    pub written: Vec<PathBuf>,
    /// The files about which a person has to decide, with the reasons.
    pub conflicts: Vec<(PathBuf, String)>,
}

impl SnapshotStore {
    /// Returns the artifacts of a run, and the snapshot that it started from.
    pub(super) async fn artifacts(&self, id: &str) -> Result<(Snapshot, Artifacts), ApplyError> {
        let snapshot = match self.open(id).await {
            Err(SnapshotError::Unknown { .. }) => return Err(ApplyError::Nothing),
            found => found?,
        };
        match snapshot.artifacts.clone() {
            Some(artifacts) if artifacts.is_discarded => Err(ApplyError::Discarded),
            Some(artifacts) => Ok((snapshot, artifacts)),
            None if snapshot.is_of_private_tree() => Err(match snapshot.import_error {
                Some(why) => ApplyError::NotImported { why },
                None => ApplyError::NoBranch,
            }),
            None => Err(ApplyError::InPlace { id: id.to_owned() }),
        }
    }
}

/// The maximum number of paths in a message.
const MAX_NAMED: usize = 20;

/// The reason why something was not applied, undone, shown or discarded. Nothing has changed, unless the message says
/// so.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// No changes of the run are stored. The record of the run has the reason.
    #[error("no changes of it are stored")]
    Nothing,
    /// The run worked in the user's tree.
    #[error(
        "it worked in your tree itself: `/subagents diff {id}` shows its changes, `/subagents undo {id}` \
         reverts them"
    )]
    InPlace {
        /// The run.
        id: String,
    },
    /// The import of the run's changes failed.
    #[error("the import of its changes failed: {why}")]
    NotImported {
        /// The reason.
        why: String,
    },
    /// No import of the run's changes is recorded.
    #[error("it worked in a private tree, and no import of its changes is recorded")]
    NoBranch,
    /// The artifacts were discarded.
    #[error("already discarded")]
    Discarded,
    /// The run was applied before.
    #[error("already applied: `/subagents undo {id}` undoes that")]
    AppliedAlready {
        /// The run.
        id: String,
    },
    /// An apply did not end.
    #[error("an earlier apply was interrupted: `/subagents undo {id}` restores your files")]
    Interrupted {
        /// The run.
        id: String,
    },
    /// There is nothing to undo.
    #[error("it is not applied: there is nothing to undo")]
    NotApplied,
    /// The apply was undone before.
    #[error("its apply is already undone")]
    UndoneAlready,
    /// Another process is applying the run, or undoing its apply.
    #[error("another process is applying the same run or undoing its apply: try again when it has ended")]
    Busy,
    /// Some files need a separate confirmation.
    #[error(
        "it has files to check first: {}; `/subagents diff {id}` shows them, `/subagents apply {id} --with-flagged` \
         includes them",
        with_effects(paths, links_out)
    )]
    Flagged {
        /// The run.
        id: String,
        /// The files.
        paths: Vec<PathBuf>,
        /// The links among them that lead out of the tree.
        links_out: BTreeSet<PathBuf>,
    },
    /// It is unknown which files need a separate confirmation.
    #[error(
        "not all of your tree was checked for links and repositories that make a file run code ({why}); \
         check the changes with `/subagents diff {id}`, then `/subagents apply {id} --with-flagged` applies \
         all of them"
    )]
    Unsearched {
        /// The run.
        id: String,
        /// The limit.
        why: String,
    },
    /// A name that no file may have.
    #[error(
        "{} is not a valid file name in a work tree: check out single files from its branch with git",
        named(paths)
    )]
    Unsafe {
        /// The names.
        paths: Vec<PathBuf>,
    },
    /// Too many files were changed on both sides.
    #[error(
        "{files} files were changed by the run and in your tree, more than {limit}: merge its branch with git instead"
    )]
    TooMany {
        /// The number of files.
        files: usize,
        /// The limit.
        limit: usize,
    },
    /// The files would take up too much memory.
    #[error(
        "the files that would change take up {}, before and after, more than {}: merge its branch with git instead",
        figures::bytes(*bytes), figures::bytes(*limit)
    )]
    TooLarge {
        /// Their size on both sides.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The tree has changed since.
    #[error(
        "these files have changed since the apply: {}; nothing was undone. Bring the files back to \
         the state that the apply wrote, or undo the changes by hand",
        named(paths)
    )]
    ChangedSince {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// A file could not be written. All others are as they were.
    #[error(
        "{} could not be written: {why}. Nothing has changed; fix that and try again",
        named(std::slice::from_ref(path))
    )]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file could not be written, and others could not be restored.
    #[error(
        "{} could not be written: {why}. Some files are written already: fix that, then `/subagents apply \
         --abort {id}` restores your files",
        named(std::slice::from_ref(path))
    )]
    HalfWritten {
        /// The run.
        id: String,
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The branch has changed since the run.
    #[error(
        "the branch `{branch}` has changed since the run and is kept: delete it yourself with `git branch \
         -D {branch}` if no one needs it"
    )]
    Moved {
        /// Its name.
        branch: String,
    },
    /// The branch is checked out.
    #[error("the branch `{branch}` is checked out: check out another one first")]
    CheckedOut {
        /// Its name.
        branch: String,
    },
    /// The state of the tree cannot be recorded.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// Lists paths for a sentence.
pub(super) fn named(paths: &[PathBuf]) -> String {
    listed(paths, |path| format!("`{}`", shown(path)))
}

/// Names flagged files, each with its effect.
fn with_effects(paths: &[PathBuf], links_out: &BTreeSet<PathBuf>) -> String {
    let effect =
        |path: &PathBuf| if links_out.contains(path) { "leads out of the tree" } else { effect_of(path) };
    listed(paths, |path| format!("`{}` ({})", shown(path), effect(path)))
}

fn listed(paths: &[PathBuf], name: impl Fn(&PathBuf) -> String) -> String {
    let mut names: Vec<String> = paths.iter().take(MAX_NAMED).map(name).collect();
    if paths.len() > MAX_NAMED {
        names.push(format!("and {} more", paths.len() - MAX_NAMED));
    }
    names.join(", ")
}
