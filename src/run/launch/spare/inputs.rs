//! The inputs of a child that waits for a later run: the part of a call that decides which child can serve it, and the files that a child
//! reads as it boots. The child is out of date once any of these files has changed.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use agents::project_directories;
use files::layout::is_unread;
use files::{canonical, open};
use sha2::{Digest, Sha256};
use supervisor::{ChildCommand, resolve_program};

use crate::run::admit::prepare::AdmittedRun;
use crate::run::context::{HostContext, SessionKey};
use crate::run::pi::package_files;
use crate::run::spec::{RunId, RunOverrides, RunSpec, SharedRunId, Timeout};

/// The part of a call that decides which child can serve it. If two requests are equal, the later call may still need
/// another child, because the configuration, the agent or another file has changed in the meantime. Then the spare
/// child is useless.
#[derive(Clone, Debug, PartialEq)]
pub struct SpareRequest {
    agent_dir: PathBuf,
    agent: String,
    cwd: PathBuf,
    overrides: RunOverrides,
    announces: bool,
}

impl SpareRequest {
    /// Returns true if both count towards the same limit.
    #[must_use]
    pub fn is_of_same_host(&self, other: &Self) -> bool {
        self.agent_dir == other.agent_dir
    }
}

impl AdmittedRun {
    /// Returns the request with which this run could get a child that was booted before. `None` if the run cannot use
    /// one: it continues another one, or it runs on another machine.
    #[must_use]
    pub fn spare_request(&self) -> Option<SpareRequest> {
        let spec = &self.spec;
        let resolved = &self.resolved;
        let may_have_one = spec.overrides.resumes.is_none() && resolved.launcher.remote_name().is_none();
        may_have_one.then(|| SpareRequest {
            agent_dir: spec.context.agent_dir.clone(),
            agent: resolved.agent.name.clone(),
            cwd: spec.cwd.clone(),
            // Time limits start with the task, so they do not depend on the child.
            overrides: RunOverrides { timeout: Timeout::default(), ..spec.overrides.clone() },
            announces: resolved.announces,
        })
    }

    /// Returns true if a spare child may follow the run: they are on, and a call waits for the run.
    #[must_use]
    pub fn may_leave_spare(&self) -> bool {
        self.resolved.config.spare.count > 0 && !self.resolved.announces
    }

    /// Returns a run with the same plan and no task, for a child that boots before its run. `None` if this run cannot
    /// use one.
    #[must_use]
    pub fn without_task(&self) -> Option<Self> {
        self.spare_request()?;
        let mut next = self.clone();
        next.builder.run_id = SharedRunId::new(RunId::random());
        next.builder.diagnostics.clear();
        next.builder.skipped_options.clear();
        next.set_task(RunSpec::NO_TASK.to_owned());
        Some(next)
    }
}

/// The instruction files that pi searches for in the working directory and its parents.
const CONTEXT_FILES: [&str; 5] = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];
/// Other files in these directories that pi or its extensions read.
const PROJECT_FILES: [&str; 1] = [".mcp.json"];
/// The directories with a project's files for pi, and with skills for any agent.
const PROJECT: &str = ".pi";
const SKILLS: &str = ".agents/skills";
/// The directories of the user's agent directory that contain code and skills.
const TREES: [&str; 2] = ["extensions", "skills"];
/// The files that list the installed packages.
const INSTALLED: [&str; 3] =
    ["npm/package.json", "npm/package-lock.json", "npm/node_modules/.package-lock.json"];
/// The entries of the agent directory that children may read but that do not outdate them. A child knows an agent only
/// by its prompt, uses no key bindings without a terminal, and pi writes the lists of models itself.
const IGNORED: [&str; 3] = ["agents", "keybindings.json", "models-store.json"];
/// Directories that are not edited by hand and may contain any number of files.
const NOT_ENTERED: [&str; 2] = ["node_modules", ".git"];

/// The maximum size of a file whose content is compared, in bytes. Larger files are compared by size and times.
const MAX_CONTENT: u64 = 1024 * 1024;
/// The maximum number of files and directories in all trees together. With more, it is unknown whether a child is up
/// to date, so none waits.
const MAX_ENTRIES: usize = 4_000;
const MAX_DEPTH: usize = 12;

/// A digest of all files that a child reads. Equal digests mean that nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BootInputs([u8; 32]);

/// The files that have been examined so far.
pub(crate) struct Seen {
    digest: Sha256,
    /// The number of entries that may still be examined.
    remaining: usize,
}

