//! Putting aside, removing, and how much of that is needed.

use std::io;

use time::OffsetDateTime;

use super::directory::Directory;
use super::names::{aside, is_said};
use super::place::{ArchiveError, RunPlace};

/// How many files of one name are put aside at the same moment. One; a clock that was set back may make it more.
const ATTEMPTS: u32 = 16;

/// What was removed of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The size of the files.
    pub bytes: u64,
    /// Whether the directory is gone too; it stays when there is something else in it.
    pub is_gone: bool,
}

/// Puts aside what a run's child has said: each file gets the name `<name>.deleted.<time>`, with the time of `now_ms`, in
/// milliseconds since 1970. How many there were; none when it was done before, or the directory is gone. Blocks.
///
/// # Errors
///
/// When the directory is none of a run, or a file cannot be renamed; the others are then.
pub fn archive(place: &RunPlace<'_>, now_ms: i64) -> Result<usize, ArchiveError> {
    let Some(directory) = place.open()? else { return Ok(0) };
    put_aside(&directory, now_ms).map_err(|source| place.failed(source))
}

fn put_aside(directory: &Directory, now_ms: i64) -> io::Result<usize> {
    let (time, mut failed, mut count) = (stamp(now_ms), None, 0);
    for (name, _) in directory.files()?.iter().filter(|(name, _)| is_said(name)) {
        let free = (1..=ATTEMPTS).map(|number| aside(name, &time, number)).find(|to| !directory.has(to));
        let renamed = free
            .ok_or_else(|| io::ErrorKind::AlreadyExists.into())
            .and_then(|to| directory.rename(name, &to));
        match renamed {
            Ok(()) => count += 1,
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(count), Err)
}

/// A time as a part of a file's name: in UTC, and without a colon, which not every file system takes.
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

/// Removes the files of a run, and its directory if there is nothing else in it. Blocks.
///
/// # Errors
///
/// When the directory is none of a run, or a file cannot be removed; the others are then.
pub fn remove(place: &RunPlace<'_>) -> Result<Removed, ArchiveError> {
    let Some(directory) = place.open()? else { return Ok(Removed { bytes: 0, is_gone: true }) };
    let failed = |source| place.failed(source);
    let (mut removed, mut error) = (Removed::default(), None);
    for (name, bytes) in directory.files().map_err(failed)? {
        match directory.remove_file(&name) {
            Ok(()) => removed.bytes += bytes,
            Err(refused) => error = Some(refused),
        }
    }
    if let Some(error) = error {
        return Err(failed(error));
    }
    removed.is_gone = directory.remove_if_empty().map_err(failed)?;
    Ok(removed)
}

/// A run that has a directory.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// Where.
    pub place: RunPlace<'a>,
    /// Whether what its child said was put aside already.
    pub is_archived: bool,
    /// Whether it may go; what is under way may not.
    pub may_go: bool,
}

/// What was done to stay within a bound.
#[derive(Debug, Default)]
pub struct Freed {
    /// Which candidates have nothing left, in the order in which they went.
    pub removed: Vec<usize>,
    /// What the files of the others take up.
    pub bytes: u64,
    /// Why candidates that should have gone did not. They are none of ours, or cannot be changed.
    pub failures: Vec<ArchiveError>,
}

/// Removes runs until the files of all of them take up no more than `limit` bytes: first those that were archived before,
/// then the others, each the oldest first, in which order they are given. `goes` is asked right before one is, because
/// somebody may have begun to go on with it meanwhile. Blocks.
#[must_use]
pub fn keep_within(limit: u64, runs: &[Candidate<'_>], mut goes: impl FnMut(usize) -> bool) -> Freed {
    let mut freed = Freed::default();
    let mut sizes = Vec::with_capacity(runs.len());
    for run in runs {
        let size = match run.place.open().and_then(|directory| {
            let files = directory.map(|directory| directory.files()).transpose();
            files.map_err(|source| run.place.failed(source))
        }) {
            Ok(files) => files.unwrap_or_default().iter().map(|(_, bytes)| bytes).sum(),
            Err(error) => {
                freed.failures.push(error);
                0
            }
        };
        freed.bytes += size;
        sizes.push(size);
    }
    let archived = (0..runs.len()).filter(|&at| runs[at].is_archived);
    let others = (0..runs.len()).filter(|&at| !runs[at].is_archived);
    // One that has nothing to give is not worth its transcript.
    for at in archived.chain(others).filter(|&at| runs[at].may_go && sizes[at] > 0) {
        if freed.bytes <= limit {
            break;
        }
        if !goes(at) {
            continue;
        }
        match remove(&runs[at].place) {
            Ok(removed) => {
                freed.bytes = freed.bytes.saturating_sub(removed.bytes);
                freed.removed.push(at);
            }
            Err(error) => freed.failures.push(error),
        }
    }
    freed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_utc_and_part_of_any_name() {
        assert_eq!(stamp(0), "1970-01-01T00-00-00.000Z");
        assert_eq!(stamp(1_763_797_752_345), "2025-11-22T07-49-12.345Z");
        assert_eq!(stamp(i64::MAX), i64::MAX.to_string());
        assert!(crate::archive::names::is_aside(&aside("output.md", &stamp(i64::MIN), 2)));
    }
}
