//! Checks everything that a delegation needs, in the order in which a person would.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::check::{Check, Status};
use super::disk::{directories, disk, unimported_trees};
use super::guards::{sandbox, supervision};
use super::launchers::launchers;
use super::names::names;
use super::programs::programs;
use super::store::{store, waiting};
use super::writing::{git_variables, writing};
use crate::log::{self, Report};
use crate::run::{
    CallSettings, CannotRun, HostCallbacks, HostCapabilities, HostContext, Listed, Listing, Memory, Origin,
    PiProgram, PiVersion, find_permission_hooks, list_agents, off_thread, untrusted,
};
use agents::Source;
use agents::config::{Config, InheritExtensions, Spare};
use files::layout;
use sanitizer::figures::{self, counted};
use sanitizer::{Allowed, Diagnostic, Severity, chain, quoted};
use supervisor::{ChildCommand, Guardian, Options, capture};
use worktree::without_git_variables;

/// Bytes of one message or hint: a program that fails can print a lot.
const MAX_MESSAGE: usize = 4 * 1024;
/// pi starts in half a second. A pi that takes this long is not usable.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes that `pi --version` may print.
const VERSION_BYTES: usize = 64 * 1024;
/// The directory in which pi is started for its version. Only root can put files there.
const NEUTRAL: &str = "/";

/// Checks everything that a delegation from `cwd` needs. Starts pi once, for its version, and writes only to probe whether
/// directories are writable. The results are sanitized. Asks `callbacks` about models.
pub async fn doctor(
    cwd: PathBuf,
    context: Arc<HostContext>,
    callbacks: Arc<dyn HostCallbacks>,
) -> Vec<Check> {
    // It reads files throughout, and a file system may hang: keep it off the threads that serve children.
    let examine = move || {
        let settings = CallSettings::read(&cwd, &context);
        let clean = |text: String| settings.sanitizer().clip(&text, MAX_MESSAGE).into_string();
        let checks = Handle::current().block_on(examine(&cwd, &context, &settings, &*callbacks));
        let cleaned =
            |check: Check| Check { message: clean(check.message), hint: check.hint.map(&clean), ..check };
        checks.into_iter().map(cleaned).collect()
    };
    match off_thread(examine).await {
        Ok(checks) => checks,
        Err(panic) => vec![Check::new("doctor", Status::Error, panic.to_string())],
    }
}

async fn examine(
    cwd: &Path,
    context: &HostContext,
    settings: &CallSettings,
    callbacks: &dyn HostCallbacks,
) -> Vec<Check> {
    let mut checks = vec![addon(), log(context)];
    let config = match settings.loaded() {
        Ok(loaded) => {
            let found =
                loaded.sources.iter().filter(|source| source.present).map(|source| source.path.display());
            let files: Vec<String> = found.map(|path| path.to_string()).collect();
            let from = if files.is_empty() { "defaults (no file)".to_owned() } else { files.join(", ") };
            checks.push(Check::new("configuration", Status::Ok, from));
            checks.extend(
                loaded.diagnostics.iter().map(|diagnostic| diagnostic_check("configuration", diagnostic)),
            );
            if !loaded.config.enabled {
                checks.push(Check::new(
                    "configuration",
                    Status::Warning,
                    "`subagents.enabled` is false: no tool is registered",
                ));
            }
            if loaded.config.max_depth > 1 {
                let message = format!(
                    "`maxDepth` is {}: children of pi never delegate, so values above 1 have no effect",
                    loaded.config.max_depth
                );
                checks.push(Check::new("configuration", Status::Info, message));
            }
            checks.extend(redaction_exceptions(&loaded.config));
            loaded.config.clone()
        }
        Err(refusal) => {
            checks.push(Check::new("configuration", Status::Error, refusal.to_string()));
            Config::default()
        }
    };
    let capabilities = HostCapabilities::probe(context).await;
    let mut listing = list_agents(cwd, context, settings, &capabilities);
    listing.check_models(&config, context, callbacks).await;
    checks.extend(agents(&listing));
    let untrusted = untrusted(&config, context, cwd);
    checks.extend(programs(&listing, &config, &untrusted, context));
    checks.extend(session_keys(context));
    checks.extend(names(context));
    checks.push(child_command(cwd, &untrusted, context, &config, &capabilities).await);
    checks.push(supervision(&config, &capabilities));
    checks.push(sandbox(&config, &capabilities));
    checks.extend(writing(cwd, &config, context, &capabilities));
    checks.extend(git_variables(cwd, context));
    checks.push(permission_hooks(&config, context));
    checks.extend(launchers(cwd, &config, &untrusted, context).await);
    checks.extend(spares(&config));
    checks.extend(directories(context));
    checks.extend(store(context));
    checks.push(disk(context, &config));
    checks.extend(unimported_trees(context));
    checks.extend(waiting(cwd, context));
    checks
}

