//! The run's own directory and the files in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::private_dirs::PrivateDirs;
use super::private_files::{FilesError, PrivateDirsSpec, write_private};
use super::resume::{SessionLock, take};
use crate::files::{layout, private};
use crate::run::spec::{Resumption, RunId};

/// How often a taken run id is drawn again. With 32 random bits and thousands of runs, once is already rare.
const ID_ATTEMPTS: usize = 16;
/// The version of pi's session format that the header states.
const SESSION_VERSION: u32 = 3;

/// How many long texts of one run are kept; beyond that the newest replaces the last.
const MAX_OUTPUTS: u32 = 64;

/// The extension that holds a child to its tools. It travels inside the addon, so that every caller's children have it.
const GUARD: &str = include_str!("../../../extension/child-guard.cjs");

/// The directory of one run, private to the user.
///
/// The prompt, the guard and what a sandboxed child may write live as long as this value; the full output stays, and so does
/// the session file once it is to be kept. A sandboxed child may not write the directory itself, so that nothing in it is of a child's making.
#[derive(Debug)]
pub(crate) struct RunFiles {
    directory: PathBuf,
    prompt: PathBuf,
    guard: PathBuf,
    session: Option<PathBuf>,
    private_dirs: Option<PrivateDirs>,
    run_id: String,
    /// Whether the session tells of anything.
    is_used: bool,
    /// The directory is that of a run that is continued.
    taken: Option<SessionLock>,
}

/// What a run's directory is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The directory that the child works in.
    pub cwd: &'a Path,
    /// The agent's system prompt.
    pub prompt: &'a str,
    /// Whether the child keeps a session.
    pub session: bool,
    /// What the child has for itself, when it needs that.
    pub private_dirs: Option<PrivateDirsSpec<'a>>,
    /// The attempt of the run, from 1. Later ones share the directory and have a session of their own.
    pub attempt: u32,
    /// The run that is continued, with its directory and its session.
    pub resumes: Option<&'a Resumption>,
}

