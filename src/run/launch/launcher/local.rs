//! Children on this machine.

use std::path::Path;

use super::contract::{Job, Launch, Launcher, Materials, Payload};
use crate::run::admit::pi::{PiError, PiProgram};
use crate::run::context::HostContext;
use crate::run::launch::files::RunFiles;
use supervisor::ChildCommand;

#[derive(Debug)]
pub(super) struct Local;

impl Launcher for Local {
    fn locate(
        &self,
        configured: Option<&[String]>,
        cwd: &Path,
        context: &HostContext,
    ) -> Result<PiProgram, PiError> {
        PiProgram::locate(configured, cwd, context)
    }

    fn materialize(&self, files: &RunFiles) -> Materials {
        Materials {
            prompt: files.prompt.clone(),
            guard: files.guard.clone(),
            session: files.session().map(Path::to_path_buf),
        }
    }

    fn command(&self, plain: ChildCommand, _job: Job<'_>, _payload: Payload<'_>) -> Launch {
        Launch { command: plain, preamble: None, remote_output: None }
    }
}
