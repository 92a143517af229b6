//! Locks and checks the session of a run that will be continued.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::spec::Resumption;
use crate::transcript::MAX_HEADER;
#[cfg(unix)]
use files::exclusive::is_path_locked;
use files::exclusive::{has_no_locks, lock as try_lock, remove};
use files::open::refuse_links;
use files::{FileError, layout, private};

/// The time limit for waiting for another process that continues or sweeps the run. A sweep removes only a few files.
const LOCK_TIMEOUT: Duration = Duration::from_millis(300);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// The lock on a run, released on drop. While it exists, the run counts as alive. If the file system supports locks,
/// no other process continues the run or removes its leftovers.
///
/// It is a write lock on a file that no process may read, so a child that only reads cannot take it.
#[derive(Debug)]
pub(crate) struct SessionLock {
    path: PathBuf,
    /// `None` if the file system has no locks, or if a process with only read access prevents locking.
    file: Option<File>,
}

impl SessionLock {
    /// Returns the locked file, which is removed with the lock.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        match self.file.take() {
            Some(file) => remove(&self.path, file),
            None => drop(fs::remove_file(&self.path)),
        }
    }
}

/// Locks the directory of a run that will be continued, and prepares its session. Blocks.
///
/// The earlier child could write the session, so it is not trusted. It must be a regular file in the run's directory.
/// Its header must name the child's working directory, because pi works in the directory that the session names.
///
/// # Errors
///
/// Fails if there is no such session, or if another process continues it. Then nothing is changed.
pub(crate) fn lock_session(resumption: &Resumption, cwd: &Path) -> Result<SessionLock, FileError> {
    let Resumption { directory, session, run_id } = resumption;
    let found = fs::symlink_metadata(directory).map_err(FileError::at(directory))?;
    if !found.is_dir() {
        return Err(FileError::at(directory)(invalid("it is not a directory")));
    }
    let locked = lock_directory(directory)?;
    if session.parent() != Some(directory) {
        return Err(FileError::at(session)(invalid("it is not in the run's directory")));
    }
    prepare_session(session, cwd, run_id).map_err(FileError::at(session))?;
    Ok(locked)
}

/// Locks the directory of a run. Blocks.
///
/// # Errors
///
/// Fails if the lock's file cannot be used, or if another process has the lock.
pub(super) fn lock_directory(directory: &Path) -> Result<SessionLock, FileError> {
    acquire(directory.join(layout::LOCK)).map_err(FileError::at(directory))
}

/// Returns true if no process works in the directory of a run. After the death of the host, the warden ends the child and then
/// removes the prompt and the guard, which another child would need. Blocks.
pub(crate) fn is_idle(directory: &Path) -> bool {
    let is_gone = |name: &str| fs::symlink_metadata(directory.join(name)).is_err();
    is_gone(layout::PROMPT) && is_gone(layout::GUARD) && is_unlocked(directory)
}

/// Returns true if no process has the lock of a run. Blocks.
pub(crate) fn is_unlocked(directory: &Path) -> bool {
    !matches!(try_lock(&directory.join(layout::LOCK), true), Ok(None))
}

/// Locks the directory of a run that may be dead, without waiting. `None` if the run is alive or its state is unknown.
#[cfg(unix)]
pub(super) fn lock_dead(directory: &Path) -> Option<SessionLock> {
    let path = directory.join(layout::LOCK);
    let file = try_lock(&path, true).ok()?;
    // A process with only read access can prevent us from locking the file, but cannot lock it itself.
    let is_dead = file.is_some() || is_path_locked(&path).is_ok_and(|is_locked| !is_locked);
    is_dead.then(|| SessionLock { path, file })
}

pub(super) fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn acquire(path: PathBuf) -> io::Result<SessionLock> {
    let since = Instant::now();
    loop {
        match try_lock(&path, true) {
            Ok(Some(file)) => return Ok(SessionLock { path, file: Some(file) }),
            Ok(None) if since.elapsed() < LOCK_TIMEOUT => thread::sleep(PAUSE),
            Ok(None) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "the run is already being continued"));
            }
            Err(error) if has_no_locks(&error) => {
                return Ok(SessionLock { path, file: None });
            }
            Err(error) => return Err(error),
        }
    }
}

/// Opens the session. Refuses a link in its place.
fn open(session: &Path) -> io::Result<File> {
    let found = fs::symlink_metadata(session)?;
    if !found.is_file() {
        return Err(invalid("it is not a regular file"));
    }
    refuse_links(OpenOptions::new().read(true).append(true)).open(session)
}

