//! `/subagents …`: parses the line (`parse`), finds the run that it names (`resolve`), completes what was
//! typed (`complete`), and carries the command out (`answer`; `changes` for those about what a run has changed). `question` finds the question that a
//! person wants to answer. `crate::present` words the answers.

mod answer;
mod changes;
mod complete;
mod parse;
mod question;
mod resolve;

pub use answer::{CommandHost, answer, restart_runs, stop_everything, transcript};
pub(super) use answer::{NO_TRANSCRIPT, read, with_child_session};
pub use complete::{Completion, complete};
pub use parse::{Command, RunCommand, Target, parse, usage_report};
pub use question::{AskingRun, question_to_answer};
pub(super) use resolve::named;
pub use resolve::resolve;
