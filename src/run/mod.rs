//! One run: one agent, one task, one child, one result.
//!
//! Joins its siblings below: an agent's definition becomes a command line, a child's events become a result. It knows
//! nothing of Node and starts no program itself.

pub mod agent_dir;
mod budget;
mod cause;
mod changes;
mod clean;
mod doctor;
mod execute;
mod files;
mod invocation;
mod listing;
mod machine;
mod pi;
#[cfg_attr(not(unix), path = "places_elsewhere.rs")]
mod places;
mod prepare;
mod protocol;
mod refresh;
mod refusal;
mod report;
mod result;
mod retry;
mod sandbox;
mod secrets;
mod settings;
mod spec;
mod update;

pub use budget::{Allowance, Meter, OverBudget, SessionAccount, Stage, account_of};
pub use clean::clean;
pub use doctor::{Check, Status, doctor};
pub use execute::{Callbacks, execute};
pub use files::RunId;
pub use listing::{Described, Listed, Listing, describe, list_agents};
pub use machine::Machine;
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use prepare::{Confirm, ConfirmRequest, find_agents, load_config, plan_for};
pub use protocol::steer;
pub use refresh::Refresh;
pub use refusal::Refusal;
pub use result::{
    CallError, ErrorCode, Mode, Resources, RunDetails, RunOutcome, SandboxReport, SingleResult, Streaming,
    TimeoutReason, ToolResult,
};
pub use retry::{backoff, may_retry};
pub use secrets::sanitizer_for;
pub use settings::Extensions;
pub use spec::{Host, HostTool, RunSpec, World};
pub use update::UpdateSender;