/// Opens a session that a child in this directory can continue as it is. Blocks.
pub(super) fn whole_session(path: &Path, cwd: &Path) -> io::Result<File> {
    let mut session = open(path)?;
    if header_of(&mut session)?.0["cwd"] != *cwd.to_string_lossy() || !ends_with_line(&mut session)? {
        return Err(invalid("it has to be changed before it can be continued"));
    }
    session.rewind()?;
    Ok(session)
}

/// Reads the header and its length.
fn header_of(session: &mut File) -> io::Result<(Value, usize)> {
    let mut first = Vec::new();
    BufReader::new(session).take(MAX_HEADER).read_until(b'\n', &mut first)?;
    let header: Value = serde_json::from_slice(&first).unwrap_or_default();
    if header["type"] != "session" {
        return Err(invalid("it does not begin with a session header"));
    }
    Ok((header, first.len()))
}

/// Returns true if the last line is complete.
fn ends_with_line(session: &mut File) -> io::Result<bool> {
    session.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    session.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Checks the header. Ends a line that a killed child left incomplete, so that pi does not append to it.
fn prepare_session(path: &Path, cwd: &Path, run_id: &str) -> io::Result<()> {
    let mut session = open(path)?;
    let (mut header, length) = header_of(&mut session)?;
    if header["cwd"] != *cwd.to_string_lossy() {
        if !header["cwd"].as_str().is_some_and(|old| are_trees_of(run_id, Path::new(old), cwd)) {
            let message = format!("it is a session of {}, not of `{}`", header["cwd"], cwd.display());
            return Err(invalid(&message));
        }
        header["cwd"] = cwd.to_string_lossy().into();
        session = with_header(path, session, length, &header)?;
    }
    if ends_with_line(&mut session)? { Ok(()) } else { session.write_all(b"\n") }
}

/// Returns true if two directories correspond to each other in private trees of this run, `ID` and `ID-2`. The tree of
/// a killed host stays, so the run continues in a tree with another name.
fn are_trees_of(run_id: &str, old: &Path, new: &Path) -> bool {
    let is_tree = |name: Component| {
        let number = name.as_os_str().to_str().and_then(|name| name.strip_prefix(run_id));
        number.is_some_and(|number| {
            number.is_empty() || number.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok())
        })
    };
    let mut differing = old.components().zip(new.components()).filter(|(old, new)| old != new);
    old.components().count() == new.components().count()
        && differing.next().is_some_and(|(old, new)| is_tree(old) && is_tree(new))
        && differing.next().is_none()
}

