//! The state of a work tree at one moment, kept as git objects in a directory of ours.
//!
//! A snapshot holds the tracked and untracked files in their state on the disk, without ignored files. It is made with
//! its own index, object directory and configuration; the repository is only read. Files unchanged since the last
//! commit are in the repository's objects, which get second names in our directory.
//!
//! | Question | File |
//! |---|---|
//! | take one, compare, read, open again, release | `store` |
//! | which facts about a repository are needed to read its tree | `facts` |
//! | how are its objects kept | `objects` |
//! | which tree do the files make now | `record`, with `copies` |
//! | which artifacts does an isolated run have, and were they applied | `artifacts` |
//! | which runs have changes, and where are they | `run_changes` |
//! | what differs between two trees | `change` |
//! | undo the changes of a run | `undo`; permissions and directories, `surroundings` |
//! | what can go wrong | `error` |

mod artifacts;
mod change;
mod copies;
mod error;
mod facts;
mod objects;
mod record;
mod run_changes;
mod store;
mod surroundings;
mod undo;

pub(super) use artifacts::Name;
pub use artifacts::{Apply, Artifacts};
pub use change::{Change, ChangeKind};
pub(super) use change::{Contents, File, path_of, state};
pub use error::SnapshotError;
pub(super) use error::named;
pub(super) use facts::off_thread;
pub use record::SnapshotLimits;
pub(super) use record::line as index_line;
pub use run_changes::{ChangesState, RunChanges, all_changes, changes_in, changes_of};
pub(super) use store::{Call, INDEX_NOW, SHOWN, copy_with_time};
pub use store::{Snapshot, SnapshotStore};
pub use surroundings::Unrecorded;
pub use undo::Undone;
pub(super) use undo::{batches, both, modified_after};
