//! The read-only sandbox of a child: everything can be read, and only what it was given can be written.
//!
//! Two layers. Landlock refuses to write, create, remove, rename, link and truncate, and to signal what is outside; without
//! it there is no sandbox. It does not know modes, owners, times and attributes, so where the kernel allows it a mount
//! namespace in which everything else is read-only comes first. Whatever could undo one of them is taken away before the
//! program starts: capabilities, inherited descriptors, new privileges, new mounts.
//!
//! The sandbox knows nothing of agents, hosts or messages. It does not cover the network and the sockets of other
//! processes of the same user.

mod calls;
mod capabilities;
mod landlock;
mod mounts;
mod place;
mod prepared;
mod probe;

pub(crate) use prepared::Prepared;
pub(crate) use probe::{landlock, mount_namespace};