/// Returns the notices at start-up about names of this package that belong to something else in the hosting pi.
/// Sanitized.
#[must_use]
pub fn taken_names(cwd: &Path, context: &HostContext) -> Vec<String> {
    let checks = names(context);
    if checks.is_empty() {
        return Vec::new();
    }
    let settings = CallSettings::read(cwd, context);
    let notices = checks.into_iter().map(|Check { message, hint, .. }| match hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    });
    notices.map(|text| settings.sanitizer().clip(&text, MAX_MESSAGE).into_string()).collect()
}

/// The keys that only this pi has, and how children get them.
fn session_keys(context: &HostContext) -> Option<Check> {
    let providers: Vec<String> =
        context.host.session_keys.iter().map(|known| quoted(&known.provider)).collect();
    let message = format!(
        "children get the key for {} that this pi was given with `--api-key`, in a private copy of `auth.json`",
        providers.join(", ")
    );
    (cfg!(unix) && !providers.is_empty()).then(|| Check::new("logins", Status::Info, message))
}

fn addon() -> Check {
    let name = env!("CARGO_PKG_NAME");
    let version = env!("CARGO_PKG_VERSION");
    let os = std::env::consts::OS;
    let arch = std::env::consts::ARCH;
    Check::new("addon", Status::Ok, format!("{name} {version} on {os} {arch}"))
}

/// Reports whether this process logs, and to which file. A wrong filter is a configuration mistake and is listed there.
fn log(context: &HostContext) -> Check {
    match log::report() {
        Report::On { filter, path } => {
            Check::new("log", Status::Ok, format!("`{}={filter}` writes {}", log::VARIABLE, path.display()))
        }
        Report::Off | Report::Failed(_) => {
            let directory = layout::logs(&context.agent_dir);
            let message = format!(
                "off; start pi with `{}=debug` to write a log into {}",
                log::VARIABLE,
                directory.display()
            );
            Check::new("log", Status::Info, message)
        }
    }
}

/// Lists the user's exceptions from redaction: rules by name, values by number only.
fn redaction_exceptions(config: &Config) -> Option<Check> {
    let allowed = Allowed::new(&config.sanitize.allow);
    let values = Some(allowed.value_count()).filter(|count| *count > 0);
    let mut parts: Vec<String> = values.map(|count| counted(count, "exact value")).into_iter().collect();
    parts.extend(allowed.rules().iter().map(|rule| format!("what `{rule}` finds")));
    let message = format!("`sanitize.allow` exempts from redaction: {}", parts.join(", "));
    (!parts.is_empty()).then(|| Check::new("sanitizer", Status::Info, message))
}

fn diagnostic_check(area: &'static str, diagnostic: &Diagnostic) -> Check {
    let status = match diagnostic.severity {
        Severity::Error => Status::Error,
        Severity::Warning => Status::Warning,
        Severity::Info => Status::Info,
    };
    Check::new(area, status, diagnostic.to_string())
}

