//! The run's own directory and the files in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::leftovers::{self, Note};
use super::private_dirs::PrivateDirs;
use super::private_files::{PrivateDirsSpec, write_private};
use super::resume::{SessionLock, lock_directory, lock_session};
use super::session_copy::SessionCopy;
use crate::run::blocking::{blocking, off_thread};
use crate::run::spec::{Resumption, RunId};
use files::{FileError, layout, private};
use supervisor::CleanUp;

/// The number of run ids that are tried. With 32 random bits and thousands of runs, a second attempt is already rare.
const ID_ATTEMPTS: usize = 16;
/// The version of pi's session format that the header states.
const SESSION_VERSION: u32 = 3;

/// The maximum number of long texts that are kept of one run. After that, each new text replaces the last one.
const MAX_OUTPUTS: u32 = 64;

/// The extension that limits a child to its tools. It is part of the addon, so that every caller's children have it.
pub(crate) const GUARD: &str = include_str!("../../../extension/child-guard.cjs");

/// The private directory of one run.
///
/// Dropping it removes the prompt, the guard and the private directories. The full output stays, and so does the
/// session file after [`Self::keep_session`]. A sandboxed child cannot write to the directory itself, so the files in
/// it are ours.
///
/// If the removal fails, for instance because no more files can be opened, the child's warden does it. The warden also
/// does it if this process ends first. Without a warden, the next start sweeps the remaining files (`leftovers`).
#[derive(Debug)]
pub(crate) struct RunFiles {
    /// The run's id: the requested one, or a different one if that was taken.
    pub run_id: String,
    /// The run's own directory.
    pub directory: PathBuf,
    /// The directory of the child's files. It differs from the run's directory if the child booted before the run was continued.
    pub child_directory: PathBuf,
    /// The file with the agent's system prompt.
    pub prompt: PathBuf,
    /// The guard extension, which limits the child to its tools.
    pub guard: PathBuf,
    /// The child's private directories, if it has them.
    pub private_dirs: Option<PrivateDirs>,
    session: Option<PathBuf>,
    /// The copy of an earlier run's session, if the child boots before it is certain that it continues the run.
    copy: Option<SessionCopy>,
    /// True if the session is kept.
    is_used: bool,
    /// True if the run continues another one.
    is_resumed: bool,
    /// A note with these paths, for the case that no process is left to remove them.
    note: Option<Note>,
    /// A lock that marks this run as alive.
    lock: Option<SessionLock>,
    /// A handle on the child's warden, which removes all of this if this process ends first.
    pub clean_up: Option<CleanUp>,
    /// True if the files were removed before the drop. A later attempt may have created files with the same names.
    is_removed: bool,
}

/// The files to create in a run's directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunFilesSpec<'a> {
    /// The directory that the child works in.
    pub cwd: &'a Path,
    /// The agent's system prompt.
    pub prompt: &'a str,
    /// True if the child keeps a session.
    pub session: bool,
    /// The child's private directories, if it needs them.
    pub private_dirs: Option<PrivateDirsSpec<'a>>,
    /// The attempt of the run, from 1. Later attempts share the directory and have sessions of their own.
    pub attempt: u32,
    /// The run to continue, with its directory and its session.
    pub resumes: Option<&'a Resumption>,
    /// True if it is not certain yet that the child continues the run. The child then gets a directory of its own with a copy of
    /// the session, and the run's directory stays as it is. See [`RunFiles::adopt_session`].
    pub is_early: bool,
    /// The user's agent directory, which holds the note about possible leftovers.
    pub agent_dir: &'a Path,
}

impl RunFiles {
    /// Creates the run's directory with the wanted files; a session file gets its header. Blocks.
    ///
    /// The header is written here because pi creates the file only with its first answer, and a caller must find one
    /// after a failure too.
    ///
    /// # Errors
    ///
    /// Fails if the directory or a file cannot be written. Then no file of this run is left.
    pub(crate) fn create(parent: &Path, run_id: &str, wanted: RunFilesSpec<'_>) -> Result<Self, FileError> {
        leftovers::sweep_once(wanted.agent_dir);
        let certain = wanted.resumes.filter(|_| !wanted.is_early);
        let resumed = certain.map(|resumption| lock_session(resumption, wanted.cwd)).transpose()?;
        let (directory, run_id) = match wanted.resumes {
            Some(Resumption { directory, run_id, .. }) if wanted.is_early => {
                // Next to the run's directory, so that the copy is on the same file system.
                let parent = directory.parent().unwrap_or(parent);
                (create_directory(parent, &RunId::random())?.0, run_id.clone())
            }
            Some(Resumption { directory, run_id, .. }) => (directory.clone(), run_id.clone()),
            None if wanted.attempt > 1 => (open_directory(parent, run_id)?, run_id.to_owned()),
            None => create_directory(parent, run_id)?,
        };
        let is_resumed = resumed.is_some();
        let session = match wanted.resumes {
            Some(_) if wanted.is_early => Some(directory.join(layout::SESSION_COPY)),
            Some(resumption) => Some(resumption.session.clone()),
            None => wanted.session.then(|| directory.join(layout::session(wanted.attempt))),
        };
        let temporaries = wanted.private_dirs.and_then(|wanted| wanted.temporaries);
        let temporary = PrivateDirs::temporary_of(&directory, temporaries);
        let lock = resumed.map_or_else(|| lock_directory(&directory), Ok);
        let noted = lock
            .and_then(|lock| Ok((lock, Note::write(wanted.agent_dir, &directory, temporary.as_deref())?)));
        let (lock, note) = noted.inspect_err(|_| {
            // Only removes a directory that is still empty.
            let _ = fs::remove_dir(&directory);
        })?;
        let mut files = Self {
            prompt: directory.join(layout::PROMPT),
            guard: directory.join(layout::GUARD),
            child_directory: directory.clone(),
            directory,
            session,
            copy: None,
            private_dirs: None,
            run_id,
            is_used: is_resumed,
            is_resumed,
            note,
            lock: Some(lock),
            clean_up: None,
            is_removed: false,
        };
        match files.write_all(wanted) {
            Ok(()) => Ok(files),
            Err(error) => {
                // Do not leave the half-made directory of a run that never starts. Keep a directory that may contain
                // the session of an earlier attempt or of the run to continue.
                if wanted.attempt == 1 && !is_resumed {
                    let _ = fs::remove_dir_all(&files.directory);
                }
                Err(error)
            }
        }
    }

