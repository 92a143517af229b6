//! Starts children on this machine, or on another one with a launcher of the user's configuration.
//!
//! Everything that differs between the two goes through [`Launcher`]. Features that need files of this machine check
//! [`Launcher::remote_name`] first: credentials, private directories, sandboxes, changes, snapshots, continued
//! sessions, early boot and spare children.
//!
//! A script starts the remote child. It is sent through the child's standard input, and reports the end of the child
//! between the child's events.
//!
//! | File | Contents |
//! |---|---|
//! | `contract` | the interface of a launcher |
//! | `select` | the choice of the launcher for an agent, and the start of children on this machine |
//! | `configured` | the start of children with a program of the user's configuration, and its commands `cancel` and `fetch` |
//! | `bootstrap` | the script that runs on the remote machine, with its warden and its private tree if it has them |
//! | `remote_output` | the separation of the script's messages from the child's output, and the time at which output arrived |
//! | `remote_exit` | the stage that a failed child reached |

mod bootstrap;
mod configured;
mod contract;
mod remote_exit;
mod remote_output;
mod select;

pub(crate) use configured::{Configured, HelperError, LauncherTest, TestAnswer, run_cancel, run_helper};
pub(crate) use contract::{Job, Launch, Launcher, Materials, Payload, RemoteWork};
pub(crate) use remote_exit::RemoteEnd;
pub(crate) use remote_output::{OutputTimestamps, RemoteOutput};
pub use select::LauncherError;
pub(crate) use select::{launcher_of, selected};
