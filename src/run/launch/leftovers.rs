//! Finds and removes the leftovers of dead processes' runs: private copies of credentials, prompts, temporary
//! directories.
//!
//! Before a run creates anything, it writes its directories into a note below the agent directory. The run removes the
//! note once it has cleaned up. The child's own agent directory is next to the note. So a note without a living run
//! names leftovers. A run is alive while it is locked, and the kernel releases that lock however its process ends. For
//! leftovers without a note, see `unnoted`.

mod clear;
mod unnoted;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use pi_subagent_warden::is_transient;
use uuid::Uuid;

use self::clear::{NOTE, Noted, clear, our_uid};
use super::private_dirs::temporary_name;
use files::{FileError, layout, open, private};

/// The maximum number of notes that are read at one start. The next starts handle the rest.
const MAX_NOTES: usize = 1024;
/// The longest note, in bytes: two paths.
const MAX_NOTE: u64 = 16 * 1024;

/// The time after which a note counts as complete. Writing it takes microseconds.
const WRITTEN_WITHIN: Duration = Duration::from_secs(60);

/// The agent directories that this process has swept.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A run's note. Dropping it does not remove the file.
#[derive(Debug)]
pub(super) struct Note(PathBuf);

impl Note {
    /// Writes a note that the run in the directory `run`, which is locked, may leave files there and in `temporary`.
    /// Returns `None` if no note can be written. That is not an error, because the run's directory may be outside of
    /// the agent directory.
    ///
    /// # Errors
    ///
    /// Fails if this process is short of something. Then nothing could be removed either.
    pub(super) fn write(
        agent_dir: &Path,
        run: &Path,
        temporary: Option<&Path>,
    ) -> Result<Option<Self>, FileError> {
        let parent = layout::scratch(agent_dir);
        let path = parent.join(Uuid::new_v4().simple().to_string()).with_extension(NOTE);
        let absolute = |path: &Path| std::path::absolute(path).map(PathBuf::into_os_string);
        let write = || {
            let mut bytes = absolute(run)?.into_vec();
            bytes.push(0);
            bytes.extend(temporary.map(absolute).transpose()?.unwrap_or_default().into_vec());
            bytes.push(0);
            private::create_dir_all(&parent)?;
            private::write_new(&path, &bytes)
        };
        match write() {
            Ok(()) => Ok(Some(Self(path))),
            Err(error) if is_transient(&error) => Err(FileError::at(&path)(error)),
            Err(_) => {
                let _ = fs::remove_file(&path);
                Ok(None)
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path next to the note for the child's own agent directory. The path is short, and all of its
    /// directories are hidden from the programs that the child's tools start.
    pub(super) fn agent(&self) -> PathBuf {
        agent_dir_of(&self.0)
    }

    /// Removes the note. Call this once nothing is left.
    pub(super) fn remove(self) {
        // If this fails, the next sweep finds only the note.
        let _ = fs::remove_file(self.0);
    }
}

/// Removes the leftovers of dead processes' runs on a separate thread. Runs once per process, and again after
/// [`sweep_again`].
pub(crate) fn sweep_once(agent_dir: &Path) {
    let agent_dir = agent_dir.to_path_buf();
    if !SWEPT.lock().insert(agent_dir.clone()) {
        return;
    }
    let sweep = move || {
        let swept = sweep(&agent_dir).and_then(|()| unnoted::sweep(&agent_dir, &std::env::temp_dir()));
        if swept.is_err() {
            sweep_again();
        }
    };
    if thread::Builder::new().name("subagent-leftovers".to_owned()).spawn(sweep).is_err() {
        sweep_again();
    }
}

/// Makes the next run sweep once more, because something could not be removed.
pub(super) fn sweep_again() {
    SWEPT.lock().clear();
}

/// Removes the leftovers of dead processes' runs. If something cannot be removed, its note stays for the next sweep.
///
/// # Errors
///
/// Fails if the notes cannot be listed, or if a note cannot be read at the moment.
fn sweep(agent_dir: &Path) -> io::Result<()> {
    let notes = layout::scratch(agent_dir);
    let is_own = fs::symlink_metadata(&notes).is_ok_and(|found| found.is_dir() && found.uid() == our_uid());
    if !is_own {
        return Ok(());
    }
    let mut swept = Ok(());
    for entry in fs::read_dir(&notes)?.take(MAX_NOTES) {
        let path = entry?.path();
        let is_done = read(&path).and_then(|note| {
            note.map_or_else(|| Ok(is_old(&path)), |note| clear(&note, Some(&agent_dir_of(&path))))
        });
        match is_done {
            Ok(true) => drop(fs::remove_file(path)),
            Err(error) if is_transient(&error) => swept = Err(error),
            Ok(false) | Err(_) => {}
        }
    }
    swept
}

fn agent_dir_of(note: &Path) -> PathBuf {
    note.with_extension("")
}

/// Returns true if an incomplete note is too old to be still in the process of being written.
fn is_old(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|found| found.modified()).map(|time| time.elapsed());
    age.is_ok_and(|age| age.is_ok_and(|age| age > WRITTEN_WITHIN))
}

/// Reads one of our notes. `None` if it names nothing that a run creates, or is incomplete.
fn read(path: &Path) -> io::Result<Option<Noted>> {
    let file = open::regular_no_follow(path)?;
    if file.metadata()?.uid() != our_uid() {
        return Ok(None);
    }
    Ok(parse(&open::read(file, MAX_NOTE)?))
}

fn parse(bytes: &[u8]) -> Option<Noted> {
    let mut parts =
        bytes.strip_suffix(&[0])?.split(|byte| *byte == 0).map(|part| Path::new(OsStr::from_bytes(part)));
    let run = parts.next()?;
    let temporary = parts.next()?;
    let id = run.file_name().filter(|name| name.to_str().is_some_and(layout::is_run_id))?;
    let temporary = Some(temporary).filter(|path| !path.as_os_str().is_empty());
    let is_complete = parts.next().is_none()
        && run.is_absolute()
        && temporary.is_none_or(|path| path.is_absolute() && path.file_name() == Some(&temporary_name(id)));
    is_complete.then(|| Noted { run: run.to_owned(), temporary: temporary.map(Path::to_path_buf) })
}

#[cfg(test)]
mod tests;
