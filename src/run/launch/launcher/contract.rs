//! What starts children in one place has to say and do.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::fate::Elsewhere;
use super::heard::Heard;
use crate::process::ChildCommand;
use crate::run::admit::pi::{PiError, PiProgram};
use crate::run::context::HostContext;
use crate::run::launch::files::RunFiles;
use crate::workspace::TreeThere;

/// What a launcher is told of one child.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Job<'a> {
    pub run_id: &'a str,
    pub agent: &'a str,
    /// The directory of the run, on this machine.
    pub cwd: &'a Path,
}

/// What a child reads when it starts.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct Payload<'a> {
    pub prompt: &'a str,
    pub guard: &'a str,
    /// The whole standard input of a child that takes no commands.
    pub task: Option<&'a str>,
    /// The private tree that it works in elsewhere.
    pub tree: Option<&'a WorkThere>,
    /// The pack that this is made of.
    pub pack: &'a [u8],
}

/// Where a child elsewhere works that has a private tree.
#[derive(Debug)]
pub(in crate::run) struct WorkThere {
    pub tree: TreeThere,
    /// The directory in it that corresponds to the run's own.
    pub inner: String,
}

/// How the child names what is written for it.
#[derive(Clone, Debug)]
pub(in crate::run) struct Materials {
    pub prompt: PathBuf,
    pub guard: PathBuf,
    pub session: Option<PathBuf>,
}

/// What starts a child.
#[derive(Debug)]
pub(in crate::run) struct Launch {
    pub command: ChildCommand,
    /// What comes before the child's own input. The input then stays open, because its end is the end of the child.
    pub preamble: Option<Vec<u8>>,
    /// What is in its output beside what the child prints.
    pub heard: Option<Box<Heard>>,
}

/// Starts children in one place.
pub(in crate::run) trait Launcher: Debug + Send + Sync {
    /// Its name, if its children do not work with the files of this machine.
    fn elsewhere(&self) -> Option<&str> {
        None
    }

    /// How many of its children may exist at once, if they do not count towards those of this machine.
    fn max_concurrent(&self) -> Option<usize> {
        None
    }

    /// Whether a session file of its children lies on this machine in the end.
    fn keeps_session(&self) -> bool {
        true
    }

    /// What the child itself has printed, of all that came before and beside its events.
    fn own_words(&self, printed: String) -> String {
        printed
    }

    /// The line that comes before the first event, if there is one.
    fn first_line(&self) -> Option<&'static str> {
        None
    }

    /// How far its child came, by what was printed beside its events and whether there were any.
    fn fate(&self, _printed: &str, _has_spoken: bool) -> Option<Elsewhere> {
        None
    }

    /// The pi that runs there. Blocks.
    ///
    /// # Errors
    ///
    /// When it can be looked for and is not there.
    fn locate(
        &self,
        configured: Option<&[String]>,
        cwd: &Path,
        context: &HostContext,
    ) -> Result<PiProgram, PiError>;

    /// How the child names its prompt, its guard and its session.
    fn materialize(&self, files: &RunFiles) -> Materials;

    /// What starts the child whose command on this machine would be `plain`.
    fn command(&self, plain: ChildCommand, job: Job<'_>, payload: Payload<'_>) -> Launch;

    /// What ends a child that this machine can no longer reach.
    fn cancel(&self, _job: Job<'_>, _context: &HostContext) -> Option<ChildCommand> {
        None
    }

    /// What writes a child's session to its standard output.
    fn fetch(&self, _job: Job<'_>, _context: &HostContext) -> Option<ChildCommand> {
        None
    }
}
