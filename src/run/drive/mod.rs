//! Drives a child: writes to it, and handles its events for its run.
//!
//! ```text
//! execute ─ for each attempt ─▶ attempt ─┬─ child: folds what the child writes
//!                                        ├─ updates: progress for watchers
//!                                        └─ questions: asked, and answered into child_control
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `active_run` | what all of them share while the run has its permit |
//! | `execute` | which child a run gets, and whether another attempt follows |
//! | `attempt` | what runs concurrently while a child works |
//! | `child` | what counts as a sign of life, and when the work is done |
//! | `commands/` | what prepares the tree before the first prompt, and what checks the work after the last |
//! | `deadline` | when a child is told that its time runs out, and how long its last turn may take |
//! | `conclude` | what follows the end of a child elsewhere |
//! | `after_end` | which changes the run has left in its tree, and how long its caller waits for them |
//! | `child_control` | what may be written to a child now, and what it is asked at its end |
//! | `turn_grants` | how a child is told that its budget covers its next turn |
//! | `protocol/` | how it is encoded, by the setting `protocol` |
//! | `loop_guard` | what becomes of a child that repeats itself |
//! | `shared_collector`, `updates` | what watchers see of a child while it works |
//! | `questions`, `ask_key` | what the child asks, and which of it its agent asks |
//! | `control` | what the holder of a call's handle can do |

mod active_run;
mod after_end;
mod ask_key;
mod attempt;
mod child;
mod child_control;
mod commands;
mod conclude;
mod control;
mod deadline;
mod execute;
mod loop_guard;
pub(crate) mod protocol;
mod questions;
mod shared_collector;
mod turn_grants;
mod updates;

pub(in crate::run) use ask_key::PREFIX as ASK_KEY_PREFIX;
pub use control::{Control, ProviderGate, Steering, Watchers};
pub(crate) use updates::UPDATE_INTERVAL;
