//! Archives runs, removes them, and decides how many have to go.

use std::io;

use time::OffsetDateTime;

use super::directory::Directory;
use super::names::{aside, is_said};
use super::place::{ArchiveError, RunPlace};

/// How many names are tried for an archived file. The first is free, unless the clock was set back.
const ATTEMPTS: u32 = 16;

/// What [`remove`] has removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The size of the removed files.
    pub bytes: u64,
    /// Whether the directory is gone too. It stays when something else is in it.
    pub is_gone: bool,
}

/// Archives the sessions and outputs of a run: renames each to `<name>.deleted.<time>`, where the time is `now_ms`
/// (milliseconds since 1970) in UTC. Returns how many it renamed: 0 when they are archived already or the directory is
/// gone. Blocks.
///
/// # Errors
///
/// When the path is not the directory of a run, or when a file cannot be renamed. The other files are renamed all the
/// same.
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

/// Removes the files of a run, and its directory if nothing else is in it. Blocks.
///
/// # Errors
///
/// When the path is not the directory of a run, or when a file cannot be removed. The other files are removed all the
/// same.
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
    /// Its directory.
    pub place: RunPlace<'a>,
    /// Whether it is archived already. Archived runs go first.
    pub is_archived: bool,
    /// Whether it may be removed. Runs under way may not.
    pub may_go: bool,
}

/// What [`keep_within`] has done.
#[derive(Debug, Default)]
pub struct Freed {
    /// The indices of the removed candidates, in the order of removal.
    pub removed: Vec<usize>,
    /// The bytes that the files of the remaining candidates take up.
    pub bytes: u64,
    /// Why candidates could not be measured or removed: not the directory of a run, or not readable or writable.
    pub failures: Vec<ArchiveError>,
}

/// Removes runs until the files of all of them take up at most `limit` bytes: archived ones first, then the others,
/// each in the given order, which should be oldest first. Calls `goes` right before each removal and skips the run if
/// it returns `false`, because somebody may have continued the run meanwhile. Blocks.
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
    // Removing a run without files frees nothing.
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
