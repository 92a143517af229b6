//! The facts about a run that the host knows itself, next to the child's words: in its result, and in its record.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use sanitizer::{quoted_paths, text_enum};
use worktree::ChangesState;

/// The words for a run that could write and whose tree is unchanged. git does not see ignored files.
pub const UNCHANGED: &str = "changed nothing that git sees";
/// The maximum number of ignore files that a note names.
const MAX_NAMED: usize = 10;

/// Returns the note that a run has changed ignore files.
pub(crate) fn hiding_note(ignore_files: &[PathBuf]) -> String {
    let named = quoted_paths(ignore_files.iter().take(MAX_NAMED).map(|path| path.to_string_lossy()));
    let more = if ignore_files.len() > MAX_NAMED {
        format!(" and {} more", ignore_files.len() - MAX_NAMED)
    } else {
        String::new()
    };
    format!(
        "the run changed which files git ignores ({named}{more}): its new files may be missing from the changes, and stay \
         after an undo"
    )
}

text_enum! {
    /// A fact about a run that the host knows and that the run's answer may contradict. The most important one is first.
    #[derive(PartialOrd, Ord)]
    pub enum Caveat {
        /// It changed nothing, because `allowWrite` is off: its agent asks for tools that write, or it called one.
        WriteOff = "write_off",
        /// It called a tool that writes, and changed nothing, because its agent is readonly.
        Readonly = "readonly",
        /// Its task asks for a change or its answer claims one, and it called no tool that changes files.
        NoWrite = "no_write",
        /// It called a tool that writes, its task asks for a change or its answer claims one, and git sees no change.
        Unchanged = "unchanged",
        /// The sandbox refused a shell command.
        Refused = "refused",
    }
}

impl Caveat {
    /// The words for a row.
    #[must_use]
    pub const fn note(self) -> &'static str {
        match self {
            Self::WriteOff | Self::Readonly | Self::NoWrite => "changed nothing",
            Self::Unchanged => "git sees no change",
            Self::Refused => "the sandbox refused a command",
        }
    }

    /// The fact in words.
    #[must_use]
    pub const fn fact(self) -> &'static str {
        match self {
            Self::WriteOff => "changed nothing: allowWrite is off",
            Self::Readonly => "changed nothing: the agent is readonly",
            Self::NoWrite => "changed nothing: it called no tool that changes files",
            Self::Unchanged => UNCHANGED,
            Self::Refused => "the sandbox refused a shell command",
        }
    }

    /// The words for a line: the fact, and the page about it.
    #[must_use]
    pub fn message(self) -> String {
        match self {
            Self::WriteOff | Self::NoWrite | Self::Unchanged => format!("{} (docs/writing.md)", self.fact()),
            Self::Refused => format!("{} (docs/sandbox.md)", self.fact()),
            Self::Readonly => self.fact().to_owned(),
        }
    }
}

/// The result of the check of a run's work. Strings are sanitized and bounded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The command.
    pub command: String,
    /// True if it ended with exit code 0.
    pub passed: bool,
    /// Its outcome: `exit code 1`, `killed by SIGKILL`.
    pub ended: String,
    /// The number of times that it ran.
    #[serde(default)]
    pub runs: u32,
    /// The end of its last output.
    #[serde(default)]
    pub output: String,
}

/// The artifacts of an isolated run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IsolationReport {
    /// The branch with all of its changes. Absent if it changed nothing, or if the changes are only in `patch`.
    pub branch: Option<String>,
    /// The file with the same changes as a patch.
    pub patch: Option<String>,
    /// The number of commits that the child has made itself.
    pub commits: u32,
    /// Files that differ.
    pub files: usize,
    /// Lines that were added.
    pub insertions: u64,
    /// Lines that were removed.
    pub deletions: u64,
    /// The private tree, if it was kept because not everything could be imported.
    pub kept_tree: Option<String>,
}

text_enum! {
    /// The place where the changes of a run were stored at its end, or the reason why none were. The state of stored
    /// changes after that is a [`ChangesState`].
    pub enum StoredChanges {
        /// Its agent is readonly.
        Readonly = "readonly",
        /// `allowWrite` was off.
        WriteOff = "write_off",
        /// Its agent has only tools that read.
        OnlyReads = "only_reads",
        /// It changed no file.
        Nothing = "nothing",
        /// A snapshot has them.
        Snapshot = "snapshot",
        /// A branch has them.
        Branch = "branch",
        /// They could not be imported from its private tree.
        NotImported = "not_imported",
        /// No snapshot of its tree could be taken.
        NotRecorded = "not_recorded",
        /// Its tree is in no git repository.
        NoGit = "no_git",
        /// They are files of another machine.
        Remote = "remote",
    }
}

impl StoredChanges {
    /// Returns the fact for an answer that says that the run wrote. `None` if the run could write.
    #[must_use]
    pub fn caveat(self) -> Option<Caveat> {
        match self {
            Self::Readonly => Some(Caveat::Readonly),
            Self::WriteOff => Some(Caveat::WriteOff),
            _ => None,
        }
    }
}

impl IsolationReport {
    /// Returns the stored changes, once their import has ended.
    pub(super) fn stored_changes(&self) -> StoredChanges {
        match self {
            Self { branch: Some(_), .. } => StoredChanges::Branch,
            Self { patch: Some(_), .. } => StoredChanges::Snapshot,
            Self { kept_tree: Some(_), .. } => StoredChanges::NotImported,
            _ => StoredChanges::Nothing,
        }
    }
}

text_enum! {
    /// What a command has done with the changes of a run.
    pub enum Settled {
        /// They are in the user's tree.
        Applied = "applied",
        /// They were deleted.
        Discarded = "discarded",
        /// The files are as they were before the run.
        Undone = "undone",
    }
}

impl Settled {
    /// Returns what a command has done. `None` for changes that wait.
    #[must_use]
    pub fn of(state: ChangesState) -> Option<Self> {
        match state {
            ChangesState::Applied | ChangesState::AppliedOnly => Some(Self::Applied),
            ChangesState::Discarded => Some(Self::Discarded),
            ChangesState::Undone => Some(Self::Undone),
            ChangesState::Unapplied | ChangesState::HalfApplied | ChangesState::InPlace => None,
        }
    }
}

/// The artifacts of a background run, which are facts of ours next to the child's words. The fields are those of a result.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunArtifacts {
    /// The id by which commands find them, if it is not the id of the record: each step of a chain has its own.
    pub run_id: Option<String>,
    /// The result of the check of its work.
    pub check: Option<CheckReport>,
    /// The files that it changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The changed files that run code later, or tell agents what to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flagged: Vec<String>,
    /// The reason why there may be more of them.
    pub flagged_gap: Option<String>,
    /// The report on its private tree.
    pub isolation: Option<IsolationReport>,
    /// The name of its agent. Absent in records of earlier versions.
    pub agent: Option<String>,
    /// What a command has done with the changes. Lists read it from the snapshot; it is not stored.
    pub settled: Option<Settled>,
}
