//! Whether a run may start, and with what.
//!
//! ```text
//! RunSpec, CallSettings, HostCapabilities ─ resolve ─▶ ResolvedRun ─ prepare (asks a person) ─▶ AdmittedRun
//! ```
//!
//! | File | Answers |
//! |---|---|
//! | `settings` | what the configuration says, and which secrets are known; read once per call |
//! | `capabilities` | what this machine can hold a child with |
//! | `resolve` | which agent, model, limits and tools the run has |
//! | `sandbox` | whether the kernel holds its child to reading, and what is said of that |
//! | `extensions` | which extensions its child loads, and what it may have to download |
//! | `pi` | which pi it runs |
//! | `confirm` | whether a person has to allow its agent |
//! | `prepare`, `admitted` | the way through all of these, and its end |
//! | `refusal` | why there is no run |
//! | `listing` | which agents there are, without running one |

pub(crate) mod admitted;
mod capabilities;
mod confirm;
pub(crate) mod extensions;
pub(crate) mod listing;
pub(crate) mod pi;
mod prepare;
mod refusal;
pub(crate) mod resolve;
pub(crate) mod sandbox;
pub(crate) mod settings;

pub use admitted::AdmittedRun;
pub use capabilities::HostCapabilities;
pub use extensions::Extensions;
pub use listing::{Described, Listed, Listing, describe, list_agents};
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use prepare::{prepare, prepare_with};
pub use refusal::Refusal;
pub use resolve::find_agents;
pub use settings::{CallSettings, load_config};
