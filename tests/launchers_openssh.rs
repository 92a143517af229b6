//! Children of an SSH server whose network is slow, stalls or breaks, whose key has changed, or whose disk is full. `npm run
//! test:engines -- openssh` sets up the server, with the client in `PATH`; the network is a relay.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::child::Child;
use crate::support::engine::{engine, naming, through};
use crate::support::pids::{Pids, eventually};
use crate::support::relay::{Network, Relay};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, Progress, RunOutcome, SingleResult, ToolResult};
use serde_json::{Value, json};
use tokio::sync::watch;

/// Prints its PID, works, and continues until it gets the command to answer, or its host has ended.
fn works() -> Child {
    Child::new()
        .runs(r#"echo $$ >>"$home/pids""#)
        .receives()
        .starts()
        .says("So far.")
        .with_stop_reason("toolUse")
        .waits_for("go")
        .says("The end.")
        .settles()
        .listens()
}

/// The time in which the server notices a lost client, as the test's server is configured, plus a margin.
const NOTICED: Duration = Duration::from_secs(15);

/// The next step if the child may have changed something on the remote machine.
const LOOK_FIRST: &str = "it was not restarted: check what it has already done there before you run it again";
/// The next step if the launcher has failed.
const TRY_IT: &str =
    "the launcher failed, not the task: tell the user, who can test it with `/subagents doctor`";

fn variable(name: &str) -> String {
    std::env::var(name).expect("`npm run test:engines -- openssh` sets it")
}

/// The directory of the server, its keys and its client's keys.
fn directory() -> PathBuf {
    variable("PI_SUBAGENT_TEST_SSH_DIRECTORY").into()
}

fn network(delay: Duration) -> Relay {
    Relay::to(variable("PI_SUBAGENT_TEST_SSH").parse().expect("the address is valid"), delay)
}

/// A scene behind a relay, with additional options for `ssh`.
fn scene_behind(relay: &Relay, options: &[&str], config: &Value) -> Scene {
    let mut all = json!({ "graceMs": 200, "retry": { "enabled": false }, "launcher": "far" });
    all.as_object_mut()
        .expect("the value is an object")
        .extend(config.as_object().expect("the value is an object").clone());
    let mut scene = Scene::new(works(), all);
    let pi = scene.path("pi.sh").to_string_lossy().into_owned();
    let mut far = json!({ "piCommand": ["/bin/sh", pi], "cwd": scene.path("project") });
    through(&engine().expect("the launcher is configured"), &mut far, &scene.path("cancelled"));
    let command = far["command"].as_array_mut().expect("the value is an array");
    let port = format!("Port={}", relay.port);
    let options = ["HostName=127.0.0.1", &port].into_iter().chain(options.iter().copied());
    let words: Vec<Value> = options.flat_map(|option| [json!("-o"), json!(option)]).collect();
    command.splice(1..1, words);
    Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the context has a configuration")["launchers"] =
        json!({ "far": far });
    scene
}

/// The PIDs of the children.
fn started(scene: &Scene) -> Pids {
    let mut pids = Pids::default();
    let text = fs::read_to_string(scene.path("pids")).unwrap_or_default();
    text.lines().for_each(|line| pids.push(line.parse().expect("the line is a number")));
    pids
}

/// Runs a scene, calls a function after the child's first output, and returns the result.
async fn run_with_action(scene: &Scene, act: impl AsyncFnOnce()) -> ToolResult {
    let user = User::default();
    let control = Control::default();
    let (progress, mut seen) = watch::channel(Progress::default());
    let acted = async {
        let arrived = |progress: &Progress| format!("{progress:?}").contains("So far.");
        seen.wait_for(arrived).await.expect("the run continues");
        act().await;
    };
    tokio::join!(scene.execute(&user, &control, &progress), acted).0
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

fn error(result: &ToolResult) -> &str {
    single(result).error.as_deref().unwrap_or_default()
}

/// Checks that there was one child, and that no process of the launcher remains.
async fn one_child_ends(scene: &Scene, what: &str) {
    let since = Instant::now();
    let pids = started(scene);
    assert_eq!(pids.len(), 1, "{what}");
    pids.gone(what).await;
    eventually(what, || naming(&scene.path("pi.sh")) == 0).await;
    assert!(since.elapsed() < NOTICED, "{what} took {:?}", since.elapsed());
}

#[tokio::test]
#[ignore = "needs a server: npm run test:engines -- openssh"]
async fn a_cut_connection_fails_the_run_and_leaves_no_remote_process() {
    let relay = network(Duration::ZERO);
    let scene = scene_behind(&relay, &[], &json!({}));
    let result = run_with_action(&scene, async || relay.set(Network::Broken)).await;
    assert_eq!(single(&result).outcome, RunOutcome::Failed, "{}", result.text);
    assert!(
        error(&result).starts_with("`far` ended without reporting the end of its child"),
        "{}",
        error(&result)
    );
    assert!(result.text.contains("So far.") && result.text.contains(LOOK_FIRST), "{}", result.text);
    one_child_ends(&scene, "the child of a cut connection").await;
}

#[tokio::test]
#[ignore = "needs a server: npm run test:engines -- openssh"]
async fn a_silent_network_failure_ends_the_run_and_then_the_child() {
    let alive = ["ServerAliveInterval=1", "ServerAliveCountMax=2"];
    for (label, options, config, outcome) in [
        ("noticed by ssh", &alive[..], json!({}), RunOutcome::Failed),
        ("noticed by the limit of silence", &[], json!({ "idleTimeoutMs": 2_000 }), RunOutcome::IdleTimeout),
        ("noticed by the limit of the run", &[], json!({ "timeoutMs": 5_000 }), RunOutcome::HardTimeout),
    ] {
        let relay = network(Duration::ZERO);
        let scene = scene_behind(&relay, options, &config);
        let result = run_with_action(&scene, async || relay.set(Network::Stalls)).await;
        assert_eq!(single(&result).outcome, outcome, "{label}: {}", result.text);
        if outcome == RunOutcome::Failed {
            assert!(
                error(&result).starts_with("`far` ended without reporting the end of its child: "),
                "{label}: {}",
                error(&result)
            );
            assert!(error(&result).contains("not responding"), "{label}: {}", error(&result));
        } else {
            assert!(result.text.contains("the user can test the launcher"), "{label}: {}", result.text);
        }
        one_child_ends(&scene, label).await;
    }
}

#[tokio::test]
#[ignore = "needs a server: npm run test:engines -- openssh"]
async fn a_slow_network_and_a_short_stall_do_no_harm() {
    for (label, delay, stall) in [("slow", 150, Duration::ZERO), ("stalled", 0, Duration::from_millis(1_500))]
    {
        let relay = network(Duration::from_millis(delay));
        let scene = scene_behind(&relay, &["ServerAliveInterval=15", "ServerAliveCountMax=2"], &json!({}));
        let result = run_with_action(&scene, async || {
            relay.set(if stall.is_zero() { Network::Works } else { Network::Stalls });
            fs::write(scene.path("go"), "").expect("the file is written");
            tokio::time::sleep(stall).await;
            relay.set(Network::Works);
        })
        .await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{label}: {}", result.text);
        assert_eq!(single(&result).output.as_deref(), Some("The end."), "{label}");
        one_child_ends(&scene, label).await;
    }
}

#[tokio::test]
#[ignore = "needs a server: npm run test:engines -- openssh"]
async fn a_changed_host_key_starts_nothing_and_is_reported() {
    let relay = network(Duration::ZERO);
    let known = directory().join("known-changed");
    let other = fs::read_to_string(directory().join("user.pub")).expect("the file is readable");
    fs::write(&known, format!("build-box {other}")).expect("the file is written");
    let file = format!("UserKnownHostsFile={}", known.display());
    let scene = scene_behind(&relay, &[&file, "HostKeyAlias=build-box"], &json!({}));
    let user = User::default();
    let control = Control::default();
    let result = scene.run_with(&user, &control).await.0;
    assert_eq!(single(&result).outcome, RunOutcome::Failed, "{}", result.text);
    let error = error(&result);
    assert!(error.starts_with("`far` ended before it started a child: "), "{error}");
    for words in
        ["REMOTE HOST IDENTIFICATION HAS CHANGED", "Host key verification failed.", "known-changed:1"]
    {
        assert!(error.contains(words), "{error}");
    }
    assert!(result.text.contains(TRY_IT), "{}", result.text);
    assert_eq!(started(&scene).len(), 0);
}

#[tokio::test]
#[ignore = "needs a server: npm run test:engines -- openssh"]
async fn an_unknown_key_and_a_missing_server_are_reported() {
    let relay = network(Duration::ZERO);
    let other = format!("IdentityFile={}", directory().join("host").display());
    for (options, expected) in [
        (vec![other.as_str(), "IdentityAgent=none"], "Permission denied"),
        (vec!["ConnectTimeout=5"], "Connection refused"),
    ] {
        let gone = network(Duration::ZERO);
        let is_there = expected == "Permission denied";
        let mut scene = scene_behind(if is_there { &relay } else { &gone }, &options, &json!({}));
        if is_there {
            // Only this key: otherwise the client's configured key is tried, too.
            let far = &mut Arc::make_mut(&mut scene.spec.context)
                .config
                .as_mut()
                .expect("the configuration exists")["launchers"]["far"];
            let words = far["command"].as_array_mut().expect("the value is an array");
            words.splice(
                1..1,
                ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"].map(Value::from),
            );
            words.splice(1..1, ["-o", "UserKnownHostsFile=/dev/null"].map(Value::from));
        }
        drop(gone);
        let user = User::default();
        let control = Control::default();
        let result = scene.run_with(&user, &control).await.0;
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{}", result.text);
        let error = error(&result);
        assert!(
            error.starts_with("`far` ended before it started a child: ") && error.contains(expected),
            "{error}"
        );
        assert_eq!(started(&scene).len(), 0);
    }
}

#[tokio::test]
#[ignore = "needs a server: npm run test:engines -- openssh"]
async fn a_full_remote_disk_starts_nothing_and_is_reported() {
    let Ok(full) = std::env::var("PI_SUBAGENT_TEST_SSH_FULL") else {
        drop(writeln!(io::stderr(), "no file system of a few bytes can be mounted here: not played"));
        return;
    };
    let relay = network(Duration::ZERO);
    let mut scene = scene_behind(&relay, &[], &json!({}));
    let far = &mut Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the configuration exists")
        ["launchers"]["far"];
    let argv = far["command"]
        .as_array_mut()
        .expect("the value is an array")
        .last_mut()
        .expect("the command ends with the child");
    assert_eq!(argv, "{argv}");
    *argv = format!("TMPDIR='{full}' {{argv}}").into();
    let user = User::default();
    let control = Control::default();
    let result = scene.run_with(&user, &control).await.0;
    assert_eq!(single(&result).outcome, RunOutcome::Failed, "{}", result.text);
    let error = error(&result);
    assert!(
        error.starts_with("`far` ended before it started a child: ") && error.contains("is the disk full?"),
        "{error}"
    );
    assert!(error.contains("100%"), "{error}");
    assert_eq!(started(&scene).len(), 0);
}
