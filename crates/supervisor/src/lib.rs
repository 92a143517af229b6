//! Starts child programs, reads their output, and ends them together with everything they started.
//!
//! This layer delivers bytes and an [`Outcome`]. It does not know the meaning of the bytes: an [`Observer`] reads them and
//! decides what counts as a sign of life and when the work is done. It knows no agents, no JSON and no configuration.
//!
//! ```text
//! ChildCommand -> start -> Started::drive -> Supervised { outcome, … }
//!                   |            |
//!              ProcessTree    Streams <-> Observer, IdleTimer, Cancel
//!                   |
//!        warden::start or a process group
//! ```
//!
//! | Question | File |
//! |---|---|
//! | what is started, where is the program, why did it not start | `command`, `error` |
//! | what guards the child, and how reliably its tree is ended | `guardian` |
//! | when does the loop stop waiting, and how is the child ended | `supervise`, `idle_timer`, `cancel` |
//! | who reads the output, what may the child read, who moves the bytes | `observer`, `streams` |
//! | how did it end | `outcome` |
//! | who kills and reaps the tree | `tree`, `signaller`; `warden/` behind a warden, `platform/` without one and for what differs between systems |
//! | short helper programs, programs that outlive this one | `helper` |
//! | which threads wait | `thread` |
//!
//! `warden/`: `link` talks to one warden, `follow` serves all wardens on one thread, `sweep` kills the processes that a killed
//! warden left behind, `probe` asks which features the machine allows, `unsupported` replaces them on systems without a warden.
#![forbid(unsafe_code)]

mod cancel;
mod command;
mod error;
mod guardian;
mod helper;
mod idle_timer;
mod observer;
mod outcome;
mod platform;
mod signaller;
mod streams;
mod supervise;
mod thread;
mod tree;
mod warden;

pub use cancel::{Cancel, CancelReason};
pub use command::ChildCommand;
pub use command::{NotFound, check_cwd, resolve_program, search_path, trusted_env};
pub use error::SpawnError;
pub use guardian::{Guardian, Supervision};
pub use helper::{CaptureLimits, Captured, Detached, capture, capture_fed, capture_observed, capture_within};
pub use idle_timer::Activity;
pub use observer::Observer;
pub use outcome::{Outcome, Supervised, exit_code, exit_signal, signal_name};
pub use streams::Input;
pub use streams::Pipes;
pub use supervise::{Started, SuperviseLimits, start, supervise};
pub use tree::ResourceMonitor;
pub use tree::{CleanUp, ProcessTree};
pub use warden::{
    Abilities, LimitKind, Limits, Mechanism, Options, OverLimit, ProbeError, Sandbox, Tally, ToolShell, probe,
};
