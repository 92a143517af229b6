//! Runs that outlive their call, as JavaScript sees them.
//!
//! `spawn` requests one and returns its receipt; `session` opens a conversation, reports events, carries commands and reads
//! transcripts; `dispatcher` brings its messages into a session of pi; `session_tools` are the tools of its model; `question` is
//! the question that a person wants to answer; `host_process` is the process that continues a run after its pi has ended.

mod dispatcher;
pub(super) mod host_process;
mod question;
mod session;
mod session_tools;
mod spawn;
