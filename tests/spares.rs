//! Children that boot ahead of their run: of the next call, of the next step or the next task, and of the next attempt. Only a run
//! that would start exactly the same child takes one, and an unused child leaves no trace. The children are scripted.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::extension;
use crate::support::pids::{Pids, eventually};
use crate::support::program;
use crate::support::stage::{self, PATIENCE, User, stage};
use agents::Tool;
use files::layout;
use pi_subagent_native::orchestrate::{
    Call, EarlyCall, TaskSpec, TasksSpec, chain, end_spares, parallel, single,
};
use pi_subagent_native::run::{
    Control, HostContext, HostModel, RunOutcome, RunOverrides, RunSpec, Timeout, ToolResult,
};
use serde_json::{Value, json};
use supervisor::CancelReason;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Announces its start at once, and its identity with its answer.
fn tells() -> Child {
    Child::new()
        .runs(r#"echo $$ >> "$home/up""#)
        .receives()
        .starts()
        .says_expanded("by $$")
        .settles()
        .listens()
}

/// Longer than any test waits.
const LONG: u32 = 600_000;

const AGENT: &str = "---\nname: local\ndescription: Looks around.\n---\nLook.\n";

struct Scene {
    root: TempDir,
    config: Value,
}

impl Scene {
    fn new(child: Child) -> Self {
        Self::with(child, json!({ "spare": { "count": 1, "idleMs": LONG } }))
    }

    fn with(child: Child, config: Value) -> Self {
        let root = stage(child);
        fs::create_dir_all(root.path().join("agent/agents")).expect("the directory is created");
        let scene = Self { root, config };
        scene.write("agent/agents/local.md", AGENT);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory is created");
        fs::write(path, text).expect("the file is written");
    }

    fn context(&self) -> HostContext {
        stage::context(self.root.path(), self.config.clone())
    }

    fn spec(&self, task: &str) -> RunSpec {
        RunSpec {
            agent: "local".into(),
            label: None,
            task: task.into(),
            cwd: self.path("project"),
            context: Arc::new(self.context()),
            share: 1,
            siblings: 1,
            overrides: RunOverrides::default(),
        }
    }

    async fn run(&self, spec: RunSpec) -> ToolResult {
        timeout(PATIENCE, single(spec, call(Control::default()))).await.expect("the run ends")
    }

    /// Runs a task, and returns the child that has done it.
    async fn served_by(&self, task: &str) -> i32 {
        by(&self.run(self.spec(task)).await)
    }

    /// The started children, in the order of their starts.
    fn up(&self) -> Vec<i32> {
        self.pids("up")
    }

    /// The children that started after the test let the first one continue.
    fn started_after_go(&self) -> Vec<i32> {
        self.pids("after-go")
    }

    fn pids(&self, file: &str) -> Vec<i32> {
        let text = fs::read_to_string(self.path(file)).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Returns the child with this number, once it has started.
    async fn nth(&self, number: usize) -> i32 {
        eventually("another child", || self.up().len() >= number).await;
        self.up()[number - 1]
    }

    /// Runs a first task, and waits for the spare child that follows it.
    async fn waiting(&self) -> i32 {
        let first = self.served_by("first").await;
        assert_eq!(self.up()[0], first);
        self.nth(2).await
    }

    async fn gone(&self, pid: i32) {
        let mut pids = Pids::default();
        pids.push(pid);
        pids.gone("an unused spare child").await;
    }

    /// The tasks of the children, one per line.
    fn received(&self) -> String {
        fs::read_to_string(self.path("received")).unwrap_or_default()
    }

    /// The content of the directories of runs, by run.
    fn runs(&self) -> Vec<Vec<OsString>> {
        let names =
            |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let runs = self.path("agent/subagents/runs");
        names(runs.clone()).map(|run| names(runs.join(run)).collect()).collect()
    }

    /// Ends the spare children. Afterwards each of `runs` runs has left its session, and nothing else remains.
    async fn ends_with(self, sessions: usize) {
        timeout(PATIENCE, end_spares()).await.expect("the spare children end");
        assert_eq!(self.runs(), vec![vec![OsString::from("session.jsonl")]; sessions]);
        assert_eq!(fs::read_dir(self.path("agent/subagents/scratch")).map_or(0, Iterator::count), 0);
        let mut pids = Pids::default();
        self.up().into_iter().for_each(|pid| pids.push(pid));
        pids.gone("a child of the test").await;
    }
}

fn call(control: Control) -> Call {
    Call { control, ..extension::call(Arc::new(User::default())) }
}

/// The child that has returned this result.
fn by(result: &ToolResult) -> i32 {
    by_each(result)[0]
}

/// The children that have returned these results.
fn by_each(result: &ToolResult) -> Vec<i32> {
    let by = |answer: &str| answer.strip_prefix("by ")?.trim().parse().ok();
    let each = result.details.results.iter().map(|single| single.output.as_deref().and_then(by));
    each.map(|pid| pid.unwrap_or_else(|| panic!("{}", result.text))).collect()
}

#[tokio::test]
async fn a_spare_child_waits_after_a_run_and_serves_the_next_call_once() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let spare = scene.waiting().await;
    assert!(!scene.received().contains("not known"), "{}", scene.received());
    assert_eq!(
        scene.received().lines().count(),
        1,
        "the spare child received only its task: {}",
        scene.received()
    );
    assert_eq!(scene.served_by("second").await, spare);
    let next = scene.nth(3).await;
    assert_eq!(scene.served_by("third").await, next);
    scene.nth(4).await;
    for task in ["first", "second", "third"] {
        assert_eq!(scene.received().matches(task).count(), 1, "{}", scene.received());
    }
    scene.ends_with(3).await;
}

#[tokio::test]
async fn no_spare_child_waits_by_default() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(tells(), json!({}));
    scene.served_by("first").await;
    scene.served_by("second").await;
    assert_eq!(scene.up().len(), 2);
    scene.ends_with(2).await;
}

