//! Archives and removes the directories of past runs: transcripts are renamed after a while, and the oldest runs are
//! removed when all of them exceed the quota.
//!
//! The paths come from a store that others can write, so they are not trusted. A directory counts only at the path that
//! [`layout::runs`](files::layout::runs) gives it, with no link on the way, and only regular files with the
//! names of a run's files are touched in it. Everything else stays.
//!
//! | File | Task |
//! |---|---|
//! | `retain` | archive runs, remove them, and select the runs and snapshots to remove |
//! | `usage` | measure the disk space of runs |
//! | `place` | check that a path is the directory of a run |
//! | `directory` | keep all work in that directory, even if its path changes |
//! | `names` | recognize the files of a run |

#[cfg_attr(not(unix), path = "directory_unsupported.rs")]
mod directory;
mod names;
mod place;
mod retain;
mod usage;

pub use place::{ArchiveError, RunPlace};
pub use retain::{
    Candidate, archive, current_transcript, keep_within, path_before_archiving, prune_snapshots, remove,
};
pub use usage::{DiskUse, disk_use, run_directories};
