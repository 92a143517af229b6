//! Locks and checks the session of a run that is to be continued.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::files::FileError;
use crate::files::open::refuse_links;
use crate::run::spec::Resumption;

/// The longest first line of a session, in bytes; it has an id, a time and a directory.
const MAX_HEADER: u64 = 64 * 1024;

/// How long a run that has been continued or swept is waited for: a sweep removes a few files.
const PATIENCE: Duration = Duration::from_millis(300);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// The lock on a run's directory, released on drop. While it is held, the run counts as alive: no other process continues
/// it or removes what it has left, if the file system has locks.
#[derive(Debug)]
pub(in crate::run) struct SessionLock {
    #[cfg(unix)]
    _directory: File,
}

/// Locks the directory of a run that is to be continued, and prepares its session. Blocks.
///
/// The earlier child could write the session, so it is not trusted: it must be a regular file in the run's directory,
/// and its header must name the directory that the child is to work in, because pi works where the session says.
///
/// # Errors
///
/// When there is no such session, or when another process is continuing it. Nothing is changed.
pub(in crate::run) fn lock_session(resumption: &Resumption, cwd: &Path) -> Result<SessionLock, FileError> {
    let Resumption { directory, session, .. } = resumption;
    let found = fs::symlink_metadata(directory).map_err(FileError::at(directory))?;
    if !found.is_dir() {
        return Err(FileError::at(directory)(wrong("it is not a directory")));
    }
    let locked = lock_directory(directory)?;
    if session.parent() != Some(directory) {
        return Err(FileError::at(session)(wrong("it does not lie in the run's directory")));
    }
    open(session).and_then(|mut file| make_ready(&mut file, cwd)).map_err(FileError::at(session))?;
    Ok(locked)
}

/// Locks the directory of a run. Blocks.
///
/// # Errors
///
/// When it cannot be opened, or another process holds the lock.
pub(super) fn lock_directory(directory: &Path) -> Result<SessionLock, FileError> {
    lock(directory).map_err(FileError::at(directory))
}

fn wrong(words: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, words)
}

#[cfg(unix)]
fn lock(directory: &Path) -> io::Result<SessionLock> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    let file = File::open(directory)?;
    let since = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if since.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "the run is being continued already"));
            }
            // Not every file system has locks.
            Ok(()) | Err(_) => return Ok(SessionLock { _directory: file }),
        }
    }
}

#[cfg(not(unix))]
fn lock(_directory: &Path) -> io::Result<SessionLock> {
    Ok(SessionLock {})
}

/// Opens the session, and refuses a link in its place.
fn open(session: &Path) -> io::Result<File> {
    let found = fs::symlink_metadata(session)?;
    if !found.is_file() {
        return Err(wrong("it is not a regular file"));
    }
    refuse_links(OpenOptions::new().read(true).append(true)).open(session)
}

/// Checks the header, and ends a line that a killed child has left half written, so that pi does not append to it.
fn make_ready(session: &mut File, cwd: &Path) -> io::Result<()> {
    let mut first = Vec::new();
    BufReader::new(&mut *session).take(MAX_HEADER).read_until(b'\n', &mut first)?;
    let header: Value = serde_json::from_slice(&first).unwrap_or_default();
    if header["type"] != "session" {
        return Err(wrong("it does not begin like a session"));
    }
    if header["cwd"] != *cwd.to_string_lossy() {
        let words = format!("it is a session of {}, not of `{}`", header["cwd"], cwd.display());
        return Err(wrong(&words));
    }
    session.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    session.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { session.write_all(b"\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/project"}"#;

    fn scene(text: &str) -> (tempfile::TempDir, Resumption) {
        let root = tempfile::tempdir().expect("a temporary directory");
        let directory = root.path().join("0badcafe");
        fs::create_dir(&directory).expect("made");
        let session = directory.join("session.jsonl");
        fs::write(&session, text).expect("written");
        (root, Resumption { run_id: "0badcafe".into(), directory, session })
    }

    fn words(resumption: &Resumption) -> String {
        let error = lock_session(resumption, Path::new("/project")).expect_err("refused");
        format!("{}: {}", error.path.file_name().expect("a name").display(), error.source)
    }

    #[test]
    fn a_session_is_continued_as_it_is_and_a_torn_line_is_ended() {
        for (text, expected) in [
            (format!("{HEADER}\n"), format!("{HEADER}\n")),
            (format!("{HEADER}\n{{\"type\":\"mess"), format!("{HEADER}\n{{\"type\":\"mess\n")),
            (HEADER.to_owned(), format!("{HEADER}\n")),
        ] {
            let (_root, resumption) = scene(&text);
            drop(lock_session(&resumption, Path::new("/project")).expect("taken"));
            assert_eq!(fs::read_to_string(&resumption.session).expect("readable"), expected);
        }
    }

    #[test]
    fn a_file_that_is_no_session_of_this_run_is_refused_by_name_and_left_alone() {
        let (_root, resumption) = scene("");
        assert!(words(&resumption).starts_with("session.jsonl: it does not begin like a session"));
        let (_root, resumption) = scene("{\"type\":\"message\"}\n");
        assert!(words(&resumption).starts_with("session.jsonl: it does not begin like a session"));
        let (_root, resumption) = scene(&HEADER.replace("/project", "/elsewhere"));
        assert_eq!(words(&resumption), "session.jsonl: it is a session of \"/elsewhere\", not of `/project`");
        assert_eq!(fs::read(&resumption.session).expect("readable").last(), Some(&b'}'), "untouched");
        let (root, mut resumption) = scene(HEADER);
        resumption.session = root.path().join("other.jsonl");
        fs::write(&resumption.session, HEADER).expect("written");
        assert_eq!(words(&resumption), "other.jsonl: it does not lie in the run's directory");
        let (_root, resumption) = scene(HEADER);
        fs::remove_file(&resumption.session).expect("removed");
        assert!(words(&resumption).starts_with("session.jsonl: No such file"));
        let (_root, resumption) = scene(HEADER);
        fs::remove_dir_all(&resumption.directory).expect("removed");
        assert!(words(&resumption).starts_with("0badcafe: No such file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_refused_and_only_one_process_continues_a_run() {
        let (root, resumption) = scene(HEADER);
        let victim = root.path().join("victim");
        fs::rename(&resumption.session, &victim).expect("moved");
        std::os::unix::fs::symlink(&victim, &resumption.session).expect("linked");
        assert_eq!(words(&resumption), "session.jsonl: it is not a regular file");
        let (_root, resumption) = scene(HEADER);
        let first = lock_session(&resumption, Path::new("/project")).expect("taken");
        assert_eq!(words(&resumption), "0badcafe: the run is being continued already");
        drop(first);
        drop(lock_session(&resumption, Path::new("/project")).expect("free again"));
    }
}
