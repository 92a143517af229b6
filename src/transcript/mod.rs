//! The conversation of a child, read from the end of its session file (version 3 of pi's format).
//!
//! The child owns the file: it can have any size and content, and grow during the read. Memory is bounded for any content, and
//! reading stops once enough entries are found. All functions block on the disk: keep them off async threads.
//!
//! `lines` walks a file backwards line by line, `message` picks the wanted fields of one line with the JSON skimmer, and
//! `read` follows the branch of the conversation and builds the entries.

mod lines;
mod message;
mod read;

pub(crate) use read::MAX_HEADER;
#[cfg(test)]
pub(crate) use read::{ANNOUNCE_PROMPT_START, REPORT_PROMPT_START};
pub use read::{Transcript, TranscriptEntry, TranscriptRole, Wanted, last_text, read_transcript, session_id};
