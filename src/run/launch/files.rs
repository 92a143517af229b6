//! The run's own directory and the files in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::private_dirs::PrivateDirs;
use super::private_files::{FilesError, PrivateDirsSpec, write_private};
use super::resume::{SessionLock, lock_session};
use crate::files::{layout, private};
use crate::run::spec::{Resumption, RunId};

/// How many run ids are tried. With 32 random bits and thousands of runs, even the second is rare.
const ID_ATTEMPTS: usize = 16;
/// The version of pi's session format that the header states.
const SESSION_VERSION: u32 = 3;

/// How many long texts of one run are kept. After that, each new one replaces the last.
const MAX_OUTPUTS: u32 = 64;

/// The extension that limits a child to its tools. It is part of the addon, so that the children of every caller have
/// it.
const GUARD: &str = include_str!("../../../extension/child-guard.cjs");

/// The directory of one run, private to the user.
///
/// Dropping it removes the prompt, the guard and the private directories. The full output stays, and so does the
/// session file after [`Self::keep_session`]. A sandboxed child cannot write to the directory itself, so the files in
/// it are ours.
#[derive(Debug)]
pub(in crate::run) struct RunFiles {
    /// The run's id: the requested one, or another if that was taken.
    pub run_id: String,
    /// The run's own directory.
    pub directory: PathBuf,
    /// The file with the agent's system prompt.
    pub prompt: PathBuf,
    /// The guard extension, which limits the child to its tools.
    pub guard: PathBuf,
    /// The child's private directories, if it has them.
    pub private_dirs: Option<PrivateDirs>,
    session: Option<PathBuf>,
    /// Whether to keep the session.
    is_used: bool,
    /// The lock on the directory, if the run continues another one.
    lock: Option<SessionLock>,
}

/// What to create in a run's directory.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct RunFilesSpec<'a> {
    /// The directory that the child works in.
    pub cwd: &'a Path,
    /// The agent's system prompt.
    pub prompt: &'a str,
    /// Whether the child keeps a session.
    pub session: bool,
    /// The child's private directories, if it needs them.
    pub private_dirs: Option<PrivateDirsSpec<'a>>,
    /// The attempt of the run, from 1. Later attempts share the directory and have sessions of their own.
    pub attempt: u32,
    /// The run to continue, with its directory and its session.
    pub resumes: Option<&'a Resumption>,
}

impl RunFiles {
    /// Creates the run's directory with the wanted files; a session file gets its header. Blocks.
    ///
    /// The header is written here because pi creates the file only with its first answer, and a caller must find one
    /// after a failure too.
    ///
    /// # Errors
    ///
    /// When the directory or a file cannot be written. Nothing of this run is left.
    pub(in crate::run) fn create(
        parent: &Path,
        run_id: &str,
        wanted: RunFilesSpec<'_>,
    ) -> Result<Self, FilesError> {
        let lock = wanted.resumes.map(|resumption| lock_session(resumption, wanted.cwd)).transpose()?;
        let (directory, run_id) = match wanted.resumes {
            Some(Resumption { directory, run_id, .. }) => (directory.clone(), run_id.clone()),
            None if wanted.attempt > 1 => (open_directory(parent, run_id)?, run_id.to_owned()),
            None => create_directory(parent, run_id)?,
        };
        let session = match wanted.resumes {
            Some(resumption) => Some(resumption.session.clone()),
            None => wanted.session.then(|| directory.join(layout::session(wanted.attempt))),
        };
        let mut files = Self {
            prompt: directory.join(layout::PROMPT),
            guard: directory.join(layout::GUARD),
            directory,
            session,
            private_dirs: None,
            run_id,
            is_used: lock.is_some(),
            lock,
        };
        match files.write_all(wanted) {
            Ok(()) => Ok(files),
            Err(error) => {
                // Do not leave the half-made directory of a run that never starts. Keep one that may hold the session
                // of an earlier attempt or of the run to continue.
                if wanted.attempt == 1 && wanted.resumes.is_none() {
                    let _ = fs::remove_dir_all(&files.directory);
                }
                Err(error)
            }
        }
    }

