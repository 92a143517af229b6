//! The result of a run: its shape, the verdict that decides it, and the steps to build it.
//!
//! | File | Contents |
//! |---|---|
//! | `tool_result` | the result for the caller, with the same shape for every outcome |
//! | `verdict` | the outcome of an attempt, and of a run |
//! | `builder` | the fields that are known before the child ends, and the text within its limits |
//! | `artifacts` | the text about a run's check, changed files and branch |

pub(crate) mod artifacts;
pub(crate) mod builder;
mod tool_result;
pub(crate) mod verdict;

pub(crate) use tool_result::{ANNOUNCE_SKIP, text_content};
pub use tool_result::{
    Announcement, CallError, ErrorCode, Mode, RunDetails, SandboxReport, SingleResult, TimeoutReason,
    ToolResult,
};
