//! One call reads the configuration once: an edit during a call affects only the next call.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::extension;
use crate::support::stage::{PATIENCE, User, context, stage};
use pi_subagent_native::orchestrate::background::{
    Ack, BackgroundEvent, ConversationScope, KnownDeliveries, Listener, Receipt, SpawnRequest, background,
    close_conversation, open_conversation, spawn, until_settled,
};
use pi_subagent_native::orchestrate::{TaskSpec, TasksSpec, chain, parallel};
use pi_subagent_native::run::{Host, HostContext, RunOutcome};
use serde_json::json;
use supervisor::{Cancel, CancelReason};
use tempfile::TempDir;
use tokio::time::timeout;

const BEFORE: &str = "value-that-was-there-before";
const AFTER: &str = "value-that-came-meanwhile";

/// Prints its environment, and saves it in a file of its own.
fn script() -> Child {
    Child::new()
        .reads_task()
        .runs(r#"printf '%s' "$DEPLOY_TOKEN" > "$0.$PI_SUBAGENT_RUN_ID""#)
        .starts()
        .says_expanded("It is $DEPLOY_TOKEN.")
        .settles()
}

fn configure(file: &Path, token: &str) {
    fs::write(file, json!({ "subagents": { "env": { "DEPLOY_TOKEN": token } } }).to_string())
        .expect("the file is written");
}

/// A project with an agent that the user must allow, and the settings at the start.
fn scene() -> (TempDir, PathBuf, Arc<HostContext>) {
    let root = stage(script());
    let project = root.path().join("project");
    fs::create_dir_all(project.join(".pi/agents")).expect("the directory is created");
    let agent = project.join(".pi/agents/local.md");
    fs::write(agent, "---\nname: local\nreadonly: true\n---\nLook.").expect("the agent file is written");
    configure(&settings(root.path()), BEFORE);
    let config = json!({ "protocol": "json", "allowAgents": ["*"] });
    let host = Host { session_id: Some("conversation".into()), ..Host::default() };
    let context = Arc::new(HostContext { host, ..context(root.path(), config) });
    (root, project, context)
}

fn settings(root: &Path) -> PathBuf {
    root.join("agent/subagents.json")
}

/// A user who allows every agent, and edits the settings before answering.
fn editor(root: &Path) -> Arc<User<'static>> {
    let edited = settings(root);
    let confirms = move |_| {
        configure(&edited, AFTER);
        true
    };
    Arc::new(User { confirms: Some(Box::new(confirms)), ..User::default() })
}

/// The values that the children received.
fn given(root: &Path) -> Vec<String> {
    let edited = fs::read_to_string(settings(root)).expect("the file is readable");
    assert!(edited.contains(AFTER), "the user was asked");
    let files = fs::read_dir(root).expect("the directory is readable").flatten().map(|entry| entry.path());
    let kept = files.filter(|path| path.to_string_lossy().contains("pi.sh."));
    kept.map(|path| fs::read_to_string(path).expect("the file is readable")).collect()
}

#[tokio::test]
async fn an_edit_during_a_question_does_not_affect_the_runs_of_the_call() {
    for tasks in [1, 3] {
        let (root, cwd, context) = scene();
        let task = TaskSpec { agent: "local".into(), task: "look around".into(), ..TaskSpec::default() };
        let spec = TasksSpec { tasks: vec![task; tasks], cwd, context };
        let call = extension::call(editor(root.path()));
        let result = timeout(PATIENCE, parallel(spec, call)).await.expect("the runs end");
        assert_eq!(given(root.path()), vec![BEFORE; tasks], "{}", result.text);
        let whole = format!("{result:?}");
        assert_eq!(whole.matches("output: Some(\"It is [REDACTED].\")").count(), tasks, "{whole}");
        assert!(!whole.contains(BEFORE) && !whole.contains(AFTER), "{whole}");
    }
}

struct Silent;

impl Listener for Silent {
    async fn notify(&mut self, _event: BackgroundEvent) -> Ack {
        Ack::Accepted
    }
}

#[tokio::test]
async fn an_edit_during_a_question_does_not_affect_a_background_run() {
    let (root, cwd, context) = scene();
    let service = background(&context.agent_dir);
    let scope =
        ConversationScope { cwd: cwd.clone(), context: Arc::clone(&context), ends_with: Cancel::new() };
    let view = open_conversation(&service, "conversation".into(), scope, KnownDeliveries::default(), Silent);
    let view = view.await;
    let request = SpawnRequest::new("look around".into(), cwd, context);
    let request = SpawnRequest { agent: Some("local".into()), ..request };
    let receipt = spawn(&service, request, editor(root.path())).await;
    assert!(matches!(receipt, Receipt::Accepted { .. }), "{receipt:?}");
    timeout(PATIENCE, until_settled(&service, &view, None)).await.expect("the run ends");
    let runs = service.runs(None).await;
    assert_eq!(given(root.path()), [BEFORE], "{runs:?}");
    assert_eq!(runs[0].result.as_deref(), Some("It is [REDACTED]."), "{runs:?}");
    close_conversation(&service, &view).await;
}

/// A file system that hangs blocks the reading thread.
#[test]
fn an_abort_does_not_wait_for_the_configuration() {
    let runtime = tokio::runtime::Builder::new_multi_thread().max_blocking_threads(1).enable_all().build();
    let runtime = runtime.expect("the runtime starts");
    let (release, hung) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || hung.recv().is_ok());
    for (is_chain, tasks, asked) in [
        (false, 1, "look around"),
        (false, 2, "look around"),
        (true, 2, "look around"),
        (true, 0, "{previous}"),
    ] {
        let (_root, cwd, context) = scene();
        let task = TaskSpec { agent: "local".into(), task: asked.into(), ..TaskSpec::default() };
        let spec = TasksSpec { tasks: vec![task; tasks.max(1)], cwd, context };
        let call = extension::call(Arc::new(User::default()));
        call.control.cancel.cancel(CancelReason::Shutdown);
        let result = runtime.block_on(async {
            let run = async { if is_chain { chain(spec, call).await } else { parallel(spec, call).await } };
            timeout(Duration::from_secs(5), run).await
        });
        let result = result.unwrap_or_else(|_| panic!("`{asked}` ends, chain: {is_chain}"));
        // A first step that refers to a previous step is refused, regardless of the configuration.
        assert_eq!(result.details.results.len(), tasks, "{}", result.text);
        assert!(result.details.results.iter().all(|single| single.outcome == RunOutcome::Aborted));
    }
    drop(release);
}
