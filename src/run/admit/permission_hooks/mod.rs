//! The user's permission hooks: extensions that watch tool calls, and so may refuse them. A child that the kernel does not
//! keep from writing loads them all.
//!
//! | File | Answers |
//! |---|---|
//! | `find` | which hooks are there? |
//! | `watches` | does an extension watch tool calls, or provide a model? |
//! | `installed` | which extensions does pi load, where the host does not say? |
//! | `package` | which of them does a package or a directory bring? |
//! | `patterns` | which of these did the user switch off? |
//! | `failure` | did a child end because a hook did not load? |

mod failure;
mod find;
mod installed;
mod package;
mod patterns;
mod watches;

pub(in crate::run) use failure::failed_hook;
pub(crate) use find::find_permission_hooks;
pub(in crate::run::admit) use find::may_provide_model;
