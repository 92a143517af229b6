//! The answers to `/subagents …`, each a [`Report`](super::Report).
//!
//! | Answer to | File |
//! |---|---|
//! | `list`, `info`, `log`, `agents`, `doctor` | the file of that name |
//! | `run`, `stop`, `send`, `resume`, `background`, `undo` | `action` |
//! | `workflow` | the file of that name |
//! | `diff`, `apply`, `discard` | `changes` |

mod action;
mod agents;
mod changes;
mod doctor;
mod info;
mod list;
mod log;
mod workflow;

pub(crate) use action::{RESULT_ARRIVES, exit_message, moved_to_background_text};
pub use action::{
    action_report, already_finished, moved_to_background_report, refused_report, started_report,
    stopped_report, undone_report,
};
pub use agents::{agent_report, agents_report};
pub use changes::{applied_report, apply_undone_report, difference_report, discarded_report};
pub use doctor::doctor_report;
pub(crate) use info::PATHS;
pub use info::{info_paths_report, info_report};
pub use list::list_report;
pub use log::{DEFAULT_LOG_LINES, MAX_LOG_LINES, log_report};
pub use workflow::{
    WorkflowEnd, ambiguous_report, unknown_workflow, with_workflows, workflow_continues_text,
    workflow_discarded_report, workflow_ended_report, workflow_not_stopped, workflow_report,
    workflow_runs_again, workflow_runs_already, workflow_started_report, workflow_stopped_report,
    workflow_stops_report, workflow_unchanged, workflows_report,
};
