//! `/subagents …`: parses the line (`parse`, `usage`), finds the run that it names (`resolve`), completes what was
//! typed (`complete`), and carries the command out (`answer`). `crate::present` words the answers.

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
