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
//! The rooms are floors: each uses only those below it, and `launch` and `record` do not use each other. From the top:
//!
//! | Module | Contents |
//! |---|---|
//! | `drive` | the input of the child, and the handling of its events |
//! | `outcome` | the end of a run, and the decision about another attempt |
//! | `launch` | the start of its child, and the child's files |
//! | `record` | the tree of a run: its state before, its private copy, and its changes |
//! | `admit` | the decision whether the run may start, and its settings |
//! | `result` | the result of a run, and the verdict |
//! | `sandbox` | the kernel's restrictions on a child |
//! | `launcher` | the start of a child on this machine or on another one |
//! | `protocol`, `pi` | the commands to a child, and the pi that it runs |
//! | `budget` | the bounds on its spending, and their enforcement |
//! | `spec`, `context` | the request of a caller, and the facts about the host |
//! | `state`, `progress`, `callbacks` | the progress for the caller, and its answers |
//! | `facts` | the facts about a run that the host knows itself |
//! | `background` | the record of a run that outlives its call |
//! | `blocking` | the threads for blocking work, apart from the threads that serve children |

mod admit;
mod background;
mod blocking;
mod budget;
mod callbacks;
mod context;
mod drive;
mod facts;
mod launch;
mod launcher;
mod outcome;
mod pi;
mod progress;
mod protocol;
mod record;
mod result;
mod sandbox;
mod spec;
mod state;

pub use admit::{
    AdmittedRun, AgentInfo, AgentValues, AllowedScript, CallSettings, CannotRun, Described, Extensions,
    InvalidConfig, Listed, Listing, Refusal, RemoteLimit, ScriptRefused, Sourced, Unmet, ValueSource,
    WriteReach, allow_script, allowed_script, describe, find_agents, for_person, is_script, list_agents,
    load_config, look_up, prepare, prepare_with, start_log,
};
pub(crate) use admit::{
    SHOWN_TASK_BYTES, ask_again, cannot_continue, default_agent, fetched_programs, find_permission_hooks,
    is_allowed, missing_programs, remembered_model, starts_another_pi,
};
pub use background::{ActionOutcome, BackgroundStatus, Cleanup, LiveSnapshot, RunRecord};
pub(crate) use background::{NewestRuns, remove_superseded};
pub(crate) use blocking::{blocking, off_thread, spawn_task};
pub use budget::{Meter, NextTurn, OverBudget, SessionAccount, Spending, Stage, Used, account_of, store_of};
pub(crate) use budget::{charge_others, forget_account};
pub use callbacks::{
    Answer, BoxFuture, ChildQuestion, ConfirmRequest, HostCallbacks, HostModel, ShownQuestion,
};
pub use context::{
    Host, HostContext, HostExtension, HostSkill, HostTool, NameKind, SessionKey, TakenName, expand_home,
};
pub(crate) use drive::Throttle;
pub use drive::{Control, ProviderGate, QuotaWaitTooLong, Steering, Watchers};
pub(crate) use facts::hiding_note;
pub use facts::{Caveat, CheckReport, IsolationReport, RunArtifacts, Settled, StoredChanges, UNCHANGED};
pub use launch::{Booted, Memory, SpareRequest};
pub(crate) use launch::{GUARD, is_idle, is_unlocked, sweep_leftovers};
pub use launcher::LauncherError;
pub(crate) use launcher::{Configured, Job, LauncherTest, OutputTimestamps, TestAnswer, run_cancel};
pub use outcome::clean;
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use progress::{Progress, ProgressSender, Resources, RetryNotice, TaskProgress};
pub(crate) use record::isolation::recover_trees;
pub(crate) use record::snapshots::snapshot_store;
pub(crate) use record::waiting::{interrupted_text, project_of, waiting_text};
pub(crate) use result::ANNOUNCE_SKIP;
pub(crate) use result::artifacts::{
    MAX_CHANGES, MAX_FLAGGED, changes_summary, files_summary, must_be_delivered,
};
pub(crate) use result::builder::NOT_STARTED;
pub(crate) use result::text_content;
pub use result::{
    Announcement, CallError, ErrorCode, Mode, RunDetails, SandboxReport, SingleResult, TimeoutReason,
    ToolResult,
};
pub(crate) use sandbox::untrusted;
pub(crate) use sandbox::{EnforcedSandbox, WriteScope};
pub use sandbox::{HostCapabilities, SandboxUnavailable, ScopeError, WardenUnknown};
pub use spec::{
    CODEMODE_WORKFLOW, Resumption, RunId, RunOverrides, RunSpec, SharedRunId, Timeout, WorkflowRun,
    WorkflowState, workflow_key, workflow_name,
};
pub use state::{RunOutcome, RunState, TaskState};
