//! The warden's host: starting a child through its guardian, and talking with that one.

#[cfg(target_os = "linux")]
mod follow;
#[cfg(target_os = "linux")]
mod link;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod link;
mod probe;
#[cfg(target_os = "linux")]
mod sweep;

pub(super) use link::{Link, News};
pub use pi_subagent_warden::{Abilities, Ability, LimitKind, Limits, Mechanism, OverLimit, Sandbox, Tally};
pub use probe::{ProbeError, probe};
