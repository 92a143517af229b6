//! Sub-agents for the pi coding agent.
//!
//! The layers, from the edge inwards; each uses those below it:
//!
//! - `node`: the napi edge (feature `node`).
//! - [`orchestrate`]: many runs: which may start, when, and which continue in the background.
//! - [`present`]: the texts and screens that people see of runs.
//! - [`doctor`]: whether delegation would work here.
//! - [`run`]: one agent, one task, one child.
//! - [`workspace`]: the tree in which a child may write; it starts git with [`process`].
//! - [`agent`], [`archive`], [`config`], [`credentials`], [`event`], [`log`], [`process`], [`store`], [`transcript`]: siblings
//!   that do not use each other, except that [`config`] names values of [`agent`], and [`transcript`] values of [`event`].
//! - [`files`]: where this package keeps its files, and who may read them.
//! - [`text`]: pure functions on text and bytes.
#![cfg_attr(not(feature = "node"), forbid(unsafe_code))]
#![cfg_attr(feature = "node", deny(unsafe_code))]

pub mod agent;
pub mod archive;
pub mod config;
#[cfg(unix)]
pub mod credentials;
pub mod doctor;
pub mod event;
pub mod files;
pub mod log;
// The edge is tested from JavaScript; napi registers nothing in a Rust test.
#[cfg(all(feature = "node", not(test)))]
mod node;
pub mod orchestrate;
pub mod present;
pub mod process;
pub mod run;
pub mod store;
pub mod text;
pub mod transcript;
pub mod workspace;