#[tokio::test]
async fn the_spare_after_a_run_with_other_limits_is_the_same() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let spare = scene.waiting().await;
    let overrides =
        RunOverrides { timeout: Timeout::After(Duration::from_secs(50)), ..RunOverrides::default() };
    assert_eq!(by(&scene.run(RunSpec { overrides, ..scene.spec("second") }).await), spare);
    scene.nth(3).await;
    scene.ends_with(2).await;
}

#[tokio::test]
async fn a_spare_child_that_dies_does_no_harm() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let spare = scene.waiting().await;
    let mut pids = Pids::default();
    pids.push(spare);
    assert_eq!(pids.kill(), 1);
    eventually("the removal of the spare child's directory", || scene.runs().len() == 1).await;
    assert_eq!(scene.served_by("second").await, scene.up()[2]);
    scene.nth(4).await;
    scene.ends_with(2).await;
}

#[tokio::test]
async fn a_call_gets_a_spare_child_that_is_still_booting() {
    if program::runs_alone() {
        return;
    }
    // The second child needs a value from the test.
    let boots = r#"echo $$ >> "$home/up"; test "$(wc -l < "$home/up")" -lt 2 || wait_for booted"#;
    let child = Child::new().runs(boots).receives().starts().says_expanded("by $$").settles().listens();
    let scene = Scene::new(child);
    let spare = scene.waiting().await;
    let run = {
        let spec = scene.spec("second");
        tokio::spawn(single(spec, call(Control::default())))
    };
    let taken = || scene.runs().len() == 2 && scene.runs().iter().all(|files| files.len() > 1);
    eventually("the directory of the spare child", || taken() || scene.runs().len() == 2).await;
    scene.write("booted", "");
    let result = timeout(PATIENCE, run).await.expect("the run ends").expect("the task does not panic");
    assert_eq!(by(&result), spare);
    scene.nth(3).await;
    scene.ends_with(2).await;
}

#[tokio::test]
async fn only_one_of_two_simultaneous_calls_gets_the_spare_child() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let spare = scene.waiting().await;
    let (one, other) = tokio::join!(scene.served_by("second"), scene.served_by("third"));
    assert_ne!(one, other);
    assert!([one, other].contains(&spare), "the spare child {spare} got neither task");
    scene.ends_with(3).await;
}

