//! Events of a cluster that end or delay children: nodes that accept no jobs, jobs that lose their node, a controller that
//! restarts. `npm run test:engines` sets up the cluster, with its client programs in `PATH`.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{self, Command, Stdio};

use crate::support::child::Child;
use crate::support::engine::{engine, through};
use crate::support::pids::{Pids, eventually};
use crate::support::program;
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, Progress, RunOutcome, ToolResult};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tokio::sync::{Mutex, MutexGuard, watch};

/// The cluster, for one test at a time.
static CLUSTER: Mutex<()> = Mutex::const_new(());

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

/// The next step if the child may have changed something on the remote machine.
const LOOK_FIRST: &str = "it was not restarted: check what it has already done there before you run it again";

/// Returns the output of one of Slurm's programs.
fn slurm(program: &str, args: &[&str]) -> String {
    let output =
        Command::new(program).args(args).stdin(Stdio::null()).output().expect("the client program starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The nodes, in the notation of `scontrol`.
fn nodes() -> String {
    std::env::var("PI_SUBAGENT_TEST_SLURM").expect("`npm run test:engines -- slurm` names the nodes")
}

async fn set_nodes(state: &str, expected: &str) {
    let name = format!("NodeName={}", nodes());
    let state = format!("State={state}");
    slurm("scontrol", &["update", &name, &state, "Reason=test"]);
    let states = ["--noheader", "--Node", "--partition=main", "--format=%T"];
    eventually(expected, || slurm("sinfo", &states).lines().all(|line| line.trim() == expected)).await;
}

/// The jobs that have not ended, by state and name.
fn jobs() -> String {
    slurm("squeue", &["--noheader", "--format=%T %j"])
}

/// A scene on a cluster without other users or jobs.
async fn alone(config: &Value) -> (Scene, MutexGuard<'static, ()>) {
    let guard = CLUSTER.lock().await;
    eventually("an empty cluster", || jobs().is_empty()).await;
    (scene(config), guard)
}

fn scene(config: &Value) -> Scene {
    let mut all = json!({ "graceMs": 200, "retry": { "enabled": false }, "launcher": "far" });
    all.as_object_mut()
        .expect("the value is an object")
        .extend(config.as_object().expect("the value is an object").clone());
    with_launcher(Scene::new(works(), all))
}

fn with_launcher(mut scene: Scene) -> Scene {
    let pi = scene.path("pi.sh").to_string_lossy().into_owned();
    let mut far = json!({ "piCommand": ["/bin/sh", pi], "cwd": scene.path("project") });
    through(&engine().expect("the launcher is configured"), &mut far, &scene.path("cancelled"));
    let context = std::sync::Arc::make_mut(&mut scene.spec.context);
    context.config.as_mut().expect("the context has a configuration")["launchers"] = json!({ "far": far });
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
async fn run_with_action(scene: &Scene, control: &Control, act: impl AsyncFnOnce()) -> ToolResult {
    let user = User::default();
    let (progress, mut seen) = watch::channel(Progress::default());
    let acted = async {
        let arrived = |progress: &Progress| format!("{progress:?}").contains("So far.");
        seen.wait_for(arrived).await.expect("the run continues");
        act().await;
    };
    tokio::join!(scene.execute(&user, control, &progress), acted).0
}

/// The state and the id of the only job.
fn job() -> (String, String) {
    let line = slurm("squeue", &["--noheader", "--format=%T %A"]);
    let (state, id) = line.trim().split_once(' ').expect("the line has a state and an ID");
    (state.to_owned(), id.to_owned())
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_job_that_waits_for_drained_nodes_says_so_and_leaves_the_queue_with_its_run() {
    for (label, config) in [("abort", json!({})), ("limit", json!({ "timeoutMs": 3000 }))] {
        let (scene, _cluster) = alone(&config).await;
        set_nodes("DRAIN", "drained").await;
        let control = Control::default();
        let user = User::default();
        let cancel = control.cancel.clone();
        let abort = async {
            eventually("a job in the queue", || jobs().starts_with("PENDING ")).await;
            if label == "abort" {
                cancel.cancel(CancelReason::Caller(None));
            }
        };
        let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), abort);
        let remaining = jobs();
        set_nodes("RESUME", "idle").await;
        let single = &result.details.results[0];
        let why = "queued and waiting for resources";
        let notices = &single.diagnostics;
        assert!(notices.iter().any(|notice| notice.contains(why)), "{label}: {notices:?}");
        assert_eq!(remaining, "", "{label}");
        assert_eq!(started(&scene).len(), 0, "{label}");
    }
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_child_starts_once_a_node_is_available_again() {
    let (scene, _cluster) = alone(&json!({})).await;
    set_nodes("DRAIN", "drained").await;
    fs::write(scene.path("go"), "").expect("the file is written");
    let back = async {
        eventually("a job in the queue", || jobs().starts_with("PENDING ")).await;
        set_nodes("RESUME", "idle").await;
    };
    let user = User::default();
    let control = Control::default();
    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), back);
    assert_eq!(result.text.lines().next(), Some("The end."));
    assert_eq!(started(&scene).len(), 1);
}

/// A job that takes all nodes.
struct Urgent(process::Child);

impl Urgent {
    fn start() -> Self {
        let count = format!("--nodes={}", nodes().split(',').count());
        let args = ["--partition=urgent", &count, "--exclusive", "--job-name=urgent", "sleep", "60"];
        let child = Command::new("srun").args(args).stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(child.expect("srun starts"))
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        slurm("scancel", &["--name=urgent"]);
        let _ = self.0.wait();
    }
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_job_that_loses_its_nodes_fails_its_run_and_is_not_started_again() {
    let (scene, _cluster) = alone(&json!({})).await;
    let control = Control::default();
    let mut urgent = None;
    let result = run_with_action(&scene, &control, async || urgent = Some(Urgent::start())).await;
    let single = &result.details.results[0];
    assert_eq!(single.outcome, RunOutcome::Failed, "{}", result.text);
    let error = single.error.as_deref().unwrap_or_default();
    assert!(
        error.starts_with("`far` ended without reporting the end of its child: ")
            && error.contains("DUE TO PREEMPTION"),
        "{error}"
    );
    assert!(result.text.contains(LOOK_FIRST), "{}", result.text);
    assert!(result.text.contains("So far."), "{}", result.text);
    eventually("the urgent job", || jobs() == "RUNNING urgent\n").await;
    drop(urgent);
    eventually("the end of the urgent job", || jobs().is_empty()).await;
    let pids = started(&scene);
    assert_eq!(pids.len(), 1);
    pids.gone("the child").await;
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_requeue_request_does_not_restart_a_job() {
    let (scene, _cluster) = alone(&json!({})).await;
    let go = scene.path("go");
    let requeue = async || {
        let (_, id) = job();
        let asked =
            Command::new("scontrol").args(["requeue", &id]).output().expect("the client program starts");
        assert!(!asked.status.success(), "Slurm starts no interactive job again");
        fs::write(go, "").expect("the file is written");
    };
    let result = run_with_action(&scene, &Control::default(), requeue).await;
    assert_eq!(result.text.lines().next(), Some("The end."), "{:?}", result.details.results[0].error);
    eventually("an empty cluster", || jobs().is_empty()).await;
    let pids = started(&scene);
    assert_eq!(pids.len(), 1);
    pids.gone("the child").await;
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_controller_restart_during_a_run_does_no_harm() {
    let (scene, _cluster) = alone(&json!({})).await;
    let go = scene.path("go");
    let restart = async || {
        let before = slurm("scontrol", &["show", "config"]);
        let booted = |text: &str| text.lines().find(|line| line.starts_with("BOOT_TIME")).map(str::to_owned);
        slurm("scontrol", &["shutdown", "slurmctld"]);
        eventually("another controller", || {
            let now = booted(&slurm("scontrol", &["show", "config"]));
            now.is_some() && now != booted(&before)
        })
        .await;
        fs::write(go, "").expect("the file is written");
    };
    let result = run_with_action(&scene, &Control::default(), restart).await;
    assert_eq!(result.text.lines().next(), Some("The end."), "{:?}", result.details.results[0].error);
    assert_eq!(started(&scene).len(), 1);
    eventually("an empty cluster", || jobs().is_empty()).await;
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn an_abort_of_a_running_job_leaves_none() {
    let (scene, _cluster) = alone(&json!({})).await;
    let cancel = Cancel::new();
    let control = Control { cancel: cancel.clone(), ..Control::default() };
    let result = run_with_action(&scene, &control, async || cancel.cancel(CancelReason::Caller(None))).await;
    assert_eq!(result.details.results[0].outcome, RunOutcome::Aborted);
    eventually("an empty cluster", || jobs().is_empty()).await;
    started(&scene).gone("the child").await;
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_lost_node_fails_the_run_and_a_drained_node_does_not() {
    let (scene, _cluster) = alone(&json!({})).await;
    let down = async || {
        drop(slurm("scontrol", &["update", &format!("NodeName={}", nodes()), "State=DOWN", "Reason=test"]));
    };
    let result = run_with_action(&scene, &Control::default(), down).await;
    set_nodes("RESUME", "idle").await;
    let single = &result.details.results[0];
    assert_eq!(single.outcome, RunOutcome::Failed, "{}", result.text);
    let error = single.error.as_deref().unwrap_or_default();
    assert!(
        error.starts_with("`far` ended without reporting the end of its child: ")
            && error.contains("Node failure on"),
        "{error}"
    );
    assert!(result.text.contains(LOOK_FIRST), "{}", result.text);
    eventually("an empty cluster", || jobs().is_empty()).await;
    let pids = started(&scene);
    assert_eq!(pids.len(), 1);
    pids.gone("the child").await;

    let scene = self::scene(&json!({}));
    let go = scene.path("go");
    let drain = async || {
        slurm("scontrol", &["update", &format!("NodeName={}", nodes()), "State=DRAIN", "Reason=test"]);
        fs::write(go, "").expect("the file is written");
    };
    let result = run_with_action(&scene, &Control::default(), drain).await;
    set_nodes("RESUME", "idle").await;
    assert_eq!(result.text.lines().next(), Some("The end."), "{:?}", result.details.results[0].error);
    eventually("an empty cluster", || jobs().is_empty()).await;
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_refused_job_gives_the_reason() {
    for (option, expected) in [("--partition=nowhere", "invalid partition"), ("--mem=900T", "emory")] {
        let (mut scene, _cluster) = alone(&json!({})).await;
        let context = std::sync::Arc::make_mut(&mut scene.spec.context);
        let far = &mut context.config.as_mut().expect("the context has a configuration")["launchers"]["far"];
        let words = far["command"].as_array_mut().expect("the value is an array");
        // The last one counts.
        words.insert(words.len() - 1, option.into());
        let result = scene.run_with(&User::default(), &Control::default()).await.0;
        let single = &result.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Failed, "{option}: {}", result.text);
        let error = single.error.as_deref().unwrap_or_default();
        assert!(
            error.starts_with("`far` ended before it started a child: ") && error.contains(expected),
            "{error}"
        );
        assert!(result.text.contains("`/subagents doctor`"), "{}", result.text);
        assert_eq!((jobs(), started(&scene).len()), (String::new(), 0));
    }
}

/// Makes a process of this program a host.
const HOST: &str = "TEST_SLURM_HOST";
const ENTRY: &str = "a_host_that_is_killed";

#[tokio::test]
async fn a_host_that_is_killed() {
    if std::env::var_os(HOST).is_none() {
        return;
    }
    let mut scene = scene(&json!({}));
    std::sync::Arc::make_mut(&mut scene.spec.context).warden = Some(program::warden());
    let (result, _) = scene.run_with(&User::default(), &Control::default()).await;
    panic!("the run ended before the kill: {}", result.text);
}

#[tokio::test]
#[ignore = "needs a cluster: npm run test:engines -- slurm"]
async fn a_queued_job_does_not_outlive_its_killed_host() {
    let (_scene, _cluster) = alone(&json!({})).await;
    set_nodes("DRAIN", "drained").await;
    let mut host = Command::new(program::path())
        .args(["--exact", &program::test_name(ENTRY)])
        .env(HOST, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("the test program starts");
    eventually("a job in the queue", || jobs().starts_with("PENDING ")).await;
    host.kill().expect("the host can be killed");
    host.wait().expect("the host is a child of this process");
    let since = std::time::Instant::now();
    eventually("an empty queue", || jobs().is_empty()).await;
    let took = since.elapsed();
    set_nodes("RESUME", "idle").await;
    assert!(took < std::time::Duration::from_secs(15), "{took:?}");
}
