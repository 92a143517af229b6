//! Foreground runs in their conversation: how it shows and controls them. Their children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::extension::{self, EventRecorder};
use crate::support::pids::eventually;
use crate::support::stage::{self, PATIENCE, User, stage};
use pi_subagent_native::orchestrate::background::{
    BackgroundEvent, BackgroundService, ConversationScope, KnownDeliveries, RunRecord, background,
    close_conversation, commands, open_conversation, send, stop, until_settled,
};
use pi_subagent_native::orchestrate::{TaskSpec, TasksSpec, parallel};
use pi_subagent_native::run::{Host, HostContext, RunOutcome, RunState, ToolResult};
use rusqlite::Connection;
use serde_json::json;
use store::attach;
use supervisor::Cancel;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SESSION: &str = "conversation";
/// Works until it receives a second command, and repeats that command.
fn listens() -> Child {
    Child::working().receives().says("Heard you.").settles().listens()
}

struct Scene {
    root: TempDir,
    service: Arc<BackgroundService>,
}

impl Scene {
    fn new() -> Self {
        let root = stage(listens());
        let service = background(&root.path().join("agent"));
        Self { root, service }
    }

    fn context(&self) -> Arc<HostContext> {
        let host = Host { session_id: Some(SESSION.into()), ..Host::default() };
        Arc::new(HostContext { host, ..stage::context(self.root.path(), json!({ "graceMs": 200 })) })
    }

    fn scope(&self) -> ConversationScope {
        let cwd = self.root.path().join("project");
        ConversationScope { cwd, context: self.context(), ends_with: Cancel::new() }
    }

    /// A call with two tasks.
    fn call(&self) -> JoinHandle<ToolResult> {
        let task =
            |task: &str| TaskSpec { agent: "explorer".into(), task: task.into(), ..TaskSpec::default() };
        let spec = TasksSpec {
            tasks: vec![task("first"), task("second")],
            cwd: self.root.path().join("project"),
            context: self.context(),
        };
        let call = extension::call(Arc::new(User::default()));
        tokio::spawn(parallel(spec, call))
    }

    async fn runs(&self) -> Vec<RunRecord> {
        self.service.runs(Some(SESSION.into())).await
    }

