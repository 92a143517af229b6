//! Private directories on systems without a sandbox, where they do not exist.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::private_files::{PrivateDirsSpec, TokenUse};
use crate::run::callbacks::HostCallbacks;
use files::FileError;

/// A type without values: on these systems no child has private directories.
#[derive(Debug)]
pub(crate) enum PrivateDirs {}

impl PrivateDirs {
    pub(crate) fn create(
        run: &Path,
        _agent: Option<PathBuf>,
        _wanted: PrivateDirsSpec<'_>,
    ) -> Result<Self, FileError> {
        Err(FileError::at(run)(std::io::ErrorKind::Unsupported.into()))
    }

    pub(super) fn temporary_of(_run: &Path, _temporaries: Option<&Path>) -> Option<PathBuf> {
        None
    }

    pub(crate) fn clear(_run: &Path) -> std::io::Result<()> {
        Ok(())
    }

    pub(crate) fn remove(self) -> bool {
        match self {}
    }

    pub(crate) fn shells(run: &Path) -> [PathBuf; 2] {
        [run.to_path_buf(), run.to_path_buf()]
    }

    pub(crate) fn covers(&self, _provider: Option<&str>, _until: Option<std::time::SystemTime>) -> bool {
        match *self {}
    }

    pub(crate) fn fixed(&self) -> &[PathBuf] {
        match *self {}
    }

    pub(crate) fn shell_of_commands(
        run: &Path,
        _program: &Path,
        _options: &[u8],
    ) -> Result<PathBuf, FileError> {
        Err(FileError::at(run)(std::io::ErrorKind::Unsupported.into()))
    }

    pub(crate) fn temporary(&self) -> Option<&Path> {
        match *self {}
    }

    pub(crate) fn compile_cache(&self) -> Option<&(&'static str, OsString)> {
        match *self {}
    }

    pub(crate) fn agent(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn shell(&self) -> Option<&str> {
        match *self {}
    }

    pub(crate) fn replace_shell(
        &self,
        _run: &Path,
        _program: &Path,
        _options: &[u8],
    ) -> Result<(), FileError> {
        match *self {}
    }

    pub(crate) fn rewrite_shell_options(_run: &Path, _options: &[u8]) -> Result<(), FileError> {
        Ok(())
    }

    pub(crate) fn skipped_files(&self) -> Vec<String> {
        match *self {}
    }

    pub(crate) fn give_back(&self, _provider: &str, _lock_timeout: Duration) -> Option<String> {
        match *self {}
    }
}

impl TokenUse {
    pub(crate) fn needs_refresh(&self) -> bool {
        false
    }

    pub(crate) async fn refresh(self, _host: &dyn HostCallbacks) {}
}
