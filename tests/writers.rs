//! Runs that write to one work tree and wait for each other. Their children are scripted.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::actor::{self, Actor};
use crate::support::child::Child;
use crate::support::extension;
use crate::support::pids::eventually;
use crate::support::program;
use crate::support::stage::{self, PATIENCE, User, stage};
use agents::Tool;
use pi_subagent_native::orchestrate::background::{Receipt, SpawnRequest, background, spawn};
use pi_subagent_native::orchestrate::{Call, EarlyCall, TaskSpec, TasksSpec, chain, parallel, single};
use pi_subagent_native::run::{Control, Host, HostContext, RunOutcome, RunOverrides, RunSpec, ToolResult};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use worktree::{Git, SnapshotLimits, SnapshotStore};

/// Logs its start, its end and the trees in its environment. Ends when the gate with the name of its task is open.
fn writes() -> Child {
    of_each_task(|task| {
        Child::new()
            .waits_for(task)
            .runs(&format!(r#"echo "end {task}" >> "$home/order""#))
            .says(&format!("{task} is done."))
    })
}

/// Logs its start and the trees in its environment, and takes the steps of its task.
fn of_each_task(steps: impl Fn(&str) -> Child) -> Child {
    let whole = |task| {
        let log = format!(
            r#"printf %s "$PI_SUBAGENT_WRITES" > "$home/writes-{task}"; echo "start {task}" >> "$home/order""#
        );
        Child::new().runs(&log).starts().then(steps(task))
    };
    let tasks = ["gamma", "beta", "alpha"].map(|task| (task, whole(task)));
    Child::new().receives().depending_on_command(&tasks, &whole("")).settles().listens()
}

struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        Self::with(writes())
    }

    fn with(child: Child) -> Self {
        let root = stage(child);
        fs::create_dir_all(root.path().join("agent/agents")).expect("the directory is created");
        let writer = "---\nname: writer\ndescription: Writes\ntools: read, write\n---\nWrite.\n";
        fs::write(root.path().join("agent/agents/writer.md"), writer).expect("the file is written");
        let project = root.path().join("project");
        fs::create_dir_all(project.join("sub")).expect("the directory is created");
        let git = Command::new("git").args(["init", "--quiet"]).arg(&project).status();
        assert!(git.expect("git runs").success());
        symlink(&project, root.path().join("link")).expect("the link is created");
        Self(root)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("the file is written");
    }

    /// The starts and ends, in order.
    fn order(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.path().join("order")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    async fn until(&self, expected: &[&str]) {
        eventually(&format!("{expected:?}"), || {
            let mut order = self.order();
            order.sort();
            order == expected
        })
        .await;
    }
}

fn context(root: &Path, config: &Value, writes: Option<&str>) -> Arc<HostContext> {
    let mut all = json!({ "graceMs": 200, "allowWrite": "all" });
    let more = config.as_object().expect("the value is an object").clone();
    all.as_object_mut().expect("the value is an object").extend(more);
    let mut context = stage::context(root, all);
    context.env.extend(writes.map(|writes| ("PI_SUBAGENT_WRITES".into(), writes.into())));
    Arc::new(context)
}

fn call(cancel: &Cancel) -> (Call, watch::Receiver<Option<ToolResult>>) {
    let (updates, seen) = watch::channel(None);
    let call = Call {
        control: Control { cancel: cancel.clone(), ..Control::default() },
        updates,
        ..extension::call(Arc::new(User::default()))
    };
    (call, seen)
}

type Updates = watch::Receiver<Option<ToolResult>>;

/// A call of one writer.
fn one(root: &Path, task: &str, writes: Option<&str>, cancel: &Cancel) -> (JoinHandle<ToolResult>, Updates) {
    one_of(root, task, context(root, &json!({}), writes), cancel)
}

fn one_of(
    root: &Path,
    task: &str,
    context: Arc<HostContext>,
    cancel: &Cancel,
) -> (JoinHandle<ToolResult>, Updates) {
    let (call, seen) = call(cancel);
    (tokio::spawn(single(spec(root, task, context), call)), seen)
}

fn spec(root: &Path, task: &str, context: Arc<HostContext>) -> RunSpec {
    RunSpec {
        agent: "writer".into(),
        label: None,
        task: task.into(),
        cwd: root.join("project"),
        context,
        share: 1,
        siblings: 1,
        overrides: RunOverrides::default(),
    }
}

fn tasks(scene: &Scene, config: &Value, tasks: &[(&str, &str, &str)]) -> TasksSpec {
    let root = scene.0.path();
    let task = |(agent, cwd, task): &(&str, &str, &str)| TaskSpec {
        agent: (*agent).into(),
        cwd: Some(root.join(cwd).to_string_lossy().into_owned()),
        task: (*task).into(),
        ..TaskSpec::default()
    };
    TasksSpec {
        tasks: tasks.iter().map(task).collect(),
        cwd: root.join("project"),
        context: context(root, config, None),
    }
}

async fn ended(call: JoinHandle<ToolResult>) -> ToolResult {
    timeout(PATIENCE, call).await.expect("the run ends").expect("the task does not panic")
}

/// Returns the reason for which a call of one run waits, once it waits for a writer.
async fn writer_before(updates: &mut Updates) -> (String, String) {
    let is_behind = |update: &Option<ToolResult>| {
        let streaming = update.as_ref().and_then(|update| update.details.streaming.as_ref());
        streaming.is_some_and(|run| run.progress.blocked_by.is_some())
    };
    let update = timeout(PATIENCE, updates.wait_for(is_behind))
        .await
        .expect("the update arrives in time")
        .expect("the run continues");
    let update = update.as_ref().expect("the update exists");
    let blocked_by = update.details.streaming.as_ref().and_then(|run| run.progress.blocked_by.as_deref());
    (blocked_by.expect("the run waits").to_owned(), update.text.clone())
}

#[tokio::test]
async fn writers_of_one_tree_run_one_after_the_other_and_readers_in_parallel() {
    let scene = Scene::new();
    let spec = tasks(
        &scene,
        &json!({}),
        &[("writer", "project/sub", "alpha"), ("writer", "link", "beta"), ("explorer", "project", "gamma")],
    );
    let (call, mut updates) = call(&Cancel::new());
    let call = tokio::spawn(parallel(spec, call));
    scene.until(&["start alpha", "start gamma"]).await;
    let blocked_by = |update: &Option<ToolResult>| {
        let tasks = update.as_ref().map(|update| &update.details.tasks);
        tasks.and_then(|tasks| tasks.get(1)?.progress.blocked_by.as_deref().map(str::to_owned))
    };
    let update = updates.wait_for(|update| blocked_by(update).is_some());
    let update = timeout(PATIENCE, update)
        .await
        .expect("the update arrives in time")
        .expect("the run continues")
        .clone();
    let blocked_by = blocked_by(&update).expect("the run waits");
    assert!(
        blocked_by.starts_with("writer (") && blocked_by.len() == "writer (1a2b3c4d)".len(),
        "{blocked_by}"
    );

    let notes =
        update.iter().flat_map(|update| &update.details.tasks).map(|task| task.progress.undo_note.as_deref());
    let ignored = "it may write wherever you can; `/subagents undo` reverts its changes here, except in files that git ignores";
    assert_eq!(notes.collect::<Vec<_>>(), [Some(ignored), Some(ignored), None]);

    scene.write("alpha", "");
    scene.until(&["end alpha", "start alpha", "start beta", "start gamma"]).await;
    scene.write("beta", "");
    scene.write("gamma", "");
    let result = ended(call).await;
    assert!(!result.is_error && result.details.results.len() == 3, "{}", result.text);
    let order: Vec<_> = scene.order().into_iter().filter(|line| !line.ends_with("gamma")).collect();
    assert_eq!(order, ["start alpha", "end alpha", "start beta", "end beta"]);
}

#[tokio::test]
async fn a_blocking_run_has_the_id_of_its_early_child() {
    let scene = Scene::with(Child::new().runs(r#"echo boot >> "$home/order""#).then(writes()));
    let root = scene.0.path();
    let arriving = HostContext::clone(&context(root, &json!({}), None));
    let early =
        EarlyCall::new("early".into(), Tool::Subagent, root.join("project"), arriving, Handle::current());
    early.push(r#"{"agent":"writer","task":"#);
    scene.until(&["boot"]).await;
    let spec = spec(root, "alpha", context(root, &json!({}), None));
    let (call, _updates) = call(&Cancel::new());
    let first = tokio::spawn(single(spec, Call { host_id: Some("early".into()), ..call }));
    scene.until(&["boot", "start alpha"]).await;
    let (second, mut updates) = one(root, "beta", None, &Cancel::new());
    let (blocked_by, _) = writer_before(&mut updates).await;
    scene.write("alpha", "");
    scene.write("beta", "");
    let id = ended(first).await.details.run_id.expect("the run has an ID");
    assert_eq!(blocked_by, format!("writer ({id})"));
    assert!(!ended(second).await.is_error);
    assert_eq!(
        scene.order().iter().filter(|line| *line == "boot").count(),
        2,
        "the early child did the work"
    );
    timeout(PATIENCE, early.end()).await.expect("the run ends");
}

#[tokio::test]
async fn a_run_waits_for_a_writer_of_another_process_and_continues_once_it_is_killed() {
    let scene = Scene::new();
    let mut other = Actor::start(&scene.0.path().join("agent"));
    other.say("alpha");
    scene.until(&["start alpha"]).await;
    // A run that the writer itself starts does not wait for the writer.
    let writes = fs::read_to_string(scene.0.path().join("writes-alpha")).expect("the file is readable");
    assert!(!writes.is_empty());
    let (below, _) = one(scene.0.path(), "gamma", Some(&writes), &Cancel::new());
    scene.until(&["start alpha", "start gamma"]).await;
    scene.write("gamma", "");
    assert!(!ended(below).await.is_error);

    let (waits, mut updates) = one(scene.0.path(), "beta", None, &Cancel::new());
    let (blocked_by, text) = writer_before(&mut updates).await;
    assert!(blocked_by.starts_with("writer ("), "{blocked_by}");
    assert_eq!(text, format!("(waits for {blocked_by} to finish writing in the same work tree...)"));
    other.kill();
    scene.until(&["end gamma", "start alpha", "start beta", "start gamma"]).await;
    scene.write("beta", "");
    scene.write("alpha", "");
    assert!(!ended(waits).await.is_error);
    let locks = fs::read_dir(scene.0.path().join("agent/subagents/writers"))
        .expect("the directory is readable")
        .count();
    assert_eq!(locks, 0, "no lock file remains");
}

/// The first child ignores signals and stays as long as its warden lets it. The next child reports whether it has met the first.
fn stays() -> Child {
    let steps = |task: &str| {
        let marks = format!(
            r#"echo $$ > "$home/{task}.pid"; echo made > made.txt; echo "start {task}" >> "$home/order""#
        );
        Child::new().runs(&marks)
    };
    let alpha = steps("alpha").runs(r#"while test -d "$home"; do sleep 0.02; done"#);
    let beta = Child::new()
        .runs(r#"kill -0 "$(cat "$home/alpha.pid")" && echo met >> "$home/order""#)
        .then(steps("beta"))
        .starts()
        .says("beta is done.");
    Child::new()
        .runs("trap '' TERM")
        .receives()
        .depending_on_command(&[("alpha", alpha)], &beta)
        .settles()
        .listens()
}

#[tokio::test]
async fn a_tree_is_free_only_when_the_child_of_a_killed_process_is_gone() {
    let scene = Scene::with(stays());
    // Longer than the next child needs to boot.
    let config = json!({ "graceMs": 3000 });
    let mut other = Actor::start(&scene.0.path().join("agent"));
    other.say(&format!("{GUARDED}alpha"));
    scene.until(&["start alpha"]).await;
    let (waits, mut updates) = guarded(scene.0.path(), "beta", &config);
    let (before, _) = writer_before(&mut updates).await;
    other.kill();
    let result = ended(waits).await;
    assert!(!result.is_error && before.starts_with("writer ("), "{}", result.text);
    assert_eq!(scene.order(), ["start alpha", "start beta"], "the children did not run at the same time");
    let locks = fs::read_dir(scene.0.path().join("agent/subagents/writers"))
        .expect("the directory is readable")
        .count();
    assert_eq!(locks, 0, "no lock file remains");
}

#[tokio::test]
async fn a_private_tree_is_taken_over_only_when_the_child_of_a_killed_process_is_gone() {
    let scene = Scene::with(stays());
    let agent_dir = scene.0.path().join("agent");
    let env: Vec<_> = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
    let git = Git::find(&env, &[], None).await.expect("git is found");
    let limits = SnapshotLimits { bytes: 1 << 20, files: 1000 };
    let store = SnapshotStore::new(git, &agent_dir, &env, limits);
    let mut other = Actor::start(&agent_dir);
    other.say(&format!("{GUARDED}{ISOLATED}alpha"));
    scene.until(&["start alpha"]).await;
    let alpha = fs::read_to_string(scene.0.path().join("alpha.pid")).expect("the file is readable");
    other.kill();
    let mut met = 0;
    let since = Instant::now();
    let recovered = loop {
        assert!(since.elapsed() < PATIENCE, "no process imported the tree in time");
        let recovered = store.recover_trees().await;
        if !recovered.is_empty() {
            break recovered;
        }
        met += usize::from(Path::new("/proc").join(alpha.trim()).exists());
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(
        !Path::new("/proc").join(alpha.trim()).exists() && met > 0,
        "the child ran for a while and then ended"
    );
    assert!(recovered[0].1.branch.is_some(), "{recovered:?}");
}

/// Tells the second process that its run gets a private tree.
const ISOLATED: &str = "isolated ";

/// Tells the second process that its child gets a warden.
const GUARDED: &str = "guarded ";

/// A call of one writer whose child has a warden.
fn guarded(root: &Path, task: &str, config: &Value) -> (JoinHandle<ToolResult>, Updates) {
    let context = HostContext::clone(&context(root, config, None));
    let context = HostContext { warden: Some(program::warden()), ..context };
    one_of(root, task, Arc::new(context), &Cancel::new())
}

#[test]
fn a_second_process_ends_with_its_test() {
    actor::play(|agent_dir, script| {
        let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
        let root = agent_dir.parent().expect("the path has a parent").to_owned();
        for task in script {
            let root = root.clone();
            runtime.spawn(async move {
                let private = json!({ "graceMs": 1000, "agents": { "writer": { "isolation": "private" } } });
                match task.strip_prefix(GUARDED) {
                    Some(task) if task.starts_with(ISOLATED) => guarded(&root, task, &private).0.await,
                    Some(task) => guarded(&root, task, &json!({ "graceMs": 3000 })).0.await,
                    None => one(&root, &task, None, &Cancel::new()).0.await,
                }
            });
        }
    });
}

#[tokio::test]
async fn a_run_aborted_while_it_waits_never_starts_and_blocks_no_other() {
    let scene = Scene::new();
    let mut other = Actor::start(&scene.0.path().join("agent"));
    other.say("alpha");
    scene.until(&["start alpha"]).await;
    let cancel = Cancel::new();
    let (waits, mut updates) = one(scene.0.path(), "beta", None, &cancel);
    writer_before(&mut updates).await;
    let (last, _) = one(scene.0.path(), "gamma", None, &Cancel::new());
    cancel.cancel(CancelReason::Caller(None));
    let aborted = ended(waits).await;
    assert_eq!(aborted.details.results[0].outcome, RunOutcome::Aborted, "{}", aborted.text);
    scene.write("alpha", "");
    scene.until(&["end alpha", "start alpha", "start gamma"]).await;
    scene.write("gamma", "");
    assert!(!ended(last).await.is_error);
}

#[tokio::test]
async fn runs_with_private_trees_do_not_wait() {
    let scene = Scene::new();
    let isolated = json!({ "agents": { "writer": { "isolation": "private" } } });
    let spec = tasks(&scene, &isolated, &[("writer", "project", "alpha"), ("writer", "project", "beta")]);
    let call = tokio::spawn(parallel(spec, call(&Cancel::new()).0));
    scene.until(&["start alpha", "start beta"]).await;
    scene.write("alpha", "");
    scene.write("beta", "");
    let result = ended(call).await;
    assert!(!result.is_error, "{}", result.text);
}

#[tokio::test]
async fn steps_of_a_chain_and_a_tree_without_git_write_as_well() {
    let scene = Scene::new();
    for gate in ["alpha", "beta"] {
        scene.write(gate, "");
    }
    fs::create_dir(scene.0.path().join("plain")).expect("the directory is created");
    let spec = tasks(&scene, &json!({}), &[("writer", "plain", "alpha"), ("writer", "plain", "beta")]);
    let result = ended(tokio::spawn(chain(spec, call(&Cancel::new()).0))).await;
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(scene.order(), ["start alpha", "end alpha", "start beta", "end beta"]);
}

#[tokio::test]
async fn a_run_without_a_write_lock_continues_and_says_so() {
    let scene = Scene::new();
    scene.write("alpha", "");
    fs::create_dir_all(scene.0.path().join("agent/subagents")).expect("the directory is created");
    scene.write("agent/subagents/writers", "no directory");
    let result = ended(one(scene.0.path(), "alpha", None, &Cancel::new()).0).await;
    assert!(!result.is_error, "{}", result.text);
    let notes = &result.details.results[0].diagnostics;
    assert!(notes.iter().any(|note| note.starts_with("runs of other pi processes may write")), "{notes:?}");
}

#[tokio::test]
async fn the_receipt_of_a_run_without_git_says_that_undo_is_unavailable() {
    let scene = Scene::new();
    let root = scene.0.path();
    scene.write("alpha", "");
    fs::create_dir(root.join("plain")).expect("the directory is created");
    let host = Host { session_id: Some("conversation".into()), ..Host::default() };
    let context = HostContext { host, ..HostContext::clone(&context(root, &json!({}), None)) };
    let request = SpawnRequest::new("alpha".into(), root.join("plain"), Arc::new(context));
    let request = SpawnRequest { agent: Some("writer".into()), ..request };
    let receipt = spawn(&background(&root.join("agent")), request, Arc::new(User::default())).await;
    let Receipt::Accepted { warnings, .. } = receipt else { panic!("{receipt:?}") };
    assert_eq!(warnings, ["it may write wherever you can, and without git its changes cannot be undone"]);
    scene.until(&["end alpha", "start alpha"]).await;
}

#[tokio::test]
async fn a_chain_names_the_artifacts_of_each_step() {
    for (fails, expected) in [(false, "gamma is done."), (true, "Stopped at step 3 of 3")] {
        let child = of_each_task(|task| {
            let child = Child::new();
            let child = if fails && task == "gamma" { child.exits(3) } else { child };
            child.runs("echo run > .envrc").says(&format!("{task} is done."))
        });
        let scene = Scene::with(child);
        let isolated = "---\nname: isolated\ntools: read, write\nisolation: private\n---\nWrite.\n";
        scene.write("agent/agents/isolated.md", isolated);
        for gate in ["alpha", "beta", "gamma"] {
            scene.write(gate, "");
        }
        let steps = [
            ("isolated", "project", "alpha"),
            ("isolated", "project", "beta"),
            ("explorer", "project", "gamma"),
        ];
        let (call, _updates) = call(&Cancel::new());
        let result = ended(tokio::spawn(chain(tasks(&scene, &json!({}), &steps), call))).await;
        assert!(result.text.contains(expected), "{}", result.text);
        for (index, single) in result.details.results[..2].iter().enumerate() {
            let branch = single
                .isolation
                .as_ref()
                .and_then(|isolation| isolation.branch.clone())
                .expect("the result names a branch");
            assert_eq!(
                result.text.matches(&format!("are on the branch `{branch}`")).count(),
                1,
                "{}",
                result.text
            );
            let heading = format!("[{}/3] isolated ✓", index + 1);
            assert_eq!(result.text.matches(&heading).count(), 1, "{heading}: {}", result.text);
        }
        assert_eq!(result.text.matches("Check these first").count(), 2, "{}", result.text);
    }
}

#[tokio::test]
async fn a_run_whose_tree_cannot_be_recorded_promises_no_undo() {
    let scene = Scene::new();
    let root = scene.0.path();
    scene.write("project/large", &"x".repeat(2_000_000));
    let context = context(root, &json!({ "snapshot": { "maxBytes": 1_048_576 } }), None);
    let (call, mut updates) = one_of(root, "alpha", context, &Cancel::new());
    scene.until(&["start alpha"]).await;
    let note = |update: &Option<ToolResult>| {
        let streaming = update.as_ref().and_then(|update| update.details.streaming.as_ref());
        streaming.and_then(|run| run.progress.undo_note.clone())
    };
    let expected = "its tree could not be recorded, so its changes cannot be undone";
    let noted = updates.wait_for(|update| note(update).as_deref() == Some(expected));
    drop(timeout(PATIENCE, noted).await.expect("the update arrives in time").expect("the run continues"));
    scene.write("alpha", "");
    let result = ended(call).await;
    let notices = result.details.results[0].diagnostics.join("\n");
    assert!(notices.contains("the changes of this run cannot be undone: "), "{notices}");
}
