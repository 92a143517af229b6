//! Runs whose provider's quota is used up: they wait without a slot, and continue their sessions. Their children are scripted.
#![cfg(unix)]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::extension::{self, EventRecorder};
use crate::support::pids::eventually;
use crate::support::program;
use crate::support::stage::{self, PATIENCE, User, stage};
use pi_subagent_native::orchestrate::background::{
    BackgroundService, ConversationScope, KnownDeliveries, Receipt, RunRecord, SpawnRequest, background,
    open_conversation, resume, spawn,
};
use pi_subagent_native::orchestrate::{Call, TaskSpec, TasksSpec, parallel};
use pi_subagent_native::present::{Clock, list_report};
use pi_subagent_native::run::{
    ActionOutcome, Answer, Host, HostCallbacks, HostContext, RunOutcome, RunState, ToolResult,
};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SESSION: &str = "conversation";
/// A child whose provider refuses it while the file `gone` exists, but not before the file `hold` is removed. Otherwise it
/// answers, and stays until the file `linger` is removed. Records its arguments.
fn refused_child(error: &str) -> Child {
    let refused = Child::new()
        .runs(r#"while test -e "$home/hold"; do sleep 0.02; done"#)
        .says("")
        .with_error(error)
        .settles()
        .listens();
    Child::new()
        .runs(r#"printf '%s\n' "$*" >> "$home/starts""#)
        .receives()
        .starts()
        .if_exists("gone", &refused)
        .says("Done.")
        .runs(r#"while test -e "$home/linger"; do sleep 0.02; done"#)
        .settles()
        .listens()
}
const NO_TIME: &str = "429 insufficient_quota: You exceeded your current quota, please check your plan";

struct Scene {
    root: TempDir,
    provider: &'static str,
    config: Value,
    service: Arc<BackgroundService>,
}

impl Scene {
    /// The tests of one program share its queue, so each has a provider of its own. It is unknown if the name is empty.
    fn new(provider: &'static str, error: &str, config: Value) -> Self {
        let root = stage(refused_child(error));
        fs::write(root.path().join("gone"), "").expect("the file is written");
        let service = background(&root.path().join("agent"));
        Self { root, provider, config, service }
    }

    fn context(&self) -> Arc<HostContext> {
        let host = Host { session_id: Some(SESSION.into()), ..Host::default() };
        let mut config = self.config.clone();
        if !self.provider.is_empty() {
            config["model"] = format!("{}/m1", self.provider).into();
        }
        Arc::new(HostContext { host, ..stage::context(self.root.path(), config) })
    }

    fn scope(&self) -> ConversationScope {
        let cwd = self.root.path().join("project");
        ConversationScope { cwd, context: self.context(), ends_with: Cancel::new() }
    }

    /// A call with `count` tasks.
    fn tasks(&self, count: usize, call: Call) -> JoinHandle<ToolResult> {
        let task = |number: usize| TaskSpec {
            agent: "explorer".into(),
            task: format!("task {number}"),
            ..TaskSpec::default()
        };
        let spec = TasksSpec {
            tasks: (0..count).map(task).collect(),
            cwd: self.root.path().join("project"),
            context: self.context(),
        };
        tokio::spawn(parallel(spec, call))
    }

    fn starts(&self) -> Vec<String> {
        let text = fs::read_to_string(self.root.path().join("starts")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    async fn runs(&self) -> Vec<RunRecord> {
        self.service.runs(Some(SESSION.into())).await
    }

    /// Waits until `count` runs wait for the quota, and returns them.
    async fn waiting(&self, count: usize) -> Vec<RunRecord> {
        let wait = async {
            loop {
                let mut runs = self.runs().await;
                runs.retain(|run| run.state == RunState::AwaitingQuota && run.is_live());
                if runs.len() == count {
                    return runs;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, wait).await.expect("the runs wait for the quota")
    }

    /// Lets a run try the quota, as `/subagents resume` does.
    async fn try_quota(&self, run: &RunRecord) {
        let done = resume(&self.service, run, None, &self.scope(), person()).await;
        assert_eq!(done.expect("the quota is tried"), ActionOutcome::TriesQuota);
    }

    /// Returns the answer of `/subagents list`.
    async fn list(&self) -> String {
        list_report(&self.runs().await, 0, Some(SESSION), &Clock::fixed(0, 0)).plain()
    }

    fn restore_quota(&self) {
        fs::remove_file(self.root.path().join("gone")).expect("the file is removed");
    }
}

/// A pi with a user.
fn person() -> Arc<dyn HostCallbacks> {
    Arc::new(User { answers: Some(Box::new(|_| Answer::Cancelled)), ..User::default() })
}

fn outcomes(result: &ToolResult) -> Vec<RunOutcome> {
    result.details.results.iter().map(|single| single.outcome).collect()
}

async fn ended(call: JoinHandle<ToolResult>) -> ToolResult {
    timeout(PATIENCE, call).await.expect("the run ends").expect("the task does not panic")
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_tasks_start_only_the_children_under_way_and_finish_once_the_quota_is_back() {
    // A child that boots ahead would count as a start.
    let config = json!({
        "maxConcurrent": 4, "parallelConcurrency": 4, "maxConcurrentPerUser": 64, "bootAhead": 0,
    });
    let scene = Scene::new("fifty", NO_TIME, config);
    let calls: Vec<_> = [8, 8, 8, 8, 8, 8, 2]
        .into_iter()
        .map(|count| scene.tasks(count, extension::call(person())))
        .collect();
    let waiting = scene.waiting(50).await;
    assert_eq!(scene.starts().len(), 4, "no child starts after the first quota error");
    for run in &waiting {
        let retry = run.progress.retry.as_ref().expect("the run reports its retry");
        assert!(retry.error.as_ref().is_some_and(|error| error.contains("quota")), "{retry:?}");
    }
    // One run tries in vain. Its child is held, so that the test sees the try begin and end.
    let hold = scene.root.path().join("hold");
    fs::write(&hold, "").expect("the file is written");
    scene.try_quota(&waiting[0]).await;
    eventually("one more child", || scene.starts().len() == 5).await;
    scene.waiting(49).await;
    fs::remove_file(hold).expect("the file is removed");
    scene.waiting(50).await;
    assert_eq!(scene.starts().len(), 5);
    scene.restore_quota();
    scene.try_quota(&waiting[0]).await;
    for call in calls {
        let result = ended(call).await;
        assert!(outcomes(&result).iter().all(|outcome| *outcome == RunOutcome::Completed), "{}", result.text);
        let texts = result.details.results.iter().map(|single| single.output.as_deref());
        assert!(texts.into_iter().all(|text| text == Some("Done.")), "{}", result.text);
    }
    // The five whose first child was refused continued their sessions.
    assert_eq!(scene.starts().len(), 55);
    let received = fs::read_to_string(scene.root.path().join("received")).expect("the file is readable");
    assert_eq!(received.matches("usage limit interrupted you").count(), 5);
}

/// Moves the clock of the queue. Real time passes again afterwards, because a child writes in real time.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn foreground_and_background_runs_continue_by_themselves_at_the_named_reset_time() {
    // The clock of one runtime moves, and the queue is shared by all of a process.
    if program::runs_alone() {
        return;
    }
    let error = "429: You have hit your usage limit. Please try again in 10m.";
    let scene = Scene::new("named", error, json!({}));
    let hold = scene.root.path().join("hold");
    fs::write(&hold, "").expect("the file is written");
    let recorder = EventRecorder::default();
    let known = KnownDeliveries::default();
    let _view =
        open_conversation(&scene.service, SESSION.into(), scene.scope(), known, recorder.clone()).await;
    let foreground = scene.tasks(1, extension::call(person()));
    let project = scene.root.path().join("project");
    let request = SpawnRequest::new("look around".into(), project, scene.context());
    let request = SpawnRequest { agent: Some("explorer".into()), ..request };
    let receipt = spawn(&scene.service, request, person()).await;
    assert!(matches!(receipt, Receipt::Accepted { .. }), "{receipt:?}");
    eventually("two children", || scene.starts().len() == 2).await;
    fs::remove_file(hold).expect("the file is removed");
    scene.waiting(2).await;
    scene.restore_quota();

    let list = scene.list().await;
    assert!(list.starts_with("Runs: 2 waiting for quota"), "{list}");
    assert_eq!(list.matches(" · waiting for quota").count(), 2, "{list}");
    pass(Duration::from_secs(9 * 60)).await;
    assert_eq!((scene.waiting(2).await.len(), scene.starts().len()), (2, 2), "no run tries before that time");
    pass(Duration::from_secs(60)).await;

    let result = ended(foreground).await;
    assert_eq!(outcomes(&result), [RunOutcome::Completed], "{}", result.text);
    let announced = || recorder.0.lock().iter().find_map(|event| Some(event.message.as_ref()?.text.clone()));
    eventually("the message about the background run", || announced().is_some()).await;
    let message = announced().expect("the message was recorded");
    assert!(message.contains("Status: success") && message.contains("Done."), "{message}");
    assert_eq!(scene.starts().len(), 4, "each run has continued once");
    let received = fs::read_to_string(scene.root.path().join("received")).expect("the file is readable");
    assert_eq!(received.matches("usage limit interrupted you").count(), 2);
    let list = scene.list().await;
    assert!(list.starts_with("Runs: 2 ended"), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_keeps_its_own_limit_once_its_quota_is_back() {
    let scene = Scene::new("limited", NO_TIME, json!({ "parallelConcurrency": 1, "bootAhead": 0 }));
    let call = scene.tasks(2, extension::call(person()));
    let waiting = scene.waiting(2).await;
    let linger = scene.root.path().join("linger");
    fs::write(&linger, "").expect("the file is written");
    scene.restore_quota();
    scene.try_quota(&waiting[0]).await;
    // Another call runs to its end once the first task has its answer. Only the limit keeps the second task from its start.
    let other = Scene::new("limited", "", json!({}));
    other.restore_quota();
    assert_eq!(outcomes(&ended(other.tasks(1, extension::call(person()))).await), [RunOutcome::Completed]);
    assert_eq!(scene.starts().len(), 2);
    fs::remove_file(linger).expect("the file is removed");
    let result = ended(call).await;
    assert_eq!(outcomes(&result), [RunOutcome::Completed; 2], "{}", result.text);
    assert_eq!(scene.starts().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_a_quota_has_no_slot_and_can_be_stopped() {
    let scene = Scene::new("parked", NO_TIME, json!({ "maxConcurrent": 1 }));
    let stopped = extension::call(person());
    let cancel = stopped.control.cancel.clone();
    let parked = scene.tasks(1, stopped);
    let waiting = scene.waiting(1).await;
    // The only slot is free for another provider.
    let other = Scene::new("other", "", json!({ "maxConcurrent": 1 }));
    other.restore_quota();
    assert_eq!(outcomes(&ended(other.tasks(1, extension::call(person()))).await), [RunOutcome::Completed]);
    assert!(!parked.is_finished());
    cancel.cancel(CancelReason::Caller(None));
    let result = ended(parked).await;
    assert_eq!(outcomes(&result), [RunOutcome::Aborted]);
    assert_eq!((scene.starts().len(), waiting.len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_an_unknown_provider_waits_for_its_own_quota() {
    let scene = Scene::new("", NO_TIME, json!({}));
    let call = scene.tasks(1, extension::call(person()));
    let waiting = scene.waiting(1).await;
    assert_eq!(scene.starts().len(), 1, "a waiting run starts no child");
    scene.restore_quota();
    scene.try_quota(&waiting[0]).await;
    assert_eq!(outcomes(&ended(call).await), [RunOutcome::Completed]);
    assert_eq!(scene.starts().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_beyond_its_setting_fails_with_the_error_of_the_provider() {
    let config = json!({ "quota": { "maxWaitMs": 3_600_000, "headlessMaxWaitMs": 60_000 } });
    for (provider, error, callbacks, setting) in [
        ("hours", "429: Rate limit reached. Please try again in 2h.", person(), "quota.maxWaitMs"),
        ("headless", NO_TIME, Arc::new(User::default()) as Arc<dyn HostCallbacks>, "quota.headlessMaxWaitMs"),
    ] {
        let scene = Scene::new(provider, error, config.clone());
        let first = ended(scene.tasks(1, extension::call(Arc::clone(&callbacks)))).await;
        let single = &first.details.results[0];
        assert_eq!(single.outcome, RunOutcome::Failed, "{provider}");
        assert!(single.error.as_deref().is_some_and(|text| text.contains("429")), "{single:?}");
        assert!(single.diagnostics.iter().any(|line| line.contains(setting)), "{:?}", single.diagnostics);
        // The breaker stays open: the next run starts no child.
        let second = ended(scene.tasks(1, extension::call(callbacks))).await;
        let single = &second.details.results[0];
        let error = single.error.clone().unwrap_or_default();
        assert!(error.contains(&format!("the quota of `{provider}` is used up")), "{error}");
        assert_eq!((single.outcome, scene.starts().len()), (RunOutcome::Failed, 1), "{error}");
        // A person who resumes a failed run lets it try.
        scene.restore_quota();
        let run = scene.runs().await.into_iter().find(|run| !run.is_live() && run.transcript.is_some());
        let run = run.expect("the first run has a session");
        let done = resume(&scene.service, &run, None, &scene.scope(), person()).await;
        assert_eq!(done.expect("the run is resumed"), ActionOutcome::Resumed);
        eventually("a second child", || scene.starts().len() == 2).await;
    }
}
