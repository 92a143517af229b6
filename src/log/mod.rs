//! The log of this process: one line for each decision that a user may wonder about.
//!
//! Code anywhere uses the macros of `tracing`, with one of [`PARTS`] as the target. Without the variable [`VARIABLE`] there
//! is no subscriber: a macro then compares one number and does nothing else. With it, [`start`] opens a file below the
//! agent directory, and every line passes the sanitizer on its way there.
//!
//! `filter` reads the variable, `subscriber` writes the lines, and `file` limits the size of the logs. The log contains
//! reasons, ids and durations. It never contains tasks, prompts, answers or questions.

mod file;
mod filter;
mod subscriber;

pub use filter::{PARTS, VARIABLE};
pub use subscriber::{Report, also_redact, notice, report, start};