    /// Returns the two runs of a call by their tasks, once both of their children work.
    async fn working(&self) -> Vec<RunRecord> {
        let received = self.root.path().join("received");
        eventually("the tasks of both children", || {
            fs::read_to_string(&received).is_ok_and(|text| text.lines().count() == 2)
        })
        .await;
        let is_working = |run: &RunRecord| run.state == RunState::Running;
        let listed = async {
            loop {
                let mut runs = self.runs().await;
                if runs.len() == 2 && runs.iter().all(is_working) {
                    runs.sort_by(|one, other| one.task.cmp(&other.task));
                    return runs;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, listed).await.expect("both runs are listed")
    }
}

fn outcomes(result: &ToolResult) -> Vec<RunOutcome> {
    result.details.results.iter().map(|single| single.outcome).collect()
}

#[tokio::test]
async fn one_task_of_a_call_is_stopped_and_another_gets_a_message() {
    let scene = Scene::new();
    let call = scene.call();
    let runs = scene.working().await;
    assert!(
        runs.iter().all(|run| run.is_foreground && run.is_in_process && run.transcript.is_some()),
        "{runs:?}"
    );
    assert_eq!((runs[0].task.as_str(), runs[1].task.as_str()), ("first", "second"));
    stop(&scene.service, &runs[0]).await.expect("the run is stopped");
    assert!(!call.is_finished(), "the other run continues");
    send(&scene.service, &runs[1], "enough", &scene.scope(), None, Arc::new(User::default()))
        .await
        .expect("the message is sent");
    let result = timeout(PATIENCE, call).await.expect("the call ends").expect("the task does not panic");
    assert_eq!(outcomes(&result), [RunOutcome::Aborted, RunOutcome::Completed]);
    let listed = scene.runs().await;
    assert!(listed.len() == 2 && listed.iter().all(|run| !run.is_live() && run.is_foreground), "{listed:?}");
    for (run, (mark, number)) in runs.iter().zip([("✗ SUBAGENT_FAILED", 1), ("✓", 2)]) {
        let heading = format!("[{number}/2] explorer {mark} · run {} · `{}`\n", run.run_id, run.task);
        assert!(result.text.contains(&heading), "{}", result.text);
    }
}

#[tokio::test]
async fn a_run_that_waits_only_for_the_disk_has_no_queue_position() {
    let scene = Scene::new();
    let agent_dir = scene.root.path().join("agent");
    attach(&agent_dir).store.expect("the store is available");
    let database = Connection::open(agent_dir.join("subagents/runs.db")).expect("the database is opened");
    database.execute_batch("BEGIN IMMEDIATE").expect("the statement succeeds");
    let call = scene.call();
    let listed = async { while scene.runs().await.len() < 2 {} };
    timeout(PATIENCE, listed).await.expect("both runs are listed");
    // Longer than a wait takes to be shown. A test can only wait to see that it is not shown.
    tokio::time::sleep(Duration::from_millis(500)).await;
    for run in scene.runs().await {
        assert_eq!((run.state, run.progress.position), (RunState::Queued, None));
    }
    database.execute_batch("ROLLBACK").expect("the statement succeeds");
    for run in scene.working().await {
        stop(&scene.service, &run).await.expect("the run is stopped");
    }
    let result = timeout(PATIENCE, call).await.expect("the call ends").expect("the task does not panic");
    assert_eq!(outcomes(&result), [RunOutcome::Aborted, RunOutcome::Aborted]);
}

#[tokio::test]
async fn an_open_conversation_lists_foreground_runs_and_does_not_wait_for_them() {
    let scene = Scene::new();
    let listener = EventRecorder::default();
    let view = open_conversation(
        &scene.service,
        SESSION.into(),
        scene.scope(),
        KnownDeliveries::default(),
        listener.clone(),
    )
    .await;
    let call = scene.call();
    let runs = scene.working().await;
    let shows = |count| {
        let listener = listener.clone();
        let runs = move || Some(listener.0.lock().last()?.runs.as_ref()?.len());
        eventually("a list of the expected length", move || runs() == Some(count))
    };
    shows(2).await;
    let user = || Arc::new(User::default());
    let list = commands::answer(&scene.service, &view, "list", commands::CommandHost::default(), user())
        .await
        .plain();
    assert!(list.contains(&runs[0].run_id) && list.contains("a call waits for it"), "{list}");
    let info = commands::answer(
        &scene.service,
        &view,
        &format!("info {}", runs[1].run_id),
        commands::CommandHost::default(),
        user(),
    )
    .await
    .plain();
    assert!(info.contains("second") && info.contains("a call waits for it"), "{info}");
    let agents = commands::answer(&scene.service, &view, "agents", commands::CommandHost::default(), user())
        .await
        .plain();
    assert!(agents.contains("explorer") && agents.contains("read, grep"), "{agents}");
    let doctor = commands::answer(&scene.service, &view, "doctor", commands::CommandHost::default(), user())
        .await
        .plain();
    assert!(doctor.contains("configuration") && doctor.contains("child command"), "{doctor}");
    timeout(PATIENCE, until_settled(&scene.service, &view, None)).await.expect("no background run is live");
    timeout(PATIENCE, scene.service.close()).await.expect("the service closes in time");
    assert!(!call.is_finished(), "the foreground call continues");
    let output =
        commands::answer(&scene.service, &view, "stop all", commands::CommandHost::default(), user())
            .await
            .plain();
    assert!(output.contains("stopped 2 sub-agents"), "{output}");
    let result = timeout(PATIENCE, call).await.expect("the call ends").expect("the task does not panic");
    assert_eq!(outcomes(&result), [RunOutcome::Aborted, RunOutcome::Aborted]);
    let shows_ends = || {
        let runs = listener.0.lock().last().and_then(|event| event.runs.clone());
        runs.is_some_and(|runs| runs.len() == 2 && runs.iter().all(|run| !run.is_live()))
    };
    eventually("the ended runs in the list", shows_ends).await;
    let events = listener.0.lock().clone();
    let is_quiet = |event: &BackgroundEvent| {
        event.started.is_empty() && event.ended.is_empty() && event.message.is_none()
    };
    assert!(events.iter().all(is_quiet), "the call gets the result: {events:?}");
    close_conversation(&scene.service, &view).await;
}
