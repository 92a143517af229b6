//! The tools with which a conversation's model queries and controls its own runs: `sessions_list`, `sessions_history`,
//! `sessions_send`, `sessions_stop`. Each answer is JSON for the model and a report for the watching person. Runs of other
//! conversations cannot be reached.
//!
//! `call` parses a call and has its answer, `use_tool` carries it out: it stops a run, or sends it a message and waits for its
//! reply. `continuation` makes the run that continues an ended one. `describe` lists runs and reads a run's conversation.

mod call;
mod continuation;
mod describe;
mod use_tool;

pub use call::{SessionAnswer, SessionCall, parse_call};
pub(super) use continuation::continuation;
pub(in crate::orchestrate) use continuation::early_continuation;
pub use use_tool::{continue_run, use_session_tool};
