//! Checks whether delegation works here, and what keeps it from working.
//!
//! Each check is a [`Check`]: an area, a rating, a sentence, and advice.
//!
//! | File | Content |
//! |---|---|
//! | `check` | the finding of one check |
//! | `examine` | all checks in order; configuration, agents, permission hooks, pi's version |
//! | `guards` | the restraints of a child here: the warden and the sandbox |
//! | `writing` | the places where agents may write, and the caches of their tools |
//! | `launchers` | tests that pi starts through each configured launcher |
//! | `programs` | the programs behind pi's `grep` and `find` |
//! | `names` | tools, prompts and commands of others with the names of this package's |
//! | `store` | checks that the store of runs can be used |
//! | `disk` | the disk space of runs, kept private trees, writable directories |

mod check;
mod disk;
mod examine;
mod guards;
mod launchers;
mod names;
mod programs;
mod store;
mod writing;

pub use check::{Check, Status};
pub use examine::{doctor, taken_names};
