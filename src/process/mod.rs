//! Programs: starting them, reading them, and ending the whole of what they started.
//!
//! This layer delivers bytes and an [`Outcome`]. It refuses to know what the bytes mean: an [`Observer`] reads them and
//! says what counts as life and when the work is done. It knows no agents, no JSON and no configuration.

mod cancel;
mod capture;
mod clip;
mod command;
mod detached;
mod error;
mod idle_timer;
mod input;
mod limits;
mod outcome;
mod program;
#[cfg(target_os = "linux")]
mod stat;
mod streams;
mod supervise;
mod tree;
#[cfg(unix)]
mod unix;
mod warden;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use cancel::{Cancel, CancelReason};
pub use capture::{Captured, capture};
pub use clip::Clip;
pub use command::ChildCommand;
pub use detached::Detached;
pub use error::SpawnError;
pub use input::Input;
pub use limits::SuperviseLimits;
pub use outcome::{Outcome, Supervised, exit_code, exit_signal, signal_name};
pub use program::{check_cwd, resolve_program, search_path};
pub use supervise::{Activity, Observer, Started, start, supervise};
pub use tree::{Pipes, ProcessTree, Vitals};
pub use warden::{
    Abilities, Ability, Guardian, LimitKind, Limits, Mechanism, OverLimit, ProbeError, Sandbox, Supervision,
    Tally, probe,
};
