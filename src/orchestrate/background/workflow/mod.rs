//! Workflows: scripts of runs that survive the end of their process. A run has a key in its workflow. A key that has a completed
//! run costs nothing again, a key that another call works on is waited for, and an interrupted run continues in its session.
//!
//! `open` has the scripts of this process, and `stored` the workflows of all processes. `claim` decides for one call, and `sharing`
//! joins calls of this process that have the same key. `record` is a workflow and a result as the store keeps them.

mod claim;
mod open;
mod record;
mod sharing;
mod stored;

pub(crate) use claim::{Claimed, KeyedRun, claim};
pub(super) use open::note_ended;
pub use open::{OpenWorkflow, WorkflowError, WorkflowRequest, open_workflow};
pub(super) use record::KeptResult;
pub use record::{KeyedRecord, WorkflowLimits, WorkflowRecord};
pub(super) use stored::{claim_continuations, workflows_with_keys};
pub use stored::{remove_workflow, stop_workflow, workflows};
