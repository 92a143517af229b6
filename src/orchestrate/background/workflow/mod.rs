//! Workflows: scripts of runs that survive the end of their process. A run has a key in its workflow. A key that has a completed
//! run costs nothing again, a key that another call works on is waited for, and an interrupted run continues in its session.
//!
//! `open` are the scripts of this process. `claim` decides for one call, `sharing` joins calls of this process that have the same key, and `kept_result` is the
//! result that the store keeps, and `record` the workflow.

mod claim;
mod kept_result;
mod open;
mod record;
mod sharing;

pub(crate) use claim::{Claimed, KeyedRun, claim};
pub(super) use kept_result::KeptResult;
pub use open::{
    OpenWorkflow, WorkflowError, WorkflowRequest, open_workflow, remove_workflow, stop_workflow, workflows,
};
pub(super) use open::{note_ended, workflows_with_keys};
pub use record::{KeyedRecord, WorkflowLimits, WorkflowRecord};
