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
//! | `select` | the choice of the launcher for an agent |
//! | `local` | the start of children on this machine |
//! | `configured` | the start of children with a program of the user's configuration |
//! | `remote_limits` | the features that remote children do not have |
//! | `bootstrap` | the script that runs on the remote machine |
//! | `quoted` | the quoting of shell words |
//! | `tree` | the part of the script that creates a private tree and sends the child's work back |
//! | `remote_warden` | the part of the script that uses the remote machine's warden |
//! | `remote_output` | the separation of the script's messages from the child's output |
//! | `remote_exit` | the stage that a failed child reached |
//! | `output_timestamps` | the times at which output of a test arrived |
//! | `helper` | the commands `cancel` and `fetch` of a launcher |

mod bootstrap;
mod configured;
mod contract;
mod helper;
mod local;
mod output_timestamps;
mod quoted;
mod remote_exit;
mod remote_limits;
mod remote_output;
mod remote_warden;
mod select;
mod tree;

pub(crate) use configured::{Configured, LauncherTest, TestAnswer};
pub(in crate::run) use contract::{Job, Launch, Launcher, Payload, RemoteWork};
pub(crate) use helper::run_cancel;
pub(in crate::run) use helper::{HelperError, run_helper};
pub(crate) use output_timestamps::OutputTimestamps;
pub(in crate::run) use remote_exit::RemoteEnd;
pub use remote_limits::RemoteLimit;
pub(crate) use remote_limits::cannot_continue;
pub(in crate::run) use remote_limits::{remote_changes_notice, remote_limit};
pub(in crate::run) use remote_output::RemoteOutput;
pub use select::LauncherError;
pub(in crate::run) use select::{launcher_of, selected};
