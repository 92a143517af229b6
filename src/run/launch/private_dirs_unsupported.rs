//! Private directories on systems without a sandbox, where they do not exist.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::private_files::{PrivateDirsSpec, TokenUse};
use crate::run::callbacks::HostCallbacks;
use files::FileError;

/// A type without values: on these systems no child has private directories.
#[derive(Debug)]
pub(in crate::run) enum PrivateDirs {}

impl PrivateDirs {
    pub(in crate::run) fn create(
        run: &Path,
        _agent: Option<PathBuf>,
        _wanted: PrivateDirsSpec<'_>,
    ) -> Result<Self, FileError> {
        Err(FileError::at(run)(std::io::ErrorKind::Unsupported.into()))
    }

    pub(super) fn temporary_of(_run: &Path, _temporaries: Option<&Path>) -> Option<PathBuf> {
        None
    }

    pub(in crate::run) fn clear(_run: &Path) -> std::io::Result<()> {
        Ok(())
    }

    pub(in crate::run) fn remove(self) -> bool {
        match self {}
    }

    pub(in crate::run) fn checks(run: &Path) -> PathBuf {
        run.to_path_buf()
    }

    pub(in crate::run) fn shell_of_commands(
        run: &Path,
        _program: &Path,
        _options: &[u8],
    ) -> Result<PathBuf, FileError> {
        Err(FileError::at(run)(std::io::ErrorKind::Unsupported.into()))
    }

    pub(in crate::run) fn temporary(&self) -> Option<&Path> {
        match *self {}
    }

    pub(in crate::run) fn compile_cache(&self) -> Option<&(&'static str, OsString)> {
        match *self {}
    }

    pub(in crate::run) fn agent(&self) -> &Path {
        match *self {}
    }

    pub(in crate::run) fn shell(&self) -> Option<&str> {
        match *self {}
    }

    pub(in crate::run) fn replace_shell(&self, _program: &Path, _options: &[u8]) -> Result<(), FileError> {
        match *self {}
    }

    pub(in crate::run) fn rewrite_shell_options(&self, _options: &[u8]) -> Result<(), FileError> {
        match *self {}
    }

    pub(in crate::run) fn skipped_files(&self) -> Vec<String> {
        match *self {}
    }

    pub(in crate::run) fn give_back(&self, _provider: &str, _lock_timeout: Duration) -> Option<String> {
        match *self {}
    }
}

impl TokenUse {
    pub(in crate::run) fn needs_refresh(&self) -> bool {
        false
    }

    pub(in crate::run) async fn refresh(self, _host: &dyn HostCallbacks) {}
}
