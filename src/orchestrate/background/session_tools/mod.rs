//! The tools with which a conversation's model queries and controls its own runs: `sessions_list`, `sessions_history`,
//! `sessions_send`, `sessions_stop`. Each answer is JSON for the model and a report for the watching person. Runs of other
//! conversations cannot be reached.
//!
//! | File | Content |
//! |---|---|
//! | `call` | the arguments of a call, and their parser |
//! | `use_tool` | carries out a call |
//! | `describe` | lists runs, reads a run's conversation |
//! | `send` | sends a message to a run, waits for its reply |
//! | `continue_run` | the same for programs |
//! | `answer` | the answer for the model and the person |

mod answer;
mod call;
mod continue_run;
mod describe;
mod send;
mod use_tool;

pub use answer::SessionAnswer;
pub use call::{SessionCall, parse_call};
pub use continue_run::continue_run;
pub use use_tool::use_session_tool;
