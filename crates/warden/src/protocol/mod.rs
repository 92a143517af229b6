//! The messages between a host and its warden.

mod abilities;
mod message;
mod options;
mod tool_shell;

pub use abilities::{Abilities, Ability};
pub use message::{Ending, LimitKind, Mechanism, Order, OverLimit, Report, Stage, Tally, sandbox_problem};
pub use options::{Limits, Options, OptionsError, Sandbox};
pub use tool_shell::ToolShell;
