//! `/subagents …`: what a line asks for (`parse`, `usage`), which run it names (`resolve`), what can be typed next
//! (`complete`), and doing it (`answer`). `crate::present` words the answers.

mod answer;
mod complete;
mod parse;
mod resolve;
mod usage;

pub use answer::{answer, completions, transcript};
pub use complete::{Completion, complete};
pub use parse::{Command, RunCommand, Target, parse};
pub use resolve::resolve;
pub use usage::usage_report;
