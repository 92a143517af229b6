//! The sandbox of a child, and the inner sandbox of the programs that the child's tools start.
//!
//! A child can read everything except terminals and hidden files, and write only the paths that it was given. There are three
//! layers. Landlock refuses to write, create, remove, rename, link and truncate, and to signal processes outside; without it
//! there is no sandbox. Landlock does not cover modes, owners, times and attributes, nor the sockets of other programs. So a
//! mount namespace comes first if the kernel allows it, in which everything else is read-only and masks cover the hidden files. A
//! filter refuses the system calls that bypass both. Before the program starts, the sandbox removes everything that could undo a
//! layer: capabilities, inherited descriptors, new privileges.
//!
//! The sandbox knows no agents, hosts or messages. It does not cover the network.
//!
//! | Question | File |
//! |---|---|
//! | in which order is it entered, and what must root give up | `prepared`; `tools` for the inner one |
//! | what may be written and read | `landlock`, with `place` and `readable` |
//! | what is read-only, what is masked | `mounts`, with `masks` and `copies` |
//! | what does the child have in `/tmp` and `/dev/shm` | `temporaries` |
//! | which system calls are refused | `system_calls` |
//! | what does this machine allow | `probe` |

mod copies;
mod landlock;
mod masks;
mod mounts;
mod place;
mod prepared;
mod probe;
mod readable;
mod system_calls;
mod temporaries;
mod tools;

pub(crate) use place::AtPath;
pub(crate) use prepared::Prepared;
pub(crate) use probe::{landlock, mount_namespace, temporaries, tools};
pub(crate) use tools::enter as enter_tools;
