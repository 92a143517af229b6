//! The same where there is no sandbox, and so nobody who needs places of his own.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::files::{FilesError, WantedPlaces};
use super::refresh::Refresh;

/// Nothing can be of this type.
#[derive(Debug)]
pub(super) enum Places {}

impl Places {
    pub(super) fn create(run: &Path, _wanted: WantedPlaces<'_>) -> Result<Self, FilesError> {
        Err(FilesError { path: run.to_path_buf(), source: std::io::ErrorKind::Unsupported.into() })
    }

    pub(super) fn clear(_run: &Path) {}

    pub(super) fn need_refresh(
        _agent_dir: &Path,
        _credentials: Option<&Path>,
        _provider: &str,
        _until: SystemTime,
    ) -> bool {
        false
    }

    pub(super) async fn refresh(
        _agent_dir: &Path,
        _credentials: Option<&Path>,
        _provider: &str,
        _until: SystemTime,
        _host: &impl Refresh,
    ) {
    }

    pub(super) fn temporary(&self) -> Option<&Path> {
        match *self {}
    }

    pub(super) fn agent(&self) -> &Path {
        match *self {}
    }

    pub(super) fn left_out(&self) -> Vec<String> {
        match *self {}
    }

    pub(super) fn give_back(&self, _provider: &str, _patience: Duration) -> Option<String> {
        match *self {}
    }
}
