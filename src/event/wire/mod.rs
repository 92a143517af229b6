//! One record of the stream, and how the wanted fields get out of it.
//!
//! [`Record`](record::Record) is the sink of the JSON skimmer: it says of each field whether it is wanted, keeps it within
//! bounds, and stops as soon as nothing that follows can matter. A `message_update`, which makes up nearly all of a
//! stream, is recognised by its exact bytes before that.
//!
//! | Question | File |
//! |---|---|
//! | What are events, containers and fields called? | `names` |
//! | Which fields does a record keep, and when has it enough? | `record` |
//! | Which value goes where? | `pick` |
//! | How is a text delta read without the tokenizer? | `fast` |
//! | What is kept of a message and its content? | `message` |
//! | What is kept of a tool call's arguments? | `arguments` |
//! | What is kept of responses, questions and retries? | `control` |

pub(super) mod arguments;
pub(super) mod control;
pub(super) mod fast;
pub(super) mod message;
pub(super) mod names;
mod pick;
pub(super) mod record;
