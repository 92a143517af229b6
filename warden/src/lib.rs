//! The protocol between the warden and its host, and the code that both use.
//!
//! The warden is a small program that stands between a host and one child: it starts the child, follows every process
//! that the child starts, and ends all of them when it is told to or when its host dies. It takes its settings from
//! its arguments ([`Options`]) and its orders from messages on a socket, which is its standard input ([`Order`]). The
//! end of that socket means that the host has died. It answers on the same socket ([`Report`]).
//!
//! The socket keeps message boundaries (`SOCK_SEQPACKET`). The first order, [`Order::Start`], carries one descriptor:
//! the child's standard input; [`Order::Hold`] carries a lock of the host's. The child's output goes straight to the warden's descriptors 1 and 2.

mod abilities;
#[cfg(target_os = "linux")]
pub mod file_lock;
mod message;
mod options;
#[cfg(target_os = "linux")]
mod proc_stat;
#[cfg(unix)]
mod remove;
mod tool_shell;
mod transient;

pub use abilities::Abilities;
pub use message::{Ending, LimitKind, Mechanism, Order, OverLimit, Report, Stage, Tally};
pub use options::{Limits, Options, Sandbox};
#[cfg(target_os = "linux")]
pub use proc_stat::{Stat, processes};
#[cfg(unix)]
pub use remove::remove_tree;
pub use tool_shell::ToolShell;
pub use transient::{SHORT_OF_RESOURCES, is_transient, shown};

/// The longest message in either direction, in bytes.
pub const MAX_MESSAGE: usize = 4096;
