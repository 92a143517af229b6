//! The file of a log: private, replaced when it is full, and one of a bounded number.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use time::OffsetDateTime;

use files::private;

/// Bytes of a file. A run writes some 5 KB at `debug`, so this is enough for 800 runs.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Files in the directory of logs, of this and of earlier processes: at most 128 MiB.
const MAX_FILES: usize = 32;
/// The extension of a log, and of its previous file that was full.
const EXTENSION: &str = "log";
const FULL_EXTENSION: &str = "full.log";

/// Bytes of a timestamp up to the seconds.
const SECONDS: usize = "1970-01-01T00:00:00".len();

/// Formats a time in UTC as in RFC 3339, with milliseconds.
pub(super) fn timestamp(time: OffsetDateTime) -> String {
    let (year, month, day) = time.to_calendar_date();
    let (hour, minute, second, milli) = time.to_hms_milli();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// The log file of this process.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    /// The line that each file begins with.
    header: String,
    file: File,
    written: u64,
    max_bytes: u64,
}

impl LogFile {
    /// Creates the log of the process `pid` in a directory of logs, and removes the oldest logs there.
    pub(super) fn create(directory: &Path, pid: u32, header: String) -> io::Result<Self> {
        private::create_dir_all(directory)?;
        keep_newest(directory, MAX_FILES - 1)?;
        // The time to the second, without colons, which not every system has in names.
        let time = timestamp(OffsetDateTime::now_utc()).replace(':', "-");
        let path = directory.join(format!("{}-{pid}.{EXTENSION}", &time[..SECONDS]));
        Self::open(path, header, MAX_BYTES)
    }

    fn open(path: PathBuf, header: String, max_bytes: u64) -> io::Result<Self> {
        let file = private::options().append(true).create_new(true).open(&path)?;
        let mut log = Self { path, header, file, written: 0, max_bytes };
        log.write(&log.header.clone())?;
        Ok(log)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line. A full file is renamed, which replaces the previous full file, and a new file is started.
    pub(super) fn append(&mut self, line: &str) -> io::Result<()> {
        if self.written + line.len() as u64 >= self.max_bytes {
            fs::rename(&self.path, self.path.with_extension(FULL_EXTENSION))?;
            *self = Self::open(self.path.clone(), self.header.clone(), self.max_bytes)?;
        }
        self.write(line)
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        // Written at once, so that a killed process does not leave half a line.
        let line = format!("{line}\n");
        self.file.write_all(line.as_bytes())?;
        self.written += line.len() as u64;
        Ok(())
    }
}

/// Removes the logs with the oldest last line until `limit` are left.
fn keep_newest(directory: &Path, limit: usize) -> io::Result<()> {
    let mut logs: Vec<(SystemTime, PathBuf)> = fs::read_dir(directory)?
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == EXTENSION))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    logs.sort_unstable();
    let surplus = logs.len().saturating_sub(limit);
    for (_, path) in logs.into_iter().take(surplus) {
        // Another process may have removed it.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_has_milliseconds_and_sorts_as_text() {
        let at = |milliseconds: i128| {
            let time = OffsetDateTime::from_unix_timestamp_nanos(milliseconds * 1_000_000);
            timestamp(time.expect("the time is in range"))
        };
        assert_eq!(at(7), "1970-01-01T00:00:00.007Z");
        assert_eq!(at(1_795_788_305_120), "2026-11-27T14:05:05.120Z");
    }

    #[test]
    fn a_log_has_at_most_two_files_and_both_begin_with_the_header() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let path = root.path().join("a.log");
        let mut log = LogFile::open(path.clone(), "# header".to_owned(), 100).expect("the log is opened");
        for number in 0..50 {
            log.append(&format!("line {number}")).expect("the line is written");
        }
        let mut names: Vec<_> = fs::read_dir(root.path())
            .expect("the directory is readable")
            .map(|entry| {
                entry.expect("the entry is readable").file_name().into_string().expect("the name is UTF-8")
            })
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["a.full.log", "a.log"]);
        let newest = fs::read_to_string(&path).expect("the file is readable");
        let older = fs::read_to_string(root.path().join("a.full.log")).expect("the file is readable");
        assert!(newest.len() <= 100 && older.len() <= 100, "{newest}{older}");
        assert!(newest.starts_with("# header\nline ") && newest.ends_with("line 49\n"), "{newest}");
        assert!(older.starts_with("# header\nline "), "{older}");
    }

    #[test]
    fn the_newest_logs_stay_and_other_files_are_left_alone() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        for number in 0..40 {
            let file = File::create(root.path().join(format!("{number}.log"))).expect("the file is created");
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000 + number);
            file.set_modified(time).expect("the time is set");
        }
        fs::write(root.path().join("notes.txt"), "mine").expect("the file is written");
        let log = LogFile::create(root.path(), 4242, String::new()).expect("the log is created");
        let names: Vec<_> = fs::read_dir(root.path())
            .expect("the directory is readable")
            .map(|entry| {
                entry.expect("the entry is readable").file_name().into_string().expect("the name is UTF-8")
            })
            .collect();
        assert_eq!(names.len(), MAX_FILES + 1, "the newest logs and the notes stay");
        assert!(names.contains(&"39.log".to_owned()) && !names.contains(&"8.log".to_owned()), "{names:?}");
        assert!(names.contains(&"notes.txt".to_owned()));
        assert!(log.path().to_string_lossy().ends_with("-4242.log"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(log.path()).expect("the file exists").permissions().mode() & 0o777;
            assert_eq!(mode, 0o600);
        }
    }
}
