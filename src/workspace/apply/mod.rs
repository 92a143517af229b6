//! Applies the changes of an isolated run to the user's work tree.
//!
//! The state of the tree is recorded first, as a snapshot is. Then each file that the run has changed is merged by itself, from
//! its state at the start, its current state, and the run's state. Only files are written: the index, the commits and the
//! references of the project stay unchanged. A file is replaced only while it is in the recorded state (`replace/`). The data for
//! undoing the apply is saved before the first file is written.
//!
//! | Question | File |
//! |---|---|
//! | what has a run left, and what was taken over of it | `record` |
//! | which of it leads out of the tree or into a repository | `flagged` |
//! | what becomes of a file that both have changed | `merge` |
//! | apply it, in which order | `apply_run` |
//! | go back to what was before | `abort` |
//! | look at it, or delete it | `discard` |
//! | what can go wrong | `error` |

mod abort;
mod apply_run;
mod discard;
mod error;
mod flagged;
mod merge;
mod record;

pub use discard::{Difference, Discarded};
pub use error::ApplyError;
pub(crate) use flagged::FlaggedChanges;
pub use record::Applied;
