//! The commands of a person for workflows, next to runs and workflows with the same names.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::extension::EventRecorder;
use crate::support::pids::eventually;
use crate::support::stage::{self, PATIENCE, User, stage};
use pi_subagent_native::orchestrate::background::{
    BackgroundService, ConversationScope, ConversationView, KnownDeliveries, OpenWorkflow, Receipt,
    SpawnRequest, WorkflowRequest, background, commands, open_conversation, open_workflow, project_workflows,
    spawn, until_settled, workflows,
};
use pi_subagent_native::present::{Report, ShownWorkflow, WorkflowEnd};
use pi_subagent_native::run::{Host, HostContext, RunRecord, WorkflowState};
use serde_json::json;
use supervisor::Cancel;
use tempfile::TempDir;
use tokio::time::timeout;

struct Scene {
    root: TempDir,
    service: Arc<BackgroundService>,
    view: Arc<ConversationView>,
}

impl Scene {
    async fn new() -> Self {
        let child = Child::working().waits_for("open").says("Done.").settles().listens();
        let root = stage(child);
        let service = background(&root.path().join("agent"));
        let scope = ConversationScope {
            cwd: root.path().join("project"),
            context: context(&root),
            ends_with: Cancel::new(),
        };
        let known = KnownDeliveries::default();
        let view = open_conversation(&service, "here".into(), scope, known, EventRecorder::default()).await;
        Self { root, service, view }
    }

    fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Starts a run and returns its id.
    async fn spawn(&self, label: &str) -> String {
        let request = SpawnRequest::new("look".into(), self.project(), context(&self.root));
        let request = SpawnRequest { agent: Some("explorer".into()), label: Some(label.into()), ..request };
        let receipt = spawn(&self.service, request, Arc::new(User::default())).await;
        let Receipt::Accepted { run_id, .. } = receipt else { panic!("{receipt:?}") };
        eventually("the run is known", || self.view.runs().iter().any(|run| run.run_id == run_id)).await;
        run_id
    }

    /// Opens a workflow of a project.
    async fn open(&self, project: &str, id: &str, file: Option<&str>) -> Arc<OpenWorkflow> {
        let cwd = self.root.path().join(project);
        std::fs::create_dir_all(&cwd).expect("the directory is created");
        let file = file.map(|file| cwd.join(file));
        let request = WorkflowRequest { id: id.to_owned(), file, ..WorkflowRequest::default() };
        open_workflow(&cwd, &context(&self.root), request).await.expect("the workflow is opened")
    }

    async fn answer(&self, line: &str) -> Report {
        self.answer_with(line, Vec::new()).await
    }

    async fn answer_with(&self, line: &str, scripts: Vec<commands::HostScript>) -> Report {
        let host = commands::CommandHost { scripts, ..commands::CommandHost::default() };
        let user = Arc::new(User::default());
        let answer = commands::answer(&self.service, &self.view, line, host, user);
        timeout(PATIENCE, answer).await.expect("the process answers")
    }

    /// Returns the states of the project's workflows.
    async fn states(&self, project: &str) -> Vec<(String, WorkflowState)> {
        let found = workflows(&self.root.path().join(project), &context(&self.root), false).await;
        let mut found: Vec<_> =
            found.expect("the store is usable").into_iter().map(|one| (one.id, one.state)).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }

    async fn all(&self) -> Vec<ShownWorkflow> {
        project_workflows(&self.view, true).await
    }

    async fn close(self) {
        let _ = self.answer("stop all").await;
        let settled = until_settled(&self.service, &self.view, Some(PATIENCE));
        timeout(PATIENCE, settled).await.expect("the conversation settles");
    }
}

fn context(root: &TempDir) -> Arc<HostContext> {
    let host = Host { session_id: Some("here".to_owned()), ..Host::default() };
    Arc::new(HostContext { host, ..stage::context(root.path(), json!({ "graceMs": 200 })) })
}

fn ended(id: &str, state: WorkflowState) -> (String, WorkflowState) {
    (id.to_owned(), state)
}