#[tokio::test]
async fn several_spare_children_serve_as_many_tasks_of_a_call_as_run_at_once() {
    if program::runs_alone() {
        return;
    }
    let config = json!({ "spare": { "count": 3, "idleMs": LONG }, "parallelConcurrency": 2 });
    let scene = Scene::with(tells(), config);
    let tasks = |tasks: &[&str]| TasksSpec {
        tasks: tasks
            .iter()
            .map(|task| TaskSpec { agent: "local".into(), task: (*task).into(), ..TaskSpec::default() })
            .collect(),
        cwd: scene.path("project"),
        context: Arc::new(scene.context()),
    };
    let run = async |names: &[&str]| {
        timeout(PATIENCE, parallel(tasks(names), call(Control::default()))).await.expect("the runs end")
    };
    run(&["a", "b"]).await;
    scene.nth(4).await;
    let waiting = scene.up()[2..].to_vec();
    let result = run(&["c", "d", "e", "f"]).await;
    let served = by_each(&result);
    assert!(waiting.iter().all(|pid| served.contains(pid)), "{served:?} without {waiting:?}");
    assert_eq!(result.details.results.iter().filter(|one| one.outcome == RunOutcome::Completed).count(), 4);
    scene.ends_with(6).await;
}

/// A difference in the call, or a change on the disk.
type Change = fn(&Scene, &mut RunSpec);

/// Changes after which a spare child would differ from the child that the call needs.
const CHANGES: [(&str, Change); 15] = [
    ("the agent file", |scene, _| {
        scene.write("agent/agents/local.md", &AGENT.replace("Look.", "Look well."));
    }),
    ("the agent's tools", |scene, _| {
        scene.write("agent/agents/local.md", &AGENT.replace("name:", "tools: read\nname:"));
    }),
    ("the agent's model", |scene, _| {
        scene.write("agent/agents/local.md", &AGENT.replace("name:", "model: a/b\nname:"));
    }),
    ("a context file of the project", |scene, _| scene.write("project/AGENTS.md", "Be brief.")),
    ("a context file above it", |scene, _| scene.write("CLAUDE.md", "Be brief.")),
    ("a context file of the user", |scene, _| scene.write("agent/AGENTS.md", "Be brief.")),
    ("notes on tools", |scene, _| scene.write("project/TOOLS.md", "Use rg.")),
    ("the settings of pi", |scene, _| scene.write("agent/settings.json", "{}")),
    ("the project's settings of pi", |scene, _| scene.write("project/.pi/settings.json", "{}")),
    ("the login", |scene, _| scene.write("agent/auth.json", r#"{"a":{"type":"api_key","key":"k2"}}"#)),
    ("the models", |scene, _| scene.write("agent/models.json", "{}")),
    ("an extension", |scene, _| scene.write("agent/extensions/gate/src/index.ts", "export default () => {}")),
    ("pi itself", |scene, _| {
        let text = fs::read_to_string(scene.path("pi.sh")).expect("the file is readable");
        scene.write("pi.sh", &format!("{text}# newer"));
    }),
    ("the environment", |_, spec| {
        Arc::make_mut(&mut spec.context).env.push(("MARK".into(), "1".into()));
    }),
    ("the configuration", |_, spec| {
        Arc::make_mut(&mut spec.context).config =
            Some(json!({ "spare": { "count": 1, "idleMs": LONG }, "thinking": "low" }));
    }),
];

#[tokio::test]
async fn a_spare_child_is_ended_once_one_of_its_inputs_has_changed() {
    if program::runs_alone() {
        return;
    }
    for (what, change) in CHANGES {
        let scene = Scene::new(tells());
        let spare = scene.waiting().await;
        let mut spec = scene.spec("second");
        change(&scene, &mut spec);
        let served = by(&scene.run(spec.clone()).await);
        assert_ne!(served, spare, "{what}");
        scene.gone(spare).await;
        // The next spare is up to date.
        let next = scene.nth(4).await;
        assert_eq!(by(&scene.run(spec).await), next, "{what}");
        scene.ends_with(3).await;
    }
}

#[tokio::test]
async fn a_spare_child_serves_only_its_own_conversation() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let spare = scene.waiting().await;
    let mut spec = scene.spec("second");
    // Its directory would be next to the directories of the first child.
    Arc::make_mut(&mut spec.context).host.session_file = Some(scene.path("sessions/other.jsonl"));
    assert_ne!(by(&scene.run(spec.clone()).await), spare);
    scene.gone(spare).await;
    let next = scene.nth(4).await;
    assert_eq!(by(&scene.run(spec).await), next);
    timeout(PATIENCE, end_spares()).await.expect("the spare children end");
    assert_eq!(fs::read_dir(scene.path("sessions/other")).expect("the directory is readable").count(), 2);
    scene.ends_with(1).await;
}

#[tokio::test]
async fn ending_all_spares_ends_the_spare_of_a_run_that_has_just_ended() {
    if program::runs_alone() {
        return;
    }
    for _ in 0..5 {
        let scene = Scene::new(tells());
        scene.served_by("first").await;
        timeout(PATIENCE, end_spares()).await.expect("the spare children end");
        assert_eq!(scene.runs(), [["session.jsonl"]]);
        scene.served_by("second").await;
        scene.ends_with(2).await;
    }
}

#[tokio::test]
async fn rewriting_a_file_with_the_same_content_outdates_no_spare() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    scene.write("agent/auth.json", "{}");
    scene.write("project/AGENTS.md", "Be brief.");
    let spare = scene.waiting().await;
    for (name, text) in [("agent/auth.json", "{}"), ("project/AGENTS.md", "Be brief.")] {
        fs::remove_file(scene.path(name)).expect("the file is removed");
        scene.write(name, text);
    }
    scene.write("agent/sessions/other/session.jsonl", "");
    scene.write("agent/models-store.json", "{}");
    assert_eq!(scene.served_by("second").await, spare);
    scene.ends_with(2).await;
}

