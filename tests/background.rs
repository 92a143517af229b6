//! Background runs: who is notified of their ends, how often, and the fate of their artifacts. Their children are scripted.
#![cfg(target_os = "linux")]

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::support::actor::{self, Actor, reply};
use crate::support::child::Child;
use crate::support::pids::eventually;
use crate::support::program;
use crate::support::stage::{self, PATIENCE, User, stage};
use agents::Tool;
use parking_lot::Mutex;
use pi_subagent_native::orchestrate::EarlyCall;
use pi_subagent_native::orchestrate::background::commands::restart_runs;
use pi_subagent_native::orchestrate::background::{
    Ack, BackgroundEvent, BackgroundService, BackgroundStatus, ConversationScope, ConversationView,
    DeliveryMessage, KnownDeliveries, Listener, Receipt, RunRecord, SpawnRequest, background,
    close_conversation, mark_delivered, open_conversation, resume, spawn, stop, until_settled,
    until_settled_or_asked,
};
use pi_subagent_native::present::Report;
use pi_subagent_native::run::{Host, HostContext, RunOutcome, RunState};
use rusqlite::Connection;
use serde_json::{Value, json};
use store::{Delivery, StoredRun, attach};
use supervisor::Cancel;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// A longer wait means that a process is waiting for another.
const MOMENT: Duration = Duration::from_millis(100);
const SESSION: &str = "conversation";

/// Does its work and announces it.
fn ends() -> Child {
    Child::answering().replies("In short.").listens()
}
/// Works as long as its host exists.
fn goes_on() -> Child {
    Child::working().listens()
}
/// Works as long as its host exists, unless the test lets it finish.
fn finishes_later() -> Child {
    Child::working()
        .if_exists("finish", &Child::new().says("Finished.").settles().listens())
        .says("I begin.")
        .with_stop_reason("toolUse")
        .listens()
}
/// Has done its work, and announces nothing as long as its host exists.
fn dallies() -> Child {
    Child::answering().receives().starts().listens()
}

/// The second process accepts a run and waits for its own end.
#[test]
fn a_second_process_ends_with_its_test() {
    actor::play(|agent_dir, script| {
        let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
        for line in script {
            let root = agent_dir.parent().expect("the path has a parent");
            let service = background(agent_dir);
            let request = match &*line {
                "restart" => {
                    let scope = restarted(root, "resume", &json!({}));
                    let (_, _, report) = runtime.block_on(Conversation::reopen(&service, scope));
                    reply(&report.plain().replace('\n', " "));
                    continue;
                }
                "run" => request(root),
                "write" => isolated(root),
                "check" => checked(root, &endless_check(root)),
                other => panic!("unknown command: {other}"),
            };
            let receipt = runtime.block_on(spawn(&service, request, Arc::new(User::default())));
            reply(&format!("{receipt:?}"));
        }
    });
}

/// The place of one delegating conversation.
struct Scene {
    root: TempDir,
    service: Arc<BackgroundService>,
}

impl Scene {
    /// Creates a repository of the project. Returns a function that runs git in it.
    fn git_project(&self) -> impl Fn(&[&str]) -> String {
        let project = self.root.path().join("project");
        fs::remove_dir(project.join(".git")).expect("the directory is removed");
        let git = move |args: &[&str]| {
            let done = std::process::Command::new("git").args(args).current_dir(&project).output();
            String::from_utf8_lossy(&done.expect("git runs").stdout).into_owned()
        };
        git(&["init", "-q"]);
        git
    }

    fn new(child: Child) -> Self {
        let root = stage(child);
        let service = background(&root.path().join("agent"));
        Self { root, service }
    }

    /// A place without a usable store, so that records stay in memory.
    fn without_store(child: Child) -> Self {
        let scene = Self::new(child);
        fs::create_dir_all(scene.agent_dir().join("subagents/runs.db")).expect("the directory is created");
        scene
    }

    fn agent_dir(&self) -> PathBuf {
        self.root.path().join("agent")
    }

    fn scope(&self) -> ConversationScope {
        let context = context(self.root.path());
        ConversationScope { cwd: self.root.path().join("project"), context, ends_with: Cancel::new() }
    }

    /// Opens the conversation with a user who answers messages like this, and from then on with yes.
    async fn open(&self, arrived: KnownDeliveries, answers: &[Ack]) -> Conversation {
        Conversation::open(&self.service, self.scope(), arrived, answers).await
    }

    async fn open_to(&self, listener: impl Listener, arrived: KnownDeliveries) -> Arc<ConversationView> {
        open_conversation(&self.service, SESSION.into(), self.scope(), arrived, listener).await
    }

    async fn spawn(&self) -> RunRecord {
        self.spawn_as(request(self.root.path())).await
    }

    async fn spawn_as(&self, request: SpawnRequest) -> RunRecord {
        let receipt = spawn(&self.service, request, Arc::new(User::default())).await;
        let Receipt::Accepted { run_id, .. } = receipt else { panic!("{receipt:?}") };
        let mut runs = self.service.runs(Some(SESSION.into())).await;
        runs.retain(|run| run.run_id == run_id);
        runs.remove(0)
    }

    /// Waits until the children have read this number of commands.
    async fn until_received(&self, count: usize) {
        let received = self.root.path().join("received");
        eventually(&format!("command {count}"), || {
            fs::read_to_string(&received).is_ok_and(|text| text.lines().count() >= count)
        })
        .await;
    }

