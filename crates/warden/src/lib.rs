//! The protocol between the warden and its host, and the code that both use.
//!
//! The warden is a small program that stands between a host and one child: it starts the child, follows every process
//! that the child starts, and ends all of them when it is told to or when its host dies. It takes its settings from
//! its arguments ([`Options`]) and its orders from messages on a socket, which is its standard input ([`Order`]). The
//! end of that socket means that the host has died. It answers on the same socket ([`Report`]).
//!
//! The socket keeps message boundaries (`SOCK_SEQPACKET`). The first order, [`Order::Start`], carries one descriptor:
//! the child's standard input; [`Order::Hold`] carries a lock of the host's. The child's output goes straight to the warden's descriptors 1 and 2.
//!
//! | Question | File |
//! |---|---|
//! | what are the arguments, the messages, the answer of `--probe`, and the options of the shell | `protocol/` |
//! | who holds a lock of an open file | `file_lock` |
//! | which processes there are, and who started them | `proc_stat` |
//! | how a tree is removed that a child may have made hard to remove, or its control groups | `remove` |
//! | whether an error says something about the machine, or about this moment only | `transient` |

#[cfg(target_os = "linux")]
pub mod file_lock;
#[cfg(target_os = "linux")]
mod proc_stat;
mod protocol;
#[cfg(unix)]
mod remove;
mod transient;

#[cfg(target_os = "linux")]
pub use proc_stat::{Stat, processes};
pub use protocol::{
    Abilities, Ability, Ending, LimitKind, Limits, Mechanism, Options, OptionsError, Order, OverLimit,
    Report, Sandbox, Stage, Tally, ToolShell, sandbox_problem,
};
#[cfg(target_os = "linux")]
pub use remove::remove_group;
#[cfg(unix)]
pub use remove::{FileTime, remove_tree, remove_unless_changed};
pub use transient::{SHORT_OF_RESOURCES, Shortage, is_transient, probe_result, shortage};

/// The longest message in either direction, in bytes.
pub const MAX_MESSAGE: usize = 4096;
