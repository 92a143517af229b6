//! After any end of a remote run, none of its processes remains beyond a time limit: through the remote warden if this package is
//! installed there, otherwise through `cancel`. The launcher is a stand-in, or the engine that `npm run test:engines` has set up.
#![cfg(target_os = "linux")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use crate::support::child::Child;
use crate::support::engine::{engine, naming};
use crate::support::pids::{Pids, eventually};
use crate::support::program::{self, warden};
use crate::support::remote::{Place, at, read, remote_places, with_longer_limits};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, RunOutcome};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};

/// From the end of the run to the end of all remote processes: the remote grace period is 5 s, and `cancel` has 10 s.
const BOUND: Duration = Duration::from_secs(20);

/// Starts a process that leaves group and session and ignores requests to exit. Works, and uses tokens.
fn leaves() -> Child {
    Child::new()
        .leaves_a_process()
        .runs(r#"echo $$ >"$home/pid""#)
        .receives()
        .starts()
        .says("So far.")
        .with_stop_reason("toolUse")
        .runs(r#"echo >"$home/working""#)
        .waits_for("spend")
        .says("More.")
        .with_stop_reason("toolUse")
        .says("More.")
        .with_stop_reason("toolUse")
        .waits_for("never")
}

/// The guides let `cancel` do this on a machine with `/proc`: the processes of a run have its id in their environment.
const KILL: &str = r"cd /proc && for p in [0-9]*; do tr '\0' '\n' <$p/environ | grep -qx PI_SUBAGENT_RUN_ID={runId} && kill -9 $p; done 2>/dev/null; :";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cause {
    Abort,
    Limit,
    Budget,
    /// Sends SIGKILL to the process that has requested the run.
    HostKilled,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Means {
    /// The package is installed on the remote machine.
    Warden,
    /// The package is not installed, and the launcher has a command that ends its children.
    Cancel,
}

/// A scene at a place with a protection against remaining processes.
fn scene(place: Place, means: Means, config: &Value) -> Scene {
    let mut config = config.clone();
    if place == Place::Words {
        // The remote script is a local process here. It has time to end the child and clean up.
        config["graceMs"] = 8_000.into();
    }
    let mut scene = at(place, leaves(), &config);
    let agent_dir = scene.path("far/home/.pi/agent");
    let package = agent_dir.join("npm/node_modules/pi-subagent-native-platform");
    fs::create_dir_all(&package).expect("the directory is created");
    if means == Means::Warden {
        symlink(warden(), package.join("pi-subagent-warden")).expect("the link is created");
    }
    let context = Arc::make_mut(&mut scene.spec.context);
    context.warden = Some(warden());
    context.env.push(("PI_CODING_AGENT_DIR".into(), agent_dir.into()));
    let far = &mut context.config.as_mut().expect("the context has a configuration")["launchers"]["far"];
    far["env"] = json!(["PI_CODING_AGENT_DIR"]);
    match means {
        // With `cancel`, a remote warden that contains nothing would pass.
        Means::Warden => drop(far.as_object_mut().expect("the value is an object").remove("cancel")),
        Means::Cancel if engine().is_some_and(|engine| engine["cancel"].is_array()) => {}
        Means::Cancel => far["cancel"] = json!(["/bin/sh", "-c", KILL]),
    }
    scene
}

/// The processes that the child has started, and the child.
fn started(scene: &Scene) -> Pids {
    let mut pids = Pids::default();
    for name in ["left", "pid"] {
        pids.push(read(scene, name).trim().parse().expect("the text is a number"));
    }
    pids
}

async fn nothing_remains(scene: &Scene, place: Place, what: &str) {
    let since = Instant::now();
    started(scene).gone(what).await;
    eventually(what, || naming(&scene.path("pi.sh")) == 0).await;
    no_file_remains(place, scene.root.path(), what).await;
    let took = since.elapsed();
    assert!(took < BOUND, "{what} took {took:?}");
}

/// Each stand-in has its own directory for temporary files. The program that ends the launcher also ends the launcher's first
/// shell with its script. No `sshd` does that.
async fn no_file_remains(place: Place, root: &Path, what: &str) {
    if place == Place::Words {
        let place = root.join("far/tmp");
        eventually(what, || fs::read_dir(&place).expect("the directory is readable").next().is_none()).await;
    }
}

#[tokio::test]
async fn no_remote_process_survives_an_abort_a_limit_or_a_budget() {
    for place in remote_places() {
        for means in [Means::Warden, Means::Cancel] {
            for (cause, outcome) in [
                (Cause::Abort, RunOutcome::Aborted),
                (Cause::Limit, RunOutcome::HardTimeout),
                (Cause::Budget, RunOutcome::Budget),
            ] {
                let case = format!("{place:?}, {means:?}, {cause:?}");
                with_longer_limits(&case, async |limit| {
                    let config = match cause {
                        Cause::Limit => json!({ "timeoutMs": limit }),
                        Cause::Budget => json!({ "budget": { "maxTurns": 2 } }),
                        Cause::Abort | Cause::HostKilled => json!({}),
                    };
                    let scene = scene(place, means, &config);
                    let is_up = || scene.path("working").exists();
                    let cancel = Cancel::new();
                    let control = Control { cancel: cancel.clone(), ..Control::default() };
                    let user = User::default();
                    let act = async {
                        match cause {
                            Cause::Abort => {
                                eventually("the start of the child", is_up).await;
                                cancel.cancel(CancelReason::Caller(None));
                            }
                            Cause::Budget => {
                                eventually("the start of the child", is_up).await;
                                fs::write(scene.path("spend"), "").expect("the file is written");
                            }
                            Cause::Limit | Cause::HostKilled => {}
                        }
                    };
                    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), act);
                    assert_eq!(result.details.results[0].outcome, outcome, "{case}: {}", result.text);
                    let was_up = is_up();
                    if was_up {
                        nothing_remains(&scene, place, &case).await;
                    }
                    was_up
                })
                .await;
            }
        }
    }
}

/// Names the role of a process of this program, instead of testing.
const ROLE: &str = "TEST_SURVIVORS_ROLE";
const DIRECTORY: &str = "TEST_SURVIVORS_DIRECTORY";
const ENTRY: &str = "a_host_that_is_killed";

#[tokio::test]
async fn a_host_that_is_killed() {
    let Ok(role) = env::var(ROLE) else {
        return;
    };
    // The second process: runs a child until it is killed.
    let (place, means) = role.split_once(' ').expect("the role has two words");
    let place =
        remote_places().into_iter().find(|one| format!("{one:?}") == place).expect("the place exists");
    let means = if means == "Warden" { Means::Warden } else { Means::Cancel };
    let scene = scene(place, means, &json!({}));
    fs::write(env::var(DIRECTORY).expect("the variable is set"), &*scene.root.path().to_string_lossy())
        .expect("the variable is set");
    let user = User::default();
    let control = Control::default();
    let (result, _) = scene.run_with(&user, &control).await;
    panic!("the run ended before the kill: {}", result.text);
}

#[tokio::test]
async fn no_remote_process_survives_a_killed_host() {
    for place in remote_places() {
        for means in [Means::Warden, Means::Cancel] {
            let case = format!("{place:?}, {means:?}, {:?}", Cause::HostKilled);
            let report = tempfile::NamedTempFile::new().expect("a temporary file is created");
            let mut host = Command::new(program::path())
                .args(["--exact", &program::test_name(ENTRY), "--nocapture"])
                .env(ROLE, format!("{place:?} {means:?}"))
                .env(DIRECTORY, report.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .spawn()
                .expect("the test program starts");
            let mut root = PathBuf::new();
            eventually("the start of the child", || {
                root = fs::read_to_string(report.path()).unwrap_or_default().into();
                root.join("working").exists() || host.try_wait().is_ok_and(|ended| ended.is_some())
            })
            .await;
            assert!(root.join("working").exists(), "{case}: the run ended before the host was killed");
            host.kill().expect("the host can be killed");
            host.wait().expect("the host is a child of this process");
            let mut pids = Pids::default();
            for name in ["left", "pid"] {
                let text = fs::read_to_string(root.join(name)).expect("the file is readable");
                pids.push(text.trim().parse().expect("the text is a number"));
            }
            let since = Instant::now();
            pids.gone(&case).await;
            eventually(&case, || naming(&root.join("pi.sh")) == 0).await;
            no_file_remains(place, &root, &case).await;
            let took = since.elapsed();
            assert!(took < BOUND, "{case}: {took:?}");
            // The host has ended, and `cancel` may still write its mark.
            eventually("an empty directory", || fs::remove_dir_all(&root).is_ok() || !root.exists()).await;
        }
    }
}
