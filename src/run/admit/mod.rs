//! Decides whether a run may start, and with which settings.
//!
//! ```text
//! RunSpec, CallSettings, HostCapabilities ─ resolve ─▶ ResolvedRun ─ prepare (asks the user) ─▶ AdmittedRun
//! ```
//!
//! | File | Contents |
//! |---|---|
//! | `settings` | the configuration and the known secrets; read once per call |
//! | `resolve` | the agent, model, limits and tools of the run |
//! | `child_prompt` | the child's system prompt: the agent's prompt and facts about the run |
//! | `values` | the values that apply to the agent, and their sources |
//! | `write_reach` | the tree that a child changes, and the changes that cannot be undone |
//! | `permission_hooks/` | the user's extensions that watch tool calls, which every writing child loads |
//! | `remote_limits` | the features that a child on another machine does not have |
//! | `extensions` | the extensions that the child loads, and the downloads that it needs |
//! | `confirm` | the question whether the user allows a project's agent, and the agents that they have refused |
//! | `script` | the question whether the user allows the script of a workflow |
//! | `prepare` | the steps from a call to a run that may start |
//! | `refusal` | the reasons for refusing a call |
//! | `listing` | the list of agents, without running one |

mod child_prompt;
mod confirm;
pub(crate) mod extensions;
pub(crate) mod listing;
pub(crate) mod permission_hooks;
pub(crate) mod prepare;
mod refusal;
mod remote_limits;
pub(crate) mod resolve;
mod script;
pub(crate) mod settings;
pub(crate) mod values;
mod write_reach;

pub(crate) use child_prompt::child_prompt;
pub(crate) use confirm::ask_again;
pub use extensions::Extensions;
pub(crate) use extensions::{fetched_programs, missing_programs};
pub use listing::{AgentInfo, CannotRun, Described, Listed, Listing, describe, list_agents};
pub(crate) use listing::{default_agent, is_allowed};
pub(crate) use permission_hooks::find_permission_hooks;
pub(crate) use prepare::SHOWN_TASK_BYTES;
pub use prepare::{AdmittedRun, prepare, prepare_with};
pub use refusal::{InvalidConfig, Refusal, for_person};
pub use remote_limits::RemoteLimit;
pub(crate) use remote_limits::cannot_continue;
pub use resolve::Unmet;
pub use script::{AllowedScript, ScriptRefused, allow_script, allowed_script, is_script};
pub use settings::{CallSettings, load_config, start_log};
pub(crate) use values::remembered as remembered_model;
pub(crate) use values::starts_another_pi;
pub use values::{AgentValues, Sourced, ValueSource, find_agents, look_up};
pub use write_reach::WriteReach;