#[tokio::test]
async fn a_name_of_a_run_and_a_workflow_does_nothing_to_either() {
    let scene = Scene::new().await;
    let run_id = scene.spawn("review").await;
    let workflow = scene.open("project", "review", None).await;
    for line in ["stop review", "resume review", "info review", "discard --yes review"] {
        let answer = scene.answer(line).await;
        let text = answer.plain();
        assert!(answer.is_error && text.contains("`review` matches 1 run and 1 workflow"), "{line}: {text}");
        assert!(text.contains(&run_id) && text.contains("workflow:review"), "{line}: {text}");
    }
    assert_eq!(scene.states("project").await, [ended("review", WorkflowState::Running)]);
    let info = scene.answer("info workflow:review").await.plain();
    assert!(info.contains("`/subagents stop workflow:review` ends it"), "{info}");
    let stopped = scene.answer("stop workflow:review").await.plain();
    assert!(stopped.contains("stopped the workflow review and its runs"), "{stopped}");
    assert!(scene.view.runs().iter().all(RunRecord::is_live), "the run works on");
    workflow.finish(WorkflowState::Stopped, None).await.expect("the end is stored");
    let removed = scene.answer("discard --yes workflow:review").await.plain();
    assert!(removed.contains("removed the workflow review"), "{removed}");
    let stopped = scene.answer("stop review").await;
    assert!(!stopped.is_error, "the name means only the run: {}", stopped.plain());
    scene.close().await;
}

#[tokio::test]
async fn names_of_the_list_are_no_names_of_workflows() {
    let scene = Scene::new().await;
    let run_id = scene.spawn("loader").await;
    let beginning = &run_id[..3];
    for id in ["all", "last", "1", beginning] {
        let workflow = scene.open("project", id, None).await;
        let shown = scene.all().await;
        let word = shown.iter().find(|shown| shown.id == id).map(ShownWorkflow::word);
        assert_eq!(word, Some(format!("workflow:{id}")));
        if id != "all" {
            let text = scene.answer(&format!("stop {id}")).await.plain();
            assert!(text.contains("matches 1 run and 1 workflow"), "{id}: {text}");
        }
        let text = scene.answer(&format!("stop workflow:{id}")).await.plain();
        assert!(text.contains("stopped the workflow"), "{id}: {text}");
        assert!(scene.view.runs().iter().all(RunRecord::is_live), "{id}");
        workflow.finish(WorkflowState::Stopped, None).await.expect("the end is stored");
    }
    let unknown = scene.answer("stop workflow:al").await.plain();
    assert!(unknown.contains("there is no workflow `al`; did you mean `all`?"), "{unknown}");
    scene.close().await;
}

#[tokio::test]
async fn a_name_of_several_workflows_is_refused_with_their_ids() {
    let scene = Scene::new().await;
    for (id, file) in [("one", Some("a/review.ts")), ("two", Some("b/review.ts")), ("codemode s", None)] {
        let workflow = scene.open("project", id, file).await;
        workflow.finish(WorkflowState::Completed, None).await.expect("the end is stored");
    }
    scene
        .open("project", "codemode t", None)
        .await
        .finish(WorkflowState::Failed, None)
        .await
        .expect("it ends");
    for (name, ids) in [
        ("review.ts", ["workflow:one", "workflow:two"]),
        ("codemode", ["\"workflow:codemode s\"", "\"workflow:codemode t\""]),
    ] {
        for command in ["discard --yes", "discard", "stop", "resume", "info"] {
            let text = scene.answer(&format!("{command} {name}")).await.plain();
            assert!(text.contains(&format!("`{name}` matches 2 workflows")), "{command}: {text}");
            assert!(ids.iter().all(|id| text.contains(id)), "{command}: {text}");
        }
    }
    assert_eq!(scene.states("project").await.len(), 4);
    let removed = scene.answer("discard --yes one").await.plain();
    assert!(removed.contains("removed the workflow one"), "{removed}");
    let removed = scene.answer("discard --yes \"workflow:codemode s\"").await.plain();
    assert!(removed.contains("removed the workflow codemode"), "{removed}");
    let left = scene.states("project").await;
    assert_eq!(left.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["codemode t", "two"]);
    let removed = scene.answer("discard --yes review.ts").await.plain();
    assert!(removed.contains("removed the workflow two"), "its file is now unambiguous: {removed}");
    scene.close().await;
}