impl RunFiles {
    /// Makes the run's directory and what is wanted in it; a session file has its header. Blocks.
    ///
    /// The header is written here and not left to the child: pi creates the file only with its first answer, and a
    /// caller must find one after a failure too.
    ///
    /// # Errors
    ///
    /// When one of them cannot be written; nothing of this run is left then.
    pub(crate) fn create(parent: &Path, run_id: &str, wanted: Wanted<'_>) -> Result<Self, FilesError> {
        let taken = wanted.resumes.map(|resumption| take(resumption, wanted.cwd)).transpose()?;
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
            is_used: taken.is_some(),
            taken,
        };
        match files.write_all(wanted) {
            Ok(()) => Ok(files),
            Err(error) => {
                // A half-made directory of a run that never starts would be litter; what it holds is ours, and may be the
                // session of an attempt before, or of the run that is continued.
                if wanted.attempt == 1 && wanted.resumes.is_none() {
                    let _ = fs::remove_dir_all(&files.directory);
                }
                Err(error)
            }
        }
    }

    fn write_all(&mut self, wanted: Wanted<'_>) -> Result<(), FilesError> {
        write_private(&self.prompt, wanted.prompt.as_bytes())?;
        write_private(&self.guard, GUARD.as_bytes())?;
        if self.taken.is_some() {
            PrivateDirs::clear(&self.directory);
        }
        self.private_dirs = wanted
            .private_dirs
            .map(|private_dirs| PrivateDirs::create(&self.directory, private_dirs))
            .transpose()?;
        let Some(session) = self.session.as_ref().filter(|_| self.taken.is_none()) else { return Ok(()) };
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

    /// The run's id: the one asked for, or another when that was taken.
    #[must_use]
    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The run's own directory.
    #[must_use]
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file with the agent's system prompt.
    #[must_use]
    pub(crate) fn prompt(&self) -> &Path {
        &self.prompt
    }

    /// The extension that holds the child to its tools.
    #[must_use]
    pub(crate) fn guard(&self) -> &Path {
        &self.guard
    }

    /// The child's session file, unless sessions are not kept.
    #[must_use]
    pub(crate) fn session(&self) -> Option<&Path> {
        self.session.as_deref()
    }

    /// What a sandboxed child may write beside its session.
    #[must_use]
    pub(in crate::run) fn private_dirs(&self) -> Option<&PrivateDirs> {
        self.private_dirs.as_ref()
    }

    /// Everything that a sandboxed child may write.
    #[must_use]
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        self.own_places().chain(self.session()).map(Path::to_path_buf).collect()
    }

    /// What has to be removed when this process dies before the child does.
    #[must_use]
    pub(crate) fn scratch(&self) -> Vec<PathBuf> {
        self.own_places().chain([self.prompt(), self.guard()]).map(Path::to_path_buf).collect()
    }

    /// What has to be removed as well as long as there is nothing to tell.
    #[must_use]
    pub(crate) fn unless_kept(&self) -> Vec<PathBuf> {
        self.session.iter().filter(|_| !self.is_used).cloned().collect()
    }

    fn own_places(&self) -> impl Iterator<Item = &Path> {
        self.private_dirs
            .iter()
            .flat_map(|private_dirs| private_dirs.temporary().into_iter().chain([private_dirs.agent()]))
    }

    /// Keeps the session from now on: there is something to tell.
    pub(crate) fn keep_session(&mut self) {
        self.is_used = true;
    }

    /// Where a text can be kept: those that the run has kept before it was continued stay where somebody was told they are.
    fn free_output(&self) -> PathBuf {
        let mut paths = (1..=MAX_OUTPUTS).map(|number| self.directory.join(layout::output(number)));
        let is_free = |path: &PathBuf| self.taken.is_none() || fs::symlink_metadata(path).is_err();
        paths.find(is_free).unwrap_or_else(|| self.directory.join(layout::output(MAX_OUTPUTS)))
    }

    /// Keeps a text that was too long to return, and says where.
    ///
    /// # Errors
    ///
    /// When it cannot be written, for instance on a full disk.
    pub(crate) fn keep_output(&self, text: &str) -> Result<PathBuf, FilesError> {
        let path = self.free_output();
        match write_private(&path, text.as_bytes()) {
            Ok(()) => Ok(path),
            Err(error) => {
                // Half a text would pass for the whole one.
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
        // Goes only when nothing is kept in it; a directory that is not empty stays.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// The directory of a run that had an attempt before; without a session that one has left none.
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
        let wanted = Wanted {
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
        assert_eq!(first.run_id(), "0badcafe");
        assert_ne!(second.run_id(), "0badcafe");
    }

    #[test]
    fn only_the_session_outlives_the_run() {
        let parent = tempfile::tempdir().expect("a temporary directory");
        drop(create(parent.path(), "00000000", true).expect("a run that has no task"));
        assert_eq!(fs::read_dir(parent.path()).expect("readable").count(), 0);
        let mut files = create(parent.path(), "00000001", true).expect("a run");
        files.keep_session();
        let (prompt, session) = (files.prompt().to_path_buf(), files.session().expect("kept").to_path_buf());
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
        let directory = first.directory().to_path_buf();
        drop(first);
        let before = fs::read_to_string(&session).expect("readable");
        let resumption = Resumption { run_id: "0badcafe".into(), directory: directory.clone(), session };
        let wanted = |prompt| Wanted {
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
            assert_eq!((again.run_id(), again.session()), ("0badcafe", Some(&*resumption.session)));
            assert_eq!(again.writable(), std::slice::from_ref(&resumption.session));
            assert_eq!(fs::read_to_string(again.prompt()).expect("readable"), prompt);
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
    fn what_a_run_writes_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().expect("a temporary directory");
        let files = create(&parent.path().join("new"), "00000001", true).expect("a run");
        let mode = |path: &Path| fs::metadata(path).expect("exists").permissions().mode() & 0o777;
        let output = files.keep_output("text").expect("written");
        assert_eq!(mode(files.prompt()), 0o600);
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
