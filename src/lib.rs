//! Sub-agents for the pi coding agent.
//!
//! The layers, from the edge inwards; each uses those below it:
//!
//! - `node`: the napi edge (feature `node`).
//! - [`orchestrate`]: many runs: which may start, when, and which continue in the background.
//! - [`present`]: the texts and screens that people see of runs.
//! - [`doctor`]: whether delegation would work here.
//! - [`run`]: one agent, one task, one child.
//! - [`archive`], [`credentials`], [`log`], [`transcript`]: siblings that do not use each other.
//!
//! The crates in `crates/` are below all of them.
#![cfg_attr(not(feature = "node"), forbid(unsafe_code))]
#![cfg_attr(feature = "node", deny(unsafe_code))]

pub mod archive;
#[cfg(unix)]
pub mod credentials;
pub mod doctor;
pub mod log;
// The edge is tested from JavaScript; napi registers nothing in a Rust test.
#[cfg(all(feature = "node", not(test)))]
mod node;
pub mod orchestrate;
pub mod present;
pub mod run;
pub mod transcript;
