//! One run: one agent, one task, one child, one result.
//!
//! Turns an agent's definition into a command line, and a child's events into a result. It does not use Node and starts no
//! program itself.
//!
//! ```text
//! RunSpec ─ admit ─▶ AdmittedRun ─ launch ─▶ Booted ─ drive ─▶ AttemptReport ─ outcome ─▶ ToolResult
//!                                          ▲ budget: what the run and its session may spend
//! ```
//!
//! | Room | Answers |
//! |---|---|
//! | `spec`, `context` | what a caller asks for, and what is known about the host |
//! | `result`, `state`, `progress`, `callbacks` | what the caller gets, watches and has to answer |
//! | `background` | what is kept of a run that outlives its call |
//! | `isolation` | how a run gets a tree of its own, and what is taken over from it |
//! | `snapshots` | what was in a tree before a run |
//! | `blocking` | how blocking work stays off the threads that serve children |
//! | `admit` | may the run start, and with what |
//! | `launch` | how its child is started, and what files it finds |
//! | `drive` | how the child is driven, and what its events mean |
//! | `budget` | what it may spend, and what happens at the bound |
//! | `outcome` | how it ended, what its result says, and whether another attempt follows |

pub(crate) mod admit;
mod background;
pub(crate) mod blocking;
mod budget;
mod callbacks;
pub(crate) mod context;
pub(crate) mod drive;
mod isolation;
pub(crate) mod launch;
mod outcome;
mod progress;
mod result;
pub(crate) mod snapshots;
pub(crate) mod spec;
mod state;

pub use admit::{
    AdmittedRun, AgentValues, CallSettings, CannotRun, Described, Extensions, HostCapabilities,
    InvalidConfig, Listed, Listing, Origin, PiError, PiProgram, PiVersion, Refusal, Sourced, ValueSource,
    WriteReach, describe, find_agents, list_agents, load_config, look_up, prepare, prepare_with, start_log,
};
pub(crate) use admit::{default_agent, is_allowed, starts_another_pi};
pub use background::{ActionOutcome, BackgroundStatus, Cleanup, LiveSnapshot, RunRecord};
pub(crate) use blocking::{blocking, off_thread, spawn_task};
pub use budget::{Meter, NextTurn, OverBudget, SessionAccount, Spending, Stage, account_of, store_of};
pub use callbacks::{
    Answer, BoxFuture, ChildQuestion, ConfirmRequest, HostCallbacks, HostModel, ShownQuestion,
};
pub use context::{Host, HostContext, HostExtension, HostSkill, HostTool, NameKind, SessionKey, TakenName};
pub(crate) use drive::UPDATE_INTERVAL;
pub use drive::{Control, ProviderGate, Steering, Watchers};
pub(crate) use isolation::recover_trees;
pub(crate) use launch::launcher::cannot_continue;
pub(crate) use launch::sweep_leftovers;
pub use launch::{Booted, Memory, SpareRequest};
pub(crate) use outcome::artifacts::{changes_summary, files_summary, must_be_delivered};
pub(crate) use outcome::changes::MAX_CHANGES;
pub use outcome::clean;
pub(crate) use outcome::flagged::MAX_FLAGGED;
pub use progress::{Progress, ProgressSender, Resources, RetryNotice, TaskProgress};
pub(crate) use result::ANNOUNCE_SKIP;
pub use result::{
    Announcement, CallError, CheckReport, ErrorCode, IsolationReport, Mode, RunDetails, SandboxReport,
    SingleResult, TimeoutReason, ToolResult,
};
pub(crate) use snapshots::snapshot_store;
pub use spec::{Resumption, RunId, RunOverrides, RunSpec, SharedRunId, Timeout};
pub use state::{RunOutcome, RunState, TaskState};
