//! pi's agent directory as a sandboxed child sees it: a private one, from which one thing may come back.
//!
//! A child that could write the user's own agent directory could plant an extension there, which the user's next pi
//! would run. So a sandboxed child gets a directory of its own: what pi writes or locks is copied, what pi only reads is
//! linked, and the rest is not there. So does the child of an agent that has credentials of its own. Everything a child leaves in it is hostile input; a refreshed token is the only
//! thing that is carried over, by the rule in `give_back`. This module knows nothing of children, sandboxes or
//! configuration: callers hand in paths, a provider and a point in time. All of it blocks, except the refresh.
//!
//! Only Unix has it, because only there is a sandbox that needs it.

#[cfg(unix)]
mod auth_file;
#[cfg(unix)]
mod build;
#[cfg(unix)]
mod give_back;
mod host;
#[cfg(unix)]
mod layout;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod overlay;
#[cfg(unix)]
mod read;
#[cfg(unix)]
mod refresh;
#[cfg(unix)]
mod replace;
#[cfg(unix)]
mod token;

#[cfg(unix)]
pub use build::{AgentDirError, LeftOut, PrivateAgentDir};
#[cfg(unix)]
pub use give_back::{GiveBack, GiveBackError, Refused};
pub use host::Refresh;
#[cfg(unix)]
pub use lock::{AuthLock, LockError};
#[cfg(unix)]
pub use overlay::{credentials_of, has_entry};
#[cfg(unix)]
pub use pi_subagent_warden::remove_tree;
#[cfg(unix)]
pub use refresh::{Freshness, needs_refresh, refresh_before_copy};
#[cfg(unix)]
pub use token::UnusableToken;