fn agents(listing: &Listing) -> Vec<Check> {
    let names: Vec<&str> = listing.agents.iter().map(|listed| listed.agent.name.as_str()).collect();
    let mut checks = vec![Check::new("agents", Status::Ok, names.join(", "))];
    // Tools missing from several agents are listed once, and so is a reason that keeps several agents from running.
    let mut dropped: Vec<(String, Vec<&str>)> = Vec::new();
    let mut models: Vec<(&CannotRun, Vec<&str>)> = Vec::new();
    let mut other_models: Vec<(String, Vec<&str>)> = Vec::new();
    for Listed { agent, plan, values, notices, model_note, .. } in &listing.agents {
        if let Some(note) = model_note {
            group(&mut other_models, note.clone(), &agent.name);
        }
        let given = values.from_settings();
        if !given.is_empty() {
            let message = format!("{}: {}", agent.name, given.join("; "));
            checks.push(Check::new("agents", Status::Info, message));
        }
        checks.extend(
            notices
                .iter()
                .map(|notice| Check::new("agents", Status::Warning, format!("{}: {notice}", agent.name))),
        );
        match plan {
            Ok(plan) => {
                for reason in &plan.dropped {
                    group(&mut dropped, reason.to_string(), &agent.name);
                }
            }
            Err(off @ CannotRun::Off(_)) => {
                checks.push(Check::new("agents", Status::Info, format!("{}: {off}", agent.name)));
            }
            // A missing launcher of the configuration is reported once, below.
            Err(CannotRun::Launcher(_)) if agent.launcher.is_none() => {}
            Err(unusable @ CannotRun::Launcher(_)) => {
                checks.push(Check::new("agents", Status::Error, format!("{}: {unusable}", agent.name)));
            }
            Err(unusable @ CannotRun::Model(_)) => group(&mut models, unusable, &agent.name),
            Err(error) => {
                // A builtin waits for its package; another agent was written to run here.
                let is_builtin = agent.source == Source::Builtin;
                let status = if is_builtin { Status::Info } else { Status::Warning };
                checks.push(Check::new("agents", status, error.to_string()));
            }
        }
    }
    let check_with = |status| {
        move |(finding, agents): (String, Vec<&str>)| {
            Check::new("agents", status, format!("{}: {finding}", agents.join(", ")))
        }
    };
    checks.extend(models.into_iter().map(|(unusable, agents)| {
        let check = check_with(Status::Warning)((unusable.to_string(), agents));
        match unusable.alternative() {
            Some(alternative) => check.hint(alternative),
            None => check,
        }
    }));
    checks.extend(other_models.into_iter().map(check_with(Status::Info)));
    checks.extend(dropped.into_iter().map(check_with(Status::Info)));
    checks.extend(listing.diagnostics.iter().map(|diagnostic| diagnostic_check("agents", diagnostic)));
    checks
}

/// Notes that a finding is about this agent, too.
fn group<'a, F: PartialEq>(findings: &mut Vec<(F, Vec<&'a str>)>, finding: F, agent: &'a str) {
    match findings.iter_mut().find(|(known, _)| *known == finding) {
        Some((_, agents)) => agents.push(agent),
        None => findings.push((finding, vec![agent])),
    }
}

/// Reports the user's extensions that watch tool calls, and whether children load them.
fn permission_hooks(config: &Config, context: &HostContext) -> Check {
    const AREA: &str = "permission hooks";
    let found = find_permission_hooks(context);
    let named = |permission_hooks: &[String]| permission_hooks.join(", ");
    if found.is_empty() {
        return Check::new(AREA, Status::Ok, "none: no extension of yours watches tool calls");
    }
    let omitted: Vec<String> = match &config.inherit_extensions {
        InheritExtensions::Auto => {
            let message = format!("children without a read-only sandbox load {}", named(&found));
            return Check::new(AREA, Status::Ok, message);
        }
        InheritExtensions::All => Vec::new(),
        InheritExtensions::None => found.clone(),
        InheritExtensions::Only(list) => found.iter().filter(|hook| !list.contains(hook)).cloned().collect(),
    };
    if omitted.is_empty() {
        return Check::new(AREA, Status::Ok, format!("every child loads {}", named(&found)));
    }
    let message = format!("`inheritExtensions` keeps children from loading {}", named(&omitted));
    Check::new(AREA, Status::Warning, message)
        .hint("`\"auto\"` makes children that may write load all of them; or list them there")
}

/// Reports spare children that wait for the next call, and their cost. `None` if there can be none.
fn spares(config: &Config) -> Option<Check> {
    const AREA: &str = "spare children";
    let Spare { count, idle } = config.spare;
    let max = Some(count).filter(|count| *count > 0)?;
    let memory = Memory::measure();
    let message = format!(
        "up to {max} are kept after a run, for {} s each, with up to {} of memory each",
        idle.as_secs_f64(),
        figures::bytes(Memory::PER_CHILD)
    );
    if memory.has_room() {
        return Some(Check::new(AREA, Status::Info, message));
    }
    let available = figures::bytes(memory.available.unwrap_or_default());
    let needed = figures::bytes(Memory::REQUIRED);
    let message = format!("{message}; none is booted now: one needs {needed}, and {available} are available");
    Some(Check::new(AREA, Status::Warning, message))
}

