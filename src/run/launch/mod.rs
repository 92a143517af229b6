//! How a run's child is started, and what it finds.
//!
//! ```text
//! AdmittedRun ─ files (RunFiles) ─▶ command_line (ChildCommand) ─ start ─▶ Booted: a child without a task
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `boot` | how a child is started, and whether one that was booted early still fits |
//! | `files` | what lies in the run's directory, and what of it stays |
//! | `private_files` | what private files and directories are made from |
//! | `private_dirs` | which agent and temporary directories a child has for itself (Unix) |
//! | `leftovers` | what runs of dead processes have left, and how it is removed (Unix) |
//! | `command_line` | which arguments and environment the child gets |
//! | `sandboxes` | what the sandbox around a child is told, and the one around its shell |
//! | `launcher` | where the child runs, and what differs there from this machine |
//! | `tree_command` | how a command starts that prepares a child's tree or checks its work |
//! | `resume` | how the session of an earlier run is locked and checked |
//! | `spare` | which calls a child that waits may serve, what outdates it, and whether there is memory for it |

pub(crate) mod boot;
pub(crate) mod command_line;
pub(crate) mod files;
pub(crate) mod launcher;
#[cfg_attr(not(unix), path = "leftovers_elsewhere.rs")]
pub(crate) mod leftovers;
#[cfg_attr(not(unix), path = "private_dirs_elsewhere.rs")]
pub(crate) mod private_dirs;
pub(crate) mod private_files;
pub(crate) mod resume;
pub(crate) mod sandboxes;
pub(crate) mod spare;
mod tree_command;

pub use boot::Booted;
pub(crate) use leftovers::sweep_once as sweep_leftovers;
pub use spare::{Memory, SpareWish};
