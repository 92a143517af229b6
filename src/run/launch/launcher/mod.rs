//! Where a child runs: on this machine, or wherever a launcher of the user's configuration starts it.
//!
//! Everything that differs between the two goes through [`Launcher`]. What works with files of this machine (credentials, private
//! directories, sandboxes, changes, snapshots, private trees, continued sessions, early boot, spare children) asks
//! [`Launcher::elsewhere`] first.

mod bootstrap;
mod configured;
mod contract;
mod local;
mod only_here;
mod select;

pub(crate) use configured::{Answered, Configured};
pub(in crate::run) use contract::{Job, Launch, Launcher, Payload};
pub(in crate::run) use only_here::{changes_there, only_here};
pub(in crate::run) use select::{launcher_of, selected};
