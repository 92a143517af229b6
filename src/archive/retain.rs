//! Archives runs, removes them, and selects the runs to remove.
//!
//! Snapshots of trees are removed, too, if their runs have no record, for example after calls without a session.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use files::layout;
use time::OffsetDateTime;

use super::names::{archived_name, is_archived_name_of, is_session, name_before};
use super::place::{ArchiveError, RunPlace};
use super::usage::{disk_use, run_directories};

/// The number of names tried for an archived file. The first name is free unless the clock was set back.
const ATTEMPTS: u32 = 16;

/// Archives the sessions of a run: renames each to `<name>.deleted.<time>`, where the time is `now_ms` (milliseconds since 1970)
/// in UTC. Does nothing if they are archived already or the directory no longer exists. Blocks.
///
/// # Errors
///
/// If the path is not the directory of a run, or if a file cannot be renamed. The other files are renamed anyway.
pub fn archive(place: &RunPlace<'_>, now_ms: i64) -> Result<(), ArchiveError> {
    let Some(directory) = place.open()? else { return Ok(()) };
    let time = stamp(now_ms);
    let mut result = Ok(());
    let failed = |source| place.failed(source);
    for (name, _) in directory.files().map_err(failed)?.iter().filter(|(name, _)| is_session(name)) {
        let free =
            (1..=ATTEMPTS).map(|number| archived_name(name, &time, number)).find(|to| !directory.has(to));
        let free = free.ok_or_else(|| io::ErrorKind::AlreadyExists.into());
        result = result.and(free.and_then(|to| directory.rename(name, &to)).map_err(failed));
    }
    result
}

/// Returns the current path of a transcript that a run had at `path`: the same path, or the newest name that archiving
/// has given it. `None` if it was deleted. Blocks.
#[must_use]
pub fn current_transcript(path: &Path) -> Option<PathBuf> {
    if fs::symlink_metadata(path).is_ok() {
        return Some(path.to_owned());
    }
    let directory = path.parent()?;
    let name = path.file_name()?.to_str()?;
    let entries = fs::read_dir(directory).ok()?.flatten();
    let archived = entries.filter_map(|entry| entry.file_name().into_string().ok());
    // The times in the names sort as text.
    archived.filter(|archived| is_archived_name_of(archived, name)).max().map(|newest| directory.join(newest))
}

/// Returns the path that an archived transcript had before. `None` if it was not archived.
#[must_use]
pub fn path_before_archiving(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    name_before(name).map(|name| path.with_file_name(name))
}

/// A time as part of a file name: in UTC, and without colons, which some file systems do not allow.
fn stamp(now_ms: i64) -> String {
    let Ok(at) = OffsetDateTime::from_unix_timestamp_nanos(i128::from(now_ms) * 1_000_000) else {
        // Beyond the year 9999.
        return now_ms.unsigned_abs().to_string();
    };
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, millisecond) = at.to_hms_milli();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}.{millisecond:03}Z")
}

/// Removes the files of a run, and its directory if nothing else is in it. Returns the size of the removed files. Blocks.
///
/// # Errors
///
/// If the path is not the directory of a run, or if a file cannot be removed. The other files are removed anyway.
pub fn remove(place: &RunPlace<'_>) -> Result<u64, ArchiveError> {
    let Some(directory) = place.open()? else { return Ok(0) };
    let failed = |source| place.failed(source);
    let mut removed = Ok(0);
    for (name, bytes) in directory.files().map_err(failed)? {
        let done = directory.remove_file(&name).map_err(failed);
        removed = removed.and_then(|sum: u64| done.map(|()| sum.saturating_add(bytes)));
    }
    let removed = removed?;
    directory.remove_if_empty().map_err(failed)?;
    // The snapshot of its tree before the run.
    let snapshot_bytes = place.snapshot_size();
    place.remove_snapshot()?;
    Ok(removed.saturating_add(snapshot_bytes))
}

/// A run that has a directory.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Its directory.
    pub place: RunPlace<'a>,
    /// True if the run is archived already. Archived runs are removed first.
    pub is_archived: bool,
    /// True if the run may be removed. Live runs may not, nor runs whose end was not delivered yet or was delivered
    /// only recently.
    pub is_removable: bool,
}

