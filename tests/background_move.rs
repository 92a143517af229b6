//! Calls that are moved to the background. Their children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::extension::{self, EventRecorder};
use crate::support::pids::eventually;
use crate::support::stage::{self, PATIENCE, User, stage};
use pi_subagent_native::orchestrate::background::{
    BackgroundService, ConversationScope, ConversationView, DeliveryMessage, KnownDeliveries, Receipt,
    RunRecord, SpawnRequest, background, close_conversation, commands, mark_delivered, open_conversation,
    receipts_of, spawn, until_settled,
};
use pi_subagent_native::orchestrate::{
    BackgroundMove, Call, MoveError, TaskSpec, TasksSpec, chain, parallel, single,
};
use pi_subagent_native::run::{
    Control, Host, HostContext, RunOutcome, RunOverrides, RunSpec, Settled, ToolResult,
};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SESSION: &str = "conversation";
/// Ends when the gate of the first word of its task is open. A task with `quick` ends at once, a task with `fails` fails.
fn gated() -> Child {
    let second = Child::new().waits_for("second").says("Second answer.");
    gated_with(Child::new(), Child::new(), second)
}

/// A child like [`gated`], with more steps before its answer to a quick task and to a first task.
fn gated_with(quick: Child, first: Child, second: Child) -> Child {
    let quick = quick.says("Quick answer.");
    let fails = Child::new().waits_for("first").says("Not this one.").with_error("the model is out");
    let first = Child::new().waits_for("first").then(first).says("First answer.");
    Child::working()
        .streams("So far.")
        .depending_on_command(&[("quick", quick), ("second", second), ("fails", fails)], &first)
        .settles()
        .listens()
}

struct Scene {
    root: TempDir,
    service: Arc<BackgroundService>,
    config: Value,
    listener: EventRecorder,
    background_move: BackgroundMove,
    cancel: Cancel,
    session: Option<String>,
}

impl EventRecorder {
    fn messages(&self) -> Vec<DeliveryMessage> {
        self.0.lock().iter().filter_map(|event| event.message.clone()).collect()
    }
}

impl Scene {
    fn new(config: Value) -> Self {
        Self::playing(gated(), config)
    }

    fn playing(child: Child, config: Value) -> Self {
        let root = stage(child);
        let service = background(&root.path().join("agent"));
        let session = Some(SESSION.to_owned());
        let listener = EventRecorder::default();
        let background_move = BackgroundMove::default();
        let cancel = Cancel::new();
        Self { root, service, config, listener, background_move, cancel, session }
    }

    fn context(&self) -> Arc<HostContext> {
        let mut config = self.config.clone();
        config["graceMs"] = json!(200);
        let host = Host { session_id: self.session.clone(), ..Host::default() };
        Arc::new(HostContext { host, ..stage::context(self.root.path(), config) })
    }

    async fn open(&self) -> Arc<ConversationView> {
        let scope = ConversationScope {
            cwd: self.root.path().join("project"),
            context: self.context(),
            ends_with: Cancel::new(),
        };
        let known = KnownDeliveries::default();
        open_conversation(&self.service, SESSION.into(), scope, known, self.listener.clone()).await
    }

    fn call(&self) -> Call {
        Call {
            control: Control { cancel: self.cancel.clone(), ..Control::default() },
            background_move: self.background_move.clone(),
            ..extension::call(Arc::new(User::default()))
        }
    }

    fn single(&self, task: &str) -> JoinHandle<ToolResult> {
        let spec = RunSpec {
            agent: "explorer".into(),
            task: task.into(),
            cwd: self.root.path().join("project"),
            context: self.context(),
            label: None,
            share: 1,
            siblings: 1,
            overrides: RunOverrides::default(),
        };
        tokio::spawn(single(spec, self.call()))
    }

    fn tasks(&self, tasks: &[&str]) -> TasksSpec {
        let task =
            |task: &&str| TaskSpec { agent: "explorer".into(), task: (*task).into(), ..TaskSpec::default() };
        let cwd = self.root.path().join("project");
        TasksSpec { tasks: tasks.iter().map(task).collect(), cwd, context: self.context() }
    }

