//! The user's permission hooks: extensions that watch tool calls and may refuse them. A child loads all of them unless
//! the kernel prevents it from writing.
//!
//! | File | Contents |
//! |---|---|
//! | `find` | the search for hooks among the extensions that pi loads |
//! | `watches` | the test whether an extension watches tool calls or provides a model |
//! | `package` | the extensions of a package or a directory, and the lists with which the user chooses among them |

mod find;
mod package;
mod watches;

pub(crate) use find::{find_permission_hooks, may_provide_model};
