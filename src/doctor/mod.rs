//! Checks whether delegation works here, and what keeps it from working.
//!
//! Each check is a [`Check`]: an area, how good the finding is, a sentence, and what to do about it.
//!
//! | File | Answers |
//! |---|---|
//! | `check` | what a check says |
//! | `examine` | what is checked, and in which order; configuration, agents, permission hooks, pi's version |
//! | `guards` | what restrains a child here: the warden and the sandbox |
//! | `writing` | where agents that may write may do so, and whether their tools find their caches |
//! | `launchers` | whether pi starts through each configured launcher |
//! | `names` | whether tools, prompts or commands of others have the names of this package's |
//! | `store` | whether the store of runs can be used |
//! | `disk` | whether there is room for runs, and how much of it they take up |

mod check;
mod disk;
mod examine;
mod guards;
mod launchers;
mod names;
mod store;
mod writing;

pub use check::{Check, Status};
pub use examine::{doctor, taken_names};