impl Seen {
    /// Examines the files that a child in this directory reads, independent of its command. `None` if there are too
    /// many. Blocks.
    pub(crate) fn of(cwd: &Path, context: &HostContext, credentials: Option<&Path>) -> Option<Self> {
        let mut seen = Self { digest: Sha256::new(), remaining: MAX_ENTRIES };
        seen.agent_dir(&context.agent_dir)?;
        if let Some(credentials) = credentials {
            seen.content(credentials);
        }
        for SessionKey { provider, key } in &context.host.session_keys {
            for text in [provider, key] {
                seen.digest.update(text.len().to_le_bytes());
                seen.digest.update(text);
            }
        }
        let real = canonical(cwd);
        let mut above: Vec<&Path> = cwd.ancestors().chain(real.ancestors()).collect();
        above.sort_unstable();
        above.dedup();
        for directory in above {
            for name in CONTEXT_FILES {
                seen.content(&directory.join(name));
            }
        }
        for name in PROJECT_FILES {
            seen.content(&cwd.join(name));
        }
        seen.tree(&cwd.join(PROJECT), MAX_DEPTH)?;
        let mut with_skills = project_directories(cwd, context.home.as_deref());
        with_skills.extend(context.home.clone());
        for directory in with_skills {
            seen.tree(&directory.join(SKILLS), MAX_DEPTH)?;
        }
        Some(seen)
    }

    /// Adds the files that this command names, except those in the run's own directory. Blocks.
    pub(crate) fn with_command(mut self, command: &ChildCommand, own: &Path) -> Option<BootInputs> {
        let program = resolve_program(command.program.as_os_str(), &command.env, &command.untrusted);
        let named = command
            .args
            .iter()
            .map(PathBuf::from)
            .filter(|path| path.is_absolute() && !path.starts_with(own));
        let files: Vec<PathBuf> = program.into_iter().chain(named).collect();
        for file in &files {
            self.times(file);
            if file.is_dir() {
                self.tree(file, MAX_DEPTH)?;
            }
        }
        // An update of pi changes these files, even if its script stays the same.
        for file in &files {
            package_files(file).for_each(|package| self.times(&package));
        }
        if let Some(guardian) = &command.guardian {
            self.times(&guardian.program);
        }
        Some(BootInputs(self.digest.finalize().into()))
    }

    fn path(&mut self, path: &Path) {
        self.digest.update(path.as_os_str().as_encoded_bytes());
        self.digest.update([0]);
    }

    fn agent_dir(&mut self, directory: &Path) -> Option<()> {
        for name in entries(directory, self.remaining)? {
            let is_ignored = name.to_str().is_some_and(|name| IGNORED.contains(&name) || is_unread(name));
            if !is_ignored {
                self.content(&directory.join(name));
            }
        }
        for file in INSTALLED {
            self.times(&directory.join(file));
        }
        TREES.iter().try_for_each(|name| self.tree(&directory.join(name), MAX_DEPTH))
    }

    /// Adds a file by its content.
    fn content(&mut self, path: &Path) {
        match open::regular(path).and_then(|file| open::read(file, MAX_CONTENT)) {
            Ok(bytes) => {
                self.path(path);
                self.digest.update([1]);
                self.digest.update(Sha256::digest(&bytes));
            }
            Err(_) => self.times(path),
        }
    }

    /// Adds a file or directory by its size and times. A missing file adds nothing.
    fn times(&mut self, path: &Path) {
        let Ok(found) = fs::metadata(path) else { return };
        self.path(path);
        self.digest.update([2]);
        for number in figures(&found) {
            self.digest.update(number.to_le_bytes());
        }
    }

    /// Adds all files of a directory. `None` if there are too many.
    fn tree(&mut self, directory: &Path, depth: usize) -> Option<()> {
        for name in entries(directory, self.remaining)? {
            self.remaining = self.remaining.checked_sub(1)?;
            let path = directory.join(&name);
            self.times(&path);
            if path.is_dir() && !NOT_ENTERED.iter().any(|known| name == **known) {
                self.tree(&path, depth.checked_sub(1)?)?;
            }
        }
        Some(())
    }
}

/// Returns the sorted names in a directory, or no names if it cannot be read. `None` if there are more than `max`.
fn entries(directory: &Path, max: usize) -> Option<Vec<OsString>> {
    let Ok(found) = fs::read_dir(directory) else { return Some(Vec::new()) };
    let mut names: Vec<OsString> = found.take(max + 1).flatten().map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    (names.len() <= max).then_some(names)
}

/// Returns the figures that distinguish two states of a file or directory: its size, its times and its identity. The
/// times of a directory change with the names in it, not with the contents of its files.
fn figures(found: &Metadata) -> Vec<u128> {
    let since = |time: std::io::Result<std::time::SystemTime>| {
        time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos())
    };
    let figures = vec![u128::from(found.len()), since(found.modified())];
    #[cfg(unix)]
    let figures = {
        use std::os::unix::fs::MetadataExt as _;
        let changed = i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec());
        let own = [u128::from(found.dev()), u128::from(found.ino()), changed.unsigned_abs()];
        [figures, own.to_vec()].concat()
    };
    figures
}
