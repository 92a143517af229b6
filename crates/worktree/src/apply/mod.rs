//! Applies the changes of an isolated run to the user's work tree.
//!
//! The state of the tree is recorded first, as a snapshot is. Then each file that the run has changed is merged by
//! itself, from its state at the start, its current state, and the run's state. Only files are written: the index, the
//! commits and the references of the project stay unchanged. A file is replaced only while it is in the recorded state
//! (`replace/`). The data for undoing the apply is saved before the first file is written.
//!
//! | Question | File |
//! |---|---|
//! | which files lead out of the tree or into a repository, or run code later | `flagged` |
//! | how is a file merged that has changed on both sides | `merge` |
//! | apply it, in which order | `apply_run` |
//! | restore the state before an apply | `abort` |
//! | show the changes of a run, isolated or not | `difference` |
//! | delete the artifacts | `discard` |
//! | what was applied, what can go wrong | `error` |

mod abort;
mod apply_run;
mod difference;
mod discard;
mod error;
mod flagged;
mod merge;

pub use difference::Difference;
pub use discard::Discarded;
pub use error::Applied;
pub use error::ApplyError;
pub use flagged::FlaggedChanges;
