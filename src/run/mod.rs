//! One run: one agent, one task, one child, one result.
//!
//! Turns an agent's definition into a command line, and a child's events into a result. It does not use Node and starts
//! no program itself.
//!
//! ```text
//! RunSpec ─ admit ─▶ AdmittedRun ─ launch ─▶ Booted ─ drive ─▶ AttemptReport ─ outcome ─▶ ToolResult
//!                                          ▲ budget: what the run and its session may spend
//! ```
//!
//! | Module | Contents |
//! |---|---|
//! | `spec`, `context` | the request of a caller, and the facts about the host |
//! | `result`, `state`, `progress`, `callbacks` | the result and progress for the caller, and its answers |
//! | `background` | the record of a run that outlives its call |
//! | `isolation` | the private tree of a run, and the import of its changes |
//! | `snapshots` | the state of a tree before a run |
//! | `blocking` | the threads for blocking work, apart from the threads that serve children |
//! | `admit` | the decision whether the run may start, and its settings |
//! | `launch` | the start of its child, and the child's files |
//! | `drive` | the input of the child, and the handling of its events |
//! | `budget` | the bounds on its spending, and their enforcement |
//! | `outcome` | the verdict on it, its result, and the decision about another attempt |

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
    AdmittedRun, AgentInfo, AgentValues, CallSettings, CannotRun, Described, Extensions, HostCapabilities,
    InvalidConfig, Listed, Listing, Origin, PiError, PiProgram, PiVersion, Refusal, Sourced, ValueSource,
    WriteReach, describe, find_agents, list_agents, load_config, look_up, prepare, prepare_with, start_log,
};
pub(crate) use admit::{default_agent, is_allowed, starts_another_pi};
pub use background::{ActionOutcome, BackgroundStatus, Cleanup, LiveSnapshot, RunRecord};
pub(crate) use blocking::{blocking, off_thread, spawn_task};
pub use budget::{Meter, NextTurn, OverBudget, SessionAccount, Spending, Stage, Used, account_of, store_of};
pub use callbacks::{
    Answer, BoxFuture, ChildQuestion, ConfirmRequest, HostCallbacks, HostModel, ShownQuestion,
};
pub use context::{Host, HostContext, HostExtension, HostSkill, HostTool, NameKind, SessionKey, TakenName};
pub(crate) use drive::UPDATE_INTERVAL;
pub use drive::{Control, ProviderGate, QuotaWaitTooLong, Steering, Watchers};
pub(crate) use isolation::recover_trees;
pub(crate) use launch::launcher::cannot_continue;
pub use launch::launcher::{LauncherError, RemoteLimit};
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
