//! Stands in for the warden on systems that have none: every start fails.

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

use pi_subagent_warden::{Mechanism, OverLimit, Tally};

use super::super::command::ChildCommand;
use super::super::error::SpawnError;
use super::super::guardian::Guardian;
use super::super::streams::Pipes;

/// The connection to a warden. It has no values, because there are no wardens here.
pub(in crate::process) enum Link {}

/// An event in the life of a tree.
#[expect(dead_code, reason = "the same names as on Linux")]
pub(in crate::process) enum News {
    Ended(ExitStatus),
    OverLimit(OverLimit),
    Using(Tally),
    Gone(Tally),
    Orphaned,
    Cleared,
}

/// Always fails, because there is no warden.
pub(in crate::process) fn start(
    _command: &ChildCommand,
    guardian: &Guardian,
    _program: &Path,
    _cwd: &Path,
    _tell: Box<dyn FnMut(News) + Send>,
) -> Result<(Arc<Link>, Pipes, Vec<Mechanism>), SpawnError> {
    Err(SpawnError::Warden { path: guardian.program.clone(), source: io::ErrorKind::Unsupported.into() })
}

impl Link {
    pub(in crate::process) fn id(&self) -> u32 {
        match *self {}
    }

    pub(in crate::process) fn keep(&self) {
        match *self {}
    }

    pub(in crate::process) fn ask(&self) {
        match *self {}
    }

    pub(in crate::process) fn kill(&self) {
        match *self {}
    }
}