    fn write_all(&mut self, wanted: RunFilesSpec<'_>) -> Result<(), FileError> {
        write_private(&self.prompt, wanted.prompt.as_bytes())?;
        write_private(&self.guard, GUARD.as_bytes())?;
        if self.is_resumed {
            PrivateDirs::clear(&self.directory).map_err(FileError::at(&self.directory))?;
        }
        let agent = self.note.as_ref().map(Note::agent);
        self.private_dirs = wanted
            .private_dirs
            .map(|private_dirs| PrivateDirs::create(&self.directory, agent, private_dirs))
            .transpose()?;
        let Some(session) = self.session.as_ref().filter(|_| !self.is_resumed) else { return Ok(()) };
        if let Some(resumption) = wanted.resumes {
            self.copy = Some(SessionCopy::create(resumption, wanted.cwd, session)?);
            return Ok(());
        }
        let timestamp =
            OffsetDateTime::now_utc().format(&Rfc3339).expect("the current time has an RFC 3339 form");
        let header = serde_json::json!({
            "type": "session",
            "version": SESSION_VERSION,
            "id": Uuid::new_v4().to_string(),
            "timestamp": timestamp,
            "cwd": wanted.cwd.to_string_lossy(),
        });
        write_private(session, format!("{header}\n").as_bytes())
    }

    /// Returns the child's session file, if it keeps one.
    #[must_use]
    pub(crate) fn session(&self) -> Option<&Path> {
        self.session.as_deref()
    }

    /// Returns the run whose session the child has a copy of.
    pub(crate) fn copied_from(&self) -> Option<&Resumption> {
        self.copy.as_ref().map(SessionCopy::origin)
    }

    /// Makes the child's copy of a session the session of the run that it continues now. Does nothing for a child without a copy.
    /// Blocks.
    ///
    /// # Errors
    ///
    /// Fails if another process continues the run, or if the session has changed since it was copied. Then the run stays as it is.
    pub(crate) fn adopt_session(&mut self, cwd: &Path) -> Result<(), FileError> {
        let Some(copy) = &mut self.copy else { return Ok(()) };
        copy.adopt(cwd)?;
        let Resumption { directory, session, .. } = copy.origin();
        self.directory.clone_from(directory);
        self.session = Some(session.clone());
        (self.is_used, self.is_resumed) = (true, true);
        Ok(())
    }

