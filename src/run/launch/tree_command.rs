//! A command in a child's tree: in the sandboxes of the child's shell, with nothing that the child could have replaced.

use std::ffi::OsString;
use std::path::PathBuf;

use super::files::RunFiles;
use super::private_dirs::PrivateDirs;
use super::sandboxes::{shell, tool_shell};
use crate::process::ChildCommand;
use crate::run::admit::admitted::AdmittedRun;
use crate::text::chain;

/// Both streams in one, so that what was printed keeps its order. Standard error is kept by its head and its tail.
const ONE_STREAM: &str = "exec 1>&2\n";

impl AdmittedRun {
    /// A shell command in the tree of the child that was started by `child`; `has_view` as the child's sandbox has, and what is
    /// now `protected` in the tree. Writes two small files.
    ///
    /// The child's pi may write in its private agent directory, where the sandbox of its shell is described. So what is
    /// started here is described again, in a directory that the child can only read.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be started as confined as the child's shell.
    pub(in crate::run) fn tree_command(
        &self,
        shell_command: &str,
        child: &ChildCommand,
        files: &RunFiles,
        has_view: bool,
        protected: Vec<PathBuf>,
    ) -> Result<ChildCommand, String> {
        let Self { spec, resolved, .. } = self;
        let mut command = child.clone();
        command.args = vec![OsString::from("-c"), format!("{ONE_STREAM}{shell_command}").into()];
        if let Some(guardian) = &mut command.guardian {
            let options = &mut guardian.options;
            if let Some(sandbox) = &mut options.sandbox {
                // The child may have moved directories around what was protected.
                sandbox.protected = protected;
            }
            // The child's warden and this process remove the run's files.
            (options.scratch, options.unless_kept, options.directory) = (Vec::new(), Vec::new(), None);
        }
        command.program = if resolved.sandbox.is_held() {
            let confined = tool_shell(resolved, spec, files, &command.env, has_view);
            let (Some(confined), Some(warden)) = (confined, &resolved.warden) else {
                return Err("this machine has no sandbox for a shell".to_owned());
            };
            PrivateDirs::shell_of_commands(&files.directory, warden, &confined.to_bytes())
                .map_err(|error| chain(&error))?
        } else {
            shell(None, spec, &command.env)
        };
        Ok(command)
    }
}
