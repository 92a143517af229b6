//! The user's permission gates: extensions that watch tool calls, and so may refuse them. A child that the kernel does not
//! keep from writing loads them all.
//!
//! | File | Answers |
//! |---|---|
//! | `find` | which gates are there? |
//! | `watches` | does an extension watch tool calls, or provide a model? |
//! | `installed` | which extensions does pi load, where the host does not say? |
//! | `package` | which of them does a package or a directory bring? |
//! | `patterns` | which of these did the user switch off? |
//! | `failure` | did a child end because a gate did not load? |

mod failure;
mod find;
mod installed;
mod package;
mod patterns;
mod watches;

pub(in crate::run) use failure::failed_gate;
pub(crate) use find::gates;
pub(in crate::run::admit) use find::may_provide_model;