    fn open_gate(&self, name: &str) {
        fs::write(self.root.path().join(name), "").expect("the file is written");
    }

    /// Waits until this number of children have received their task.
    async fn working(&self, children: usize) {
        let received = self.root.path().join("received");
        eventually("the tasks of the children", || {
            fs::read_to_string(&received).is_ok_and(|text| text.lines().count() >= children)
        })
        .await;
    }

    async fn handed_over(&self) -> Vec<RunRecord> {
        let asked =
            timeout(PATIENCE, self.background_move.request()).await.expect("the request is answered in time");
        asked.expect("the call is moved")
    }

    /// Returns the only message, once no run is active.
    async fn announced(&self, view: &Arc<ConversationView>) -> DeliveryMessage {
        timeout(PATIENCE, until_settled(&self.service, view, None)).await.expect("all runs end");
        let listener = self.listener.clone();
        eventually("a message", move || !listener.messages().is_empty()).await;
        let messages = self.listener.messages();
        let [message] = &messages[..] else { panic!("the end was not delivered exactly once: {messages:?}") };
        assert!(mark_delivered(&self.service, view, message.delivery_ids.clone()).await);
        message.clone()
    }
}

async fn result(call: JoinHandle<ToolResult>) -> ToolResult {
    timeout(PATIENCE, call).await.expect("the call ends").expect("the task does not panic")
}

fn outcomes(result: &ToolResult) -> Vec<RunOutcome> {
    result.details.results.iter().map(|single| single.outcome).collect()
}

#[tokio::test]
async fn a_moved_run_survives_its_call_and_is_delivered_once() {
    let scene = Scene::new(json!({}));
    let view = scene.open().await;
    let call = scene.single("look around");
    scene.working(1).await;
    let runs = scene.handed_over().await;
    let receipt = result(call).await;
    assert!(!receipt.is_error && receipt.usage.is_none(), "{receipt:?}");
    assert_eq!(outcomes(&receipt), [RunOutcome::Background]);
    assert!(receipt.text.contains(&format!("explorer (run {})", runs[0].run_id)), "{}", receipt.text);
    assert!(receipt.text.contains("The result will arrive as a message"), "{}", receipt.text);
    // The same as Escape does, or a handle that is dropped.
    scene.cancel.cancel(CancelReason::Caller(None));
    scene.cancel.cancel(CancelReason::Shutdown);
    assert_eq!(scene.handed_over().await[0].key, runs[0].key, "a second request returns the same run");
    let listed = scene.service.runs(Some(SESSION.into())).await;
    assert!(!listed[0].is_foreground && listed[0].is_live(), "{listed:?}");
    scene.open_gate("first");
    let message = scene.announced(&view).await;
    assert!(
        message.text.contains("Status: success") && message.text.contains("First answer."),
        "{message:?}"
    );
    let ended = scene.service.runs(Some(SESSION.into())).await;
    assert_eq!((ended[0].outcome, ended[0].progress.usage.input), (Some(RunOutcome::Completed), 10));
    assert!(ended[0].archive_at_ms.is_some(), "the moved run is archived");
    close_conversation(&scene.service, &view).await;
}

#[tokio::test]
async fn the_first_receiver_gets_the_end_and_no_one_gets_it_twice() {
    for round in 0..12 {
        let scene = Scene::new(json!({}));
        let view = scene.open().await;
        let call = scene.single("look around");
        scene.working(1).await;
        scene.open_gate("first");
        tokio::time::sleep(Duration::from_millis(round * 6)).await;
        let answer = timeout(PATIENCE, scene.background_move.request())
            .await
            .expect("the request is answered in time");
        let result = result(call).await;
        if answer.is_ok() {
            assert_eq!(outcomes(&result), [RunOutcome::Background]);
            assert!(scene.announced(&view).await.text.contains("First answer."));
        } else {
            assert_eq!(outcomes(&result), [RunOutcome::Completed]);
            timeout(PATIENCE, until_settled(&scene.service, &view, None)).await.expect("all runs end");
            assert!(scene.listener.messages().is_empty(), "no message repeats the result of the call");
        }
        close_conversation(&scene.service, &view).await;
    }
}