#[tokio::test]
async fn a_workflow_of_another_project_is_reached_only_by_its_exact_word() {
    let scene = Scene::new().await;
    let own = scene.open("project", "review", Some("review.ts")).await;
    let other = scene.open("elsewhere", "review", Some("review.ts")).await;
    let shown = scene.all().await;
    let shown = shown.iter().find(|shown| shown.is_other_project).expect("it is listed");
    assert_eq!(shown.word(), shown.exact_word());
    assert_eq!(shown.other_project().as_deref(), Some("elsewhere"));
    let info = scene.answer(&format!("info {}", shown.word())).await.plain();
    assert!(info.contains("project elsewhere · review.ts · running"), "{info}");
    let stopped = scene.answer(&format!("stop {}", shown.exact_word())).await.plain();
    assert!(stopped.contains("start pi in the project elsewhere to continue it"), "{stopped}");
    other.finish(WorkflowState::Stopped, None).await.expect("the end is stored");
    assert_eq!(scene.states("project").await, [ended("review", WorkflowState::Running)]);
    let resumed = scene.answer(&format!("resume {}", shown.word())).await;
    assert!(resumed.is_error && resumed.workflow.is_none(), "{}", resumed.plain());
    own.finish(WorkflowState::Completed, None).await.expect("the end is stored");
    scene.close().await;
}

#[tokio::test]
async fn a_script_of_the_host_is_stopped_by_its_file_or_by_its_workflow() {
    let scene = Scene::new().await;
    let path = scene.root.path().canonicalize().expect("the directory exists").join("project/review.ts");
    let pid = std::process::id();
    let scripts = || vec![commands::HostScript { path: path.clone(), pid }];
    let answer = scene.answer_with("stop review.ts", scripts()).await;
    assert_eq!((&*answer.stops, answer.is_on_card), ([pid].as_slice(), true));
    let workflow = scene.open("project", "check", Some("review.ts")).await;
    for line in ["stop review.ts", "stop check", "stop workflow:check", "stop all"] {
        let answer = scene.answer_with(line, scripts()).await;
        assert_eq!(*answer.stops, [pid], "{line}: {}", answer.plain());
    }
    assert!(scene.answer("stop check").await.stops.is_empty(), "another process has started the script");
    workflow.finish(WorkflowState::Stopped, None).await.expect("the end is stored");
    let answer = scene.answer_with("stop check", scripts()).await;
    assert!(answer.is_error && answer.stops.is_empty(), "{}", answer.plain());
    scene.close().await;
}

#[tokio::test]
async fn the_end_of_a_script_offers_a_command_only_if_its_path_can_be_typed() {
    let scene = Scene::new().await;
    for (path, is_offered) in
        [("a.ts", true), ("with blanks.ts", true), (" a.ts", false), ("--a.ts", false), ("", false)]
    {
        let end = WorkflowEnd {
            file: path.to_owned(),
            exit_code: Some(1),
            was_stopped: false,
            duration: Duration::from_secs(1),
            output: String::new(),
        };
        let text = commands::workflow_ended(&scene.view, end).await.plain();
        let command = format!("`/subagents workflow {path}` runs it again");
        assert_eq!(text.contains(&command), is_offered, "{path:?}: {text}");
    }
    scene.close().await;
}

#[tokio::test]
async fn no_report_has_the_control_sequences_and_secrets_of_a_script() {
    let scene = Scene::new().await;
    let secret = format!("sk-ant-api03-{}", "Ab3".repeat(31));
    for id in ["\u{1b}]0;title\u{7}review", &secret] {
        let workflow = scene.open("project", id, Some("a\u{1b}[31m.ts")).await;
        let word = scene.all().await.iter().find(|shown| shown.id == *id).map(ShownWorkflow::word);
        let word = word.expect("it is listed");
        for line in ["workflow", "list", "info WORD", "resume WORD", "discard WORD", "stop WORD"] {
            let text = scene.answer(&line.replace("WORD", &word)).await.plain();
            assert!(!text.contains('\u{1b}') && !text.contains('\u{7}') && !text.contains(&secret), "{text}");
        }
        let offered = commands::complete("info ", &[], &scene.view.workflows(), &[]);
        assert!(offered.iter().any(|one| one.value == format!("info {word}")), "{offered:?}");
        workflow.finish(WorkflowState::Completed, None).await.expect("the end is stored");
    }
    let end = WorkflowEnd {
        file: scene.project().join("a.ts").to_string_lossy().into_owned(),
        exit_code: Some(0),
        was_stopped: false,
        duration: Duration::from_secs(1),
        output: format!("\u{1b}[32mgreen\u{1b}[39m\n{}{secret}\n", "x ".repeat(170)),
    };
    let text = commands::workflow_ended(&scene.view, end).await.plain();
    assert!(text.contains("\n    green\n") && !text.contains("Ab3Ab3"), "{text}");
    scene.close().await;
}