#[tokio::test]
async fn creating_or_removing_a_private_tree_outdates_no_spare() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let trees = layout::private_trees(&scene.path("agent"));
    fs::create_dir_all(trees.join("earlier")).expect("the directory is created");
    let spare = scene.waiting().await;
    fs::create_dir(trees.join("other")).expect("the directory is created");
    fs::remove_dir(trees.join("earlier")).expect("the directory is removed");
    assert_eq!(scene.served_by("second").await, spare);
    scene.ends_with(2).await;
}

#[tokio::test]
async fn a_different_call_keeps_the_spare_until_it_has_its_own() {
    if program::runs_alone() {
        return;
    }
    for (what, change) in [
        ("another directory", (|scene, spec| spec.cwd = scene.path("sessions")) as Change),
        ("another model", |_, spec| spec.overrides.model = Some("a/b".into())),
        ("another agent", |_, spec| spec.agent = "explorer".into()),
    ] {
        let scene = Scene::with(tells(), json!({ "spare": { "count": 2, "idleMs": LONG } }));
        let spare = scene.waiting().await;
        let mut spec = scene.spec("second");
        change(&scene, &mut spec);
        assert_ne!(by(&scene.run(spec).await), spare, "{what}");
        let other = scene.nth(4).await;
        assert_eq!(scene.served_by("third").await, spare, "{what}");
        let third = scene.nth(5).await;
        // There may be two spares. The spare that has waited longest for other calls is ended.
        let spec = RunSpec { cwd: scene.path("home"), ..scene.spec("fourth") };
        fs::create_dir(scene.path("home")).expect("the directory is created");
        scene.run(spec).await;
        scene.gone(other).await;
        scene.nth(7).await;
        assert_eq!(scene.served_by("fifth").await, third, "{what}");
        scene.ends_with(5).await;
    }
}

#[tokio::test]
async fn a_queued_run_gets_the_slot_of_the_spare_child() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(tells(), json!({ "spare": { "count": 1, "idleMs": LONG }, "maxConcurrent": 1 }));
    let spare = scene.waiting().await;
    let served = by(&scene.run(RunSpec { agent: "explorer".into(), ..scene.spec("second") }).await);
    assert_ne!(served, spare);
    scene.gone(spare).await;
    let next = scene.nth(4).await;
    assert_eq!(by(&scene.run(RunSpec { agent: "explorer".into(), ..scene.spec("third") }).await), next);
    scene.ends_with(3).await;
}

