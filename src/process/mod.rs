//! Programs: starting them, reading them, and ending the whole of what they started.
//!
//! This layer delivers bytes and an [`Outcome`]. It refuses to know what the bytes mean: an [`Observer`] reads them and
//! says what counts as life and when the work is done. It knows no agents, no JSON and no configuration.

mod cancel;
mod capture;
mod command;
mod detached;
mod error;
mod guardian;
mod idle_timer;
mod input;
mod observer;
mod outcome;
mod platform;
mod program;
mod streams;
mod supervise;
mod tree;
mod warden;

pub use cancel::{Cancel, CancelReason};
pub use capture::{Captured, capture};
pub use command::ChildCommand;
pub use detached::Detached;
pub use error::SpawnError;
pub use guardian::{Guardian, Supervision};
pub use input::Input;
pub use observer::{Activity, Observer};
pub use outcome::{Outcome, Supervised, exit_code, exit_signal, signal_name};
pub use program::{check_cwd, resolve_program, search_path};
pub use streams::Pipes;
pub use supervise::{Started, SuperviseLimits, start, supervise};
pub use tree::{ProcessTree, Vitals};
pub use warden::{
    Abilities, Ability, LimitKind, Limits, Mechanism, OverLimit, ProbeError, Sandbox, Tally, probe,
};
