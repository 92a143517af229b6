//! Opens the database file, and replaces a damaged one.
//!
//! Nothing else in this process may open the file, not even to read it: on Unix its locks belong to the process, and closing
//! any descriptor of the file releases all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error::StoreError;
use super::schema;
use files::{FileError, owned, private};

/// The maximum wait of one statement for another process. A transaction takes microseconds. If the database is held for
/// longer, its holder was stopped, or a database tool is in use.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_millis(500);
/// Page cache in KiB. The database has a handful of pages.
const CACHE_KIB: i64 = 256;
/// Largest file that is checked completely when it is opened. The check takes about a millisecond per MiB.
const CHECKED_BYTES: u64 = 16 << 20;
/// The maximum number of damaged files that are kept. Beyond that, opening fails so that a person checks them.
const MAX_ASIDE: u32 = 100;

/// The files that `SQLite` keeps next to the database: the log and its index.
const COMPANION_SUFFIXES: [&str; 2] = ["-wal", "-shm"];

/// `statfs` magic numbers of network file systems: NFS, SMB (three generations), AFS, Coda, Ceph, Lustre, GPFS and 9P.
#[cfg(target_os = "linux")]
const REMOTE: [i128; 10] = [
    0x6969,
    0x517B,
    0xFF53_4D42,
    0xFE53_4D42,
    0x5346_414F,
    0x7375_7245,
    0x00C3_6400,
    0x0BD0_0BD0,
    0x4750_4653,
    0x0102_1997,
];

/// Opens the database, creates it if it is missing, and migrates it. A damaged file is kept under another name, which is
/// returned too. Only one process at a time may call this, and only while it has no connection to the database.
///
/// # Errors
///
/// If the database cannot be used. A file of a newer release is not changed.
pub(super) fn connect(path: &Path) -> Result<(Connection, Option<PathBuf>), StoreError> {
    match open(path) {
        Err(StoreError::Database { source, .. }) if is_damage(&source) => {
            let aside = set_aside(path).map_err(FileError::at(path))?;
            Ok((open(path)?, Some(aside)))
        }
        opened => Ok((opened?, None)),
    }
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    let failed = |source| StoreError::of(path, source);
    make_private(path).map_err(FileError::at(path))?;
    for file in COMPANION_SUFFIXES.map(|suffix| with_suffix(path, suffix)) {
        owned::check_path(&file).map_err(FileError::at(&file))?;
    }
    // Our own mutex guards the connection; without `SQLITE_OPEN_URI` a path is always taken literally.
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(without_links(path)?, flags).map_err(failed)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    // Before anything else: the file of a newer release must not be written. The last connection to close would move its
    // log into it.
    connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
    let found = schema::version(&connection).map_err(failed)?;
    if found > schema::newest() {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: schema::newest() });
    }
    connection.set_db_config(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(failed)?;
    if connection.is_readonly("main").map_err(failed)? {
        return Err(StoreError::ReadOnly(path.to_owned()));
    }
    check(path, &connection).map_err(failed)?;
    let mode: String =
        connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0)).map_err(failed)?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(StoreError::NotShared(path.to_owned()));
    }
    // Commits survive the end of the process in any case; only a power loss may cost the last ones.
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
    schema::migrate(&mut connection).map_err(failed)?;
    Ok(connection)
}

/// The path with the links to its directory resolved: `SQLite` would refuse those too.
fn without_links(path: &Path) -> Result<PathBuf, StoreError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let directory = fs::canonicalize(directory).map_err(FileError::at(directory))?;
    Ok(directory.join(path.file_name().unwrap_or_default()))
}

/// Creates the file if it is missing, readable by its owner only. `SQLite` gives its other files the same permissions.
fn make_private(path: &Path) -> io::Result<()> {
    let file = owned::open(path, private::options().read(true).write(true).create(true))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    drop(file);
    Ok(())
}

/// Checks the file for damage.
fn check(path: &Path, connection: &Connection) -> rusqlite::Result<()> {
    if fs::metadata(path).is_ok_and(|found| found.len() > CHECKED_BYTES) {
        return Ok(());
    }
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(corrupt, Some(verdict)))
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Renames a damaged file together with its log, so that the next database does not use that log.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let is_free = |number: &u32| !with_suffix(path, &format!(".damaged-{number}")).exists();
    let number = (1..=MAX_ASIDE).find(is_free).ok_or(io::ErrorKind::AlreadyExists)?;
    let aside_path = |file: &Path| with_suffix(file, &format!(".damaged-{number}"));
    for belonging in COMPANION_SUFFIXES.map(|suffix| with_suffix(path, suffix)) {
        match fs::rename(&belonging, aside_path(&belonging)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => (),
        }
    }
    let aside = aside_path(path);
    fs::rename(path, &aside)?;
    Ok(aside)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns true if the directory is on a network file system. The index of the write-ahead log is shared memory, which two
/// machines cannot share, and neither would notice. False if unknown, and on systems other than Linux.
pub(super) fn is_remote(directory: &Path) -> bool {
    #[cfg(target_os = "linux")]
    if let Ok(found) = rustix::fs::statfs(directory) {
        // The kernel's number has 32 bits; some architectures extend its sign.
        return REMOTE.contains(&(i128::from(found.f_type) & 0xFFFF_FFFF));
    }
    let _ = directory;
    false
}
