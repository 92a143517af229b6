//! Programs: starting them, reading them, and ending the whole of what they started.
//!
//! This layer delivers bytes and an [`Outcome`]. It refuses to know what the bytes mean: an [`Observer`] reads them and
//! says what counts as life and when the work is done. It knows no agents, no JSON and no configuration.
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
//! | what is started, where is the program, why did it not start | `command`, `program`, `error` |
//! | what guards the child, and how certain its end is | `guardian` |
//! | when does the loop stop waiting, and how is the child ended | `supervise`, `idle_timer`, `cancel` |
//! | who reads the output, what may the child read | `observer`, `input`, `streams`, `clip` |
//! | how did it end | `outcome` |
//! | who kills and reaps the tree | `tree`; `warden/` behind a warden, `platform/` for what differs between systems |
//! | short helper programs, programs that outlive this one | `capture`, `detached` |
//!
//! `warden/`: `link` speaks with one warden, `follow` reads all of them on one thread, `sweep` ends what a killed one left,
//! `probe` asks what the machine allows.

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
