//! Decides whether a run may start, and with which settings.
//!
//! ```text
//! RunSpec, CallSettings, HostCapabilities ─ resolve ─▶ ResolvedRun ─ prepare (asks the user) ─▶ AdmittedRun
//! ```
//!
//! | File | Contents |
//! |---|---|
//! | `settings` | the configuration and the known secrets; read once per call |
//! | `capabilities` | the means that this machine has to restrain a child |
//! | `resolve` | the agent, model, limits and tools of the run |
//! | `values` | the values that apply to the agent, and their sources |
//! | `sandbox` | the kernel's restrictions on writing, and the report about them |
//! | `scope` | the directories that a writing child may change |
//! | `write_reach` | the tree that a child changes, and the changes that cannot be undone |
//! | `hidden` | the files that a sandboxed child does not see |
//! | `shell` | the decision whether a child that may not write gets a shell |
//! | `permission_hooks/` | the user's extensions that watch tool calls, which every writing child loads |
//! | `extensions` | the extensions that the child loads, and the downloads that it needs |
//! | `pi` | the pi that the child runs |
//! | `confirm` | the question whether the user allows a project's agent |
//! | `prepare`, `admitted` | the steps from a call to a run that may start |
//! | `refusal` | the reasons for refusing a call |
//! | `listing` | the list of agents, without running one |

pub(crate) mod admitted;
mod capabilities;
mod confirm;
pub(crate) mod extensions;
pub(crate) mod hidden;
pub(crate) mod listing;
pub(crate) mod permission_hooks;
pub(crate) mod pi;
mod prepare;
mod refusal;
pub(crate) mod resolve;
pub(crate) mod sandbox;
pub(crate) mod scope;
pub(crate) mod settings;
pub(crate) mod shell;
pub(crate) mod values;
mod write_reach;

pub use admitted::AdmittedRun;
pub use capabilities::HostCapabilities;
pub use extensions::Extensions;
pub use listing::{AgentInfo, CannotRun, Described, Listed, Listing, describe, list_agents};
pub(crate) use listing::{default_agent, is_allowed};
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use prepare::{prepare, prepare_with};
pub use refusal::{InvalidConfig, Refusal};
pub use settings::{CallSettings, load_config, start_log};
pub(crate) use values::starts_another_pi;
pub use values::{AgentValues, Sourced, ValueSource, find_agents, look_up};
pub use write_reach::WriteReach;
