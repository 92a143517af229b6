//! One run: one agent, one task, one child, one result.
//!
//! Joins its siblings below: an agent's definition becomes a command line, a child's events become a result. It knows
//! nothing of Node and starts no program itself.

pub mod agent_dir;
mod announce;
pub mod archive;
mod attempt;
mod boot;
mod budget;
mod builtin;
mod caller;
mod cause;
mod changes;
mod clean;
mod doctor;
mod downloads;
mod execute;
mod files;
mod invocation;
mod ledger;
mod listing;
mod machine;
mod past;
mod pi;
#[cfg_attr(not(unix), path = "places_elsewhere.rs")]
mod places;
mod prepare;
mod progress;
mod protocol;
mod purse;
mod ready;
mod refresh;
mod refusal;
mod report;
mod result;
mod resume;
mod retry;
mod sandbox;
mod secrets;
mod settings;
mod spec;
pub mod transcript;
mod update;

pub use boot::Booted;
pub use budget::{Allowance, Meter, OverBudget, SessionAccount, Spending, Stage, account_of};
pub use caller::{Answer, Caller, ChildQuestion, ConfirmRequest};
pub use clean::clean;
pub use doctor::{Check, Status, doctor};
pub use execute::{Control, Watchers, execute};
pub use files::RunId;
pub use ledger::store_of;
pub use listing::{Described, Listed, Listing, describe, list_agents};
pub use machine::Machine;
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use prepare::{find_agents, load_config, plan_for};
pub use progress::{Progress, ProgressSender, RunState, TaskProgress, TaskState};
pub use protocol::Steering;
pub(crate) use ready::blocking;
pub use ready::{Ready, prepare};
pub use refresh::Refresh;
pub use refusal::Refusal;
pub use result::{
    Announcement, CallError, ErrorCode, Mode, Resources, RunDetails, RunOutcome, SandboxReport, SingleResult,
    TimeoutReason, ToolResult,
};
pub use secrets::sanitizer_for;
pub use settings::Extensions;
pub use spec::{Host, HostTool, Resumption, RunSpec, Timeout, Wishes, World};
pub(crate) use update::{UPDATE_INTERVAL, millis};