#[tokio::test]
async fn a_parallel_call_keeps_finished_results_and_moves_the_rest() {
    let scene = Scene::new(json!({}));
    let view = scene.open().await;
    let call =
        tokio::spawn(parallel(scene.tasks(&["quick look", "first look", "second look"]), scene.call()));
    scene.working(3).await;
    let service = Arc::clone(&scene.service);
    let is_quick_over = async move {
        while service.runs(Some(SESSION.into())).await.iter().filter(|run| run.is_live()).count() != 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, is_quick_over).await.expect("the quick run ends");
    let output = commands::answer(
        &scene.service,
        &view,
        "background",
        commands::CommandHost::default(),
        Arc::new(User::default()),
    )
    .await;
    let output = output.plain();
    assert_eq!(output.matches("continues in the background").count(), 2, "{output}");
    let receipt = result(call).await;
    assert_eq!(outcomes(&receipt), [RunOutcome::Completed, RunOutcome::Background, RunOutcome::Background]);
    assert!(!receipt.is_error && receipt.details.error.is_none());
    assert!(
        receipt.text.contains("[1/3] explorer ✓") && receipt.text.contains("Quick answer."),
        "{}",
        receipt.text
    );
    assert!(receipt.text.contains("[3/3] explorer continues in the background · run "), "{}", receipt.text);
    scene.cancel.cancel(CancelReason::Caller(None));
    scene.open_gate("first");
    scene.open_gate("second");
    let message = scene.announced(&view).await;
    assert_eq!(message.delivery_ids.len(), 2, "{message:?}");
    assert!(message.text.contains("First answer.") && message.text.contains("Second answer."));
    assert!(
        !message.text.contains("Quick answer."),
        "the message omits the result of the call: {}",
        message.text
    );
    close_conversation(&scene.service, &view).await;
}

#[tokio::test]
async fn a_moved_chain_continues_its_steps_and_is_delivered_at_its_end() {
    let scene = Scene::new(json!({}));
    let view = scene.open().await;
    let tasks = scene.tasks(&["quick look", "first look", "second look at {previous}"]);
    let call = tokio::spawn(chain(tasks, scene.call()));
    scene.working(2).await;
    let runs = scene.handed_over().await;
    let receipt = result(call).await;
    assert_eq!(outcomes(&receipt), [RunOutcome::Completed, RunOutcome::Background, RunOutcome::Background]);
    assert_eq!((runs.len(), runs[0].label.as_deref()), (1, Some("chain, step 2 of 3")));
    scene.cancel.cancel(CancelReason::Caller(None));
    scene.open_gate("first");
    scene.working(3).await;
    let run = scene.service.runs(Some(SESSION.into())).await;
    assert_eq!(
        (run.len(), &run[0].run_id, run[0].label.as_deref()),
        (2, &runs[0].run_id, Some("chain, step 3 of 3"))
    );
    assert!(scene.listener.messages().is_empty(), "no message is delivered before the end of the chain");
    scene.open_gate("second");
    let message = scene.announced(&view).await;
    assert!(
        message.text.contains("Status: success") && message.text.contains("Second answer."),
        "{message:?}"
    );
    let ended = scene.service.runs(Some(SESSION.into())).await;
    assert_eq!(
        (ended.len(), ended[0].progress.usage.input),
        (2, 20),
        "the usage covers both background steps"
    );
    let tasks = fs::read_to_string(scene.root.path().join("received")).expect("the file is readable");
    assert!(tasks.contains("First answer."), "the next step receives the previous answer: {tasks}");
    close_conversation(&scene.service, &view).await;
}

#[tokio::test]
async fn a_chain_that_fails_in_the_background_names_its_step_and_the_previous_answer() {
    let scene = Scene::new(json!({ "retry": { "maxAttempts": 1 } }));
    let view = scene.open().await;
    let tasks = scene.tasks(&["quick look", "it fails", "second look"]);
    let call = tokio::spawn(chain(tasks, scene.call()));
    scene.working(2).await;
    scene.handed_over().await;
    result(call).await;
    scene.open_gate("first");
    let message = scene.announced(&view).await;
    for part in ["Status: error", "stopped at step 2 of 3", "the model is out", "Quick answer."] {
        assert!(message.text.contains(part), "{part}: {}", message.text);
    }
    assert_eq!(
        fs::read_to_string(scene.root.path().join("received")).map(|text| text.lines().count()).ok(),
        Some(2)
    );
    close_conversation(&scene.service, &view).await;
}

