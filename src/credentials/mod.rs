//! The private agent directory of a child, and the token that may come back from it.
//!
//! A child that could write the user's own agent directory could plant an extension there, which the user's next pi
//! would run. So a sandboxed child gets a directory of its own, and so does the child of an agent with credentials of
//! its own: files that pi writes or locks are copied, files that it only reads are linked, the rest is left out.
//! Everything that a child leaves there is hostile input. Only a refreshed token is copied back, after the checks of
//! `give_back` and `token`.
//!
//! ```text
//! refresh_before_copy ─▶ PrivateAgentDir::create ─▶ lay_over (agent's own credentials) ─▶ the child runs
//!                                                       user's auth.json ◀─ give_back ◀─┘
//! ```
//!
//! The key types are [`PrivateAgentDir`] (the directory; dropping it removes it), [`AuthLock`] (pi's lock on
//! `auth.json`) and `Credentials` (the parsed file).
//!
//! | File | Answers |
//! |---|---|
//! | `layout` | which entries are copied, linked or left out |
//! | `build` | how the directory is created and removed |
//! | `shell` | which shell the settings name, and how another program takes its place |
//! | `overlay` | how the keys of a session, and an agent's own credentials, win over the user's |
//! | `refresh` | whether the user's token outlives the run, and who refreshes it |
//! | `give_back` | when and how a token is copied back |
//! | `token` | which tokens are acceptable |
//! | `auth_file` | how `auth.json` is read, parsed, edited without touching other bytes, and replaced |
//! | `lock` | how pi's lock on `auth.json` is taken |
//!
//! This module knows nothing of children, sandboxes or configuration: callers pass paths, a provider and a point in
//! time. Everything blocks, except the refresh. Unix only, because only there are sandboxes.

mod auth_file;
mod build;
mod give_back;
mod layout;
mod lock;
mod overlay;
mod refresh;
mod shell;
mod token;

pub use build::PrivateAgentDir;
pub use give_back::{GiveBack, GiveBackError, Refused};
pub use lock::{AuthLock, LockError};
pub use overlay::has_entry;
pub use pi_subagent_warden::remove_tree;
pub use refresh::{needs_refresh, refresh_before_copy};
pub use shell::link_shell;
pub use token::UnusableToken;
