//! Asks the warden which features this machine allows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pi_subagent_warden::{Abilities, SHORT_OF_RESOURCES};

use super::super::command::ChildCommand;
use super::super::error::SpawnError;
use super::super::helper::{Captured, capture};
use super::super::outcome::{Outcome, exit_signal};

/// A probe takes milliseconds. Where it takes this long, it is not tried again.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes read of a probe, which prints a few lines.
const MAX_BYTES: usize = 16 * 1024;

/// The number of SIGKILL.
const KILLED: i32 = 9;
/// The pauses between attempts while the machine is short of something. That passes within milliseconds, or stays.
const PAUSES: [Duration; 6] = [
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
    Duration::from_millis(160),
    Duration::from_millis(320),
    Duration::from_millis(640),
];

/// Results by program. Only successes are kept, so that a repaired installation is noticed.
static FOUND: Mutex<BTreeMap<PathBuf, Arc<Abilities>>> = Mutex::new(BTreeMap::new());

/// The reason why there is no usable warden.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It did not start.
    #[error("{0}")]
    Start(#[from] SpawnError),
    /// The machine was short of something, so that nothing was found out.
    #[error("this machine cannot be probed now: {0}")]
    Shortage(String),
    /// It is another program, or broken.
    #[error("`{}` is not a working warden: {output}", path.display())]
    NotAWarden {
        /// The program that was run.
        path: PathBuf,
        /// Its standard error, or how it ended if that is empty.
        output: String,
    },
    /// It belongs to another version of this package.
    #[error(
        "`{}` is the warden of version {found}, but the addon has version {}; install the package again",
        path.display(), env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The program that was run.
        path: PathBuf,
        /// The version that it reports.
        found: String,
    },
}

impl ProbeError {
    /// Returns true if the machine was temporarily short of a resource. Such an error says nothing about the features
    /// that it allows.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Start(error) => error.is_transient(),
            Self::Shortage(_) => true,
            Self::NotAWarden { .. } | Self::Version { .. } => false,
        }
    }
}

/// Asks the warden at this path which features the machine allows. Each warden is asked once per process, unless it fails. While
/// the machine is short of a resource, it is asked again, for a bit more than a second.
///
/// # Errors
///
/// If there is no warden of this version at that path, or it cannot be run, or the machine cannot be probed now.
pub async fn probe(warden: &Path) -> Result<Arc<Abilities>, ProbeError> {
    if let Some(abilities) = FOUND.lock().get(warden) {
        return Ok(Arc::clone(abilities));
    }
    let since = Instant::now();
    for pause in PAUSES {
        match ask(warden).await {
            Err(error) if error.is_transient() && since.elapsed() < TIMEOUT => {
                tokio::time::sleep(pause).await;
            }
            answered => return answered,
        }
    }
    ask(warden).await
}

async fn ask(warden: &Path) -> Result<Arc<Abilities>, ProbeError> {
    let command = ChildCommand {
        program: warden.to_path_buf(),
        args: vec!["--probe".into()],
        cwd: "/".into(),
        ..ChildCommand::default()
    };
    let captured = capture(command, TIMEOUT, MAX_BYTES).await?;
    let text = String::from_utf8_lossy(&captured.stdout);
    let path = || warden.to_path_buf();
    if is_shortage(&captured.outcome) {
        return Err(ProbeError::Shortage(failure_text(&captured)));
    }
    let abilities = Abilities::parse(&text)
        .filter(|_| captured.is_success())
        .ok_or_else(|| ProbeError::NotAWarden { path: path(), output: failure_text(&captured) })?;
    if abilities.version != env!("CARGO_PKG_VERSION") {
        return Err(ProbeError::Version { path: path(), found: abilities.version });
    }
    let abilities = Arc::new(abilities);
    tracing::debug!(target: "warden", ?abilities, "the machine was probed");
    FOUND.lock().insert(path(), Arc::clone(&abilities));
    Ok(abilities)
}

/// Returns true if the warden reports a shortage, was killed (the kernel does that if memory runs out), or did not get
/// the time to answer.
fn is_shortage(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Exited(status) => {
            status.code() == Some(SHORT_OF_RESOURCES) || exit_signal(*status) == Some(KILLED)
        }
        Outcome::HardTimeout { .. } => true,
        _ => false,
    }
}

fn failure_text(captured: &Captured) -> String {
    let stderr = captured.stderr.trim();
    if stderr.is_empty() { format!("{:?}", captured.outcome) } else { stderr.to_owned() }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn a_warden_is_asked_again_only_while_the_machine_is_short_of_something() {
        let dir = tempfile::tempdir().expect("a temporary directory is created");
        let (asked, warden) = (dir.path().join("asked"), dir.path().join("warden"));
        let script = format!(
            "#!/bin/sh\necho >>'{asked}'\n[ $(wc -l <'{asked}') -gt 2 ] && exit 1\nexit {SHORT_OF_RESOURCES}\n",
            asked = asked.display()
        );
        fs::write(&warden, script).expect("the file is written");
        fs::set_permissions(&warden, fs::Permissions::from_mode(0o755)).expect("the permissions are set");
        let answer = probe(&warden).await;
        assert!(matches!(answer, Err(ProbeError::NotAWarden { .. })), "{answer:?}");
        assert_eq!(fs::read_to_string(asked).expect("the file is readable").lines().count(), 3);
    }
}
