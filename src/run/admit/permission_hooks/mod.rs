//! The user's permission hooks: extensions that watch tool calls and may refuse them. A child loads all of them unless
//! the kernel prevents it from writing.
//!
//! | File | Contents |
//! |---|---|
//! | `find` | the search for hooks among the extensions |
//! | `watches` | the test whether an extension watches tool calls or provides a model |
//! | `installed` | the extensions that pi loads, if the host does not report them |
//! | `package` | the extensions of a package or a directory |
//! | `patterns` | the lists with which the user enables and disables extensions |

mod find;
mod installed;
mod package;
mod patterns;
mod watches;

pub(crate) use find::find_permission_hooks;
pub(crate) use find::may_provide_model;
