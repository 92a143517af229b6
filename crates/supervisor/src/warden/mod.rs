//! The host's side of the warden: starts a child through it and talks to it.

#[cfg(target_os = "linux")]
mod follow;
#[cfg(target_os = "linux")]
mod link;
mod probe;
#[cfg(target_os = "linux")]
mod sweep;
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(target_os = "linux")]
pub(super) use follow::start;
pub use pi_subagent_warden::{
    Abilities, LimitKind, Limits, Mechanism, Options, OverLimit, Sandbox, Tally, ToolShell,
};
pub use probe::{ProbeError, probe};
#[cfg(not(target_os = "linux"))]
pub(super) use unsupported::start;
