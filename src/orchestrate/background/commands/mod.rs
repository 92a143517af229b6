//! `/subagents …`: parses the line (`parse`), completes typed text (`complete`), and carries the command out (`answer`, and
//! `changes` and `workflows` for the commands about those). `question` finds the question that a person wants to
//! answer. `crate::present` writes the reports.

mod answer;
mod changes;
mod complete;
mod parse;
mod question;
mod workflows;

pub use super::find::{Target, Wanted, resolve};
pub use answer::{CommandHost, answer, restart_runs, stop_everything, transcript, workflow_ended};
pub(super) use answer::{NO_TRANSCRIPT, read, with_child_session};
pub use complete::{Completion, complete, complete_script};
pub use parse::{Command, RunCommand, parse, usage_report};
pub use question::{ChosenQuestion, NoQuestion, WaitingQuestion, question_to_answer};
pub use workflows::{HostScript, InterruptedWorkflow, interrupted_workflows};