    fn write_all(&mut self, wanted: RunFilesSpec<'_>) -> Result<(), FilesError> {
        write_private(&self.prompt, wanted.prompt.as_bytes())?;
        write_private(&self.guard, GUARD.as_bytes())?;
        if self.lock.is_some() {
            PrivateDirs::clear(&self.directory);
        }
        self.private_dirs = wanted
            .private_dirs
            .map(|private_dirs| PrivateDirs::create(&self.directory, private_dirs))
            .transpose()?;
        let Some(session) = self.session.as_ref().filter(|_| self.lock.is_none()) else { return Ok(()) };
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

    /// The child's session file, if it keeps one.
    #[must_use]
    pub(in crate::run) fn session(&self) -> Option<&Path> {
        self.session.as_deref()
    }

    /// Everything that a sandboxed child may write.
    #[must_use]
    pub(in crate::run) fn writable(&self) -> Vec<PathBuf> {
        self.own_places().chain(self.session()).map(Path::to_path_buf).collect()
    }

    /// The paths to remove if this process dies before the child.
    #[must_use]
    pub(in crate::run) fn scratch(&self) -> Vec<PathBuf> {
        self.own_places().chain([&*self.prompt, &*self.guard]).map(Path::to_path_buf).collect()
    }

    /// The session, to be removed as well unless it is kept.
    #[must_use]
    pub(in crate::run) fn unless_kept(&self) -> Vec<PathBuf> {
        self.session.iter().filter(|_| !self.is_used).cloned().collect()
    }

    fn own_places(&self) -> impl Iterator<Item = &Path> {
        self.private_dirs
            .iter()
            .flat_map(|private_dirs| private_dirs.temporary().into_iter().chain([private_dirs.agent()]))
    }

    /// Keeps the session from now on, because something has happened in it.
    pub(in crate::run) fn keep_session(&mut self) {
        self.is_used = true;
    }

    /// A path for a long text. Never that of a text from before the run was continued, because its path has been
    /// reported.
    fn free_output(&self) -> PathBuf {
        let mut paths = (1..=MAX_OUTPUTS).map(|number| self.directory.join(layout::output(number)));
        let is_free = |path: &PathBuf| self.lock.is_none() || fs::symlink_metadata(path).is_err();
        paths.find(is_free).unwrap_or_else(|| self.directory.join(layout::output(MAX_OUTPUTS)))
    }

    /// Writes a text that was too long to return, and returns its path.
    ///
    /// # Errors
    ///
    /// When it cannot be written, for instance on a full disk.
    pub(in crate::run) fn keep_output(&self, text: &str) -> Result<PathBuf, FilesError> {
        let path = self.free_output();
        match write_private(&path, text.as_bytes()) {
            Ok(()) => Ok(path),
            Err(error) => {
                // Half a text would look like the whole one.
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }
}

impl Drop for RunFiles {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.prompt);
        let _ = fs::remove_file(&self.guard);
        if let Some(session) = self.session.as_ref().filter(|_| !self.is_used) {
            let _ = fs::remove_file(session);
        }
        self.private_dirs = None;
        // Fails on purpose if something is kept in it: a directory that is not empty stays.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Opens the directory of a run that had an earlier attempt. Creates it again if that attempt, without a session, has
/// left none.
fn open_directory(parent: &Path, run_id: &str) -> Result<PathBuf, FilesError> {
    let path = parent.join(run_id);
    match private::create_dir(&path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => Err(FilesError { path, source }),
        _ => Ok(path),
    }
}

/// Creates the run's directory exclusively, so that two runs never share one.
fn create_directory(parent: &Path, run_id: &str) -> Result<(PathBuf, String), FilesError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| FilesError { path, source }
    };
    private::create_dir_all(parent).map_err(failed(parent))?;
    let mut id = run_id.to_owned();
    for _ in 0..ID_ATTEMPTS {
        let directory = parent.join(&id);
        match private::create_dir(&directory) {
            Ok(()) => return Ok((directory, id)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id = RunId::random(),
            Err(error) => return Err(failed(&directory)(error)),
        }
    }
    Err(failed(&parent.join(&id))(io::ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(parent: &Path, id: &str, persist: bool) -> Result<RunFiles, FilesError> {
        let wanted = RunFilesSpec {
            cwd: Path::new("/project"),
            prompt: "You explore.",
            session: persist,
            private_dirs: None,
            attempt: 1,
            resumes: None,
        };
        RunFiles::create(parent, id, wanted)
    }

    #[test]
    fn a_taken_run_id_is_drawn_again() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let first = create(parent.path(), "0badcafe", true).expect("the first run");
        let second = create(parent.path(), "0badcafe", true).expect("the second run");
        assert_eq!(first.run_id, "0badcafe");
        assert_ne!(second.run_id, "0badcafe");
    }

    #[test]
    fn only_the_session_outlives_the_run() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        drop(create(parent.path(), "00000000", true).expect("a run that has no task"));
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);
        let mut files = create(parent.path(), "00000001", true).expect("a run");
        files.keep_session();
        let (prompt, session) = (files.prompt.clone(), files.session().expect("kept").to_path_buf());
        assert!(prompt.is_file());
        drop(files);
        assert!(!prompt.exists());
        let header: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(session).expect("the session")).expect("one JSON line");
        assert_eq!((&header["type"], &header["cwd"]), (&"session".into(), &"/project".into()));
    }

