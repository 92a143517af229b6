//! Builds a command that runs in a child's tree, in the sandboxes of the child's shell and without any file that the
//! child could have replaced.

use std::ffi::OsString;
use std::path::PathBuf;

use super::files::RunFiles;
use super::private_dirs::PrivateDirs;
use super::sandboxes::{shell, tool_shell};
use crate::run::admit::admitted::AdmittedRun;
use files::FileError;
use sanitizer::chain;
use supervisor::{ChildCommand, SpawnError};

/// Merges both streams, so that the output keeps its order. Of standard error, the beginning and the end are kept.
const ONE_STREAM: &str = "exec 1>&2\n";

/// The reason why a command in a child's tree was not started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeCommandError {
    /// The child's shell would have a sandbox, but the command cannot.
    #[error("this machine has no sandbox for a shell")]
    NoSandbox,
    /// The files for its sandbox cannot be written.
    #[error("{}", chain(.0))]
    Files(FileError),
    /// A layer of its sandbox is missing.
    #[error("{0}")]
    MissingLayer(String),
    /// The system refused to start it.
    #[error("{}", .0.stage())]
    Spawn(#[source] SpawnError),
}

impl AdmittedRun {
    /// Builds a shell command for the tree of the child that `child` started. `has_view` is true if the child's sandbox
    /// hides files and sockets, and `protected` are the paths of the tree that are protected now. Writes two small
    /// files.
    ///
    /// The child's pi may write in its private agent directory, which contains the options of its shell's sandbox. So
    /// the options of this command are written again, into a directory that the child can only read.
    ///
    /// # Errors
    ///
    /// Fails if the command cannot be confined like the child's shell.
    pub(crate) fn tree_command(
        &self,
        shell_command: &str,
        child: &ChildCommand,
        files: &RunFiles,
        has_view: bool,
        protected: Vec<PathBuf>,
    ) -> Result<ChildCommand, TreeCommandError> {
        let Self { spec, resolved, .. } = self;
        let mut command = child.clone();
        command.args = vec![OsString::from("-c"), format!("{ONE_STREAM}{shell_command}").into()];
        if let Some(guardian) = &mut command.guardian {
            let options = &mut guardian.options;
            if let Some(sandbox) = &mut options.sandbox {
                // The child may have moved directories around the protected paths.
                sandbox.protected = protected;
            }
            // The child's warden and this process remove the run's files, so this command must not.
            (options.scratch, options.unless_kept, options.directory) = (Vec::new(), Vec::new(), None);
        }
        command.program = if resolved.sandbox.is_enforced() {
            let confined = tool_shell(resolved, spec, files, &command.env, has_view);
            let (Some(confined), Some(warden)) = (confined, resolved.capabilities.warden()) else {
                return Err(TreeCommandError::NoSandbox);
            };
            PrivateDirs::shell_of_commands(&files.directory, warden, &confined.to_bytes())
                .map_err(TreeCommandError::Files)?
        } else {
            shell(None, spec, &command.env)
        };
        Ok(command)
    }
}
