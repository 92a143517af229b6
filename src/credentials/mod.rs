//! The private agent directory of a child, and the refreshed token that may be copied back from it.
//!
//! If a child could write to the user's own agent directory, it could plant an extension there, and the user's next pi
//! would run it. So a sandboxed child gets a directory of its own, and so does the child of an agent with its own
//! credentials. Files that pi writes or locks are copied, files that it only reads are linked, and all other files are
//! left out. The files in this directory after the run are hostile input. Only a refreshed token is copied back, after
//! the checks of `give_back` and `token`.
//!
//! Some files name programs that pi starts, outside of the sandbox around the programs of a shell. pi reads these files again
//! while the child runs. `PrivateAgentDir::fixed` lists the files that can be read-only for the child. The link to its shell
//! and the shell's options are in another directory, where the child can never write.
//!
//! ```text
//! refresh_before_copy ─▶ PrivateAgentDir::create ─▶ merge_credentials (agent's own credentials) ─▶ the child runs
//!                                                       user's auth.json ◀─ give_back ◀─┘
//! ```
//!
//! The key types are [`PrivateAgentDir`] (the directory; dropping it removes it), [`AuthLock`] (pi's lock on
//! `auth.json`) and `Credentials` (the parsed file).
//!
//! | File | Task |
//! |---|---|
//! | `build` | create and remove the directory, and decide which entries are copied, linked or left out |
//! | `shell` | find the shell in the settings, and replace it by another program |
//! | `overlay` | put a session's keys and an agent's own credentials over the user's |
//! | `refresh` | refresh a token that would expire during the run |
//! | `give_back` | copy a refreshed token back |
//! | `token` | check a token |
//! | `auth_file` | read, parse, edit and replace `auth.json` |
//! | `lock` | take pi's lock on `auth.json` |
//!
//! This module knows nothing about children, sandboxes or configuration. Callers pass paths, a provider and a point in
//! time. Every function blocks, except the refresh. The module is for Unix only, because sandboxes exist only there.

mod auth_file;
mod build;
mod give_back;
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
pub use shell::{link_shell, rewrite_options};
pub use token::UnusableToken;
