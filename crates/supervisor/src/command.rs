//! A command, and how to start it without a warden.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::error::{SpawnError, SpawnStage};
use super::guardian::Guardian;
use super::{platform, program};

/// A program with its arguments, directory and environment. It is executed directly, never through a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildCommand {
    /// A path, or a bare name to look up in the `PATH` of [`ChildCommand::env`]. A relative path is relative to
    /// [`ChildCommand::cwd`].
    pub program: PathBuf,
    /// The arguments, without the program itself.
    pub args: Vec<OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The warden to start it through. Without one, only the child and its process group are followed.
    pub guardian: Option<Guardian>,
}

/// A command whose program was looked up and whose directory was made absolute.
pub(super) struct Located<'a> {
    pub(super) command: &'a ChildCommand,
    pub(super) program: PathBuf,
    pub(super) cwd: PathBuf,
}

impl ChildCommand {
    /// Looks up the program. Blocks on file system access.
    pub(super) fn locate(&self) -> Result<Located<'_>, SpawnError> {
        let cwd = std::path::absolute(&self.cwd)
            .map_err(|source| SpawnError::new(SpawnStage::Cwd, "cannot be used", &self.cwd, source))?;
        match program::locate(&self.program, &cwd, program::search_path(&self.env)) {
            Ok(program) => Ok(Located { command: self, program, cwd }),
            // A missing directory makes everything in it look missing, so it is reported first.
            Err(error) => Err(program::check_cwd(&cwd).err().unwrap_or(error)),
        }
    }
}

impl Located<'_> {
    /// Starts the program with pipes for its standard streams, as leader of its own process group.
    ///
    /// Blocks until the child has executed the program. The standard library uses `posix_spawn` as long as there is
    /// no `pre_exec` and the program is a path; otherwise it forks, which costs a host with much memory 50 ms and
    /// more. That is why the name is looked up first and no hook is installed.
    pub(super) fn start(&self) -> Result<Child, SpawnError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.command.args)
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.command.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        platform::lead_own_group(&mut command);
        command.spawn().map_err(|source| program::diagnose(&self.program, &self.cwd, source))
    }
}
