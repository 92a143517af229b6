//! What becomes of the directories of past runs: their transcripts are put aside after a while, and when all of them
//! together need too much room, the oldest go.
//!
//! Directories come out of a store that others can write, so nothing is believed of them. A directory is one of ours only
//! where [`layout::runs`](crate::files::layout::runs) puts it, with nothing but directories on the way, and in it only regular
//! files are touched whose names are those of a run. Everything else stays where it is.

#[cfg_attr(not(unix), path = "directory_elsewhere.rs")]
mod directory;
mod names;
mod place;
mod retain;
mod usage;

pub use place::{ArchiveError, RunPlace};
pub use retain::{Candidate, Freed, Removed, archive, keep_within, remove};
pub use usage::{DiskUse, disk_use, run_directories};