    /// Returns the number of prompts that the children have read.
    fn prompts(&self) -> usize {
        let received = fs::read_to_string(self.root.path().join("received")).unwrap_or_default();
        received.lines().filter(|line| line.contains(r#""type":"prompt""#)).count()
    }

    /// Starts a run in a process that is killed once the first turn of the run is stored.
    async fn interrupt(&self) -> RunRecord {
        let mut owner = Actor::start(&self.agent_dir());
        let receipt = owner.ask("run");
        assert!(receipt.starts_with("Accepted"), "{receipt}");
        let run = self.until_used(1).await;
        owner.kill();
        run
    }

    /// Waits until the store knows that the only run has used so many turns.
    async fn until_used(&self, turns: u64) -> RunRecord {
        let used = async {
            loop {
                let run = self.service.runs(Some(SESSION.into())).await.pop();
                if let Some(run) = run.filter(|run| run.progress.usage.turns == turns) {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, used).await.expect("the usage is stored")
    }

    /// Waits until no run is active and everything has been delivered.
    async fn until_settled(&self, conversation: &Conversation) {
        let settled = until_settled(&self.service, &conversation.view, Some(PATIENCE));
        timeout(PATIENCE, settled).await.expect("the conversation settles");
    }

    /// Waits until a process waits for the locked database.
    async fn until_writing(&self, conversation: &Conversation) {
        let one = || mark_delivered(&self.service, &conversation.view, vec!["unknown".into()]);
        let stuck = async { while timeout(MOMENT, one()).await.is_ok() {} };
        timeout(PATIENCE, stuck).await.expect("a write waits for the database");
    }

    /// Another connection to the store.
    fn database(&self) -> Connection {
        let database =
            Connection::open(self.agent_dir().join("subagents/runs.db")).expect("the database is opened");
        database.busy_timeout(PATIENCE).expect("the timeout is set");
        database
    }
}

/// The conversation in a pi that was started again, with this `background.onRestart` and these budgets.
fn restarted(root: &Path, on_restart: &str, budget: &Value) -> ConversationScope {
    let config = json!({ "graceMs": 200, "background": { "onRestart": on_restart }, "budget": budget });
    let context = HostContext { config: Some(config), ..(*context(root)).clone() };
    ConversationScope { cwd: root.join("project"), context: Arc::new(context), ends_with: Cancel::new() }
}

fn context(root: &Path) -> Arc<HostContext> {
    let session_file = Some(root.join("sessions/conversation.jsonl"));
    let host = Host { session_id: Some(SESSION.into()), session_file, ..Host::default() };
    Arc::new(HostContext {
        host,
        ..stage::context(root, json!({ "graceMs": 200, "announce": { "mode": "ask" } }))
    })
}

fn request(root: &Path) -> SpawnRequest {
    let request = SpawnRequest::new("look around".into(), root.join("project"), context(root));
    SpawnRequest { agent: Some("explorer".into()), ..request }
}

/// A run of an agent with a private tree.
fn isolated(root: &Path) -> SpawnRequest {
    let writer = root.join("agent/agents/writer.md");
    fs::create_dir_all(writer.parent().expect("the path has a parent")).expect("the directory is created");
    fs::write(writer, "---\nname: writer\ntools: read, write\nisolation: private\n---\nWrite.")
        .expect("the file is written");
    let config = json!({ "graceMs": 200, "allowWrite": true, "sandbox": { "mode": "off" } });
    let context = HostContext { config: Some(config), ..(*context(root)).clone() };
    let request = SpawnRequest::new("write".into(), root.join("project"), Arc::new(context));
    SpawnRequest { agent: Some("writer".into()), ..request }
}

/// A run of an agent whose work this command checks, below the warden.
fn checked(root: &Path, check: &str) -> SpawnRequest {
    let builder = root.join("agent/agents/builder.md");
    fs::create_dir_all(builder.parent().expect("the path has a parent")).expect("the directory is created");
    let agent = format!("---\nname: builder\nreadonly: false\ncheck: {}\n---\nBuild.\n", json!(check));
    fs::write(builder, agent).expect("the file is written");
    let config = json!({
        "graceMs": 200, "allowWrite": true, "sandbox": { "mode": "off" },
        "check": { "attempts": 0 }, "announce": { "mode": "ask" },
    });
    let context =
        HostContext { config: Some(config), warden: Some(program::warden()), ..(*context(root)).clone() };
    let request = SpawnRequest::new("build".into(), root.join("project"), Arc::new(context));
    SpawnRequest { agent: Some("builder".into()), ..request }
}

/// Marks the processes of a check. Their PIDs are useless: they may have their own namespace.
fn mark(root: &Path) -> String {
    format!("CHECKS={}", root.display())
}

/// A check that does not end, with a process that leaves its session and its group.
fn endless_check(root: &Path) -> String {
    format!("export {}; setsid sleep 300 & : > ../begun; sleep 300", mark(root))
}

/// Returns the number of processes of that check.
fn checking(root: &Path) -> usize {
    let mark = mark(root);
    let is_marked = |process: &Path| {
        ["cmdline", "environ"].into_iter().any(|file| {
            fs::read(process.join(file)).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&mark))
        })
    };
    let processes = fs::read_dir("/proc").expect("the directory is readable").flatten();
    processes.filter(|process| is_marked(&process.path())).count()
}

/// An open conversation.
struct Conversation {
    view: Arc<ConversationView>,
    events: UnboundedReceiver<BackgroundEvent>,
    delivered: Arc<Mutex<Vec<String>>>,
}

impl Conversation {
    async fn open(
        service: &Arc<BackgroundService>,
        scope: ConversationScope,
        arrived: KnownDeliveries,
        answers: &[Ack],
    ) -> Self {
        let (sender, events) = unbounded_channel();
        let delivered = Arc::default();
        let listener = Recorder {
            sender,
            delivered: Arc::clone(&delivered),
            answers: answers.iter().copied().collect(),
        };
        let view = open_conversation(service, SESSION.into(), scope, arrived, listener).await;
        Self { view, events, delivered }
    }

    /// Opens the conversation of an interrupted run, and resumes the runs that the message offers.
    async fn reopen(
        service: &Arc<BackgroundService>,
        scope: ConversationScope,
    ) -> (Self, DeliveryMessage, Report) {
        let mut conversation = Self::open(service, scope, KnownDeliveries::default(), &[]).await;
        let message = conversation.message().await;
        mark_delivered(service, &conversation.view, message.delivery_ids.clone()).await;
        let keys = message.restart.as_ref().map_or_else(Vec::new, |restart| restart.keys.clone());
        let report = conversation.restart(service, keys).await;
        (conversation, message, report)
    }

    async fn restart(&self, service: &Arc<BackgroundService>, keys: Vec<String>) -> Report {
        restart_runs(service, &self.view, keys, Arc::new(User::default())).await
    }

    /// Returns the next message.
    async fn message(&mut self) -> DeliveryMessage {
        let message = async {
            loop {
                let event = self.events.recv().await.expect("the conversation is open");
                if let Some(message) = event.message {
                    return message;
                }
            }
        };
        timeout(PATIENCE, message).await.expect("a message arrives")
    }

    /// Waits for such an event.
    async fn until(&mut self, is_it: impl Fn(BackgroundEvent) -> bool) {
        let event = async { while !is_it(self.events.recv().await.expect("the conversation is open")) {} };
        timeout(PATIENCE, event).await.expect("the event arrives");
    }

    /// The ids of all deliveries that it received so far, with repetitions.
    fn delivered(&self) -> Vec<String> {
        self.delivered.lock().clone()
    }
}

/// Accepts messages, or rejects them.
struct Recorder {
    sender: UnboundedSender<BackgroundEvent>,
    delivered: Arc<Mutex<Vec<String>>>,
    answers: VecDeque<Ack>,
}

impl Listener for Recorder {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        let Some(message) = &event.message else {
            let _ = self.sender.send(event);
            return Ack::Accepted;
        };
        self.delivered.lock().extend_from_slice(&message.delivery_ids);
        let _ = self.sender.send(event);
        self.answers.pop_front().unwrap_or(Ack::Accepted)
    }
}

/// Rejects the first notices that it gets.
#[derive(Clone, Default)]
struct RejectingListener(Arc<Mutex<Vec<Vec<String>>>>);

impl Listener for RejectingListener {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        let mut received = self.0.lock();
        if !event.notices.is_empty() {
            received.push(event.notices);
        }
        if received.len() == 1 { Ack::Rejected } else { Ack::Accepted }
    }
}

/// Never confirms a message.
struct Stuck(UnboundedSender<BackgroundEvent>);

