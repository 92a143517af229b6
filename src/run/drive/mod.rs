//! Drives a child: writes to it, and handles its events for its run.
//!
//! ```text
//! execute ─ for each attempt ─▶ attempt ─┬─ child: folds what the child writes
//!                                        ├─ updates: progress for watchers
//!                                        └─ questions: asked, and answered into child_control
//! ```
//!
//! | File | Contents |
//! |---|---|
//! | `active_run` | the state that the other files share while the run has its permit |
//! | `execute` | the choice of the run's child, and the loop over its attempts |
//! | `trees` | the tree of the run, and the record of its state before and after the run |
//! | `next_attempt` | the attempt after a failed one: whether there is one, the wait for it, the start of its child |
//! | `attempt` | the concurrent tasks while a child works |
//! | `child` | the activity of a child, and the end of its work |
//! | `commands` | the commands that prepare the tree before the first prompt and check the work after the last |
//! | `deadline` | the warning of a child whose time runs out, and the time limit of its last turn |
//! | `after_end` | the end of a remote child, the changes in the tree, and the time that the caller waits for them |
//! | `child_control` | the messages and the turns that a child may get now, and the requests at its end |
//! | `loop_guard` | the warning and the end of a child that repeats itself |
//! | `shared_collector`, `updates` | the progress of a working child for its watchers |
//! | `questions` | the child's questions |
//! | `control` | the handle on a call, which cancels and steers it |

mod active_run;
mod after_end;
mod attempt;
mod child;
mod child_control;
mod commands;
mod control;
mod deadline;
mod execute;
mod loop_guard;
mod next_attempt;
mod questions;
mod shared_collector;
mod trees;
mod updates;

pub use control::{Control, ProviderGate, QuotaWaitTooLong, Steering, Watchers};
pub(crate) use updates::Throttle;