#[tokio::test]
async fn an_unused_spare_child_is_ended_in_time() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(tells(), json!({ "spare": { "count": 1, "idleMs": 1000 } }));
    let spare = scene.waiting().await;
    scene.gone(spare).await;
    eventually("the removal of the spare child's directory", || scene.runs().len() == 1).await;
    assert_eq!(scene.served_by("second").await, scene.up()[2]);
    scene.ends_with(2).await;
}

#[tokio::test]
async fn a_call_dropped_or_aborted_while_it_takes_the_spare_leaves_nothing() {
    if program::runs_alone() {
        return;
    }
    for polls in 0..40 {
        let scene = Scene::new(tells());
        scene.waiting().await;
        let control = Control::default();
        let mut run = Box::pin(single(scene.spec("second"), call(control.clone())));
        for _ in 0..polls {
            tokio::select! {
                biased;
                _ = &mut run => break,
                () = tokio::task::yield_now() => {}
            }
        }
        if polls % 2 == 0 {
            drop(run);
            eventually("the first run's session alone", || {
                drop(end_spares());
                scene.runs().iter().all(|files| *files == ["session.jsonl"])
            })
            .await;
        } else {
            control.cancel.cancel(CancelReason::Caller(None));
            timeout(PATIENCE, run).await.expect("the run ends");
        }
        timeout(PATIENCE, end_spares()).await.expect("the spare children end");
        let mut pids = Pids::default();
        scene.up().into_iter().for_each(|pid| pids.push(pid));
        pids.gone("a child of the test").await;
    }
}

#[tokio::test]
async fn limits_of_a_spare_child_count_from_its_task() {
    if program::runs_alone() {
        return;
    }
    let config = json!({ "spare": { "count": 1, "idleMs": LONG }, "timeoutMs": 4000, "idleTimeoutMs": 4000 });
    let scene = Scene::with(tells(), config);
    let spare = scene.waiting().await;
    tokio::time::sleep(Duration::from_millis(4100)).await;
    let result = scene.run(scene.spec("second")).await;
    assert_eq!(by(&result), spare);
    let first = &result.details.results[0];
    assert!(first.duration_ms < 4000, "{} ms", first.duration_ms);
    scene.ends_with(2).await;
}

