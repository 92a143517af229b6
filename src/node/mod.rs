//! The napi edge: converts in, calls the core, converts out.
//!
//! Nothing is decided here. Whatever a user or a child can cause resolves as data; a rejection is a programming error.

#![expect(unreachable_pub, reason = "napi exports what is public, and nothing in Rust reaches it")]
#![expect(clippy::needless_pass_by_value, reason = "JavaScript hands its strings over")]

mod agents;
mod background;
mod background_run;
mod config;
mod doctor;
mod early;
mod handle;
mod keeper;
mod options;
mod output;
mod place;
mod report;
mod result;
mod runtime;
mod spawn;
mod teardown;
mod text;
mod transcript;
mod updates;