/// Returns the lines outside of fences.
fn ours(text: &str) -> Vec<&str> {
    let mut ours = Vec::new();
    let mut fence = None;
    for line in text.lines() {
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line.trim_end_matches("text")),
            None => ours.push(line),
        }
    }
    ours
}

/// Each row: how the last step ends, and the status. A branch, and a file that runs code later, must be reported regardless of the
/// step that left them.
#[tokio::test]
async fn the_artifacts_of_each_step_of_a_chain_are_reported_in_the_call_and_at_its_end() {
    for (last, status) in [
        (Child::new().says("Second answer."), "Status: success"),
        (Child::new().says("ANNOUNCE_SKIP"), "Status: success"),
        (Child::new().says("Half").with_error("the model is out"), "Status: error"),
    ] {
        let second = Child::new().waits_for("second").runs("echo all > AGENTS.md").then(last.clone());
        let runs = |shell: &str| Child::new().runs(shell);
        let child = gated_with(runs("echo run > .envrc"), runs("echo more > notes.txt"), second);
        let config = json!({
            "allowWrite": true, "sandbox": { "mode": "off" }, "isolation": { "copy": [] },
            "retry": { "maxAttempts": 1 },
        });
        let scene = Scene::playing(child, config);
        let project = scene.root.path().join("project");
        fs::remove_dir(project.join(".git")).expect("the directory is removed");
        let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(&project).status();
        assert!(git.expect("git runs").success());
        let agents = scene.root.path().join("agent/agents");
        fs::create_dir_all(&agents).expect("the directory is created");
        let writer = "---\nname: writer\ntools: read, write\nisolation: private\n---\nWrite.";
        fs::write(agents.join("writer.md"), writer).expect("the file is written");
        let view = scene.open().await;
        let mut tasks = scene.tasks(&["quick look", "first look", "second look"]);
        tasks.tasks.iter_mut().for_each(|task| task.agent = "writer".into());
        let call = tokio::spawn(chain(tasks, scene.call()));
        scene.working(2).await;
        scene.handed_over().await;
        let receipt = result(call).await;
        let envrc = "Check these first: they run code later or instruct agents: `.envrc`";
        assert!(
            receipt.text.contains(envrc) && receipt.text.contains("on the branch `subagent/"),
            "{receipt:?}"
        );
        scene.open_gate("first");
        scene.open_gate("second");
        let message = scene.announced(&view).await.text;
        let ours = ours(&message);
        let has = |line: &str| ours.iter().filter(|known| known.contains(line)).count();
        assert_eq!(has(status), 1, "{last}: {message}");
        assert_eq!(has(envrc), 1, "{last}: {message}");
        let agents_md = envrc.replace(".envrc", "AGENTS.md");
        assert_eq!(has(&agents_md), 1, "{last}: {message}");
        assert_eq!(has("Files changed: `notes.txt`"), 1, "{last}: {message}");
        assert_eq!(has("on the branch `subagent/"), 3, "{last}: {message}");
        // The steps share the record of the chain. Each still has its own row, agent and state.
        let answer = async |line: &str| {
            let user = Arc::new(User::default());
            commands::answer(&scene.service, &view, line, commands::CommandHost::default(), user)
                .await
                .plain()
        };
        let list = answer("list").await;
        assert_eq!(list.matches("not applied yet").count(), 3, "{last}: {list}");
        assert!(!list.contains("unknown") && !list.contains("another session"), "{last}: {list}");
        let notes = ours.iter().position(|line| line.contains("`notes.txt`")).expect("the step is reported");
        let has_command = |line: &&&str| line.contains("/subagents apply ");
        let line = ours[notes..].iter().find(has_command).expect("the report names the command");
        let command = line.split("/subagents ").find(|rest| rest.starts_with("apply ")).expect("it is there");
        let step = &command["apply ".len()..][..8];
        let applied = answer(&format!("apply {step}")).await;
        assert!(applied.contains("applied") && applied.contains("notes.txt"), "{last}: {applied}");
        assert!(answer("list").await.contains(" · applied"), "{last}");
        let listener = scene.listener.clone();
        let is_settled = || {
            let settled = listener.0.lock().iter().rev().find_map(|event| event.settled.clone());
            settled.is_some_and(|settled| settled.get(step) == Some(&Settled::Applied))
        };
        eventually("the card of the chain learns of it", is_settled).await;
        close_conversation(&scene.service, &view).await;
    }
}