#[tokio::test]
async fn a_failed_run_leaves_no_spare() {
    if program::runs_alone() {
        return;
    }
    let fails = Child::new().says("").with_stop_reason("error");
    let child = Child::new()
        .runs(r#"echo $$ >> "$home/up""#)
        .receives()
        .starts()
        .depending_on_command(&[("first", fails)], &Child::new().says_expanded("by $$"))
        .settles()
        .listens();
    let scene =
        Scene::with(child, json!({ "spare": { "count": 2, "idleMs": LONG }, "retry": { "enabled": false } }));
    assert!(scene.run(scene.spec("first")).await.is_error);
    let other = RunSpec { cwd: scene.path("sessions"), ..scene.spec("second") };
    let served = by(&scene.run(other).await);
    assert_eq!(scene.up()[1], served, "the failed run left no spare child");
    let next = scene.nth(3).await;
    let other = RunSpec { cwd: scene.path("sessions"), ..scene.spec("third") };
    assert_eq!(by(&scene.run(other).await), next);
    scene.ends_with(3).await;
}

/// The host has no login for the alias of the agent, so its run falls back to another model.
#[tokio::test]
async fn an_alias_without_a_login_costs_no_second_boot() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(tells(), json!({ "spare": { "count": 0 } }));
    scene.write("agent/agents/local.md", "---\nname: local\nreadonly: true\nmodel: sonnet\n---\nLook.");
    let no_login = HostModel { model: Some("anthropic/sonnet".into()), ..HostModel::default() };
    for count in 1..=2 {
        let id = format!("call-{count}");
        let early = EarlyCall::new(
            id.clone(),
            Tool::Subagent,
            scene.path("project"),
            scene.context(),
            Handle::current(),
        );
        early.push(r#"{"agent":"local","task":"#);
        if count > 1 {
            // The host's answer is known by now.
            scene.nth(count).await;
        }
        let user = User { model: Some(no_login.clone()), ..User::default() };
        let call = Call { host_id: Some(id), callbacks: Arc::new(user), ..call(Control::default()) };
        let result = timeout(PATIENCE, single(scene.spec("task"), call)).await.expect("the run ends");
        assert!(!result.is_error, "{}", result.text);
        timeout(PATIENCE, early.end()).await.expect("the early children end");
        assert_eq!(scene.up().len(), count, "each call starts one child");
    }
}

#[tokio::test]
async fn a_call_that_is_still_arriving_gets_the_spare_and_boots_no_other_child() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::new(tells());
    let spare = scene.waiting().await;
    let early = EarlyCall::new(
        "call".into(),
        Tool::Subagent,
        scene.path("project"),
        scene.context(),
        Handle::current(),
    );
    early.push(r#"{"agent":"local","#);
    let call = Call { host_id: Some("call".into()), ..call(Control::default()) };
    let result = timeout(PATIENCE, single(scene.spec("second"), call)).await.expect("the run ends");
    assert_eq!(by(&result), spare);
    timeout(PATIENCE, early.end()).await.expect("the run ends");
    let next = scene.nth(3).await;
    assert_eq!(scene.served_by("third").await, next);
    scene.ends_with(3).await;
}

/// The first child that has a task waits in the middle of its answer until the test lets it continue.
fn pauses() -> Child {
    let pause = Child::new().streams("I look").waits_for("go");
    Child::new()
        .runs(r#"if test -e "$home/go"; then echo $$ >> "$home/after-go"; fi; echo $$ >> "$home/up""#)
        .receives()
        .starts()
        .once("first", &pause)
        .says_expanded("by $$")
        .settles()
        .listens()
}

fn sorted(mut children: Vec<i32>) -> Vec<i32> {
    children.sort_unstable();
    children
}

impl Scene {
    fn tasks(&self, tasks: &[&str]) -> TasksSpec {
        let task = |task: &&str| TaskSpec {
            agent: "local".into(),
            task: (*task).into(),
            cwd: None,
            model: None,
            thinking: None,
        };
        TasksSpec {
            tasks: tasks.iter().map(task).collect(),
            cwd: self.path("project"),
            context: Arc::new(self.context()),
        }
    }
}

#[tokio::test]
async fn the_next_step_of_a_chain_boots_while_the_step_before_works() {
    if program::runs_alone() {
        return;
    }
    // The child of the next step waits above the limit.
    let scene = Scene::with(pauses(), json!({ "maxConcurrent": 1 }));
    let running = tokio::spawn(chain(scene.tasks(&["first", "second"]), call(Control::default())));
    scene.nth(2).await;
    // The next child may start before the first one reads its task.
    eventually("the first task", || !scene.received().is_empty()).await;
    assert_eq!(scene.received().lines().count(), 1, "the next child has no task: {}", scene.received());
    scene.write("go", "");
    let result = timeout(PATIENCE, running).await.expect("the chain ends").expect("the chain does not panic");
    assert_eq!(
        sorted(by_each(&result)),
        sorted(scene.up()),
        "each step has its own child, and no other started"
    );
    assert_eq!(scene.received().lines().count(), 2, "{}", scene.received());
    scene.ends_with(2).await;
}

#[tokio::test]
async fn the_child_of_a_step_that_is_skipped_leaves_no_trace() {
    if program::runs_alone() {
        return;
    }
    let fails = Child::new().streams("I look").waits_for("go").gives_up("400: no");
    let child = Child::new().runs(r#"echo $$ >> "$home/up""#).receives().starts().then(fails);
    let scene = Scene::with(child, json!({ "retry": { "enabled": false } }));
    let running = tokio::spawn(chain(scene.tasks(&["first", "second"]), call(Control::default())));
    scene.nth(2).await;
    scene.write("go", "");
    let result = timeout(PATIENCE, running).await.expect("the chain ends").expect("the chain does not panic");
    assert!(result.is_error, "{}", result.text);
    for child in scene.up() {
        scene.gone(child).await;
    }
    scene.ends_with(1).await;
}

#[tokio::test]
async fn a_step_gets_a_new_child_if_the_step_before_has_changed_an_instruction_file() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(pauses(), json!({}));
    let running = tokio::spawn(chain(scene.tasks(&["first", "second"]), call(Control::default())));
    scene.nth(2).await;
    scene.write("project/AGENTS.md", "Be brief.");
    scene.write("go", "");
    let result = timeout(PATIENCE, running).await.expect("the chain ends").expect("the chain does not panic");
    assert_eq!(by_each(&result)[1], scene.up()[2], "the second step has a third child");
    let outdated = scene.up().into_iter().find(|child| !by_each(&result).contains(child));
    scene.gone(outdated.expect("one child has served no step")).await;
    scene.ends_with(2).await;
}

#[tokio::test]
async fn the_next_task_in_the_queue_boots_above_the_limit_and_the_others_do_not() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(pauses(), json!({ "maxConcurrent": 1 }));
    let running = tokio::spawn(parallel(scene.tasks(&["a", "b", "c"]), call(Control::default())));
    scene.nth(2).await;
    scene.write("go", "");
    let result = timeout(PATIENCE, running).await.expect("the call ends").expect("the call does not panic");
    let each = by_each(&result);
    assert_eq!(
        sorted(each[..2].to_vec()),
        sorted(scene.up()[..2].to_vec()),
        "the second task got the child that was booted ahead"
    );
    assert_eq!(sorted(each), sorted(scene.up()), "each task has its own child, and no other was started");
    assert_eq!(scene.started_after_go(), scene.up()[2..], "only one child waits above the limit");
    scene.ends_with(3).await;
}

#[tokio::test]
async fn no_child_boots_ahead_if_it_is_switched_off() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(pauses(), json!({ "maxConcurrent": 1, "bootAhead": 0 }));
    let running = tokio::spawn(chain(scene.tasks(&["first", "second"]), call(Control::default())));
    eventually("the first task", || !scene.received().is_empty()).await;
    scene.write("go", "");
    let result = timeout(PATIENCE, running).await.expect("the chain ends").expect("the chain does not panic");
    assert_eq!(by_each(&result), scene.up());
    assert_eq!(scene.started_after_go(), scene.up()[1..], "the second child started after the first step");
    scene.ends_with(2).await;
}

