//! Whether delegation would work here, and what stands in its way.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::files::RunFiles;
use super::listing::{Listed, list};
use super::pi::{Origin, PiProgram, PiVersion};
use super::prepare::load_config;
use super::spec::World;
use crate::config::Config;
use crate::process::{ChildCommand, capture};
use crate::text::{Diagnostic, Severity};

/// pi starts in half a second; one that takes this long is not usable.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);
/// What `pi --version` may print.
const VERSION_BYTES: usize = 64 * 1024;
/// How many files are counted for the disk use of past runs before the answer is "more than".
const MAX_COUNTED: usize = 20_000;
/// The oldest pi that is tested.
const OLDEST: PiVersion = PiVersion { parts: [0, 87, 1] };

/// How good the answer of one check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Info,
    /// Works, but not as one might think.
    Warning,
    /// Delegation does not work, or not all of it.
    Error,
}

impl Status {
    /// The status as callers see it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The answer of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub area: &'static str,
    /// How good the answer is.
    pub status: Status,
    /// The answer.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Check {
    fn new(area: &'static str, status: Status, message: impl Into<String>) -> Self {
        Self { area, status, message: message.into(), hint: None }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Looks at everything a delegation from `cwd` would need. Starts pi once, to ask for its version; writes only to
/// see whether it can.
pub async fn doctor(cwd: &Path, world: &World) -> Vec<Check> {
    let mut checks = vec![addon()];
    let config = match load_config(cwd, world) {
        Ok(loaded) => {
            let found =
                loaded.sources.iter().filter(|source| source.present).map(|source| source.path.display());
            let files: Vec<String> = found.map(|path| path.to_string()).collect();
            let from = if files.is_empty() { "defaults (no file)".to_owned() } else { files.join(", ") };
            checks.push(Check::new("configuration", Status::Ok, from));
            checks.extend(loaded.diagnostics.iter().map(|diagnostic| noted("configuration", diagnostic)));
            if !loaded.config.enabled {
                checks.push(Check::new(
                    "configuration",
                    Status::Warning,
                    "`subagents.enabled` is false: no tool is registered",
                ));
            }
            if loaded.config.max_depth > 1 {
                let message = format!(
                    "`maxDepth` is {}: children of pi never delegate, so more than 1 changes nothing there",
                    loaded.config.max_depth
                );
                checks.push(Check::new("configuration", Status::Info, message));
            }
            loaded.config
        }
        Err(refusal) => {
            checks.push(Check::new("configuration", Status::Error, refusal.to_string()));
            Config::default()
        }
    };
    checks.extend(agents(cwd, world, &config));
    checks.push(child_command(cwd, world, &config).await);
    checks.push(supervision());
    checks.push(sandbox());
    checks.extend(directories(world));
    checks
}

fn addon() -> Check {
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    Check::new("addon", Status::Ok, format!("{name} {version} on {os} {arch}"))
}

fn noted(area: &'static str, diagnostic: &Diagnostic) -> Check {
    let status = match diagnostic.severity {
        Severity::Error => Status::Error,
        Severity::Warning => Status::Warning,
        Severity::Info => Status::Info,
    };
    Check::new(area, status, diagnostic.to_string())
}

fn agents(cwd: &Path, world: &World, config: &Config) -> Vec<Check> {
    let listing = list(cwd, world, config);
    let names: Vec<&str> = listing.agents.iter().map(|listed| listed.agent.name.as_str()).collect();
    let mut checks = vec![Check::new("agents", Status::Ok, names.join(", "))];
    for Listed { agent, plan } in &listing.agents {
        match plan {
            Ok(plan) if plan.dropped.is_empty() => {}
            Ok(plan) => {
                let dropped: Vec<String> = plan.dropped.iter().map(ToString::to_string).collect();
                let message = format!("{}: {}", agent.name, dropped.join("; "));
                checks.push(Check::new("agents", Status::Info, message));
            }
            Err(error) => checks.push(Check::new("agents", Status::Warning, error.to_string())),
        }
    }
    checks.extend(listing.diagnostics.iter().map(|diagnostic| noted("agents", diagnostic)));
    checks
}

async fn child_command(cwd: &Path, world: &World, config: &Config) -> Check {
    const AREA: &str = "child command";
    let pi = match PiProgram::locate(config.pi_command.as_deref(), cwd, world) {
        Ok(pi) => pi,
        Err(error) => return Check::new(AREA, Status::Error, error.to_string()),
    };
    let mut args = pi.args.clone();
    args.push(OsString::from("--version"));
    // A directory that is not there is a fault of the call, not of pi.
    let cwd = if cwd.is_dir() { cwd.to_path_buf() } else { std::env::temp_dir() };
    let command = ChildCommand {
        program: pi.program.clone(),
        args,
        cwd,
        env: world.env.clone(),
        stdin: Vec::new(),
        guardian: None,
    };
    let said = match capture(command, VERSION_TIMEOUT, VERSION_BYTES).await {
        Ok(captured) if captured.is_success() => captured,
        Ok(captured) => {
            let why = captured.stderr.to_text().trim().to_owned();
            return Check::new(AREA, Status::Error, format!("`{} --version` failed: {why}", pi.display()))
                .hint("start it by hand to see why; children run the same command");
        }
        Err(error) => {
            return Check::new(AREA, Status::Error, format!("`{} --version`: {error}", pi.display()));
        }
    };
    let printed = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    let origin = match pi.origin {
        Origin::Configured => "configured",
        Origin::Host => "the pi that hosts us",
        Origin::Path => "from PATH",
    };
    let message = format!("pi {printed} ({origin}): {}", pi.display());
    match PiVersion::parse(&printed).or(pi.version) {
        Some(version) if version < OLDEST => Check::new(AREA, Status::Warning, message)
            .hint(format!("older than {OLDEST}, the oldest version that is tested; update pi")),
        Some(_) => Check::new(AREA, Status::Ok, message),
        None => Check::new(AREA, Status::Warning, message)
            .hint("its version is unknown, so newer options are not used"),
    }
}

fn supervision() -> Check {
    let message = if cfg!(unix) {
        "process group: abort, limits and a dropped run end the child and its group"
    } else {
        "single process: abort, limits and a dropped run end the child"
    };
    Check::new("supervision", Status::Info, message)
        .hint("what leaves the group (setsid), and children of a host that was killed with SIGKILL, are not covered yet")
}

fn sandbox() -> Check {
    Check::new("sandbox", Status::Info, "none in this release")
        .hint("readonly agents are held by their tools alone and therefore have no `bash`")
}

fn directories(world: &World) -> Vec<Check> {
    const AREA: &str = "directories";
    let fallback = RunFiles::parent_directory(&world.agent_dir, None);
    let current = RunFiles::parent_directory(&world.agent_dir, world.host.session_file.as_deref());
    let mut checks = vec![writable(AREA, &current)];
    if current != fallback {
        checks.push(writable(AREA, &fallback));
    }
    let (bytes, complete) = disk_use(&[current, fallback]);
    let about = if complete { "" } else { "more than " };
    checks.push(Check::new(
        "disk",
        Status::Ok,
        format!("runs of this session and of no session use {about}{}", human(bytes)),
    ));
    checks
}

/// Writes and removes one file in the nearest directory that exists; makes none.
fn writable(area: &'static str, directory: &Path) -> Check {
    // The nearest thing that exists, which is in the way when it is no directory.
    let Some(existing) = directory.ancestors().find(|ancestor| fs::symlink_metadata(ancestor).is_ok()) else {
        return Check::new(area, Status::Error, format!("`{}` has no parent directory", directory.display()));
    };
    let probe = existing.join(format!(".subagent-probe-{}", uuid::Uuid::new_v4().simple()));
    match fs::File::create_new(&probe).and_then(|_| fs::remove_file(&probe)) {
        Ok(()) => Check::new(area, Status::Ok, format!("`{}` can be written", directory.display())),
        Err(error) => {
            Check::new(area, Status::Error, format!("`{}` cannot be written: {error}", existing.display()))
                .hint("a child needs a place for its prompt and its session")
        }
    }
}

/// The size of what lies below some directories, and whether all of it was counted. Links are not followed.
fn disk_use(roots: &[PathBuf]) -> (u64, bool) {
    let (mut pending, mut bytes, mut counted) = (roots.to_vec(), 0, 0);
    pending.dedup();
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            counted += 1;
            if counted > MAX_COUNTED {
                return (bytes, false);
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => pending.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    (bytes, true)
}

fn human(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut whole, mut unit) = (bytes, 0);
    while whole >= 10 * 1024 && unit + 1 < UNITS.len() {
        whole /= 1024;
        unit += 1;
    }
    format!("{whole} {}", UNITS[unit])
}
