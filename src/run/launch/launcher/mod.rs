//! Where a child runs: on this machine, or wherever a launcher of the user's configuration starts it.
//!
//! Everything that differs between the two goes through [`Launcher`]. What works with files of this machine (credentials, private
//! directories, sandboxes, changes, snapshots, continued sessions, early boot, spare children) asks [`Launcher::elsewhere`] first.
//!
//! A child elsewhere is started by a script that comes over its standard input (`bootstrap`). It makes the child's private tree there
//! (`tree`), has the warden of that machine hold the child (`held`), and says beside the child's events what became of both (`heard`).
//! What a launcher has beside that, `cancel` and `fetch`, is run by `helper`.

mod bootstrap;
mod configured;
mod contract;
mod fate;
mod heard;
mod held;
mod helper;
mod local;
mod only_here;
mod select;
mod tree;

pub(crate) use configured::{Answered, Configured, LauncherTest};
pub(in crate::run) use contract::{Job, Launch, Launcher, Payload, WorkThere};
pub(in crate::run) use fate::Elsewhere;
pub(in crate::run) use heard::Heard;
pub(crate) use helper::run_cancel;
pub(in crate::run) use helper::run_helper;
pub(crate) use only_here::cannot_go_on;
pub(in crate::run) use only_here::{changes_there, only_here};
pub(in crate::run) use select::{launcher_of, selected};
