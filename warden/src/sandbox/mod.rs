//! The read-only sandbox of a child: it can read everything, and write only what it was given.
//!
//! There are two layers. Landlock refuses to write, create, remove, rename, link and truncate, and to signal
//! processes outside; without it there is no sandbox. Landlock does not cover modes, owners, times and attributes. So
//! where the kernel allows it, a mount namespace in which everything else is read-only comes first. Before the
//! program starts, the sandbox takes away whatever could undo a layer: capabilities, inherited descriptors, new
//! privileges, new mounts.
//!
//! The sandbox knows nothing of agents, hosts or messages. It does not cover the network, nor the sockets of other
//! processes of the same user.

mod capabilities;
mod landlock;
mod mounts;
mod place;
mod prepared;
mod probe;

pub(crate) use prepared::Prepared;
pub(crate) use probe::{landlock, mount_namespace};
