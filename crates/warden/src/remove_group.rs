//! Removes the control group of a tree that has ended.

use std::fs;
use std::io;
use std::path::Path;

/// The maximum depth to which groups are removed below a group, and their maximum number. A child that may make groups
/// can make more; those stay.
const MAX_DEPTH: usize = 64;
const MAX_GROUPS: usize = 10_000;

/// Removes a control group and the groups below it, which the processes in it have made: a sub-agent that delegates
/// makes one for each child. A group that does not exist counts as removed.
///
/// # Errors
///
/// If a process is left in one of them; then nothing is removed. If the group cannot be removed.
pub fn remove_group(path: &Path) -> io::Result<()> {
    match fs::remove_dir(path) {
        // A process or a group below it blocks the removal.
        Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => return removed,
    }
    // A process in one of the groups may be about to enter an empty group that it made.
    if fs::read_to_string(path.join("cgroup.events"))?.contains("populated 1") {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    let mut remaining = MAX_GROUPS;
    remove_below(path, MAX_DEPTH, &mut remaining);
    fs::remove_dir(path)
}

fn remove_below(path: &Path, depth: usize, remaining: &mut usize) {
    if depth == 0 {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if *remaining > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            *remaining -= 1;
            remove_below(&entry.path(), depth - 1, remaining);
            let _ = fs::remove_dir(entry.path());
        }
    }
}
