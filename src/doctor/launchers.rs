//! Asks pi for its version through each configured launcher, and then starts it there with the guard and without a task.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::{Check, Status};
use crate::run::{
    Configured, GUARD, HostContext, Job, LauncherTest, OutputTimestamps, PiVersion, RunId, TestAnswer,
    run_cancel, spawn_task,
};
use agents::config::Config;
use sanitizer::{chain, figures, with_cause};
use supervisor::{Outcome, capture_observed};

const AREA: &str = "launcher";
/// A scheduler may hold the test in its queue. The user waits for this report.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes that the test may print, banners included.
const MAX_BYTES: usize = 256 * 1024;

/// Tests all launchers, side by side.
pub(super) async fn launchers(
    cwd: &Path,
    config: &Config,
    untrusted: &[PathBuf],
    context: &HostContext,
) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(name) = config.launcher.as_ref().filter(|name| *name != agents::config::LOCAL)
        && !config.launchers.contains_key(name)
    {
        let message = format!("`launcher` is `{name}`, which `launchers` does not define: no agent can run");
        checks.push(Check::new(AREA, Status::Error, message));
    }
    let tests: Vec<_> = (config.launchers.iter())
        .map(|(name, settings)| {
            let launcher = Configured::new(name, settings);
            let name = name.clone();
            let (cwd, untrusted) = (cwd.to_path_buf(), untrusted.to_vec());
            let context = context.clone();
            spawn_task(async move { test(&name, &launcher, &cwd, &untrusted, &context, TIMEOUT).await })
        })
        .collect();
    for test in tests {
        checks.extend(test.await.ok());
    }
    checks
}

/// Tests one launcher. A test that takes longer than `limit` is ended, also by the launcher's `cancel`.
async fn test(
    name: &str,
    launcher: &Configured,
    cwd: &Path,
    untrusted: &[PathBuf],
    context: &HostContext,
    limit: Duration,
) -> Check {
    let error = |why: String| Check::new(AREA, Status::Error, format!("`{name}`: {why}"));
    match launcher.missing(untrusted, context) {
        Some(("command", program, missing)) => {
            return error(format!(
                "its program `{program}` was not found{}; start `command` with a program in PATH or an \
                 absolute path",
                missing.note()
            ));
        }
        Some((field, program, missing)) => {
            let note = missing.note();
            return error(format!("`{program}`, which its `{field}` begins with, was not found{note}"));
        }
        None => {}
    }
    let run_id = RunId::random();
    let job = Job { run_id: &run_id, agent: "doctor", cwd, untrusted };
    let LauncherTest { command, input, cancel } = launcher.test(job, GUARD, context);
    let mut timestamps = OutputTimestamps::start();
    let output =
        match capture_observed(command, input, limit, MAX_BYTES, |bytes| timestamps.note(bytes)).await {
            Ok(output) => output,
            Err(refused) => return error(chain(&refused)),
        };
    let has_ended = matches!(output.outcome, Outcome::Exited(_));
    let cancelled = match cancel.filter(|_| !has_ended) {
        Some(cancel) => run_cancel(name, cancel).await,
        None => Ok(()),
    };
    let cancel_failure = cancelled.err().map(|error| format!("; {}", with_cause(&error))).unwrap_or_default();
    let why = || {
        let stderr = output.stderr.trim();
        let why = match &output.outcome {
            Outcome::HardTimeout { .. } => {
                format!("it took longer than {} s", limit.as_secs())
            }
            _ if stderr.is_empty() => "it printed no error".to_owned(),
            _ => return format!("{stderr}{cancel_failure}"),
        };
        let stderr = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
        format!("{why}{stderr}{cancel_failure}")
    };
    match Configured::parse_answer(&output, &timestamps) {
        None => error(format!("no child was started: {}", why())).hint(
            "it must start `{argv}` with its standard input; if it passes the arguments to a shell, set \
             \"quote\": \"sh\"",
        ),
        Some(TestAnswer { cwd, version, has_guard: false, .. }) => {
            let refused = match PiVersion::parse(&version) {
                Some(_) => {
                    error(format!("pi {version} starts in `{cwd}`, but not with our guard: {}", why()))
                }
                None => error(format!("pi did not start in `{cwd}`: {}", why())),
            };
            refused.hint("set the launcher's `piCommand` to the path of pi on that machine")
        }
        Some(TestAnswer { cwd, version, git, reached, started, has_warden, .. }) => {
            let git = git.map_or_else(
                || "no remote `git`, so `isolation: private` is unavailable".to_owned(),
                |git| format!("remote git {git}"),
            );
            let lifetime = if has_warden {
                "end with it"
            } else {
                "may outlive it, because no working warden of \
                an npm installation was found on that machine"
            };
            let reached = format_time(reached);
            let started = format_time(started);
            let message = format!(
                "`{name}`: pi {version} with our guard in `{cwd}`; connecting takes {reached}, starting pi \
                 takes {started}; {git}; a child's remote processes {lifetime}{cancel_failure}"
            );
            match PiVersion::parse(&version) {
                _ if !has_ended => Check::new(AREA, Status::Warning, message).hint(format!(
                    "the remote pi did not exit within {} s after its input had ended",
                    limit.as_secs()
                )),
                Some(found) if found < PiVersion::OLDEST => {
                    Check::new(AREA, Status::Warning, message).hint(format!(
                        "older than {}, the oldest version that is tested; update pi on that machine",
                        PiVersion::OLDEST
                    ))
                }
                _ => Check::new(AREA, Status::Ok, message),
            }
        }
    }
}

