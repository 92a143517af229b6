//! Records the tree of a run: its state before, the private copy that a run may get, and the changes at the end.
//!
//! | File | Contents |
//! |---|---|
//! | `isolation` | the private tree of a run, and the import of its changes |
//! | `snapshots` | the state of a tree before a run, for an undo |
//! | `changes` | the files that a run changed, and those that run code later or tell agents what to do |
//! | `waiting` | the changes in a project that wait for a person |
//! | `git` | a git that a hostile work tree cannot exploit |

pub(crate) mod changes;
pub(crate) mod git;
pub(crate) mod isolation;
pub(crate) mod snapshots;
pub(crate) mod waiting;