    /// Returns all paths that a sandboxed child may write.
    #[must_use]
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        self.own_places().chain(self.session()).map(Path::to_path_buf).collect()
    }

    /// Returns the paths to remove if this process dies before the child.
    #[must_use]
    pub(crate) fn scratch(&self) -> Vec<PathBuf> {
        let note = self.note.as_ref().map(Note::path);
        let lock = self.lock.as_ref().map(SessionLock::path);
        let files = [&*self.prompt, &*self.guard].into_iter().chain(note).chain(lock);
        let shells = self.private_dirs.iter().flat_map(|_| PrivateDirs::shells(&self.child_directory));
        let copies = self.copy.iter().flat_map(SessionCopy::paths);
        self.own_places().chain(files).chain(copies).map(Path::to_path_buf).chain(shells).collect()
    }

    /// Returns the session, which is also removed unless it is kept.
    #[must_use]
    pub(crate) fn unless_kept(&self) -> Vec<PathBuf> {
        self.session.iter().filter(|_| !self.is_used && self.copy.is_none()).cloned().collect()
    }

    fn own_places(&self) -> impl Iterator<Item = &Path> {
        self.private_dirs
            .iter()
            .flat_map(|private_dirs| private_dirs.temporary().into_iter().chain([private_dirs.agent()]))
    }

    /// Keeps the session from now on, because it contains messages.
    pub(crate) fn keep_session(&mut self) {
        self.is_used = true;
    }

    /// Removes the same files as a drop, and waits until the child's warden has exited.
    pub(crate) async fn remove(self) {
        let warden_exit = self.clean_up.as_ref().map(CleanUp::warden_exited);
        drop(off_thread(move || drop(self)).await);
        if let Some(warden_exit) = warden_exit {
            warden_exit.await;
        }
    }

    /// Removes the same files as [`Self::remove`], so that the next attempt can create its own. Keeps the paths and the
    /// directory for a result that is written later.
    pub(crate) async fn make_room(mut self) -> Self {
        let warden_exit = self.clean_up.as_ref().map(CleanUp::warden_exited);
        let files = blocking(move || {
            self.remove_once();
            self
        })
        .await;
        if let Some(warden_exit) = warden_exit {
            warden_exit.await;
        }
        files
    }

    fn remove_once(&mut self) {
        if std::mem::replace(&mut self.is_removed, true) {
            return;
        }
        if self.clear() {
            if let Some(note) = self.note.take() {
                note.remove();
            }
        } else if !self.clean_up.take().is_some_and(CleanUp::delegate) {
            leftovers::sweep_again();
        }
        // The warden exits once nothing is left for it to remove.
        drop((self.lock.take(), self.copy.take(), self.clean_up.take()));
    }

    /// Removes all files except the ones to keep. Returns true if nothing else remains.
    fn clear(&mut self) -> bool {
        let session = self.session.as_ref().filter(|_| !self.is_used);
        let files = [&*self.prompt, &*self.guard].into_iter().chain(session.map(PathBuf::as_path));
        let mut is_clear = true;
        for file in files.chain(self.copy.iter().flat_map(SessionCopy::paths)) {
            is_clear &=
                fs::remove_file(file).map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |()| true);
        }
        if let Some(private_dirs) = self.private_dirs.take() {
            // Also removes private directories in the run's directory, including those of its shells.
            is_clear &= private_dirs.remove() & PrivateDirs::clear(&self.child_directory).is_ok();
        }
        is_clear
    }

    /// Returns an unused path for a long text or result. If the run was continued, earlier paths are not reused,
    /// because they have been reported.
    fn unused_path(&self, name: impl Fn(u32) -> String) -> PathBuf {
        let mut paths = (1..=MAX_OUTPUTS).map(|number| self.directory.join(name(number)));
        let is_free = |path: &PathBuf| !self.is_resumed || fs::symlink_metadata(path).is_err();
        paths.find(is_free).unwrap_or_else(|| self.directory.join(name(MAX_OUTPUTS)))
    }

    /// Writes a text that was too long to return, and returns its path.
    ///
    /// # Errors
    ///
    /// Fails if the text cannot be written, for instance on a full disk.
    pub(crate) fn save_output(&self, text: &str) -> Result<PathBuf, FileError> {
        save(self.unused_path(layout::output), text)
    }

    /// Writes a submitted result that was too long to return, and returns its path.
    ///
    /// # Errors
    ///
    /// Fails if the result cannot be written, for instance on a full disk.
    pub(crate) fn save_submitted(&self, json: &str) -> Result<PathBuf, FileError> {
        save(self.unused_path(layout::submitted), json)
    }
}

fn save(path: PathBuf, text: &str) -> Result<PathBuf, FileError> {
    if let Some(directory) = path.parent() {
        // It is gone if a child of the next attempt was discarded.
        private::create_dir_all(directory).map_err(FileError::at(directory))?;
    }
    match write_private(&path, text.as_bytes()) {
        Ok(()) => Ok(path),
        Err(error) => {
            // A truncated text would look complete.
            let _ = fs::remove_file(&path);
            Err(error)
        }
    }
}

impl Drop for RunFiles {
    fn drop(&mut self) {
        self.remove_once();
        // Fails on purpose if the directory still contains files.
        let _ = fs::remove_dir(&self.child_directory);
    }
}

/// Opens the directory of a run that had an earlier attempt. Creates it again if an attempt without a session has
/// removed it.
fn open_directory(parent: &Path, run_id: &str) -> Result<PathBuf, FileError> {
    let path = parent.join(run_id);
    match private::create_dir(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(FileError::at(&path)(error)),
        _ => Ok(path),
    }
}

/// Creates the run's directory exclusively, so that two runs never share one.
fn create_directory(parent: &Path, run_id: &str) -> Result<(PathBuf, String), FileError> {
    private::create_dir_all(parent).map_err(FileError::at(parent))?;
    let mut id = run_id.to_owned();
    for _ in 0..ID_ATTEMPTS {
        let directory = parent.join(&id);
        match private::create_dir(&directory) {
            Ok(()) => return Ok((directory, id)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id = RunId::random().into(),
            Err(error) => return Err(FileError::at(&directory)(error)),
        }
    }
    Err(FileError::at(&parent.join(&id))(io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests;
