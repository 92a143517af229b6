//! The disk space that runs take up.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use files::layout::is_run_id;

/// The number of entries counted before the answer becomes "more than".
const MAX_COUNTED: usize = 20_000;

/// The disk use of some directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// The disk space of all files, in bytes. It is less than their length for files with holes.
    pub bytes: u64,
    /// True if everything was counted. The count stops after 20 000 entries.
    pub is_complete: bool,
}

/// Returns the disk space that a file takes up. A file with a second name takes up none: a snapshot shares the objects of a
/// repository this way.
pub(super) fn space(found: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if found.nlink() > 1 && found.is_file() { 0 } else { blocks(found.blocks()) }
    }
    #[cfg(not(unix))]
    found.len()
}

/// Returns the size of this number of disk blocks, in bytes. A file can claim a length without a written byte, but not
/// blocks.
#[cfg(unix)]
pub(super) fn blocks(count: u64) -> u64 {
    const BLOCK: u64 = 512;
    count.saturating_mul(BLOCK)
}

/// Sums the sizes of all files below some directories. Follows no links, and counts a directory once even if it is
/// given twice. Unreadable directories count as empty. Blocks.
#[must_use]
pub fn disk_use(directories: &[PathBuf]) -> DiskUse {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut pending = directories.to_vec();
    let mut bytes = 0_u64;
    let mut counted = 0;
    while let Some(directory) = pending.pop() {
        if !seen.insert(directory.clone()) {
            continue;
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            counted += 1;
            if counted > MAX_COUNTED {
                return DiskUse { bytes, is_complete: false };
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => pending.push(entry.path()),
                Ok(metadata) => bytes = bytes.saturating_add(space(&metadata)),
                Err(_) => {}
            }
        }
    }
    DiskUse { bytes, is_complete: true }
}

/// The directories in `parent` that have the names of runs. Blocks.
#[must_use]
pub fn run_directories(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten().take(MAX_COUNTED);
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name().to_str().is_some_and(is_run_id))
        .map(|entry| entry.path())
        .collect()
}