/// Each row: whether the call was moved before the limit ended it.
#[tokio::test]
async fn a_resumed_call_keeps_its_time_limit() {
    for is_handed_over in [false, true] {
        let scene = Scene::new(json!({ "timeoutMs": 1500, "retry": { "maxAttempts": 1 } }));
        let view = scene.open().await;
        let call = scene.single("look around");
        let mut delivered = 0;
        let run_id = if is_handed_over {
            scene.working(1).await;
            delivered = 1;
            scene.handed_over().await[0].run_id.clone()
        } else {
            let ended = result(call).await;
            assert_eq!(outcomes(&ended), [RunOutcome::HardTimeout]);
            ended.details.results[0].run_id.clone().expect("the run has an ID")
        };
        timeout(PATIENCE, until_settled(&scene.service, &view, None))
            .await
            .expect("the time limit ends the run");
        for again in 1..=2 {
            let line = format!("resume {run_id}");
            let output = commands::answer(
                &scene.service,
                &view,
                &line,
                commands::CommandHost::default(),
                Arc::new(User::default()),
            )
            .await;
            assert!(!output.is_error, "{}", output.plain());
            delivered += 1;
            let listener = scene.listener.clone();
            eventually("the message about the end", move || listener.messages().len() >= delivered).await;
            let message = scene.listener.messages().pop().expect("a message was delivered");
            let limit = "hard limit reached: 1500 ms (`timeoutMs`)";
            assert!(message.text.contains(limit), "{again}: {}", message.text);
            assert!(mark_delivered(&scene.service, &view, message.delivery_ids).await);
        }
        close_conversation(&scene.service, &view).await;
    }
}

#[tokio::test]
async fn a_queued_run_is_moved_too() {
    let scene = Scene::new(json!({ "maxConcurrent": 1, "parallelConcurrency": 1 }));
    let view = scene.open().await;
    let call = tokio::spawn(parallel(scene.tasks(&["first look", "second look"]), scene.call()));
    scene.working(1).await;
    assert_eq!(scene.handed_over().await.len(), 2);
    assert_eq!(outcomes(&result(call).await), [RunOutcome::Background; 2]);
    scene.open_gate("first");
    scene.open_gate("second");
    timeout(PATIENCE, until_settled(&scene.service, &view, None)).await.expect("all runs end");
    let listener = scene.listener.clone();
    let delivered =
        move || listener.messages().iter().map(|message| message.delivery_ids.len()).sum::<usize>();
    eventually("both results", || delivered() == 2).await;
    close_conversation(&scene.service, &view).await;
}

#[tokio::test]
async fn a_run_that_cannot_be_moved_gives_the_reason_and_its_call_keeps_waiting() {
    let refused = async |scene: &Scene| {
        let call = scene.single("look around");
        scene.working(1).await;
        let why = timeout(PATIENCE, scene.background_move.request())
            .await
            .expect("the request is answered in time");
        scene.open_gate("first");
        assert_eq!(outcomes(&result(call).await), [RunOutcome::Completed]);
        why.expect_err("the call is not moved").to_string()
    };
    let without_session = Scene { session: None, ..Scene::new(json!({})) };
    assert!(refused(&without_session).await.contains("there is no session"));
    let not_allowed = Scene::new(json!({ "allowAgents": ["tester"] }));
    assert!(refused(&not_allowed).await.contains("`subagents.allowAgents` allows tester"));
    let chain_of_both = Scene::new(json!({ "allowAgents": ["explorer"] }));
    let mut steps = chain_of_both.tasks(&["first look", "quick look"]);
    steps.tasks[1].agent = "reviewer".into();
    let call = tokio::spawn(chain(steps, chain_of_both.call()));
    chain_of_both.working(1).await;
    let why = timeout(PATIENCE, chain_of_both.background_move.request())
        .await
        .expect("the request is answered in time");
    chain_of_both.open_gate("first");
    assert_eq!(outcomes(&result(call).await), [RunOutcome::Completed; 2]);
    let why = why.expect_err("the later step is refused").to_string();
    assert!(why.contains("agent `reviewer`"), "{why}");
    let without_store = Scene::new(json!({}));
    fs::create_dir_all(without_store.root.path().join("agent/subagents/runs.db"))
        .expect("the directory is created");
    assert!(refused(&without_store).await.contains("the store of runs cannot be used"));
    let error = without_store.background_move.request().await.expect_err("no call waits");
    assert_eq!(error, MoveError::CallEnded);
}

