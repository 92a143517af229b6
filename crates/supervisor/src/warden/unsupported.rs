//! Stands in for the warden on systems that have none: every start fails.

use std::io;
use std::sync::Arc;

use tokio::sync::watch;

use super::super::command::Located;
use super::super::error::SpawnError;
use super::super::guardian::Guardian;
use super::super::signaller::{Known, Signaller};
use super::super::streams::Pipes;

/// Always fails, because there is no warden.
pub(crate) fn start(
    _located: &Located<'_>,
    guardian: &Guardian,
    _known: watch::Sender<Known>,
) -> Result<(Arc<dyn Signaller>, Pipes), SpawnError> {
    Err(SpawnError::from_warden(&guardian.program, io::ErrorKind::Unsupported.into()))
}
