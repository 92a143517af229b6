//! The tree in which a child may write.
//!
//! | Question | File |
//! |---|---|
//! | where does it begin | `root` |
//! | which names in it are protected, and which run code later | `names` |
//! | where are the protected ones | `scan` |
//! | which files run code later, and which of them have changed | `watch` |
//! | how does git read it without running what it names | `git`, `index` |
//! | which of git's variables must no child get | `variables` |
//! | which of its files would block git | `obstacle` |
//! | who may write to it now | `writing` |
//! | how is one of its files replaced without losing a save | `replace/` |
//! | what was in it at one moment | `snapshot/` |
//! | how are the changes of an isolated run applied to it | `apply/` |
//! | how does a run get a private tree, and how are its changes imported | `private/` |
#![forbid(unsafe_code)]

mod apply;
mod git;
mod index;
mod names;
mod obstacle;
mod private;
mod replace;
mod root;
mod scan;
mod snapshot;
mod variables;
mod watch;
mod writing;

pub use apply::FlaggedChanges;
pub use apply::{Applied, ApplyError, Difference, Discarded};
pub use git::STALL;
pub use git::{Git, GitError};
pub use names::{by_danger, is_flagged};
pub use obstacle::Obstacle;
pub use obstacle::{Place, Reads, unless_blocked};
pub use private::noted_trees;
pub use private::{Imported, PrivateTree, RemoteChanges, RemoteChangesError, RemoteTree, TreeLock};
pub use root::{REPOSITORY, has_git, is_bare, root_of};
pub use scan::{Found, scan};
pub use snapshot::{
    Apply, Artifacts, Change, ChangeKind, ChangesState, RunChanges, Snapshot, SnapshotError, SnapshotLimits,
    SnapshotStore, Undone, Unrecorded, all_changes, changes_in, changes_of,
};
pub use variables::GIT_VARIABLES;
pub use variables::{leads_git, withheld_git_variables, without_git_variables};
pub use watch::{Gap, Mark, SearchLimits, WatchedFiles, mark_of};
pub use writing::{LockAttempt, WRITES, WorkTree, WriteLock, WriteLockQueue};
