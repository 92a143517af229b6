//! The tools with which a conversation's model queries and controls its own runs: `sessions_list`, `sessions_history`,
//! `sessions_send`, `sessions_stop`. Each answer is JSON for the model and a report for the watching person. Runs of other
//! conversations cannot be reached.
//!
//! | File | Answers |
//! |---|---|
//! | `call` | what a call may say, and how it is parsed |
//! | `use_tool` | how a call is carried out |
//! | `find` | which run it names |
//! | `describe` | which runs there are, and what was said in one |
//! | `send` | how a message reaches a run, and what comes of it |
//! | `continue_run` | the same for programs |
//! | `answer` | what the model and the person get |

mod answer;
mod call;
mod continue_run;
mod describe;
mod find;
mod send;
mod use_tool;

pub use answer::SessionAnswer;
pub use call::{SessionCall, parse_call};
pub use continue_run::continue_run;
pub use use_tool::use_session_tool;
