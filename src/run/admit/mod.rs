//! Whether a run may start, and with what.
//!
//! ```text
//! RunSpec, CallSettings, HostCapabilities ─ resolve ─▶ ResolvedRun ─ prepare (asks the user) ─▶ AdmittedRun
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `settings` | which configuration is in force, and which secrets are known; read once per call |
//! | `capabilities` | what this machine can restrain a child with |
//! | `resolve` | which agent, model, limits and tools the run has |
//! | `values` | what its agent has in the end, and who said so |
//! | `sandbox` | whether the kernel keeps its child from writing, or in its tree, and what the caller is told about it |
//! | `scope` | where its child may write, if its agent may |
//! | `reach` | whether it can change files, in whose tree, and what of that cannot be undone |
//! | `hidden` | what a sandboxed child does not see |
//! | `shell` | whether a child that may not write gets a shell |
//! | `permission_hooks/` | which extensions of the user watch tool calls, and so are loaded by every child that may write |
//! | `extensions` | which extensions its child loads, and whether it downloads anything |
//! | `pi` | which pi it runs |
//! | `confirm` | whether the user has to allow its agent |
//! | `prepare`, `admitted` | how a call becomes a run that may start |
//! | `refusal` | why there is no run |
//! | `listing` | which agents there are, without running one |

pub(crate) mod admitted;
mod capabilities;
mod confirm;
pub(crate) mod extensions;
pub(crate) mod hidden;
pub(crate) mod listing;
pub(crate) mod permission_hooks;
pub(crate) mod pi;
mod prepare;
mod reach;
mod refusal;
pub(crate) mod resolve;
pub(crate) mod sandbox;
pub(crate) mod scope;
pub(crate) mod settings;
pub(crate) mod shell;
pub(crate) mod values;

pub use admitted::AdmittedRun;
pub use capabilities::HostCapabilities;
pub use extensions::Extensions;
pub use listing::{CannotRun, Described, Listed, Listing, describe, list_agents};
pub(crate) use listing::{default_agent, is_allowed};
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use prepare::{prepare, prepare_with};
pub use reach::WriteReach;
pub use refusal::{InvalidConfig, Refusal};
pub use settings::{CallSettings, load_config, start_log};
pub(crate) use values::starts_another_pi;
pub use values::{AgentValues, Sourced, ValueSource, find_agents, look_up};
