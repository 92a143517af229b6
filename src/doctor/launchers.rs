//! Starts pi once through each configured launcher, with the guard and without a task.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::check::{Check, Status};
use crate::config::Config;
use crate::process::{Captured, Outcome, capture_fed, resolve_program, search_path};
use crate::run::admit::pi::PiVersion;
use crate::run::launch::files::GUARD;
use crate::run::launch::launcher::{Answered, Configured};
use crate::run::{HostContext, spawn_task};
use crate::text::chain;
use crate::text::figures;

const AREA: &str = "launcher";
/// A queue of a scheduler may hold the test back; a person waits for what is said here.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes that the test may print, banners included.
const BYTES: usize = 256 * 1024;

/// Tests all launchers, side by side.
pub(super) async fn launchers(cwd: &Path, config: &Config, context: &HostContext) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(name) = config.launcher.as_ref().filter(|name| *name != crate::config::LOCAL)
        && !config.launchers.contains_key(name)
    {
        let message = format!("`launcher` is `{name}`, which `launchers` does not have: no agent can run");
        checks.push(Check::new(AREA, Status::Error, message));
    }
    let tests: Vec<_> = (config.launchers.iter())
        .map(|(name, settings)| {
            let (name, launcher) = (name.clone(), Configured::new(name, settings));
            let (cwd, context) = (cwd.to_path_buf(), context.clone());
            spawn_task(async move { test(&name, &launcher, cwd, &context).await })
        })
        .collect();
    for test in tests {
        checks.extend(test.await.ok());
    }
    checks
}

async fn test(name: &str, launcher: &Configured, cwd: PathBuf, context: &HostContext) -> Check {
    let error = |why: String| Check::new(AREA, Status::Error, format!("`{name}`: {why}"));
    let (command, input) = launcher.test(GUARD, &cwd, context);
    if resolve_program(command.program.as_os_str(), search_path(&command.env)).is_none() {
        let program = command.program.display();
        return error(format!(
            "its program `{program}` was not found; `command` begins with a name in PATH or an absolute path"
        ));
    }
    let since = Instant::now();
    let said = match capture_fed(command, input, TIMEOUT, BYTES).await {
        Ok(said) => said,
        Err(refused) => return error(chain(&refused)),
    };
    let why = || {
        let stderr = said.stderr.trim();
        match &said {
            Captured { outcome: Outcome::HardTimeout { .. }, .. } => {
                format!("it took longer than {} s. {stderr}", TIMEOUT.as_secs())
            }
            _ if stderr.is_empty() => "it printed no error".to_owned(),
            _ => stderr.to_owned(),
        }
    };
    match Configured::answered(&said.stdout) {
        None => error(format!("no child was started: {}", why())).hint(
            "it must start `{argv}` with its standard input; where it leaves the words to a shell: \"quote\": \"sh\"",
        ),
        Some(Answered { cwd, version, has_guard: false, .. }) => {
            error(format!("pi did not start in `{cwd}` (version: {version}): {}", why()))
                .hint("`piCommand` of the launcher names pi there")
        }
        Some(Answered { cwd, version, is_held, .. }) => {
            let took = figures::duration(since.elapsed());
            let held = if is_held { "ends with it" } else { "may outlive it, because this package is not installed there" };
            let message = format!(
                "`{name}`: pi {version} with our guard in `{cwd}`; a start takes {took}; what a child starts there {held}"
            );
            match PiVersion::parse(&version) {
                Some(found) if found < PiVersion::OLDEST => Check::new(AREA, Status::Warning, message)
                    .hint(format!("older than {}, the oldest version that is tested; update pi there", PiVersion::OLDEST)),
                _ => Check::new(AREA, Status::Ok, message),
            }
        }
    }
}