async fn child_command(
    cwd: &Path,
    untrusted: &[PathBuf],
    context: &HostContext,
    config: &Config,
    capabilities: &HostCapabilities,
) -> Check {
    const AREA: &str = "child command";
    let pi = match PiProgram::locate(config.pi_command.as_deref(), cwd, untrusted, context) {
        Ok(pi) => pi,
        Err(error) => return Check::new(AREA, Status::Error, error.to_string()),
    };
    let mut args = pi.args.clone();
    args.push(OsString::from("--version"));
    // The user may not have approved the project, and an interpreter may read files of its working directory. So pi
    // starts outside of the project.
    let cwd = PathBuf::from(NEUTRAL);
    let guardian =
        capabilities.warden().map(|warden| Guardian { program: warden.into(), options: Options::default() });
    let env = without_git_variables(&context.env);
    let command =
        ChildCommand { program: pi.program.clone(), args, cwd, env, untrusted: untrusted.to_vec(), guardian };
    let output = match capture(command, VERSION_TIMEOUT, VERSION_BYTES).await {
        Ok(captured) if captured.is_success() => captured,
        Ok(captured) => {
            let why = captured.stderr.trim().to_owned();
            return Check::new(AREA, Status::Error, format!("`{} --version` failed: {why}", pi.display()))
                .hint("start it by hand to see why; children run the same command");
        }
        Err(error) => {
            return Check::new(
                AREA,
                Status::Error,
                format!("`{} --version`: {}", pi.display(), chain(&error)),
            );
        }
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let printed = PiVersion::line_of(stdout.lines().chain(output.stderr.lines()));
    let origin = match pi.origin {
        Origin::Configured => "configured",
        Origin::Host => "the hosting pi",
        Origin::Path => "from PATH",
    };
    let message = format!("pi {printed} ({origin}): {}", pi.display());
    match PiVersion::parse(printed).or(pi.version) {
        Some(version) if version < PiVersion::OLDEST => Check::new(AREA, Status::Warning, message)
            .hint(format!("older than {}, the oldest version that is tested; update pi", PiVersion::OLDEST)),
        Some(_) => Check::new(AREA, Status::Ok, message),
        None => Check::new(AREA, Status::Warning, message)
            .hint("its version is unknown, so newer options are not used"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::Host;

    struct NoUser;

    impl HostCallbacks for NoUser {}

    fn context(agent_dir: PathBuf, pi: &Path) -> HostContext {
        HostContext {
            agent_dir,
            home: None,
            env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
            config: None,
            pi_command: Some(vec!["/bin/sh".to_owned(), pi.to_string_lossy().into_owned()]),
            warden: None,
            host: Host::default(),
        }
    }

    #[tokio::test]
    async fn exceptions_from_redaction_are_listed_without_their_values() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let agent_dir = root.path().join("agent");
        let script = root.path().join("pi.sh");
        fs::create_dir(&agent_dir).expect("the directory is created");
        fs::write(&script, "echo 1.6.0").expect("the file is written");
        let exception_checks = async || {
            let checks = doctor(
                root.path().to_owned(),
                Arc::new(context(agent_dir.clone(), &script)),
                Arc::new(NoUser),
            )
            .await;
            let exception_checks = checks.iter().filter(|check| check.message.contains("sanitize.allow"));
            exception_checks.map(|check| (check.status, check.message.clone())).collect::<Vec<_>>()
        };
        assert_eq!(exception_checks().await, []);
        let config =
            r#"{"subagents": {"sanitize": {"allow": ["example-key-0001", "rule:jwt", "other-key-0002"]}}}"#;
        fs::write(agent_dir.join("subagents.json"), config).expect("the file is written");
        let expected = "`sanitize.allow` exempts from redaction: 2 exact values, what `jwt` finds";
        assert_eq!(exception_checks().await, [(Status::Info, expected.to_owned())]);
    }

    /// An interpreter may read files where it starts: `.env`, `bunfig.toml`, `package.json`. A FIFO was opened, and waited
    /// for.
    #[tokio::test]
    async fn pi_is_not_started_in_the_project_and_a_fifo_does_not_block_the_check() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let project = root.path().join("project");
        let script = root.path().join("pi.sh");
        fs::create_dir(&project).expect("the directory is created");
        fs::create_dir_all(root.path().join("agent/subagents")).expect("the directory is created");
        let database = files::layout::store(&root.path().join("agent"));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &database,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .expect("the FIFO is created");
        fs::write(&script, "pwd > \"${0%/*}/cwd\"; echo 1.6.0 >&2").expect("the file is written");
        let context = context(root.path().join("agent"), &script);
        let checks = doctor(project, Arc::new(context), Arc::new(NoUser)).await;
        assert!(checks.iter().any(|check| check.message.starts_with("pi 1.6.0")), "{checks:?}");
        assert_eq!(
            fs::read_to_string(root.path().join("cwd")).expect("the program wrote its directory"),
            "/\n"
        );
    }
}
