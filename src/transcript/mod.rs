//! What was said in a child's session, read from the end of the session file that pi keeps (version 3).
//!
//! The file belongs to the child: it may be any size, hold anything, and grow while it is read. Memory is bounded whatever
//! it holds, and a file is never read whole for the sake of its end. Everything here waits for the disk: keep it off the
//! async threads.

mod lines;
mod message;
mod read;

#[cfg(test)]
pub(crate) use read::ANNOUNCE_WORDS;
pub use read::{Transcript, TranscriptEntry, TranscriptRole, Wanted, last_text, read_transcript, session_id};
