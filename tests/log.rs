//! The log: every decision that a user may wonder about is a line with its component and its reason, without other lines.
//!
//! A process has one log, so one test plays all scenes.
#![cfg(target_os = "linux")]

#[path = "support/call.rs"]
mod call;
#[path = "support/pids.rs"]
#[expect(dead_code, reason = "only the waiting is used here")]
mod pids;
#[path = "support/stage.rs"]
mod stage;
#[path = "support/warden.rs"]
mod warden;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagent_native::log::{self, Report};
use pi_subagent_native::orchestrate::background::{
    Ack, BackgroundEvent, ConversationScope, KnownDeliveries, Listener, Receipt, SpawnRequest, background,
    close_conversation, mark_delivered, open_conversation, spawn, until_settled,
};
use pi_subagent_native::orchestrate::{end_spares, single};
use pi_subagent_native::process::Cancel;
use pi_subagent_native::run::{Host, HostContext, RunOverrides, RunSpec, ToolResult, start_log};
use pids::eventually;
use serde_json::{Value, json};
use stage::{PATIENCE, User, stage};
use tempfile::TempDir;
use tokio::time::timeout;

const SECRET: &str = "made-up-deploy-value-0815";
const TASK: &str = "look around in the words of a person";
const SESSION: &str = "conversation";
const FILTER: &str = "debug,warden=trace";

/// pi has retried an error without success, and the provider quotes a secret.
const GIVES_UP: &str = r#"hear; begin; said '' error ",\"errorMessage\":\"500 for made-up-deploy-value-0815\""
printf '{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"500"}\n'; settled; leave"#;

struct Scene {
    root: TempDir,
    context: HostContext,
}

impl Scene {
    fn new(script: &str, config: Value) -> Self {
        let root = stage(script);
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

    async fn run(&self, agent: &str) -> ToolResult {
        let run = single(self.spec(agent), call::call(Arc::new(User::default())));
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
    let first = Scene::new("env > \"$home/env\"; works; leave", json!({ "spare": { "count": 1 } }));
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
    is_delivered(&log).await;
    is_isolated_and_checked(&log).await;

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
    log.assert_line("early", &["a spare child is discarded", "or pi ends"]);
}

async fn is_refused(log: &Log, scene: &Scene) {
    assert!(scene.run("nobody").await.is_error);
    log.assert_line("agent", &["the call is refused", "nobody"]);
}

async fn fails(log: &Log) {
    let brief = |key: &str, value: Value| json!({ key: value, "graceMs": 200 });
    let stuck = "trap '' TERM; hear; begin; while test -d \"$home\"; do sleep 0.1; done";
    let scene = Scene::new(stuck, brief("idleTimeoutMs", json!(300)));
    assert!(scene.run("explorer").await.is_error);
    log.assert_line("child", &["a program ends", "Silent(300ms)"]);
    log.assert_line("child", &["not exited within its grace period and is killed"]);
    log.assert_line("run", &["the run has ended", "outcome=idle_timeout", "`idleTimeoutMs`"]);

    let scene = Scene::new(GIVES_UP, json!({ "retry": { "maxAttempts": 2, "backoffMs": 10 } }));
    assert!(scene.run("explorer").await.is_error);
    log.assert_line("run", &["another attempt follows", "next=2", "pause=10ms"]);
    log.assert_line("run", &["the attempt has ended", "500 for [REDACTED]"]);

    let turns = "hear; begin; said '' toolUse; said '' toolUse; leave";
    let scene = Scene::new(turns, brief("budget", json!({ "maxTurns": 1 })));
    assert!(scene.run("explorer").await.is_error);
    log.assert_line("budget", &["the run is ended", "`budget.maxTurns` reached"]);

    let asks = r#"hear; begin; printf '{"type":"extension_ui_request","id":"q1","method":"input","title":"Name?"}\n'
        hear; said 'The whole answer.'; settled; leave"#;
    assert!(!Scene::new(asks, json!({ "inheritExtensions": "none" })).run("explorer").await.is_error);
    log.assert_line("question", &["is declined", "is_forged=true"]);
}

/// Two runs of a pi with one slot.
async fn waits(log: &Log) {
    let scene = Scene::new(
        "hear; begin; gate go; said 'The whole answer.'; settled; leave",
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

async fn is_delivered(log: &Log) {
    let scene = Scene::new("works; leave", json!({}));
    let service = background(&scene.path("agent"));
    let context = Arc::new(scene.context.clone());
    let scope = ConversationScope {
        cwd: scene.path("project"),
        context: Arc::clone(&context),
        ends_with: Cancel::new(),
    };
    let view =
        open_conversation(&service, SESSION.into(), scope, KnownDeliveries::default(), AcceptingListener)
            .await;
    let request = SpawnRequest::new(TASK.into(), scene.path("project"), context);
    let refused = SpawnRequest { agent: Some("nobody".into()), ..request.clone() };
    let refused = spawn(&service, refused, Arc::new(User::default())).await;
    assert!(!matches!(refused, Receipt::Accepted { .. }), "{refused:?}");
    log.assert_line("agent", &["the background run does not start here", "nobody"]);
    let request = SpawnRequest { agent: Some("explorer".into()), ..request };
    let receipt = spawn(&service, request, Arc::new(User::default())).await;
    let Receipt::Accepted { run_id, .. } = receipt else { panic!("{receipt:?}") };
    timeout(PATIENCE, until_settled(&service, &view, Some(PATIENCE))).await.expect("the run settles");
    log.assert_line("delivery", &["the end of a run is stored", &run_id, "Completed", "is_silent=false"]);
    log.assert_line("delivery", &["results are handed to the conversation", SESSION]);
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

/// A run below a real warden in a private tree of a real repository, whose work is checked.
async fn is_isolated_and_checked(log: &Log) {
    let config = json!({ "allowWrite": true, "sandbox": { "mode": "off" }, "check": { "attempts": 0 } });
    let mut scene = Scene::new("works; leave", config);
    scene.context.warden = Some(warden::warden());
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
