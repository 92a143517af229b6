//! Background runs. Each is stored before its child starts, and delivered exactly once to the conversation that requested it,
//! even if this process dies.
//!
//! ```text
//! spawn      decides, runs it here or in a host process               → receipt
//!   drive    queue, child, changes to the store; at the end: ending → store, outbox, registry, files
//! serve      tells the listener of an open conversation what has changed, with the results that `deliver` claims from the store
//! watch      other processes and time: requests, runs of dead processes, archive, quota
//! ```
//!
//! A [`BackgroundService`] (`service`), one per agent directory, holds all of the state; every function takes it as an argument.
//!
//! | Question | File |
//! |---|---|
//! | What is known about a run, and what changes while it works? | `crate::run`: [`RunRecord`], [`LiveSnapshot`] |
//! | Which runs does this process host? | `registry`: `RunRegistry` of `live_run`: `LiveRun` |
//! | What is stored, and where if the store fails? | `run_store`: `RunStore`, `live_snapshot` |
//! | What happens to a run between its permit and its end? | `drive` |
//! | How does a run end, and what is delivered then? | `ending`: `settle`, the only way |
//! | What does a conversation show, and what is on its way into it? | `conversation`: [`ConversationView`], `Outbox`, [`BackgroundEvent`] |
//! | What queues, claims, marks, takes back and releases deliveries? | `deliver` |
//! | When does a host that owns its session get a message, how often, and when has it arrived? | `conversation`: [`Dispatcher`] |
//! | How are runs shown that a call waits for? | `foreground` |
//! | How does a run ask its conversation? | `question`: `ConversationCallbacks` |
//! | What is done for runs of other processes and dead ones, and after the loss of the store? | `watch` |
//! | When are transcripts archived and directories removed? | `retention` |
//! | How does a run outlive its pi? | `spawn/request`: `Handoff`; `host_process`, `live_snapshot` |
//! | To which run does a name refer? | `find` |
//! | What can a user do with a run, and type? | `actions`, [`commands`] |
//! | What happens to a run that has a key in a workflow? | `workflow` |
//! | What can the model of a conversation do with its runs? | `session_tools` |

mod actions;
pub mod commands;
mod conversation;
mod deliver;
mod drive;
mod ending;
mod find;
mod foreground;
mod host_process;
mod live_run;
mod live_snapshot;
mod question;
mod registry;
mod retention;
mod run_store;
mod service;
mod session_tools;
mod spawn;
mod watch;
mod workflow;

pub use crate::present::Receipt;
pub use crate::run::{ActionOutcome, BackgroundStatus, Cleanup, LiveSnapshot, RunRecord};
pub use actions::{ActionError, StoppedRuns, move_to_background, resume, send, stop, stop_all};
pub use conversation::delivery_ids::delivered_in;
pub use conversation::dispatcher::{CHECK_INTERVAL as DISPATCHER_CHECK_INTERVAL, Dispatcher, Joining, Step};
pub use conversation::event::{
    Ack, Announcement, BackgroundEvent, DeliveredEvent, DeliveryMessage, Listener, Restart,
};
pub use conversation::project_workflows::project_workflows;
pub use conversation::published_run::{PublishedRun, RunEvent, RunEventKind};
pub use conversation::serve::{KnownDeliveries, open_conversation, until_settled, until_settled_or_asked};
pub use conversation::view::{ConversationScope, ConversationView};
pub use deliver::{close_all, close_conversation, mark_delivered};
pub(super) use foreground::{ForegroundRun, run_keyed, run_listed};
pub use host_process::host_run;
pub(super) use live_run::ResultOwner;
pub use run_store::WorkflowStoreError;
pub use service::{BackgroundService, background, ended};
pub(super) use session_tools::early_continuation;
pub use session_tools::{SessionAnswer, SessionCall, continue_run, parse_call, use_session_tool};
pub use spawn::{SpawnRefusal, SpawnRequest, receipts_of, spawn, spawnable};
pub(super) use workflow::{Claimed, KeyedRun, claim};
pub use workflow::{
    KeyedRecord, OpenWorkflow, WorkflowError, WorkflowLimits, WorkflowRecord, WorkflowRequest, open_workflow,
    remove_workflow, stop_workflow, workflows,
};