    #[test]
    fn a_run_without_a_session_leaves_nothing() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        drop(create(parent.path(), "00000001", false).expect("a run"));
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);
    }

    #[test]
    fn a_run_that_is_continued_keeps_its_session_and_its_texts() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let mut first = create(parent.path(), "0badcafe", true).expect("a run");
        first.keep_session();
        let session = first.session().expect("kept").to_path_buf();
        let text = first.keep_output("first").expect("written");
        let directory = first.directory.clone();
        drop(first);
        let before = fs::read_to_string(&session).expect("readable");
        let resumption = Resumption { run_id: "0badcafe".into(), directory: directory.clone(), session };
        let wanted = |prompt| RunFilesSpec {
            cwd: Path::new("/project"),
            prompt,
            session: false,
            private_dirs: None,
            attempt: 1,
            resumes: Some(&resumption),
        };
        let elsewhere = parent.path().join("elsewhere");
        for prompt in ["You explore.", "You explore again."] {
            let again = RunFiles::create(&elsewhere, "ffffffff", wanted(prompt)).expect("continued");
            assert_eq!((&*again.run_id, again.session()), ("0badcafe", Some(&*resumption.session)));
            assert_eq!(again.writable(), std::slice::from_ref(&resumption.session));
            assert_eq!(fs::read_to_string(&again.prompt).expect("readable"), prompt);
            assert_ne!(again.keep_output("again").expect("written"), text);
        }
        assert!(!elsewhere.exists(), "nothing is made anew");
        assert_eq!(fs::read_to_string(&resumption.session).expect("readable"), before);
        assert_eq!(fs::read_to_string(text).expect("readable"), "first");
        fs::create_dir(directory.join(layout::PROMPT)).expect("in the way");
        RunFiles::create(&elsewhere, "ffffffff", wanted("")).expect_err("no place for the prompt");
        assert!(resumption.session.exists(), "what failed has removed nothing");
    }

    #[cfg(unix)]
    #[test]
    fn the_files_of_a_run_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().expect("a temporary directory");
        let files = create(&parent.path().join("new"), "00000001", true).expect("a run");
        let mode = |path: &Path| fs::metadata(path).expect("exists").permissions().mode() & 0o777;
        let output = files.keep_output("text").expect("written");
        assert_eq!(mode(&files.prompt), 0o600);
        assert_eq!(mode(files.session().expect("kept")), 0o600);
        assert_eq!(mode(&output), 0o600);
        assert_eq!(mode(&parent.path().join("new")), 0o700);
        assert_eq!(mode(&parent.path().join("new/00000001")), 0o700);
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        let file = parent.path().join("file");
        fs::write(&file, "").expect("written");
        let error = create(&file.join("runs"), "00000001", true).expect_err("a file is no directory");
        assert!(error.path.starts_with(&file), "{error}");
    }
}