/// Foreground runs take none of the 32 slots of background runs until their calls are moved.
#[tokio::test]
async fn only_background_runs_count_towards_their_limit() {
    let scene = Scene::new(json!({ "maxConcurrent": 1, "parallelConcurrency": 1 }));
    let spawned = async || {
        let cwd = scene.root.path().join("project");
        let request = SpawnRequest::new("first look".into(), cwd, scene.context());
        let request = SpawnRequest { agent: Some("explorer".into()), ..request };
        spawn(&scene.service, request, Arc::new(User::default())).await
    };
    let call = tokio::spawn(parallel(scene.tasks(&["first look", "second look"]), scene.call()));
    scene.working(1).await;
    for number in 0..31 {
        let receipt = spawned().await;
        assert!(matches!(receipt, Receipt::Accepted { .. }), "{number}: {receipt:?}");
    }
    let why =
        timeout(PATIENCE, scene.background_move.request()).await.expect("the request is answered in time");
    assert_eq!(
        why.expect_err("only one run can be moved").to_string(),
        "the limit of 32 queued and running background runs is reached (32 for each of the 1 slots of \
         `subagents.maxConcurrent`): wait until one ends, or stop one"
    );
    assert!(matches!(spawned().await, Receipt::Accepted { .. }));
    assert!(matches!(spawned().await, Receipt::Forbidden { .. }));
    scene.open_gate("first");
    scene.open_gate("second");
    let ended = result(call).await;
    assert_eq!(outcomes(&ended), [RunOutcome::Completed; 2]);
    // A resumed run is in the background, too.
    let run_id = ended.details.results[0].run_id.clone().expect("the run has an ID");
    let view = scene.open().await;
    timeout(PATIENCE, until_settled(&scene.service, &view, None)).await.expect("all runs end");
    fs::remove_file(scene.root.path().join("first")).expect("the file is removed");
    for _ in 0..32 {
        assert!(matches!(spawned().await, Receipt::Accepted { .. }));
    }
    let line = format!("resume {run_id}");
    let output = commands::answer(
        &scene.service,
        &view,
        &line,
        commands::CommandHost::default(),
        Arc::new(User::default()),
    )
    .await;
    assert!(output.is_error && output.plain().contains("the limit of 32"), "{}", output.plain());
    scene.open_gate("first");
    close_conversation(&scene.service, &view).await;
}

/// A host process cannot take over a child of this process.
#[tokio::test]
async fn a_moved_run_that_ends_with_its_pi_says_so() {
    for (on_exit, expected) in [("keep", 1), ("end", 0)] {
        let scene = Scene::new(json!({ "background": { "onExit": on_exit } }));
        let view = scene.open().await;
        let call = scene.single("first");
        scene.working(1).await;
        let receipts = receipts_of(Ok(scene.handed_over().await));
        let [Receipt::Accepted { warnings, .. }] = &receipts[..] else { panic!("{receipts:?}") };
        assert_eq!(warnings.len(), expected, "{warnings:?}");
        assert!(
            warnings.iter().all(|warning| warning.contains("it still ends with this pi")),
            "{warnings:?}"
        );
        scene.open_gate("first");
        timeout(PATIENCE, call).await.expect("the call ends").expect("the task does not panic");
        let delivered = scene.announced(&view).await;
        assert!(!delivered.text.contains("it still ends with this pi"), "{}", delivered.text);
    }
}
