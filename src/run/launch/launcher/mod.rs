//! Where a child runs: on this machine, or wherever a launcher of the user's configuration starts it.
//!
//! Everything that differs between the two goes through [`Launcher`]. What works with files of this machine (credentials, private
//! directories, sandboxes, changes, snapshots, continued sessions, early boot, spare children) asks [`Launcher::elsewhere`] first.
//!
//! A child elsewhere is started by a script that comes over its standard input, and that says beside the child's events what became of it.
//!
//! | File | Answers |
//! |---|---|
//! | `contract` | what a launcher has to say and do |
//! | `select` | which launcher starts the children of an agent |
//! | `local` | how children start on this machine |
//! | `configured` | how a program of the user's configuration starts them elsewhere |
//! | `only_here` | what a child elsewhere does without |
//! | `bootstrap` | what the script there does |
//! | `quoted` | how it spells words |
//! | `tree` | how it makes a private tree, and how the child's work comes back |
//! | `held` | how it has the warden of that machine hold the child |
//! | `heard` | which of what comes back is the script's, and what it says |
//! | `fate` | how far a child has come that failed |
//! | `arrivals` | how long a test of one took to get somewhere |
//! | `helper` | how `cancel` and `fetch` of a launcher run |

mod arrivals;
mod bootstrap;
mod configured;
mod contract;
mod fate;
mod heard;
mod held;
mod helper;
mod local;
mod only_here;
mod quoted;
mod select;
mod tree;

pub(crate) use arrivals::Arrivals;
pub(crate) use configured::{Answered, Configured, LauncherTest};
pub(in crate::run) use contract::{Job, Launch, Launcher, Payload, WorkThere};
pub(in crate::run) use fate::Elsewhere;
pub(in crate::run) use heard::Heard;
pub(crate) use helper::run_cancel;
pub(in crate::run) use helper::run_helper;
pub(crate) use only_here::cannot_go_on;
pub(in crate::run) use only_here::{changes_there, only_here};
pub(in crate::run) use select::{launcher_of, selected};
