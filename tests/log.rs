//! The log: every decision that a user may wonder about is a line with its component and its reason, without other lines.
//!
//! A process has one log, so one test plays all scenes.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::support::actor::{self, Actor, reply};
use crate::support::child::{Child, GUARD_KEY};
use crate::support::extension;
use crate::support::pids::eventually;
use crate::support::program;
use crate::support::stage::{self, PATIENCE, User, stage};
use pi_subagent_native::log::{self, Report};
use pi_subagent_native::orchestrate::background::{
    Ack, BackgroundEvent, BackgroundService, ConversationScope, ConversationView, KnownDeliveries, Listener,
    Receipt, RunRecord, SpawnRequest, background, close_conversation, commands, host_run, mark_delivered,
    open_conversation, parse_call, resume, spawn, until_settled, use_session_tool,
};
use pi_subagent_native::orchestrate::{end_spares, single};
use pi_subagent_native::run::{
    ActionOutcome, Answer, Host, HostContext, RunOverrides, RunSpec, RunState, ToolResult, start_log,
};
use serde_json::{Value, json};
use supervisor::Cancel;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

const SECRET: &str = "made-up-deploy-value-0815";
const TASK: &str = "look around in the words of a person";
const SESSION: &str = "conversation";
const FILTER: &str = "debug,warden=trace";

struct Scene {
    root: TempDir,
    context: HostContext,
}

impl Scene {
    fn new(child: Child, config: Value) -> Self {
        let root = stage(child);
        let mut context = stage::context(root.path(), config);
        context.env.push(("DEPLOY_TOKEN".into(), SECRET.into()));
        context.env.push((log::VARIABLE.into(), FILTER.into()));
        let session_file = Some(root.path().join("sessions/conversation.jsonl"));
        context.host = Host { session_id: Some(SESSION.into()), session_file, ..Host::default() };
        Self { root, context }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("the path is below the root"))
            .expect("the directory is created");
        fs::write(path, text).expect("the file is written");
    }

    fn spec(&self, agent: &str) -> RunSpec {
        RunSpec {
            agent: agent.into(),
            label: None,
            task: TASK.into(),
            cwd: self.path("project"),
            context: Arc::new(self.context.clone()),
            share: 1,
            siblings: 1,
            overrides: RunOverrides::default(),
        }
    }

    fn request(&self, agent: &str) -> SpawnRequest {
        let request = SpawnRequest::new(TASK.into(), self.path("project"), Arc::new(self.context.clone()));
        SpawnRequest { agent: Some(agent.into()), ..request }
    }

    fn scope(&self) -> ConversationScope {
        let context = Arc::new(self.context.clone());
        ConversationScope { cwd: self.path("project"), context, ends_with: Cancel::new() }
    }

    async fn open(&self) -> (Arc<BackgroundService>, Arc<ConversationView>) {
        let service = background(&self.path("agent"));
        let known = KnownDeliveries::default();
        let view = open_conversation(&service, SESSION.into(), self.scope(), known, AcceptingListener).await;
        (service, view)
    }

    async fn run(&self, agent: &str) -> ToolResult {
        let run = single(self.spec(agent), extension::call(Arc::new(User::default())));
        timeout(PATIENCE, run).await.expect("the run ends")
    }
}

/// The log written so far.
struct Log(PathBuf);

impl Log {
    fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("the file is readable")
    }

    /// Panics unless a line of this component has all these words.
    fn assert_line(&self, part: &str, words: &[&str]) {
        let text = self.text();
        let part = format!(" {part}: ");
        let is_it = |line: &str| line.contains(&part) && words.iter().all(|word| line.contains(word));
        assert!(text.lines().any(is_it), "no line of{part}contains {words:?}:\n{text}");
    }
}

struct AcceptingListener;

impl Listener for AcceptingListener {
    async fn notify(&mut self, _: BackgroundEvent) -> Ack {
        Ack::Accepted
    }
}