/// Removes runs until the files of all of them take up at most `limit` bytes: first those that alone take up more, then archived
/// ones, then the others, each in the given order, which should be oldest first. Calls `may_remove` right before each removal and skips
/// the run if it returns `false`, because the run may have been continued in the meantime. Returns the indices of the removed
/// runs, in the order of removal. Skips runs that cannot be measured or removed. Blocks.
#[must_use]
pub fn keep_within(
    limit: u64,
    runs: &[Candidate<'_>],
    mut may_remove: impl FnMut(usize) -> bool,
) -> Vec<usize> {
    let sizes: Vec<u64> = runs.iter().map(|run| size(&run.place)).collect();
    let mut all = total(sizes.iter().copied());
    // Removing a run without files frees nothing.
    let mut order: Vec<usize> =
        (0..runs.len()).filter(|&at| runs[at].is_removable && sizes[at] > 0).collect();
    // Once the run that alone exceeds the limit is gone, the others may stay.
    order.sort_by_key(|&at| (sizes[at] <= limit, !runs[at].is_archived));
    let mut removed = Vec::new();
    for at in order {
        if all <= limit {
            break;
        }
        if may_remove(at)
            && let Ok(bytes) = remove(&runs[at].place)
        {
            all = all.saturating_sub(bytes);
            removed.push(at);
        }
    }
    removed
}

/// The size of a run's files and of its snapshot; 0 when they cannot be measured.
fn size(place: &RunPlace<'_>) -> u64 {
    let files = place.open().ok().flatten().and_then(|directory| directory.files().ok());
    let files = files.unwrap_or_default();
    total(files.iter().map(|(_, bytes)| *bytes).chain([place.snapshot_size()]))
}

/// Sums sizes. A file system may claim any size for its files, so the sum does not overflow.
fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// The minimum age at which such a snapshot may be removed. No call takes as long.
const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the oldest snapshots of runs that are not `known` while these snapshots take up more than `limit` bytes. Keeps
/// snapshots of the last day. The snapshots of known runs are removed with their files. Blocks.
pub fn prune_snapshots(agent_dir: &Path, limit: u64, known: impl Fn(&OsStr) -> bool) {
    let modified = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
    let mut found: Vec<_> = run_directories(&layout::snapshots(agent_dir))
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|id| !known(id)))
        // The changes in the private tree of such a run have not been imported yet.
        .filter(|path| !path.join(layout::PRIVATE_TREE).exists())
        .filter_map(|path| Some((modified(&path)?, disk_use(std::slice::from_ref(&path)).bytes, path)))
        .collect();
    found.sort();
    let mut all = found.iter().fold(0_u64, |sum, (_, bytes, _)| sum.saturating_add(*bytes));
    let until = SystemTime::now() - MIN_AGE;
    for (modified, bytes, path) in found {
        if all <= limit || modified > until {
            return;
        }
        if fs::remove_dir_all(&path).is_ok() {
            all = all.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_sizes_do_not_overflow() {
        assert_eq!(total([u64::MAX, 1, u64::MAX].into_iter()), u64::MAX);
        assert_eq!(total([1, 2].into_iter()), 3);
        #[cfg(unix)]
        assert_eq!(crate::archive::usage::blocks(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_time_is_utc_and_part_of_any_name() {
        assert_eq!(stamp(0), "1970-01-01T00-00-00.000Z");
        assert_eq!(stamp(1_763_797_752_345), "2025-11-22T07-49-12.345Z");
        assert_eq!(stamp(i64::MAX), i64::MAX.to_string());
        assert!(crate::archive::names::is_archived_name(&archived_name("output.md", &stamp(i64::MIN), 2)));
    }

    #[test]
    fn the_oldest_snapshots_without_a_record_are_removed_and_new_ones_stay() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let place = layout::snapshots(root.path());
        let make = |id: &str, days: u64| {
            let directory = place.join(id);
            fs::create_dir_all(&directory).expect("the directory is created");
            fs::write(directory.join("x"), vec![1; 100_000]).expect("the file is written");
            let time = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
            fs::File::open(&directory).and_then(|at| at.set_modified(time)).expect("the time is set");
        };
        for (id, days) in [("00000001", 9), ("00000002", 5), ("00000003", 3), ("00000004", 0)] {
            make(id, days);
        }
        prune_snapshots(root.path(), 250_000, |id| id == "00000001");
        let exists = |id: &str| place.join(id).exists();
        assert_eq!(
            ["00000001", "00000002", "00000003", "00000004"].map(exists),
            [true, false, true, true],
            "only the oldest snapshot without a record is removed"
        );
        prune_snapshots(root.path(), 1, |_| false);
        assert_eq!(["00000001", "00000003", "00000004"].map(exists), [false, false, true]);
    }
}
