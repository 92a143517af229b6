//! pi's agent directory as a sandboxed child sees it: a private one, from which one thing may come back.
//!
//! A child that could write the user's own agent directory could plant an extension there, which the user's next pi
//! would run. So a sandboxed child gets a directory of its own: what pi writes or locks is copied, what pi only reads is
//! linked, and the rest is not there. So does the child of an agent that has credentials of its own. Everything a child leaves in it is hostile input; a refreshed token is the only
//! thing that is carried over, by the rule in `give_back`. This module knows nothing of children, sandboxes or
//! configuration: callers hand in paths, a provider and a point in time. All of it blocks, except the refresh.
//!
//! Only Unix has it, because only there is a sandbox that needs it.

mod auth_file;
mod build;
mod give_back;
mod layout;
mod lock;
mod overlay;
mod read;
mod refresh;
mod replace;
mod token;

pub use build::{AgentDirError, LeftOut, PrivateAgentDir};
pub use give_back::{GiveBack, GiveBackError, Refused};
pub use lock::{AuthLock, LockError};
pub use overlay::has_entry;
pub use pi_subagent_warden::remove_tree;
pub use refresh::{Freshness, needs_refresh, refresh_before_copy};
pub use token::UnusableToken;
