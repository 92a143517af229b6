//! Archives and removes the directories of past runs: transcripts are renamed after a while, and the oldest runs are
//! removed when all of them exceed the quota.
//!
//! The paths come from a store that others can write, so they are not trusted. A directory counts only where
//! [`layout::runs`](crate::files::layout::runs) puts it, with no link on the way, and only regular files with the names
//! of a run's files are touched in it. Everything else stays.
//!
//! | File | Answers |
//! |---|---|
//! | `retain` | what is archived, what is removed, and how many runs have to go |
//! | `usage` | how much disk space runs take up |
//! | `place` | whether a path is the directory of a run |
//! | `directory` | how work stays in that directory, even if its path changes |
//! | `names` | which files in it are a run's |
//! | `snapshots` | which snapshots of trees have no run that is on record |

#[cfg_attr(not(unix), path = "directory_unsupported.rs")]
mod directory;
mod names;
mod place;
mod retain;
mod snapshots;
mod usage;

pub use place::{ArchiveError, RunPlace};
pub use retain::{Candidate, archive, keep_within, remove, transcript_now};
pub use snapshots::prune_snapshots;
pub use usage::{DiskUse, disk_use, run_directories};