impl Listener for Stuck {
    async fn notify(&mut self, event: BackgroundEvent) -> Ack {
        self.0.send(event).expect("the test receives the event");
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_rejected_message_is_delivered_again_until_it_is_accepted() {
    for scene in [Scene::new(ends()), Scene::without_store(ends())] {
        let mut conversation = scene.open(KnownDeliveries::default(), &[Ack::Rejected, Ack::Rejected]).await;
        let run = scene.spawn().await;
        let first = conversation.message().await;
        assert!(first.triggers_turn && first.text.contains("Status: success"), "{}", first.text);
        assert_eq!((first.delivery_ids.len(), &first.runs[0].key), (1, &run.key));
        for _ in 0..2 {
            assert_eq!(conversation.message().await, first);
        }
        scene.until_settled(&conversation).await;
        assert_eq!(conversation.delivered().len(), 3, "the third delivery is accepted");
        close_conversation(&scene.service, &conversation.view).await;
    }
}

#[tokio::test]
async fn a_background_run_takes_the_child_that_was_booted_while_its_call_arrived() {
    let child = Child::new().runs(r#"echo $$ >> "$home/up""#).then(ends());
    let scene = Scene::new(child);
    let root = scene.root.path();
    let started = || fs::read_to_string(root.join("up")).unwrap_or_default().lines().count();
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let early = EarlyCall::new(
        "call".into(),
        Tool::SessionsSpawn,
        root.join("project"),
        (*context(root)).clone(),
        Handle::current(),
    );
    early.push(r#"{"agentId":"explorer","task":"#);
    eventually("the early child", || started() == 1).await;
    let run = scene.spawn_as(SpawnRequest { host_id: Some("call".into()), ..request(root) }).await;
    // The host does this as soon as it has the receipt.
    timeout(PATIENCE, early.end()).await.expect("the call ends");
    let message = conversation.message().await;
    assert!(message.text.contains("Status: success"), "{}", message.text);
    assert_eq!(started(), 1, "the run has started no child of its own");
    let ended = scene.service.runs(Some(SESSION.into())).await.remove(0);
    let directory = ended.transcript.as_deref().and_then(Path::parent).and_then(Path::file_name);
    assert_eq!(directory, Some(run.run_id.as_ref()), "its files have the id of the receipt");
    scene.until_settled(&conversation).await;
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn rejected_notices_are_delivered_again_and_then_no_more() {
    let scene = Scene::without_store(ends());
    let listener = RejectingListener::default();
    let view = scene.open_to(listener.clone(), KnownDeliveries::default()).await;
    scene.spawn().await;
    let settled = until_settled(&scene.service, &view, Some(PATIENCE));
    eventually("the second notice", || listener.0.lock().len() == 2).await;
    timeout(PATIENCE, settled).await.expect("the conversation settles");
    let received = listener.0.lock().clone();
    assert_eq!((received.len(), &received[0]), (2, &received[1]));
    close_conversation(&scene.service, &view).await;
}

#[tokio::test]
async fn a_listener_that_keeps_failing_gets_the_message_again_but_a_pi_about_to_exit_does_not_wait_for_it() {
    let scene = Scene::new(ends());
    let mut conversation = scene.open(KnownDeliveries::default(), &[Ack::Rejected; 8]).await;
    scene.spawn().await;
    let first = conversation.message().await;
    let waits = until_settled_or_asked(&scene.service, &conversation.view, None);
    assert!(!timeout(PATIENCE, waits).await.expect("the wait ends"));
    assert!(conversation.delivered().len() < 8, "the listener still fails");
    let limit = Some(Duration::ZERO);
    let is_settled = until_settled(&scene.service, &conversation.view, limit);
    assert!(!timeout(PATIENCE, is_settled).await.expect("the wait ends"), "the listener has not received it");
    let is_settled = until_settled(&scene.service, &conversation.view, None);
    assert!(timeout(PATIENCE, is_settled).await.expect("the listener recovers"));
    let delivered = conversation.delivered();
    assert_eq!((delivered.len(), &delivered[8]), (9, &first.delivery_ids[0]));
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn a_listener_that_never_answers_gets_no_more_events_and_does_not_delay_closing() {
    let scene = Scene::new(ends());
    let (sender, mut receiver) = unbounded_channel();
    let view = scene.open_to(Stuck(sender), KnownDeliveries::default()).await;
    let run = scene.spawn().await;
    let first = timeout(PATIENCE, receiver.recv())
        .await
        .expect("the event arrives in time")
        .expect("the conversation is open");
    assert_eq!(first.runs.expect("the event lists the runs")[0].run_id, run.run_id);
    close_conversation(&scene.service, &view).await;
    let last = timeout(PATIENCE, receiver.recv()).await.expect("the listener is dropped");
    assert!(last.is_none(), "{last:?}");
}

#[tokio::test]
async fn a_reopened_conversation_gets_no_delivery_that_it_contains() {
    for scene in [Scene::new(ends()), Scene::without_store(ends())] {
        let mut first = scene.open(KnownDeliveries::default(), &[]).await;
        scene.spawn().await;
        let ids = first.message().await.delivery_ids;
        // Sent, but not confirmed: it may have been lost on its way.
        let mut again = scene.open(KnownDeliveries::default(), &[]).await;
        assert_eq!(again.message().await.delivery_ids, ids);
        // The previous session gives its message back. The session's own record of it counts for more.
        for arrived in [
            KnownDeliveries { delivered: ids.clone(), ..KnownDeliveries::default() },
            KnownDeliveries::default(),
        ] {
            let after = scene.open(arrived, &[]).await;
            scene.until_settled(&after).await;
            assert_eq!(after.delivered(), [""; 0]);
            close_conversation(&scene.service, &after.view).await;
        }
        scene.spawn().await;
        let mut last = scene.open(KnownDeliveries::default(), &[]).await;
        assert!(
            !last.message().await.delivery_ids.contains(&ids[0]),
            "the delivery contains only new results"
        );
        close_conversation(&scene.service, &last.view).await;
    }
}

#[tokio::test]
async fn a_delivery_in_flight_is_not_repeated() {
    for scene in [Scene::new(ends()), Scene::without_store(ends())] {
        let mut first = scene.open(KnownDeliveries::default(), &[]).await;
        scene.spawn().await;
        let sent = first.message().await.delivery_ids;
        let second =
            scene.open(KnownDeliveries { sent: sent.clone(), ..KnownDeliveries::default() }, &[]).await;
        scene.until_settled(&second).await;
        assert_eq!(second.delivered(), [""; 0]);
        // The message had not arrived before the conversation was closed.
        close_conversation(&scene.service, &second.view).await;
        let mut third = scene.open(KnownDeliveries::default(), &[]).await;
        assert_eq!(third.message().await.delivery_ids, sent);
        close_conversation(&scene.service, &third.view).await;
    }
}

#[tokio::test]
async fn a_run_whose_process_was_killed_is_announced_as_interrupted_and_starts_no_turn() {
    let scene = Scene::new(goes_on());
    let mut other = Actor::start(&scene.agent_dir());
    let receipt = other.ask("run");
    assert!(receipt.starts_with("Accepted"), "{receipt}");
    scene.until_received(1).await;
    other.kill();
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let message = conversation.message().await;
    assert!(!message.triggers_turn, "an interrupted run triggers no turn");
    assert!(message.text.contains("Status: unknown"), "{}", message.text);
    let run = &message.runs[0];
    assert_eq!((run.status(), run.outcome), (Some(BackgroundStatus::Unknown), Some(RunOutcome::Interrupted)));
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn an_interrupted_run_is_reported_offered_or_continued_as_the_setting_says() {
    for mode in ["tell", "ask", "resume"] {
        let scene = Scene::new(finishes_later());
        let run = scene.interrupt().await;
        fs::write(scene.root.path().join("finish"), "").expect("the file is written");
        let scope = restarted(scene.root.path(), mode, &json!({}));
        let (mut conversation, message, report) = Conversation::reopen(&scene.service, scope).await;
        assert!(message.text.contains("Status: unknown") && !message.triggers_turn, "{}", message.text);
        if mode == "tell" {
            assert_eq!((message.restart, scene.prompts()), (None, 1));
        } else {
            let offer = message.restart.expect("the message offers the run");
            assert_eq!((offer.mode.as_str(), offer.keys), (mode, vec![run.key]));
            assert!(report.plain().contains("resumed"), "{}", report.plain());
            let message = conversation.message().await;
            let text = &message.text;
            assert!(text.contains("Status: success") && text.contains("\nFinished.\n"), "{text}");
            assert_eq!((message.runs[0].progress.usage.turns, scene.prompts()), (2, 2));
        }
        close_conversation(&scene.service, &conversation.view).await;
    }
}

#[tokio::test]
async fn a_run_that_is_interrupted_for_the_third_time_is_only_reported() {
    let scene = Scene::new(finishes_later());
    scene.interrupt().await;
    for turns in [2, 3] {
        let mut owner = Actor::start(&scene.agent_dir());
        let report = owner.ask("restart");
        assert!(report.contains("resumed"), "{report}");
        scene.until_used(turns).await;
        owner.kill();
    }
    let scope = restarted(scene.root.path(), "resume", &json!({}));
    let (conversation, message, _) = Conversation::reopen(&scene.service, scope).await;
    assert!(message.text.contains("Status: unknown"), "{}", message.text);
    assert_eq!(message.restart, None);
    let report = conversation.restart(&scene.service, vec![message.runs[0].key.clone()]).await;
    assert!(report.is_error && report.plain().contains("already resumed twice"), "{}", report.plain());
    assert_eq!(scene.prompts(), 3);
    close_conversation(&scene.service, &conversation.view).await;
}

/// A person who resumes the run wants to pay for more.
#[tokio::test]
async fn a_run_that_has_spent_its_budget_is_not_continued_until_a_person_resumes_it() {
    let scene = Scene::new(finishes_later());
    scene.interrupt().await;
    let root = scene.root.path();
    let (_, message, report) =
        Conversation::reopen(&scene.service, restarted(root, "resume", &json!({ "maxTurns": 1 }))).await;
    let key = || vec![message.runs[0].key.clone()];
    assert_eq!(message.restart.as_ref().map(|offer| &offer.keys), Some(&key()));
    let mut reports = vec![(report, "`budget.maxTurns` reached: 1 of 1")];
    for (budget, expected) in [
        (json!({ "maxTokens": 15 }), "`budget.maxTokens` reached: 15 of 15"),
        (json!({ "maxCost": 0.3 }), "`budget.maxCost` reached: $0.3000 of $0.3000"),
        (json!({ "maxCost": 0.5 }), "reached: $0.3000 of $0.5000, and the next turn takes about $0.3000"),
    ] {
        let scope = restarted(root, "resume", &budget);
        let again = Conversation::open(&scene.service, scope, KnownDeliveries::default(), &[]).await;
        reports.push((again.restart(&scene.service, key()).await, expected));
    }
    for (report, expected) in reports {
        assert!(report.is_error && report.plain().contains(expected), "{expected}: {}", report.plain());
    }
    let run = scene.service.runs(Some(SESSION.into())).await.remove(0);
    assert_eq!((run.outcome, run.restarts, scene.prompts()), (Some(RunOutcome::Interrupted), 0, 1));

    fs::write(root.join("finish"), "").expect("the file is written");
    let scope = restarted(root, "resume", &json!({ "maxTurns": 1 }));
    let mut conversation =
        Conversation::open(&scene.service, scope.clone(), KnownDeliveries::default(), &[]).await;
    let resumed = resume(&scene.service, &run, None, &scope, Arc::new(User::default())).await;
    assert!(resumed.is_ok(), "{resumed:?}");
    let text = conversation.message().await.text;
    assert!(text.contains("Status: success") && text.contains("\nFinished.\n"), "{text}");
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn a_run_continued_after_a_restart_ends_at_its_budget_for_all_of_its_parts() {
    let scene = Scene::new(finishes_later());
    scene.interrupt().await;
    let scope = restarted(scene.root.path(), "ask", &json!({ "maxTurns": 2 }));
    let (mut conversation, _, report) = Conversation::reopen(&scene.service, scope).await;
    assert!(report.plain().contains("resumed"), "{}", report.plain());
    let text = conversation.message().await.text;
    assert!(text.contains("Status: error") && text.contains("`budget.maxTurns` reached: 2 of 2"), "{text}");
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn no_process_of_a_check_survives_its_killed_host() {
    let scene = Scene::new(Child::answering().listens());
    let mut other = Actor::start(&scene.agent_dir());
    let receipt = other.ask("check");
    assert!(receipt.starts_with("Accepted"), "{receipt}");
    let begun = scene.root.path().join("begun");
    eventually("the start of the check", || begun.exists() && checking(scene.root.path()) >= 2).await;
    other.kill();
    eventually("the end of the check", || checking(scene.root.path()) == 0).await;
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let message = conversation.message().await;
    assert!(!message.triggers_turn && message.text.contains("Status: unknown"), "{}", message.text);
    assert_eq!(message.runs[0].outcome, Some(RunOutcome::Interrupted));
    close_conversation(&scene.service, &conversation.view).await;
}

/// The length of the answer does not matter.
#[tokio::test]
async fn a_check_that_failed_is_announced_with_the_end_of_its_output() {
    let long = Child::working().says(&"x".repeat(20_000)).settles().listens();
    for (script, answer) in [(Child::answering().listens(), "The whole answer."), (long, "xxxx")] {
        let scene = Scene::new(script);
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        scene.spawn_as(checked(scene.root.path(), "echo one is missing; exit 3")).await;
        let message = conversation.message().await;
        let error = "the check `echo one is missing; exit 3` failed: exit code 3";
        let expected = ["Status: error", &format!("Note: {error}"), answer, "```\none is missing\n```"];
        for expected in expected {
            assert!(message.text.contains(expected), "{expected}: {}", message.text);
        }
        let run = &message.runs[0];
        assert_eq!((run.outcome, run.error.as_deref()), (Some(RunOutcome::Failed), Some(error)));
        let partial = run.partial.as_deref().expect("the run has a partial answer");
        assert!(partial.len() <= 4096 && !partial.contains("one is missing"), "{partial}");
        let check = run.artifacts.first().and_then(|artifacts| artifacts.check.as_ref());
        assert_eq!(check.map(|check| check.output.trim()), Some("one is missing"));
        close_conversation(&scene.service, &conversation.view).await;
    }
}

/// Each row: the child's behaviour, the announcements' mode, the status, and words of the message.
#[tokio::test]
async fn the_artifacts_of_a_run_are_reported_regardless_of_its_announcement() {
    let whole = || Child::new().says("Whole.").settles();
    for (ends, mode, expected) in [
        (whole().listens(), "never", ["Status: success", "Whole."]),
        (whole().replies("In short.").listens(), "ask", ["Status: success", "In short."]),
        (Child::new().says("Half").with_stop_reason("toolUse").exits(3), "never", ["Status: error", "Half"]),
        (
            Child::new().says("ANNOUNCE_SKIP").settles().listens(),
            "never",
            ["Status: success", "has nothing to announce"],
        ),
        (whole().replies("ANNOUNCE_SKIP").listens(), "ask", ["Status: success", "has nothing to announce"]),
    ] {
        let scene = Scene::new(Child::working().runs("echo run > .envrc").then(ends.clone()));
        let _ = scene.git_project();
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let mut request = isolated(scene.root.path());
        let config = json!({
            "graceMs": 200, "allowWrite": true, "sandbox": { "mode": "off" }, "announce": { "mode": mode },
        });
        request.context = Arc::new(HostContext { config: Some(config), ..(*request.context).clone() });
        let run = scene.spawn_as(request).await;
        let message = conversation.message().await;
        let text = &message.text;
        let branch = format!("are on the branch `subagent/{}`", run.run_id);
        let flagged = "Check these first: they run code later or instruct agents: `.envrc`";
        for words in expected.into_iter().chain([&*branch, flagged]) {
            assert_eq!(text.matches(words).count(), 1, "{ends}: {words}: {text}");
        }
        // In the fence they could be the child's words.
        let of_child: String = text.split("```").skip(1).step_by(2).collect();
        assert!(!of_child.contains(&branch) && !of_child.contains(flagged), "{ends}: {text}");
        let kept = &message.runs[0];
        let shown = kept.result.as_ref().or(kept.partial.as_ref()).expect("the run has a text");
        assert!(!shown.contains(&branch), "only the child's words are its result: {shown}");
        let artifacts = kept.artifacts.first().expect("the run has artifacts");
        let branch = artifacts.isolation.as_ref().and_then(|isolation| isolation.branch.clone());
        assert_eq!(
            (branch, &artifacts.flagged),
            (Some(format!("subagent/{}", run.run_id)), &vec![".envrc".into()])
        );
        close_conversation(&scene.service, &conversation.view).await;
    }
}

#[tokio::test]
async fn the_changes_of_an_isolated_run_of_a_killed_process_become_its_branch() {
    let scene = Scene::new(Child::working().runs(r#"echo done > made.txt; : > "$home/made""#).listens());
    let git = scene.git_project();
    let mut other = Actor::start(&scene.agent_dir());
    let receipt = other.ask("write");
    assert!(receipt.starts_with("Accepted"), "{receipt}");
    let made = scene.root.path().join("made");
    eventually("the file of the child", || made.exists()).await;
    let run = scene.service.runs(Some(SESSION.into())).await.remove(0);
    let branch = format!("subagent/{}", run.run_id);
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    other.kill();
    let expected = format!("its changes (1 file) are on the branch `{branch}`");
    conversation.until(|event| event.notices.iter().any(|notice| notice.contains(&expected))).await;
    assert_eq!(git(&["show", &format!("{branch}:made.txt")]), "done\n");
    let remaining = fs::read_dir(scene.agent_dir().join("subagent-trees")).map_or(0, Iterator::count);
    assert_eq!(remaining, 0, "the private tree is removed");
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn a_run_that_ended_with_its_host_starts_no_turn_when_its_session_is_opened() {
    let scene = Scene::new(goes_on());
    let conversation = scene.open(KnownDeliveries::default(), &[]).await;
    scene.spawn().await;
    scene.until_received(1).await;
    close_conversation(&scene.service, &conversation.view).await;
    scene.service.close().await;
    let mut again = scene.open(KnownDeliveries::default(), &[]).await;
    let message = again.message().await;
    assert!(!message.triggers_turn);
    assert_eq!(message.runs[0].outcome, Some(RunOutcome::Interrupted));
    close_conversation(&scene.service, &again.view).await;
}

#[tokio::test]
async fn another_session_names_the_run_that_ended_with_pi_and_the_command_that_resumes_it() {
    let scene = Scene::new(goes_on());
    let conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let RunRecord { run_id, agent, .. } = scene.spawn().await;
    scene.until_received(1).await;
    close_conversation(&scene.service, &conversation.view).await;
    scene.service.close().await;
    let (sender, events) = unbounded_channel();
    let delivered = Arc::default();
    let listener = Recorder { sender, delivered: Arc::clone(&delivered), answers: VecDeque::default() };
    let arrived = KnownDeliveries::default();
    let view = open_conversation(&scene.service, "next".into(), scene.scope(), arrived, listener).await;
    let mut next = Conversation { view, events, delivered };
    let expected = format!("1 run was interrupted: {agent} {run_id} · /subagents resume {run_id}");
    next.until(|event| event.waiting.as_ref() == Some(&expected)).await;
    close_conversation(&scene.service, &next.view).await;
}

#[tokio::test]
async fn a_stopped_run_is_announced_as_stopped_unless_it_had_completed() {
    for (script, commands, outcome, error, status) in [
        (goes_on(), 1, RunOutcome::Aborted, Some("stopped on request"), "Status: error"),
        // By then the child has been asked for its announcement.
        (dallies(), 2, RunOutcome::Completed, None, "Status: success"),
    ] {
        let scene = Scene::new(script);
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let run = scene.spawn().await;
        scene.until_received(commands).await;
        stop(&scene.service, &run).await.expect("the run is stopped");
        let message = conversation.message().await;
        let run = &message.runs[0];
        assert_eq!((run.outcome, run.error.as_deref()), (Some(outcome), error));
        assert!(message.text.contains(status), "{}", message.text);
        assert_eq!(message.text.contains("The whole answer."), error.is_none(), "{}", message.text);
        // A person who stops a run decides on the next step. Finished work is announced as usual.
        assert_eq!(message.triggers_turn, error.is_none());
        close_conversation(&scene.service, &conversation.view).await;
    }
}

/// Checks on every change whether the conversation counts as settled although it has not received the end of its run.
struct Watch {
    service: Arc<BackgroundService>,
    view: Arc<ConversationView>,
    delivered: Arc<Mutex<Vec<String>>>,
    waiting: Mutex<Option<Pin<Box<dyn Future<Output = bool> + Send>>>>,
    checks: Mutex<Vec<bool>>,
}

impl Watch {
    fn check(self: &Arc<Self>) {
        let service = Arc::clone(&self.service);
        let view = Arc::clone(&self.view);
        let mut settled: Pin<Box<dyn Future<Output = bool> + Send>> =
            Box::pin(async move { until_settled(&service, &view, Some(PATIENCE)).await });
        let waker = Waker::from(Arc::clone(self));
        let is_settled = settled.as_mut().poll(&mut Context::from_waker(&waker)).is_ready();
        let was_delivered = !self.delivered.lock().is_empty();
        self.checks.lock().push(!is_settled || was_delivered);
        let before = self.waiting.lock().replace(settled);
        drop(before);
    }
}

impl Wake for Watch {
    fn wake(self: Arc<Self>) {
        self.check();
    }
}

#[tokio::test]
async fn a_conversation_is_not_settled_before_it_receives_the_end_of_its_run() {
    let scene = Scene::new(ends());
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    scene.spawn().await;
    let watch = Arc::new(Watch {
        service: Arc::clone(&scene.service),
        view: Arc::clone(&conversation.view),
        delivered: Arc::clone(&conversation.delivered),
        waiting: Mutex::default(),
        checks: Mutex::default(),
    });
    watch.check();
    conversation.message().await;
    scene.until_settled(&conversation).await;
    let checks = watch.checks.lock().clone();
    assert!(checks.len() > 2, "the watcher was notified of changes");
    assert!(
        checks.iter().all(|&is_right| is_right),
        "the conversation settled before the watcher was notified: {checks:?}"
    );
    drop(watch.waiting.lock().take());
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn a_run_is_live_until_its_end_is_stored() {
    let scene = Scene::new(goes_on());
    let conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let run = scene.spawn().await;
    scene.until_received(1).await;
    let database = scene.database();
    database.execute_batch("BEGIN IMMEDIATE").expect("the statement succeeds");
    let service = Arc::clone(&scene.service);
    let mut closing = tokio::spawn(async move { service.close().await });
    scene.until_writing(&conversation).await;
    // A test can only observe that a waiting task does not end.
    timeout(10 * MOMENT, &mut closing).await.expect_err("the end is not stored yet");
    let known = scene.service.runs(Some(SESSION.into())).await;
    assert!(known[0].is_live(), "the run stays live until its end is stored");
    database.execute_batch("COMMIT").expect("the statement succeeds");
    closing.await.expect("the task does not panic");
    let kept: (bool, i64) = database
        .query_row(
            "SELECT is_live, (SELECT count(*) FROM delivery WHERE key = run.key) FROM run WHERE key = ?1",
            [&run.key],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .expect("the query succeeds");
    assert_eq!(kept, (false, 1), "the end is stored with its delivery");
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn the_snapshot_of_a_detached_run_is_private_and_removed_at_its_end() {
    let scene = Scene::new(goes_on());
    let key = "1a2b3c4d-0000-4000-8000-000000000000";
    let request = SpawnRequest {
        detached_key: Some(key.into()),
        run_timeout_seconds: Some(600.0),
        ..request(scene.root.path())
    };
    let run = scene.spawn_as(request).await;
    let directory = scene.agent_dir().join("subagents/live");
    let shown = directory.join(format!("{key}.json"));
    eventually("the snapshot", || shown.exists()).await;
    let mode = |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&shown)), (0o700, 0o600), "the snapshot is private to the user");
    scene.until_received(1).await;
    stop(&scene.service, &run).await.expect("the run is stopped");
    eventually("the removal of the snapshot", || !shown.exists()).await;
}

/// A run that ended long ago, with a transcript that is due for archiving.
fn due(scene: &Scene, run_id: &str, archive_at_ms: i64) -> RunRecord {
    let session_file = scene.root.path().join("sessions/conversation.jsonl");
    let directory = session_file.with_extension("").join(run_id);
    let transcript = directory.join("session.jsonl");
    fs::create_dir_all(&directory).expect("the directory is created");
    fs::write(&transcript, "{}\n").expect("the file is written");
    RunRecord {
        key: format!("{run_id}-0000-4000-8000-000000000000"),
        run_id: run_id.into(),
        session: SESSION.into(),
        session_file: Some(session_file),
        agent: "explorer".into(),
        outcome: Some(RunOutcome::Completed),
        archive_at_ms: Some(archive_at_ms),
        directory: Some(directory),
        transcript: Some(transcript),
        ..RunRecord::default()
    }
}

fn row(run: &RunRecord) -> StoredRun {
    StoredRun {
        key: run.key.clone(),
        run_id: run.run_id.clone(),
        session: run.session.clone(),
        archive_at_ms: run.archive_at_ms,
        body: serde_json::to_string(run).expect("the value is serialized"),
        ..StoredRun::default()
    }
}

/// The session was closed in between.
#[tokio::test]
async fn stored_and_late_results_name_an_archived_transcript_by_its_path() {
    let scene = Scene::new(ends());
    let mut run = due(&scene, "0badcafe", 1);
    let earlier = run.transcript.clone().expect("the run has a transcript");
    let earlier = earlier.to_string_lossy();
    let result = format!("[truncated: kept 5 of 9 bytes; complete in the session: {earlier}] Much.");
    run.result = Some(result.clone());
    let body = json!({
        "status": "success", "name": "a run", "result": result, "notes": [], "partial": null,
        "stats": format!("runtime 1s · {earlier}"), "triggersTurn": false, "maxBytes": 65_536, "maxLines": 2000,
    });
    let delivery = Delivery {
        id: format!("{}-0", run.key),
        session: SESSION.into(),
        key: run.key.clone(),
        body: body.to_string(),
        created_ms: 1,
    };
    let store = attach(&scene.agent_dir()).store.expect("the store is available");
    store.settle_run(&row(&run), Some(&delivery), false).expect("the end is stored");
    let other = RejectingListener::default();
    let other =
        open_conversation(&scene.service, "other".into(), scene.scope(), KnownDeliveries::default(), other)
            .await;
    let archived = async {
        loop {
            let run = scene.service.runs(Some(SESSION.into())).await.remove(0);
            if run.transcript.as_ref().is_some_and(|path| *path.to_string_lossy() != *earlier) {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let run = timeout(PATIENCE, archived).await.expect("the transcript is archived");
    let path = run.transcript.expect("the run has a transcript");
    assert!(path.exists(), "{}", path.display());
    let path = path.to_string_lossy();
    let stored = run.result.expect("the run has a result");
    assert!(stored.contains(&format!("complete in the session: {path}]")), "{stored}");
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let text = conversation.message().await.text;
    assert!(text.contains(&format!("complete in the session: {path}]")), "{text}");
    assert!(text.contains(&format!("runtime 1s · {path}")), "{text}");
    close_conversation(&scene.service, &conversation.view).await;
    close_conversation(&scene.service, &other).await;
}

#[tokio::test]
async fn a_transcript_is_not_archived_if_its_run_is_resumed_in_the_meantime() {
    let scene = Scene::new(ends());
    let store = attach(&scene.agent_dir()).store.expect("the store is available");
    let resumed = due(&scene, "0badcafe", 1);
    let other = due(&scene, "1badcafe", 2);
    for run in [&resumed, &other] {
        store.settle_run(&row(run), None, false).expect("the end is stored");
    }
    let database = scene.database();
    database.execute_batch("BEGIN IMMEDIATE").expect("the statement succeeds");
    // It finds both due, and waits to record that the first is archived.
    let conversation = scene.open(KnownDeliveries::default(), &[]).await;
    scene.until_writing(&conversation).await;
    // The same calls as of a process that resumes it.
    let body = serde_json::to_string(&RunRecord { state: RunState::Running, ..resumed.clone() });
    let continued = "UPDATE run SET is_live = 1, process = ?1, body = ?2 WHERE key = ?3";
    database
        .execute(continued, [&store.process(), &body.expect("the value is serialized"), &resumed.key])
        .expect("the statement succeeds");
    database.execute_batch("COMMIT").expect("the statement succeeds");
    let transcript = |run: &RunRecord| run.transcript.clone().expect("the run has a transcript");
    eventually("the archived transcript of the other run", || !transcript(&other).exists()).await;
    assert!(transcript(&resumed).exists(), "the transcript of a resumed run is not archived");
    let kept = store.run(&resumed.key).expect("the run is readable").expect("the run is stored");
    assert_eq!((kept.is_live, kept.archived_ms), (true, None));
    close_conversation(&scene.service, &conversation.view).await;
}

/// An end stored by a process that died, and delivered to no one.
fn leave_end(scene: &Scene, number: i64) -> String {
    let key = format!("key-{number}");
    let run = RunRecord {
        key: key.clone(),
        run_id: format!("{number:08x}"),
        session: SESSION.into(),
        outcome: Some(RunOutcome::Completed),
        created_ms: now_ms() + number,
        ended_ms: Some(now_ms()),
        task: "look ".repeat(500),
        result: Some(format!("Result {number}. {}", "word ".repeat(1_000))),
        partial: Some("half".into()),
        notes: vec!["a note".into()],
        ..RunRecord::default()
    };
    let row = StoredRun {
        body: serde_json::to_string(&run).expect("the value is serialized"),
        key: key.clone(),
        run_id: run.run_id,
        session: run.session,
        created_ms: run.created_ms,
        ended_ms: run.ended_ms,
        ..StoredRun::default()
    };
    let body = json!({
        "status": "success", "name": run.key, "result": format!("Result {number}."), "notes": [], "partial": null,
        "stats": "", "triggersTurn": false, "maxBytes": 65_536, "maxLines": 2000,
    });
    let id = format!("{key}-0");
    let delivery = Delivery {
        id: id.clone(),
        session: SESSION.into(),
        key,
        body: body.to_string(),
        created_ms: run.created_ms,
    };
    let store = attach(&scene.agent_dir()).store.expect("the store is available");
    store.settle_run(&row, Some(&delivery), false).expect("the end is stored");
    id
}

/// A foreground run.
fn leave_call(scene: &Scene) {
    let run = RunRecord {
        key: "call".into(),
        session: SESSION.into(),
        outcome: Some(RunOutcome::Completed),
        created_ms: now_ms(),
        is_foreground: true,
        ..RunRecord::default()
    };
    let body = serde_json::to_string(&run).expect("the value is serialized");
    let row = StoredRun {
        body,
        key: run.key,
        session: run.session,
        created_ms: run.created_ms,
        ..StoredRun::default()
    };
    attach(&scene.agent_dir())
        .store
        .expect("the store is available")
        .put_run(&row)
        .expect("the run is stored");
}

fn now_ms() -> i64 {
    let since =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("the time is after 1970");
    i64::try_from(since.as_millis()).expect("the number fits")
}

/// From the 17th on they were one line each, and marked as delivered.
#[tokio::test]
async fn each_of_many_results_is_delivered_in_full() {
    const MANY: i64 = 40;
    let scene = Scene::new(ends());
    for number in 0..MANY {
        leave_end(&scene, number);
    }
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let mut text = String::new();
    let mut count = 0;
    while count < usize::try_from(MANY).expect("the number fits") {
        let message = conversation.message().await;
        assert!(message.delivery_ids.len() <= 16, "{}", message.delivery_ids.len());
        assert_eq!(message.runs.len(), message.delivery_ids.len());
        count += message.delivery_ids.len();
        text.push_str(&message.text);
    }
    for number in 0..MANY {
        assert_eq!(text.matches(&format!("Result {number}.\n")).count(), 1, "{number}");
    }
    scene.until_settled(&conversation).await;
    assert_eq!(conversation.delivered().len(), count);
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn an_active_run_older_than_the_newest_hundred_is_listed_and_its_end_is_an_event() {
    let scene = Scene::new(goes_on());
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let run = scene.spawn().await;
    conversation.until(|event| event.runs.is_some_and(|runs| runs.len() == 1)).await;
    for number in 0..120 {
        leave_end(&scene, number);
    }
    let runs = scene.service.runs(Some(SESSION.into())).await;
    assert_eq!(runs.last().map(|run| &run.key), Some(&run.key), "the oldest active run is listed");
    assert_eq!(runs.len(), 101);
    stop(&scene.service, &run).await.expect("the run is stopped");
    conversation.until(|event| event.ended.iter().any(|ended| ended.key == run.key)).await;
    close_conversation(&scene.service, &conversation.view).await;
}

/// Two pi had the session open, and the pi that received the message died before it could confirm it.
#[tokio::test]
async fn a_result_in_the_session_file_is_not_delivered_again() {
    let scene = Scene::new(ends());
    let delivered = leave_end(&scene, 1);
    let news = leave_end(&scene, 2);
    let entry = json!({
        "type": "custom_message", "customType": "subagent-announcement", "content": "…",
        "details": { "deliveryIds": [delivered], "runIds": [], "runs": [] },
    });
    fs::write(scene.root.path().join("sessions/conversation.jsonl"), format!("{entry}\n"))
        .expect("the file is written");
    let conversation = scene.open(KnownDeliveries::default(), &[]).await;
    scene.until_settled(&conversation).await;
    assert_eq!(conversation.delivered(), [news]);
    close_conversation(&scene.service, &conversation.view).await;
    let open: i64 = scene
        .database()
        .query_row(
            "SELECT count(*) FROM delivery WHERE delivered_ms IS NULL AND id = ?1",
            [delivered],
            |row| row.get(0),
        )
        .expect("the query succeeds");
    assert_eq!(open, 0, "the result counts as delivered");
}

/// The disk was full when the run ended, so only the session knows its end. Then its process was killed.
#[tokio::test]
async fn a_delivered_end_that_could_not_be_stored_is_not_delivered_again() {
    let scene = Scene::new(goes_on());
    let mut other = Actor::start(&scene.agent_dir());
    assert!(other.ask("run").starts_with("Accepted"));
    scene.until_received(1).await;
    other.kill();
    let runs = scene.service.runs(Some(SESSION.into())).await;
    let known =
        KnownDeliveries { delivered: vec![format!("{}-0", runs[0].key)], ..KnownDeliveries::default() };
    let conversation = scene.open(known, &[]).await;
    scene.until_settled(&conversation).await;
    assert_eq!(conversation.delivered(), [""; 0]);
    assert!(!scene.service.runs(Some(SESSION.into())).await[0].is_live());
    close_conversation(&scene.service, &conversation.view).await;
}

/// The list was lost without a message. In a damaged file nothing was stored or delivered any more.
#[tokio::test]
async fn a_database_lost_during_a_run_is_rebuilt_from_memory() {
    for is_damaged in [false, true] {
        let scene = Scene::new(goes_on());
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let run = scene.spawn().await;
        leave_call(&scene);
        leave_end(&scene, 1);
        conversation.message().await;
        eventually("the list of all runs", || conversation.view.runs().len() == 3).await;
        for name in ["runs.db", "runs.db-wal", "runs.db-shm"] {
            let file = scene.agent_dir().join("subagents").join(name);
            if !is_damaged {
                fs::remove_file(file).expect("the file is removed");
            } else if name != "runs.db-shm" {
                let length = fs::metadata(&file).expect("the file exists").len();
                let garbage = "garbage ".repeat(usize::try_from(length).expect("the number fits") / 8);
                fs::write(&file, garbage).expect("the file is written");
            }
        }
        // Damage shows only to a process that has not read the pages yet. That process sets the file aside.
        let mut other = is_damaged.then(|| Actor::start(&scene.agent_dir()));
        if let Some(other) = &mut other {
            assert!(other.ask("run").starts_with("Accepted"));
        }
        let expected = if is_damaged { 4 } else { 3 };
        conversation
            .until(|event| event.notices.iter().any(|notice| notice.contains("a new one was started")))
            .await;
        let kept = async {
            while scene.service.runs(Some(SESSION.into())).await.len() != expected {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, kept).await.expect("all runs are listed");
        let known = scene.service.runs(Some(SESSION.into())).await;
        let ended = known.iter().find(|run| run.key == "key-1").expect("the run is listed");
        let texts = (ended.result.as_ref().map(String::len), ended.partial.as_deref(), ended.notes.len());
        assert_eq!(
            (texts, ended.task.len()),
            ((Some(5_010), Some("half"), 1), 2_500),
            "the rebuilt run is complete"
        );
        eventually("the stored runs", || {
            let count = scene.database().query_row("SELECT count(*) FROM run", (), |row| row.get(0));
            count.is_ok_and(|count: i64| usize::try_from(count) == Ok(expected))
        })
        .await;
        stop(&scene.service, &run).await.expect("the run is stopped");
        let message = conversation.message().await;
        assert_eq!(message.runs[0].key, run.key);
        scene.until_settled(&conversation).await;
        close_conversation(&scene.service, &conversation.view).await;
    }
}

/// It waited for half a minute more than its limit.
#[tokio::test]
async fn a_conversation_whose_store_cannot_be_read_settles() {
    let scene = Scene::new(goes_on());
    let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
    let run = scene.spawn().await;
    let database = scene.agent_dir().join("subagents/runs.db");
    fs::remove_file(&database).expect("the file is removed");
    fs::create_dir(&database).expect("the directory is created");
    stop(&scene.service, &run).await.expect("the run is stopped");
    assert_eq!(conversation.message().await.runs[0].key, run.key);
    let since = std::time::Instant::now();
    until_settled(&scene.service, &conversation.view, Some(Duration::from_millis(1))).await;
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    close_conversation(&scene.service, &conversation.view).await;
}

#[tokio::test]
async fn the_whole_report_is_delivered_without_replies_to_the_host() {
    for (answer, is_told) in [("The whole report.", true), ("ANNOUNCE_SKIP", false)] {
        let scene = Scene::new(Child::new().replies(answer).listens());
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let mut request = request(scene.root.path());
        let config = json!({ "graceMs": 200 });
        request.context = Arc::new(HostContext { config: Some(config), ..(*request.context).clone() });
        let run = scene.spawn_as(request).await;
        if is_told {
            let text = conversation.message().await.text;
            assert!(text.contains(answer) && text.contains("Task: `look around`"), "{text}");
        }
        scene.until_settled(&conversation).await;
        assert_eq!(conversation.delivered().len(), usize::from(is_told), "{}", run.run_id);
        let kept = scene.service.runs(Some(SESSION.into())).await.remove(0);
        assert_eq!(kept.status(), Some(BackgroundStatus::Success));
    }
}

/// The reply to the request for an announcement is the only answer of such a child.
#[tokio::test]
async fn a_child_with_an_empty_answer_succeeds_with_its_announcement() {
    for (reply, status, words) in [
        (Child::new().says("In short."), "Status: success", "In short."),
        (Child::new().says(" "), "Status: error", "the child gave no answer"),
        (Child::new().says("Cut off").with_stop_reason("error"), "Status: error", "the child gave no answer"),
    ] {
        let scene = Scene::new(Child::new().replies("").receives().starts().then(reply).settles().listens());
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let mut request = request(scene.root.path());
        let config = json!({ "graceMs": 200 });
        request.context = Arc::new(HostContext { config: Some(config), ..(*request.context).clone() });
        scene.spawn_as(request).await;
        let message = conversation.message().await;
        assert!(message.text.contains(status) && message.text.contains(words), "{}", message.text);
        let is_success = status.ends_with("success");
        assert_eq!(message.text.contains("Result: (not available)"), !is_success, "{}", message.text);
        assert_eq!(message.runs[0].result.as_deref(), is_success.then_some(words), "{}", message.text);
        close_conversation(&scene.service, &conversation.view).await;
    }
}

/// Each row: `announce.mode`, the child, the number of its prompts, and words of the message, if there is one.
#[tokio::test]
async fn the_mode_decides_which_children_are_asked_and_what_is_delivered() {
    let empty = || Child::new().replies("");
    let failed = ["Status: error", "Result: (not available)"].as_slice();
    let answer = ["Status: success", "\nThe whole answer.\n"].as_slice();
    let reply = ["Status: success", "\nIn short.\n"].as_slice();
    let unusable = |why| vec!["Status: success", "\nThe whole answer.\n", why];
    let (silent, gone) =
        ("Note: no announcement: the child gave no answer", "no announcement: the child ended");
    for (mode, child, prompts, expected) in [
        ("ask", ends(), 2, reply),
        ("ask", Child::answering().replies(" ANNOUNCE_SKIP\n").listens(), 2, &[]),
        ("ask", Child::new().replies(" ANNOUNCE_SKIP ").listens(), 1, &[]),
        ("ask", Child::answering().replies(" ").listens(), 2, &*unusable(silent)),
        ("ask", Child::answering().receives().starts().exits(3), 2, &*unusable(gone)),
        ("ask", empty().replies("In short.").listens(), 2, reply),
        ("ask", empty().replies("ANNOUNCE_SKIP").listens(), 2, &[]),
        ("ask", empty().replies(" ").listens(), 2, failed),
        ("auto", Child::answering().listens(), 1, answer),
        ("never", Child::answering().listens(), 1, answer),
        ("never", empty().listens(), 1, failed),
    ] {
        let scene = Scene::new(child.clone());
        let mut conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let mut request = request(scene.root.path());
        let config = json!({ "graceMs": 200, "announce": { "mode": mode } });
        request.context = Arc::new(HostContext { config: Some(config), ..(*request.context).clone() });
        scene.spawn_as(request).await;
        scene.until_settled(&conversation).await;
        assert_eq!(conversation.delivered().is_empty(), expected.is_empty(), "{mode}: {child}");
        if !expected.is_empty() {
            let text = conversation.message().await.text;
            for words in expected {
                assert!(text.contains(words), "{mode}: {child}: {words}: {text}");
            }
        }
        assert_eq!(scene.prompts(), prompts, "{mode}: {child}");
        close_conversation(&scene.service, &conversation.view).await;
    }
}

/// The stored part of a result is shorter than a result may be. With `cleanup: "delete"` the file is archived right after the
/// delivery.
#[tokio::test]
async fn a_shortened_result_names_the_file_with_the_whole_unless_it_is_about_to_be_archived() {
    for cleanup in ["keep", "delete"] {
        let scene = Scene::new(Child::answering().replies(&"word ".repeat(5_000)).listens());
        let conversation = scene.open(KnownDeliveries::default(), &[]).await;
        let request = SpawnRequest { cleanup: Some(cleanup.into()), ..request(scene.root.path()) };
        scene.spawn_as(request).await;
        scene.until_settled(&conversation).await;
        let run = scene.service.runs(Some(SESSION.into())).await.remove(0);
        let result = run.result.expect("the run has a result");
        let file = run.transcript.expect("the run has a transcript");
        let (named, other) = (file.to_string_lossy(), "full text: `sessions_history` reads it".into());
        let (named, other) = if cleanup == "keep" { (named, other) } else { (other, named) };
        assert!(result.len() <= 16 * 1024, "{}", result.len());
        assert!(result.contains(&*named) && !result.contains(&*other), "{cleanup}: {result}");
        close_conversation(&scene.service, &conversation.view).await;
    }
}
