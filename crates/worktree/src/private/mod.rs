//! A private repository for one run, made from a snapshot, and the import of its changes.
//!
//! It is a repository of its own, not a linked work tree: its child may commit, and can neither reach the references of
//! the project nor lose its history. Its objects are the project's, read through an alternate.
//!
//! Afterwards the child controls every byte of it, including its configuration. So git never runs in it: files are read
//! with an index and a configuration of ours. Commits are copied object by object, without anything that the child's
//! repository borrows, and checked before they count.
//!
//! | Question | File |
//! |---|---|
//! | make one | `create` |
//! | bring ignored files along | `copy` |
//! | what did the child commit, and is it sound | `incoming` |
//! | import its changes as a patch and a branch, and remove it | `import`; which branch, `publish` |
//! | what happens after a process has died, and when a run continues | `recover` |
//! | which packs are sent to a remote machine and returned from it | `remote` |

mod copy;
mod create;
mod import;
mod incoming;
mod publish;
mod recover;
mod remote;

pub use create::PrivateTree;
pub use import::Imported;
pub(crate) use import::PATCH;
pub(crate) use publish::is_in_use;
pub use recover::TreeLock;
pub use recover::noted_trees;
pub use remote::{RemoteChanges, RemoteChangesError, RemoteTree};
