//! Starts a run's child and prepares its files and sandbox.
//!
//! ```text
//! AdmittedRun ─ files (RunFiles) ─▶ command_line (ChildCommand) ─ start ─▶ Booted: a child without a task
//! ```
//!
//! | File | Contents |
//! |---|---|
//! | `boot` | the start of a child, and the test whether an early child still fits |
//! | `files` | the files in the run's directory |
//! | `private_files` | the inputs for private files and directories |
//! | `private_dirs` | the child's own agent and temporary directories (Unix) |
//! | `leftovers` | the removal of files that runs of dead processes have left (Unix) |
//! | `command_line` | the arguments and the environment of the child, and of other commands in its tree |
//! | `sandboxes` | the options of the sandboxes around the child and around its shell |
//! | `resume` | the lock on an earlier run, and the check of its session |
//! | `session_copy` | the copy of a session for a child that boots before it is certain that it continues the run |
//! | `spare` | children that wait for a call: which calls they fit, whether they are outdated, and their memory |

pub(crate) mod boot;
pub(crate) mod command_line;
pub(crate) mod files;
#[cfg_attr(not(unix), path = "leftovers_unsupported.rs")]
pub(crate) mod leftovers;
#[cfg_attr(not(unix), path = "private_dirs_unsupported.rs")]
pub(crate) mod private_dirs;
pub(crate) mod private_files;
pub(crate) mod resume;
pub(crate) mod sandboxes;
mod session_copy;
pub(crate) mod spare;

pub use boot::Booted;
pub(crate) use files::GUARD;
pub(crate) use leftovers::sweep_once as sweep_leftovers;
pub(crate) use resume::{is_idle, is_unlocked};
pub use spare::{Memory, SpareRequest};
