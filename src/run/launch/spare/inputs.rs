//! What a child reads as it boots: a child that waits is out of date once any of it has changed.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

use crate::agent::{canonical, project_directories};
use crate::files::layout::is_unread;
use crate::files::open;
use crate::process::{ChildCommand, resolve_program, search_path};
use crate::run::admit::pi::package_files;
use crate::run::context::{HostContext, SessionKey};

/// The files with instructions that pi looks for in the working directory and in those above it.
const CONTEXT_FILES: [&str; 5] = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];
/// Files beside them that pi or its extensions read.
const PROJECT_FILES: [&str; 1] = [".mcp.json"];
/// What a project brings for pi, and skills for any agent.
const PROJECT: &str = ".pi";
const SKILLS: &str = ".agents/skills";
/// Directories of the user's agent directory whose files are code and skills.
const TREES: [&str; 2] = ["extensions", "skills"];
/// Which packages are installed there.
const INSTALLED: [&str; 3] =
    ["npm/package.json", "npm/package-lock.json", "npm/node_modules/.package-lock.json"];
/// Entries of the agent directory that children may read and that outdate none: agents, which a child knows by its prompt
/// alone, keys, which only a terminal has, and lists of models, which pi writes for itself.
const IGNORED: [&str; 3] = ["agents", "keybindings.json", "models-store.json"];
/// What nobody edits by hand, and what may have any number of files.
const NOT_ENTERED: [&str; 2] = ["node_modules", ".git"];

/// Bytes of a file whose content is compared. Of a larger one, size and times are.
const MAX_CONTENT: u64 = 1024 * 1024;
/// Files and directories of all trees together. With more, a child cannot be told to be up to date, and none waits.
const MAX_ENTRIES: usize = 4_000;
const MAX_DEPTH: usize = 12;

/// A digest of all that a child reads. Equal ones say that nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run::launch) struct BootInputs([u8; 32]);

/// What was looked at so far.
pub(in crate::run::launch) struct Seen {
    digest: Sha256,
    /// How many entries of trees may follow.
    left: usize,
}

impl Seen {
    /// Looks at what a child in this directory reads, whatever its command is. `None` if that is too much. Blocks.
    pub(in crate::run::launch) fn of(
        cwd: &Path,
        context: &HostContext,
        credentials: Option<&Path>,
    ) -> Option<Self> {
        let mut seen = Self { digest: Sha256::new(), left: MAX_ENTRIES };
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

    /// Adds what this command names, but for what lies in the run's own directory. Blocks.
    pub(in crate::run::launch) fn with_command(
        mut self,
        command: &ChildCommand,
        own: &Path,
    ) -> Option<BootInputs> {
        let program = resolve_program(command.program.as_os_str(), search_path(&command.env));
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
        // An update of pi replaces these, and its script may stay as it is.
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
        for name in entries(directory, self.left)? {
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

    /// A file by what is in it.
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

    /// A file or directory by its size and times, a missing one by that.
    fn times(&mut self, path: &Path) {
        let Ok(found) = fs::metadata(path) else { return };
        self.path(path);
        self.digest.update([2]);
        for number in figures(&found) {
            self.digest.update(number.to_le_bytes());
        }
    }

    /// All files of a directory. `None` if there are too many of them.
    fn tree(&mut self, directory: &Path, depth: usize) -> Option<()> {
        for name in entries(directory, self.left)? {
            self.left = self.left.checked_sub(1)?;
            let path = directory.join(&name);
            self.times(&path);
            if path.is_dir() && !NOT_ENTERED.iter().any(|known| name == **known) {
                self.tree(&path, depth.checked_sub(1)?)?;
            }
        }
        Some(())
    }
}

/// The sorted names in a directory; none if it cannot be read. `None` if there are more than `most`.
fn entries(directory: &Path, most: usize) -> Option<Vec<OsString>> {
    let Ok(found) = fs::read_dir(directory) else { return Some(Vec::new()) };
    let mut names: Vec<OsString> = found.take(most + 1).flatten().map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    (names.len() <= most).then_some(names)
}

/// What tells two states of a file apart. Of a directory only its names count, which the kernel notes as its time.
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
