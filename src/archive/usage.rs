//! What runs take up on disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::names::is_run_id;

/// How many files are counted before the answer is "more than".
const MAX_COUNTED: usize = 20_000;

/// What directories take up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// The size of all files in them.
    pub bytes: u64,
    /// Whether that is all; of very many files only the first are counted.
    pub is_complete: bool,
}

/// What lies below some directories. Links are not followed, and what is in two of them counts once. Blocks.
#[must_use]
pub fn disk_use(directories: &[PathBuf]) -> DiskUse {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let (mut pending, mut bytes, mut counted) = (directories.to_vec(), 0, 0);
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
                Ok(metadata) => bytes += metadata.len(),
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
