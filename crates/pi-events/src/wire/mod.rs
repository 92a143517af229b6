//! Reads the wanted fields of one record of the stream.
//!
//! [`Reader`](reader::Reader) is the sink of the JSON skimmer: it decides for each field if it is wanted, keeps it
//! within bounds, and stops as soon as the rest cannot matter. A `message_update` is recognised before that by its
//! exact bytes. Nearly all of a stream consists of these records.
//!
//! | Question | File |
//! |---|---|
//! | Which types of events are there? | `names` |
//! | Which fields are wanted, and where do their values go? | `field` |
//! | How are the values taken? | `reader` |
//! | What does a record keep, and when has it enough? | `record` |
//! | What is kept of a message and its content? | `message` |
//! | What is kept of a tool call's arguments, and of a result that a child submits? | `arguments` |
//! | How are the arguments and the result of a call compared with others? | `digest` |
//! | What is stored of responses, questions and retries? | `control` |
//! | How is a text delta read without the tokenizer? | `fast` |
//! | Where does a record begin if other output precedes it on its line? | `start` |

pub(super) mod arguments;
mod control;
pub(super) mod digest;
pub(super) mod fast;
mod field;
mod message;
pub(super) mod names;
pub(super) mod reader;
pub(super) mod record;
pub(super) mod start;