/// Formats a time. A launcher on a fast network takes less than a tenth of a second, so short times are in
/// milliseconds.
fn format_time(time: Duration) -> String {
    if time.as_secs() == 0 { format!("{} ms", time.as_millis()) } else { figures::duration(time) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;
    use crate::run::Host;

    /// Each row: the stand-in for pi on the remote machine, the cause of its end, and the message. The launcher runs until it is
    /// ended.
    #[tokio::test]
    async fn a_launcher_test_that_hangs_is_ended_on_the_remote_machine_too() {
        let version = r#"[ "$1" = --version ] && { echo 1.6.0; exit 0; }"#;
        let answers = r#"read -r line; echo '{"id":"pi-subagent","success":true}'"#;
        for (label, pi, cancel, expected) in [
            ("no answer", "sleep 60".to_owned(), "echo {runId} >>cancelled", "it took longer than 1 s"),
            (
                "no leave",
                format!("{version}\n{answers}\nsleep 60"),
                "echo {runId} >>cancelled",
                "with our guard in",
            ),
            (
                "a cancel that fails",
                "sleep 60".to_owned(),
                "exit 3",
                "; `launchers.far.cancel` failed: it exited with 3",
            ),
        ] {
            let root = tempfile::tempdir().expect("a temporary directory is created");
            let script = root.path().join("pi.sh");
            let path = root.path().to_string_lossy().into_owned();
            fs::write(&script, pi).expect("the script is written");
            let cancel = format!("cd '{path}' && {cancel}");
            let settings = serde_json::json!({
                "command": ["sh", "-c", "echo \"$4\" >>\"$0/launched\"; exec \"$@\"", path, "{argv}"],
                "cancel": ["sh", "-c", cancel],
                "piCommand": ["sh", script],
            });
            let launcher =
                Configured::new("far", &serde_json::from_value(settings).expect("the settings are valid"));
            let context = HostContext {
                agent_dir: root.path().join("agent"),
                home: None,
                env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
                config: None,
                pi_command: None,
                warden: None,
                host: Host::default(),
            };
            let check = test("far", &launcher, root.path(), &[], &context, Duration::from_secs(1)).await;
            assert!(check.message.contains(expected), "{label}: {check:?}");
            assert_ne!(check.status, Status::Ok, "{label}");
            let read = |name: &str| fs::read_to_string(root.path().join(name)).unwrap_or_default();
            let id = read("launched");
            let id = id.strip_prefix("pi-subagent-").expect("the ID has the prefix");
            assert_eq!(read("cancelled"), if cancel.ends_with("exit 3") { "" } else { id }, "{label}");
        }
    }
}