/// Fails in the first attempt.
fn recovers() -> Child {
    Child::new()
        .runs(r#"echo $$ >> "$home/up""#)
        .receives()
        .starts()
        .once("failed", &Child::new().gives_up("500: overloaded").exits(0))
        .says_expanded("by $$")
        .settles()
        .listens()
}

#[tokio::test]
async fn the_next_attempt_boots_during_the_pause_before_it() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(recovers(), json!({ "retry": { "backoffMs": 1_000 } }));
    let running = tokio::spawn(single(scene.spec("look"), call(Control::default())));
    let next = scene.nth(2).await;
    let result = timeout(PATIENCE, running).await.expect("the run ends").expect("the run does not panic");
    assert_eq!((by(&result), result.details.results[0].attempts), (next, 2));
    assert_eq!(scene.up().len(), 2);
    assert_eq!(scene.received().lines().count(), 2, "{}", scene.received());
}

#[tokio::test]
async fn a_run_that_is_aborted_before_its_next_attempt_leaves_no_child() {
    if program::runs_alone() {
        return;
    }
    let scene = Scene::with(recovers(), json!({ "retry": { "backoffMs": 5_000 } }));
    let control = Control::default();
    let cancel = control.cancel.clone();
    let running = tokio::spawn(single(scene.spec("look"), call(control)));
    let next = scene.nth(2).await;
    cancel.cancel(CancelReason::Caller(None));
    let result = timeout(PATIENCE, running).await.expect("the run ends").expect("the run does not panic");
    assert_eq!(result.details.results[0].outcome, RunOutcome::Aborted, "{}", result.text);
    scene.gone(next).await;
    assert_eq!(scene.received().lines().count(), 1, "the next child never had a task: {}", scene.received());
    scene.ends_with(1).await;
}