#[tokio::test]
async fn each_decision_is_a_line_with_its_component_and_its_reason() {
    if program::runs_alone() {
        return;
    }
    let first = Scene::new(
        Child::new()
            .runs(r#"env > "$home/env.$$"; mv "$home/env.$$" "$home/env""#)
            .then(Child::answering())
            .listens(),
        json!({ "spare": { "count": 1 } }),
    );
    assert!(!first.run("explorer").await.is_error);
    timeout(PATIENCE, end_spares()).await.expect("the spare children end");
    assert!(!first.path("agent/subagents/logs").exists(), "the log is off by default");

    start_log(&first.context);
    let Report::On { path, filter } = log::report() else { panic!("{:?}", log::report()) };
    let log = Log(path.clone());
    assert_eq!((path.parent(), &*filter), (Some(&*first.path("agent/subagents/logs")), FILTER));
    assert_eq!(fs::metadata(&path).expect("the file exists").permissions().mode() & 0o777, 0o600);
    assert!(log.text().starts_with("# pi-subagent-native "), "{}", log.text());

    succeeds(&log, &first).await;
    is_refused(&log, &first).await;
    fails(&log).await;
    waits(&log).await;
    waits_for_quota(&log).await;
    is_delivered(&log).await;
    asks_its_conversation(&log).await;
    is_resumed_after_a_restart(&log).await;
    is_isolated_and_checked(&log).await;
    lacks_a_layer_of_its_sandbox(&log).await;

    let text = log.text();
    for hidden in [SECRET, TASK, "The whole answer"] {
        assert!(!text.contains(hidden), "the log contains {hidden}:\n{text}");
    }
    let of_no_part = |line: &&str| !log::PARTS.iter().any(|part| line.contains(&format!(" {part}: ")));
    assert_eq!(text.lines().skip(1).find(of_no_part), None);
    assert_eq!(
        fs::read_dir(path.parent().expect("the path has a parent"))
            .expect("the directory is readable")
            .count(),
        1
    );
}

async fn succeeds(log: &Log, scene: &Scene) {
    scene.write("agent/subagents.json", r#"{ "subagents": { "graceMss": 7 } }"#);
    assert!(!scene.run("explorer").await.is_error);
    log.assert_line("config", &["has no effect", "graceMss", "did you mean"]);
    log.assert_line("agent", &["the agent is found", "from=builtin"]);
    log.assert_line("agent", &["a tool is dropped", "bash"]);
    log.assert_line("run", &["the model is chosen", "from="]);
    log.assert_line("sandbox", &["nothing restrains the child", "there is no warden"]);
    log.assert_line("queue", &["run{id=", "slot", "the run has its slot", "waited_ms="]);
    log.assert_line("child", &["the child has started", "pid="]);
    log.assert_line("child", &["attempt{number=1}", "child{pid=", "the child has ended", "Settled"]);
    log.assert_line("run", &["the run has ended", "outcome=completed"]);
    let env = fs::read_to_string(scene.path("env")).expect("the child wrote the file");
    assert!(env.contains("PI_SUBAGENT_CHILD=1") && !env.contains(log::VARIABLE), "{env}");
    // Another child boots after the result.
    eventually("a spare child", || log.text().matches("purpose=Spare").count() == 1).await;
    timeout(PATIENCE, end_spares()).await.expect("the spare children end");
    log.assert_line("early", &["a child that was booted ahead is discarded", "or pi ends"]);
}

async fn is_refused(log: &Log, scene: &Scene) {
    assert!(scene.run("nobody").await.is_error);
    log.assert_line("agent", &["the call is refused", "nobody"]);
}

async fn fails(log: &Log) {
    let brief = |key: &str, value: Value| json!({ key: value, "graceMs": 200 });
    let stuck = Child::new()
        .runs("trap '' TERM")
        .receives()
        .starts()
        .runs(r#"while test -d "$home"; do sleep 0.1; done"#);
    let scene = Scene::new(stuck, brief("idleTimeoutMs", json!(300)));
    assert!(scene.run("explorer").await.is_error);
    log.assert_line("child", &["a program ends", "Silent(300ms)"]);
    log.assert_line("child", &["not exited within its grace period and is killed"]);
    log.assert_line("run", &["the run has ended", "outcome=idle_timeout", "`idleTimeoutMs`"]);

    // The provider quotes a secret.
    let gives_up = Child::working().gives_up(&format!("500 for {SECRET}")).listens();
    let scene = Scene::new(gives_up, json!({ "retry": { "maxAttempts": 2, "backoffMs": 10 } }));
    assert!(scene.run("explorer").await.is_error);
    log.assert_line("run", &["another attempt follows", "next=2", "pause=10ms"]);
    log.assert_line("run", &["the attempt has ended", "500 for [REDACTED]"]);

    let turns =
        Child::working().says("").with_stop_reason("toolUse").says("").with_stop_reason("toolUse").listens();
    let scene = Scene::new(turns, brief("budget", json!({ "maxTurns": 1 })));
    assert!(scene.run("explorer").await.is_error);
    log.assert_line("budget", &["the run is ended", "`budget.maxTurns` reached"]);

    let asks = Child::working().asks("q1", "Name?").receives().says("The whole answer.").settles().listens();
    assert!(!Scene::new(asks, json!({ "inheritExtensions": "none" })).run("explorer").await.is_error);
    log.assert_line("question", &["is declined", "is_forged=true"]);
}

/// Two runs of a pi with one slot.
async fn waits(log: &Log) {
    let scene = Scene::new(
        Child::working().waits_for("go").says("The whole answer.").settles().listens(),
        json!({ "maxConcurrent": 1 }),
    );
    let second = async {
        eventually("a run that waits", || log.text().contains("`maxConcurrent` allows")).await;
        scene.write("go", "");
    };
    tokio::join!(scene.run("explorer"), scene.run("explorer"), second);
    log.assert_line(
        "queue",
        &["the run waits", "position=1", "this process has as many children as `maxConcurrent` allows"],
    );
}

/// Waits for a run of the conversation, of this or another process, and returns it.
async fn until_run(service: &Arc<BackgroundService>, is_it: impl Fn(&RunRecord) -> bool) -> RunRecord {
    let run = async {
        loop {
            let runs = service.runs(Some(SESSION.into())).await;
            if let Some(run) = runs.into_iter().find(&is_it) {
                return run;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, run).await.expect("the run gets that far")
}

/// A run whose provider refuses its first child, until a person lets it try.
async fn waits_for_quota(log: &Log) {
    let refused = "402 insufficient_quota: You exceeded your current quota";
    let refused = Child::working()
        .if_exists("allowed", &Child::new().says("The whole answer.").settles().listens())
        .says("")
        .with_error(refused)
        .settles()
        .listens();
    let scene = Scene::new(refused, json!({ "model": "quota/m1" }));
    let service = background(&scene.path("agent"));
    let user = || Arc::new(User { answers: Some(Box::new(|_| Answer::Cancelled)), ..User::default() });
    let person = async {
        let run = until_run(&service, |run| run.state == RunState::AwaitingQuota).await;
        scene.write("allowed", "");
        let done = resume(&service, &run, None, &scene.scope(), user()).await;
        assert_eq!(done.expect("the quota is tried"), ActionOutcome::TriesQuota);
    };
    let run = timeout(PATIENCE, single(scene.spec("explorer"), extension::call(user())));
    let (result, ()) = tokio::join!(run, person);
    assert!(!result.expect("the run ends").is_error);
    log.assert_line("queue", &["the provider asks for a pause", "provider=\"quota\"", "is_quota=true"]);
    log.assert_line("queue", &["run{id=", "the run waits", "its provider's quota is used up"]);
    log.assert_line("queue", &["a person lets a run try its provider's quota", "[\"quota\"]"]);
    log.assert_line("queue", &["the provider's quota is available again", "provider=\"quota\""]);
}

async fn is_delivered(log: &Log) {
    let scene = Scene::new(Child::answering().listens(), json!({}));
    let (service, view) = scene.open().await;
    let refused = spawn(&service, scene.request("nobody"), Arc::new(User::default())).await;
    assert!(!matches!(refused, Receipt::Accepted { .. }), "{refused:?}");
    log.assert_line("agent", &["the background run does not start here", "nobody"]);
    let request = scene.request("explorer");
    let receipt = spawn(&service, request, Arc::new(User::default())).await;
    let Receipt::Accepted { run_id, .. } = receipt else { panic!("{receipt:?}") };
    timeout(PATIENCE, until_settled(&service, &view, Some(PATIENCE))).await.expect("the run settles");
    log.assert_line("delivery", &["the end of a run is stored", &run_id, "Completed", "is_silent=false"]);
    log.assert_line(
        "delivery",
        &["delivery{runs=", &run_id, "results are handed to the conversation", SESSION],
    );
    let ids = delivery_ids(&log.text());
    mark_delivered(&service, &view, ids.clone()).await;
    log.assert_line("delivery", &["the conversation contains the results", &ids[0]]);
    close_conversation(&service, &view).await;
    log.assert_line("delivery", &["the conversation is closed", "undelivered=0"]);
}

/// The ids in the line about deliveries.
fn delivery_ids(text: &str) -> Vec<String> {
    let line = text
        .lines()
        .find(|line| line.contains("results are handed"))
        .expect("the log has a line about deliveries");
    let (_, ids) = line.split_once("ids=").expect("the line names the ids");
    serde_json::from_str(ids).expect("the text is valid JSON")
}

/// Runs of an agent with `ask: parent`. The conversation answers the first, the user the second, no one the third.
async fn asks_its_conversation(log: &Log) {
    let asks = Child::new()
        .shows_guard_key()
        .receives()
        .starts()
        .receives()
        .asks("q1", &format!("{GUARD_KEY} Which colour?"))
        .receives()
        .says("The whole answer.")
        .settles()
        .listens();
    let config = json!({ "graceMs": 200, "sandbox": "off", "inheritExtensions": "all" });
    let scene = Scene::new(asks, config);
    scene.write(
        "agent/agents/asks.md",
        "---\nname: asks\nreadonly: true\ntools: read\nask: parent\n---\nAsk.\n",
    );
    let (service, view) = scene.open().await;
    let start = async |user: User<'static>| {
        let receipt = spawn(&service, scene.request("asks"), Arc::new(user)).await;
        let Receipt::Accepted { session_key, .. } = receipt else { panic!("{receipt:?}") };
        session_key
    };
    let session_key = start(User::default()).await;
    let send = json!({ "sessionKey": session_key, "message": "green" });
    eventually("a question", || view.runs().iter().any(|run| run.progress.pending_question.is_some())).await;
    let call = parse_call("sessions_send", send).expect("it is a session tool").expect("it is well formed");
    let cancel = Cancel::new();
    let answer = use_session_tool(&service, &view, call, None, Arc::new(User::default()), &cancel);
    let answer = timeout(PATIENCE, answer).await.expect("the process answers");
    assert!(!answer.is_error, "{}", answer.value);
    let settled = async || {
        timeout(PATIENCE, until_settled(&service, &view, Some(PATIENCE))).await.expect("the run settles");
    };
    settled().await;
    log.assert_line("question", &["has its answer", "by=\"conversation\"", "is_declined=false"]);
    log.assert_line(
        "question",
        &["a question of the child has ended", "is_from_agent=true", "is_answered=true"],
    );

    let red = |_| Answer::Value("red".into());
    start(User { answers: Some(Box::new(red)), ..User::default() }).await;
    settled().await;
    log.assert_line("question", &["has its answer", "by=\"user\"", "is_declined=false"]);
    start(User { answers: Some(Box::new(|_| Answer::Cancelled)), ..User::default() }).await;
    settled().await;
    log.assert_line("question", &["has its answer", "by=\"user\"", "is_declined=true"]);

    start(User { patience: Some(Duration::from_millis(200)), ..User::default() }).await;
    settled().await;
    log.assert_line(
        "question",
        &["a question of the child has ended", "is_from_agent=true", "is_answered=false"],
    );
    assert_eq!(log.text().matches("has its answer").count(), 3, "no one has answered the last question");
    close_conversation(&service, &view).await;
}

/// A background run of a process that was killed.
async fn is_resumed_after_a_restart(log: &Log) {
    let answers = Child::new().says("The whole answer.").settles();
    let child = Child::working().if_exists("restarted", &answers).listens();
    let scene = Scene::new(child, json!({ "graceMs": 200 }));
    let mut other = Actor::start(&scene.path("agent"));
    other.say("run");
    other.say(&serde_json::to_string(&scene.request("explorer")).expect("the request is serialized"));
    let receipt = other.answer();
    assert!(receipt.starts_with("Accepted"), "{receipt}");
    let service = background(&scene.path("agent"));
    until_run(&service, |run| run.transcript.is_some()).await;
    other.kill();
    scene.write("restarted", "");
    let (service, view) = scene.open().await;
    let run = until_run(&service, RunRecord::can_restart).await;
    let user = Arc::new(User::default());
    let report = commands::restart_runs(&service, &view, vec![run.key.clone()], user).await.plain();
    assert!(report.contains("resumed"), "{report}");
    log.assert_line("run", &["an interrupted run is resumed", &run.run_id, "restarts=0"]);
    timeout(PATIENCE, until_settled(&service, &view, Some(PATIENCE))).await.expect("the run settles");
    close_conversation(&service, &view).await;
}

/// A sandbox that lacks what the configuration switches off, below a real warden.
async fn lacks_a_layer_of_its_sandbox(log: &Log) {
    let mut scene =
        Scene::new(Child::answering().listens(), json!({ "sandbox": { "mode": "auto", "metadata": false } }));
    scene.context.warden = Some(program::warden());
    scene.run("explorer").await;
    log.assert_line("sandbox", &["the kernel restrains the child", "writes=false"]);
    log.assert_line("sandbox", &["WARN", "a layer is missing", "`sandbox.metadata` is off"]);
}

#[tokio::test]
async fn a_host_process_writes_a_log_of_its_own() {
    let scene = Scene::new(Child::answering().listens(), json!({ "background": { "onExit": "keep" } }));
    let mut host = Actor::start(&scene.path("agent"));
    host.say("host");
    let request = SpawnRequest {
        run_timeout_seconds: Some(60.0),
        detached_key: Some("00000000-0000-4000-8000-000000000001".into()),
        ..scene.request("explorer")
    };
    host.say(&serde_json::to_string(&request).expect("the request is serialized"));
    host.close();
    let receipt = serde_json::from_str(&host.answer()).expect("the answer is a receipt");
    assert!(matches!(receipt, Receipt::Accepted { .. }), "{receipt:?}");
    assert_eq!(host.answer(), "Ok(())", "the host process ends with its run");
    let logs = fs::read_dir(scene.path("agent/subagents/logs")).expect("the directory is readable");
    let logs: Vec<_> = logs.map(|entry| entry.expect("the entry is readable").path()).collect();
    let [path] = &logs[..] else { panic!("{logs:?}") };
    let log = Log(path.clone());
    assert!(log.text().starts_with("# pi-subagent-native "), "{}", log.text());
    log.assert_line("run", &["run{id=", "the run has ended", "outcome=completed"]);
    log.assert_line("delivery", &["the end of a run is stored"]);
}

/// The second process accepts a run and waits for its own end, or is the host process of a run.
#[test]
fn a_second_process_ends_with_its_test() {
    actor::play(|agent_dir, script| {
        let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
        let user = Arc::new(User::default());
        match script.next().as_deref() {
            Some("host") => {
                let answer = |receipt: &[u8]| {
                    reply(&String::from_utf8_lossy(receipt));
                    Ok(())
                };
                reply(&format!("{:?}", runtime.block_on(host_run(user, answer))));
            }
            Some("run") => {
                let request = script.next().expect("the test sends a request");
                let request = serde_json::from_str(&request).expect("the request is valid JSON");
                reply(&format!("{:?}", runtime.block_on(spawn(&background(agent_dir), request, user))));
                script.for_each(drop);
            }
            other => assert_eq!(other, None),
        }
    });
}

/// A run below a real warden in a private tree of a real repository, whose work is checked.
async fn is_isolated_and_checked(log: &Log) {
    let config = json!({ "allowWrite": true, "sandbox": { "mode": "off" }, "check": { "attempts": 0 } });
    let mut scene = Scene::new(Child::answering().listens(), config);
    scene.context.warden = Some(program::warden());
    fs::remove_dir(scene.path("project/.git")).expect("the directory is removed");
    git(&scene.path("project"), &["init", "-q"]);
    scene.write("project/a.txt", "text");
    let agent =
        "---\nname: writer\nreadonly: false\nisolation: private\ncheck: test -e nothing\n---\nWrite.\n";
    scene.write("agent/agents/writer.md", agent);
    assert!(scene.run("writer").await.is_error);
    log.assert_line("warden", &["the machine was probed"]);
    log.assert_line("warden", &["the warden has started a program"]);
    log.assert_line("warden", &["run{id=", "the warden reports", "TreeEnded"]);
    log.assert_line("sandbox", &["nothing restrains the child", "switched off"]);
    log.assert_line("tree", &["the run has a private tree"]);
    log.assert_line("tree", &["run{id=", "the private tree is imported"]);
    log.assert_line("run", &["the check of the work has ended", "passed=false"]);
}

fn git(at: &Path, args: &[&str]) {
    let done = std::process::Command::new("git").args(args).current_dir(at).output().expect("git runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
