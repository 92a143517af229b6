//! Asks the warden what this machine allows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use pi_subagent_warden::Abilities;

use super::super::capture::capture;
use super::super::command::ChildCommand;
use super::super::error::SpawnError;

/// A probe takes milliseconds; a program that needs this long is no warden.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes read of a probe, which prints a few lines.
const MAX_BYTES: usize = 16 * 1024;

/// Results by program. Only successes are kept, so that a repaired installation is noticed.
static FOUND: Mutex<BTreeMap<PathBuf, Arc<Abilities>>> = Mutex::new(BTreeMap::new());

/// Why there is no usable warden.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It did not start.
    #[error("{0}")]
    Start(#[from] SpawnError),
    /// It is another program, or broken.
    #[error("`{}` is not a working warden: {said}", path.display())]
    NotAWarden {
        /// The program that was run.
        path: PathBuf,
        /// Its standard error, or how it ended if that is empty.
        said: String,
    },
    /// It belongs to another version of this package.
    #[error("`{}` is the warden of version {found}, and this is {}; install the package again", path.display(), env!("CARGO_PKG_VERSION"))]
    Version {
        /// The program that was run.
        path: PathBuf,
        /// The version that it reports.
        found: String,
    },
}

/// Asks the warden at this path what the machine lets it do. Each warden is asked once per process, unless it fails.
///
/// # Errors
///
/// When there is no warden of this version at that path, or it cannot be run.
pub async fn probe(warden: &Path) -> Result<Arc<Abilities>, ProbeError> {
    if let Some(abilities) = FOUND.lock().get(warden) {
        return Ok(Arc::clone(abilities));
    }
    let command = ChildCommand {
        program: warden.to_path_buf(),
        args: vec!["--probe".into()],
        cwd: "/".into(),
        ..ChildCommand::default()
    };
    let said = capture(command, TIMEOUT, MAX_BYTES).await?;
    let text = String::from_utf8_lossy(&said.stdout);
    let path = || warden.to_path_buf();
    let abilities = Abilities::parse(&text).filter(|_| said.is_success()).ok_or_else(|| {
        let stderr = said.stderr.trim();
        let said = if stderr.is_empty() { format!("{:?}", said.outcome) } else { stderr.to_owned() };
        ProbeError::NotAWarden { path: path(), said }
    })?;
    if abilities.version != env!("CARGO_PKG_VERSION") {
        return Err(ProbeError::Version { path: path(), found: abilities.version });
    }
    let abilities = Arc::new(abilities);
    FOUND.lock().insert(path(), Arc::clone(&abilities));
    Ok(abilities)
}
