//! What the warden and its host say to each other, and what both have to do.
//!
//! The warden is a small program that stands between a host and one child: it starts the child, follows everything that
//! the child starts, and ends all of it when it is told to or when its host dies. It is told what to do by its arguments
//! ([`Options`]), by messages on a socket that is its standard input ([`Order`]), and by the end of that socket, which is
//! the end of the host. It answers on the same socket ([`Report`]).
//!
//! The socket keeps message boundaries (`SOCK_SEQPACKET`). The first order, [`Order::Start`], carries one descriptor: the
//! child's standard input. The child's output goes straight to the descriptors 1 and 2 that the warden was given.

mod abilities;
mod message;
mod options;
#[cfg(unix)]
mod remove;

pub use abilities::{Abilities, Ability};
pub use message::{Ending, LimitKind, Mechanism, Order, OverLimit, Report, Stage, Tally};
pub use options::{BadOptions, Limits, Options, Sandbox};
#[cfg(unix)]
pub use remove::remove_tree;

/// The longest message in either direction, in bytes.
pub const MAX_MESSAGE: usize = 4096;
