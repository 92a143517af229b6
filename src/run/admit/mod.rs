//! Whether a run may start, and with what.

pub(crate) mod builtin;
pub(crate) mod capabilities;
pub(crate) mod downloads;
pub(crate) mod listing;
pub(crate) mod pi;
pub(crate) mod prepare;
pub(crate) mod ready;
pub(crate) mod refusal;
pub(crate) mod resolve;
pub(crate) mod sandbox;
pub(crate) mod secrets;

pub use capabilities::HostCapabilities;
pub use listing::{Described, Listed, Listing, describe, list_agents};
pub use pi::{Origin, PiError, PiProgram, PiVersion};
pub use prepare::{find_agents, load_config, plan_for};
pub use ready::{Ready, prepare};
pub use refusal::Refusal;
pub use resolve::Extensions;
pub use secrets::sanitizer_for;