/// Replaces the header of a session atomically. Returns the new file.
fn with_header(path: &Path, mut session: File, old: usize, header: &Value) -> io::Result<File> {
    let mut copy = private::write_temporary(path, format!("{header}\n").as_bytes())?;
    session.seek(SeekFrom::Start(old as u64))?;
    io::copy(&mut session, copy.as_file_mut())?;
    copy.persist(path).map_err(|failed| failed.error)?;
    open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"x","timestamp":"t","cwd":"/project"}"#;

    fn scene(text: &str) -> (tempfile::TempDir, Resumption) {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let directory = root.path().join("0badcafe");
        fs::create_dir(&directory).expect("the directory is created");
        let session = directory.join("session.jsonl");
        fs::write(&session, text).expect("the file is written");
        (root, Resumption { run_id: "0badcafe".into(), directory, session })
    }

    fn refusal(resumption: &Resumption) -> String {
        let error = lock_session(resumption, Path::new("/project")).expect_err("the session is refused");
        format!("{}: {}", error.path.file_name().expect("the path has a file name").display(), error.source)
    }

    #[test]
    fn a_session_is_continued_unchanged_and_an_incomplete_line_is_ended() {
        for (text, expected) in [
            (format!("{HEADER}\n"), format!("{HEADER}\n")),
            (format!("{HEADER}\n{{\"type\":\"mess"), format!("{HEADER}\n{{\"type\":\"mess\n")),
            (HEADER.to_owned(), format!("{HEADER}\n")),
        ] {
            let (_root, resumption) = scene(&text);
            drop(lock_session(&resumption, Path::new("/project")).expect("the session is locked"));
            assert_eq!(fs::read_to_string(&resumption.session).expect("the file is readable"), expected);
        }
    }

    #[test]
    fn a_session_moves_only_between_private_trees_of_its_own_run() {
        for (old, new, moves) in [
            ("/t/0badcafe/p", "/t/0badcafe-2/p", true),
            ("/t/0badcafe-2/p/", "/t/0badcafe/p", true),
            ("/t/0badcafe/p", "/t/0badcafe-2/q", false),
            ("/t/0badcafe/p", "/t/0badcafe-2", false),
            ("/t/0badbeef/p", "/t/0badcafe-2/p", false),
            ("/t/0badcafe-x/p", "/t/0badcafe-2/p", false),
            ("/project", "/elsewhere", false),
        ] {
            let rest = "\n{\"type\":\"message\"}\n";
            let (_root, resumption) = scene(&format!("{}{rest}", HEADER.replace("/project", old)));
            let before = fs::read_to_string(&resumption.session).expect("the file is readable");
            let locked = lock_session(&resumption, Path::new(new));
            assert_eq!(locked.is_ok(), moves, "{old} {new}");
            let text = fs::read_to_string(&resumption.session).expect("the file is readable");
            let (first, others) = text.split_once('\n').expect("the session has a line feed");
            assert_eq!(format!("\n{others}"), rest);
            let header: Value = serde_json::from_str(first).expect("the header is valid JSON");
            assert_eq!(header["cwd"], if moves { new } else { old });
            assert_eq!(header["id"], "x");
            assert_eq!(text == before, !moves);
        }
    }

    #[test]
    fn a_file_that_is_not_a_session_of_this_run_is_refused_by_name_and_not_changed() {
        let (_root, resumption) = scene("");
        assert!(refusal(&resumption).starts_with("session.jsonl: it does not begin with a session header"));
        let (_root, resumption) = scene("{\"type\":\"message\"}\n");
        assert!(refusal(&resumption).starts_with("session.jsonl: it does not begin with a session header"));
        let (_root, resumption) = scene(&HEADER.replace("/project", "/elsewhere"));
        assert_eq!(
            refusal(&resumption),
            "session.jsonl: it is a session of \"/elsewhere\", not of `/project`"
        );
        assert_eq!(
            fs::read(&resumption.session).expect("the file is readable").last(),
            Some(&b'}'),
            "the refused session does not change"
        );
        let (root, mut resumption) = scene(HEADER);
        resumption.session = root.path().join("other.jsonl");
        fs::write(&resumption.session, HEADER).expect("the file is written");
        assert_eq!(refusal(&resumption), "other.jsonl: it is not in the run's directory");
        let (_root, resumption) = scene(HEADER);
        fs::remove_file(&resumption.session).expect("the file is removed");
        assert!(refusal(&resumption).starts_with("session.jsonl: No such file"));
        let (_root, resumption) = scene(HEADER);
        fs::remove_dir_all(&resumption.directory).expect("the directory is removed");
        assert!(refusal(&resumption).starts_with("0badcafe: No such file"));
    }

    /// The lock was once a `flock` on the directory, which a child with read access could take.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_with_read_access_cannot_make_a_dead_run_look_alive() {
        use rustix::fs::{FlockOperation, flock};
        let (_root, resumption) = scene(HEADER);
        let seen = File::open(&resumption.directory).expect("the directory is opened");
        flock(&seen, FlockOperation::NonBlockingLockExclusive).expect("the directory is locked");
        drop(lock_dead(&resumption.directory).expect("a dead run can be locked"));
        let lock = lock_session(&resumption, Path::new("/project")).expect("the session is locked");
        assert!(lock_dead(&resumption.directory).is_none(), "a living run cannot be locked");
        let mode = fs::metadata(lock.path()).map(|found| found.permissions());
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&mode.expect("the lock file exists")) & 0o777,
            0o200
        );
        let path = lock.path().to_owned();
        drop(lock);
        assert!(!path.exists());
        assert_eq!(
            fs::read_dir(&resumption.directory).expect("the directory is readable").count(),
            1,
            "only the session stays"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused_and_only_one_process_continues_a_run() {
        let (root, resumption) = scene(HEADER);
        let victim = root.path().join("victim");
        fs::rename(&resumption.session, &victim).expect("the rename succeeds");
        std::os::unix::fs::symlink(&victim, &resumption.session).expect("the link is created");
        assert_eq!(refusal(&resumption), "session.jsonl: it is not a regular file");
        let (_root, resumption) = scene(HEADER);
        let first = lock_session(&resumption, Path::new("/project")).expect("the session is locked");
        assert_eq!(refusal(&resumption), "0badcafe: the run is already being continued");
        drop(first);
        drop(lock_session(&resumption, Path::new("/project")).expect("a released session can be locked"));
    }
}
