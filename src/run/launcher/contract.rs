//! The interface for starting children on one machine.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::remote_exit::RemoteEnd;
use super::remote_output::RemoteOutput;
use crate::run::context::HostContext;
use crate::run::pi::{PiError, PiProgram};
use supervisor::ChildCommand;
use worktree::RemoteTree;

/// The facts about one child that a launcher uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub run_id: &'a str,
    pub agent: &'a str,
    /// The directory of the run, on this machine.
    pub cwd: &'a Path,
    /// The directories from which no program is started by its name.
    pub untrusted: &'a [PathBuf],
}

/// The inputs that a child reads when it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payload<'a> {
    pub prompt: &'a str,
    pub guard: &'a str,
    /// The whole standard input of a child that takes no commands.
    pub task: Option<&'a str>,
    /// The private tree that a remote child works in.
    pub tree: Option<&'a RemoteWork>,
    /// The pack from which this tree is created.
    pub pack: &'a [u8],
}

/// The working directory of a remote child with a private tree.
#[derive(Debug)]
pub(crate) struct RemoteWork {
    pub tree: RemoteTree,
    /// The directory in the tree that corresponds to the run's own.
    pub inner: String,
}

/// The paths of the files that are written for a child.
#[derive(Clone, Debug)]
pub(crate) struct Materials {
    pub prompt: PathBuf,
    pub guard: PathBuf,
    pub session: Option<PathBuf>,
}

/// The command that starts a child, and its input.
#[derive(Debug)]
pub(crate) struct Launch {
    pub command: ChildCommand,
    /// The bytes that precede the child's own input. If set, the input stays open, because the child ends with it.
    pub preamble: Option<Vec<u8>>,
    /// The filter that separates the messages of the remote script from the child's output.
    pub remote_output: Option<Box<RemoteOutput>>,
}

/// A way to start children on one machine.
pub(crate) trait Launcher: Debug + Send + Sync {
    /// Returns the launcher's name, if its children do not work with the files of this machine.
    fn remote_name(&self) -> Option<&str> {
        None
    }

    /// Returns the limit of concurrent children, if they do not count towards the limit of this machine.
    fn max_concurrent(&self) -> Option<usize> {
        None
    }

    /// Returns true if the session file of a child ends up on this machine.
    fn keeps_session(&self) -> bool {
        true
    }

    /// Returns only the child's own output, without its events and the launcher's output.
    fn own_output(&self, printed: String) -> String {
        printed
    }

    /// Returns the line that precedes the first event, if there is one.
    fn first_line(&self) -> Option<&'static str> {
        None
    }

    /// Returns how far its child came, judged by its events and the remaining output.
    fn remote_end(&self, _printed: &str, _has_spoken: bool) -> Option<RemoteEnd> {
        None
    }

    /// Returns the pi that the children run, outside of the directories `untrusted`. Blocks.
    ///
    /// # Errors
    ///
    /// Fails if the launcher can search for pi and does not find it.
    fn locate(
        &self,
        configured: Option<&[String]>,
        cwd: &Path,
        untrusted: &[PathBuf],
        context: &HostContext,
    ) -> Result<PiProgram, PiError>;

    /// Returns the paths as the child sees them; `local` has the paths on this machine.
    fn materialize(&self, local: Materials) -> Materials {
        local
    }

    /// Builds the command of the child whose command on this machine would be `plain`.
    fn command(&self, plain: ChildCommand, job: Job<'_>, payload: Payload<'_>) -> Launch;

    /// Returns the command that ends a child that this machine can no longer reach.
    fn cancel(&self, _job: Job<'_>, _context: &HostContext) -> Option<ChildCommand> {
        None
    }

    /// Returns the command that writes a child's session to its standard output.
    fn fetch(&self, _job: Job<'_>, _context: &HostContext) -> Option<ChildCommand> {
        None
    }
}
