//! The situation table: what a caller gets for each way in which a run can go.
#![cfg(unix)]

use std::fs;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pi_subagent_native::process::{Cancel, CancelReason};
use pi_subagent_native::run::{
    BoxFuture, ConfirmRequest, Control, ErrorCode, Host, HostCallbacks, HostContext, HostTool, Mode,
    Progress, Resumption, RunId, RunOutcome, RunOverrides, RunSpec, RunState, Timeout, ToolResult, Watchers,
    execute,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{oneshot, watch};

/// Longer than any scenario needs, shorter than a person waits for a stuck test.
const PATIENCE: Duration = Duration::from_secs(30);

/// Shell functions that speak pi's event stream.
const EVENTS: &str = r#"
begin() { printf '{"type":"session","version":3}\n{"type":"agent_start"}\n{"type":"turn_start"}\n'; }
said() { # text stopReason [more fields]
    printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"%s"}],"provider":"fake","model":"m1","usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"input":0.1,"output":0.2,"cacheRead":0,"cacheWrite":0,"total":0.3}},"stopReason":"%s"%s}}\n' "$1" "$2" "$3"
}
delta() { printf '{"type":"message_update","usage":{},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"%s"}}\n' "$1"; }
settled() { printf '{"type":"agent_end","messages":[],"willRetry":false}\n{"type":"agent_settled","aborted":false}\n'; }
gives_up() { # error, which pi itself has tried to get around
    said '' error ",\"errorMessage\":\"$1\""
    printf '{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"%s"}\n' "$1"; settled
}
"#;

/// A directory with an agent dir, a project and a scripted stand-in for pi.
struct Scene {
    root: TempDir,
    spec: RunSpec,
}

impl Scene {
    fn new(script: &str) -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let (project, agent_dir) = (root.path().join("project"), root.path().join("agent"));
        fs::create_dir_all(project.join(".git")).expect("a project");
        fs::create_dir_all(&agent_dir).expect("an agent directory");
        let pi = root.path().join("pi.sh");
        fs::write(&pi, format!("{EVENTS}\ncat > \"{}/task\"\n{script}\n", root.path().display()))
            .expect("a script");
        let env = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
        let pi_command = Some(vec!["/bin/sh".to_owned(), pi.to_string_lossy().into_owned()]);
        let home = Some(root.path().join("home"));
        // The scripts read their task to its end, as pi does in its `json` mode.
        let config = Some(json!({ "protocol": "json" }));
        let host = Host::default();
        let context = Arc::new(HostContext { agent_dir, home, env, config, pi_command, warden: None, host });
        let (agent, task) = ("explorer".into(), "look around".into());
        Self {
            root,
            spec: RunSpec {
                agent,
                task,
                cwd: project,
                context,
                share: 1,
                siblings: 1,
                overrides: RunOverrides::default(),
            },
        }
    }

    fn config(mut self, mut config: Value) -> Self {
        config["protocol"] = "json".into();
        context(&mut self.spec).config = Some(config);
        self
    }

    fn with(mut self, change: impl FnOnce(&mut RunSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        fs::write(path, text).expect("written");
        self
    }

    async fn run(&self) -> ToolResult {
        self.run_with(Cancel::new(), None).await.0
    }

    async fn run_with(&self, cancel: Cancel, confirm: Option<bool>) -> (ToolResult, Vec<Progress>) {
        let (progress, mut receiver) = watch::channel(Progress::default());
        let updates = tokio::spawn(async move {
            let mut seen = Vec::new();
            while receiver.changed().await.is_ok() {
                seen.push(receiver.borrow_and_update().clone());
            }
            seen
        });
        let run = start(&self.spec, &progress, confirm, cancel);
        let result = tokio::time::timeout(PATIENCE, run).await.expect("the run ends");
        drop(progress);
        (result, updates.await.expect("the updates end"))
    }
}

fn context(spec: &mut RunSpec) -> &mut HostContext {
    Arc::make_mut(&mut spec.context)
}

async fn start(
    spec: &RunSpec,
    progress: &watch::Sender<Progress>,
    confirm: Option<bool>,
    cancel: Cancel,
) -> ToolResult {
    let watchers = Watchers { progress, rate_limited: &|_| {} };
    let control = Control { cancel, ..Control::default() };
    execute(spec.clone(), RunId::draw(), watchers, &Told(confirm), &control).await
}

/// A caller that answers as told, refreshes nothing and passes no question on.
struct Told(Option<bool>);

impl HostCallbacks for Told {
    fn is_interactive(&self) -> bool {
        self.0.is_some()
    }

    fn confirm(&self, _request: ConfirmRequest) -> BoxFuture<'_, bool> {
        Box::pin(ready(self.0.unwrap_or(false)))
    }
}

fn code(result: &ToolResult) -> Option<ErrorCode> {
    result.details.error.as_ref().map(|error| error.code)
}

fn message(result: &ToolResult) -> &str {
    result.details.error.as_ref().map_or("", |error| &error.message)
}

/// Everything about a result that a machine does not change.
fn shape(result: &ToolResult) -> (Option<ErrorCode>, i32, RunOutcome, bool) {
    let single = &result.details.results[0];
    (code(result), single.exit_code, single.outcome, result.is_error)
}

#[tokio::test]
async fn an_answer_is_a_success_with_its_usage_session_and_model() {
    let scene = Scene::new("begin; said 'The answer.' stop; settled");
    let result = scene.run().await;
    let single = &result.details.results[0];
    assert_eq!(shape(&result), (None, 0, RunOutcome::Completed, false));
    assert_eq!(result.text, "The answer.");
    assert_eq!(single.output.as_deref(), Some("The answer."));
    assert_eq!((single.usage.input, single.usage.output, single.usage.turns), (10, 5, 1));
    assert_eq!(single.model.as_deref(), Some("fake/m1"));
    assert_eq!((single.error.as_ref(), single.attempts), (None, 1));
    assert!(Path::new(single.session_file.as_deref().expect("a session")).is_file());
    assert_eq!(fs::read_to_string(scene.path("task")).expect("the child read its task"), "look around");
    assert_eq!(result.details.run_id.as_ref().map(String::len), Some(8));
}

#[tokio::test]
async fn each_way_to_fail_has_its_code_and_keeps_what_there_was() {
    use ErrorCode::{SubagentFailed, SubagentTimeout};
    use RunOutcome::{Failed, HardTimeout, IdleTimeout};
    let quick = json!({ "timeoutMs": 400, "graceMs": 200 });
    let idle = json!({ "idleTimeoutMs": 300, "graceMs": 200 });
    let tool = json!({ "idleTimeoutMs": 300, "toolTimeoutMs": 500, "graceMs": 200 });
    let running_tool = r#"begin; printf '{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{}}\n'; sleep 20"#;
    let none = || json!({});
    let table = [
        (
            "provider error",
            "begin; said '' error ',\"errorMessage\":\"500: overloaded\"'; settled",
            none(),
            SubagentFailed,
            1,
            Failed,
            "500: overloaded",
        ),
        (
            "aborted by itself",
            "begin; said 'half' aborted; settled",
            none(),
            SubagentFailed,
            1,
            Failed,
            "stopped its own turn",
        ),
        (
            "no answer",
            "begin; settled",
            none(),
            SubagentFailed,
            1,
            Failed,
            "last event: agent_settled; stop reason: none; tool executions completed: 0",
        ),
        (
            "exit code",
            "begin; delta 'so far'; echo boom >&2; exit 3",
            none(),
            SubagentFailed,
            3,
            Failed,
            "boom",
        ),
        ("no reason", "exit 4", none(), SubagentFailed, 4, Failed, "gave no reason"),
        ("signal", "begin; delta 'so far'; kill -KILL $$", none(), SubagentFailed, 137, Failed, "SIGKILL"),
        (
            "hard limit",
            "begin; delta 'so far'; sleep 20",
            quick,
            SubagentTimeout,
            124,
            HardTimeout,
            "400 ms (`timeoutMs`)",
        ),
        (
            "silence",
            "begin; delta 'so far'; sleep 20",
            idle,
            SubagentTimeout,
            124,
            IdleTimeout,
            "300 ms (`idleTimeoutMs`)",
        ),
        (
            "silent tool",
            running_tool,
            tool,
            SubagentTimeout,
            124,
            IdleTimeout,
            "500 ms while a tool ran (`toolTimeoutMs`)",
        ),
    ];
    for (label, script, config, expected, exit_code, outcome, says) in table {
        let scene = Scene::new(script).config(config);
        let result = scene.run().await;
        let single = &result.details.results[0];
        assert_eq!(shape(&result), (Some(expected), exit_code, outcome, true), "{label}: {}", result.text);
        assert!(
            single.error.as_deref().is_some_and(|error| error.contains(says)),
            "{label}: {:?}",
            single.error
        );
        assert!(
            result.text.starts_with(&format!("explorer failed with exit code {exit_code}\n\nerror: ")),
            "{label}: {}",
            result.text
        );
        assert!(result.text.contains(single.session_file.as_deref().expect("a session")), "{label}");
        if script.contains("so far") {
            assert!(result.text.contains("partial output:\nso far"), "{label}: {}", result.text);
        }
    }
}

#[tokio::test]
async fn a_run_whose_host_shuts_down_is_aborted_and_keeps_the_partial_text() {
    let scene = Scene::new("begin; delta 'so far'; echo > \"$(dirname \"$0\")/begun\"; sleep 20");
    let (cancel, begun) = (Cancel::new(), scene.path("begun"));
    let stop = async {
        while !begun.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel(CancelReason::Shutdown);
    };
    let ((result, updates), ()) = tokio::join!(scene.run_with(cancel.clone(), None), stop);
    assert_eq!(shape(&result), (Some(ErrorCode::SubagentFailed), 130, RunOutcome::Aborted, true));
    assert_eq!(message(&result), "cancelled: the session ended");
    assert!(result.text.contains("partial output:\nso far"), "{}", result.text);
    let (single, last) = (&result.details.results[0], updates.last().expect("an update"));
    assert_eq!(last.session_file.as_deref().and_then(Path::to_str), single.session_file.as_deref());
    assert_eq!(last.directory.as_deref(), last.session_file.as_deref().and_then(Path::parent));
    assert!(last.pid.is_some_and(|pid| pid > 1));
}

#[tokio::test]
async fn a_run_that_is_continued_has_the_id_the_directory_and_the_session_of_the_first() {
    let script = r#"printf '%s ' "$@" > "$(dirname "$0")/args"; begin; said "$(cat "$(dirname "$0")/task")" stop; settled"#;
    let scene = Scene::new(script);
    let first = scene.run().await;
    let session = PathBuf::from(first.details.results[0].session_file.clone().expect("a session"));
    let before = fs::read(&session).expect("readable");
    let directory = session.parent().expect("a directory").to_path_buf();
    let resumption = Resumption {
        run_id: first.details.run_id.clone().expect("an id"),
        directory: directory.clone(),
        session: session.clone(),
    };
    let mut scene = scene.with(|spec| {
        spec.task = "and now?".into();
        spec.overrides.resumes = Some(resumption);
    });
    let second = scene.run().await;
    assert_eq!(second.text, "and now?");
    assert_eq!(second.details.run_id, first.details.run_id);
    assert_eq!(second.details.results[0].session_file, first.details.results[0].session_file);
    let arguments = fs::read_to_string(scene.path("args")).expect("the child's arguments");
    assert!(arguments.contains(&format!("--session {} ", session.display())), "{arguments}");
    assert_eq!(fs::read(&session).expect("readable"), before, "not begun anew");
    let left: Vec<_> =
        fs::read_dir(&directory).expect("readable").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["session.jsonl"]);

    let other = scene.path("elsewhere");
    fs::create_dir(&other).expect("made");
    scene = scene.with(|spec| spec.cwd = other);
    let third = scene.run().await;
    assert_eq!(third.details.run_id, first.details.run_id);
    assert!(message(&third).contains("session.jsonl`: it is a session of"), "{}", message(&third));
    fs::remove_file(&session).expect("removed");
    let fourth = scene.run().await;
    assert!(message(&fourth).contains("session.jsonl`: No such file"), "{}", message(&fourth));
}

#[cfg(unix)]
#[tokio::test]
async fn the_children_of_an_agent_have_its_credentials_and_no_project_gets_any() {
    use std::os::unix::fs::PermissionsExt;
    let script = r#"
home=$(dirname "$0"); cat "$PI_CODING_AGENT_DIR/auth.json" > "$home/auth" || : > "$home/auth"
printf '%s' "$TMPDIR" > "$home/tmp"; begin; said 'The key is correct-horse-battery-staple-1.' stop; settled"#;
    let key = |key: &str| json!({"p": {"type": "api_key", "key": key}});
    let own = key("correct-horse-battery-staple-1").to_string();
    let agent = "---\nname: explorer\ndescription: d\n---\nBe.";
    let scene = |mode: u32| {
        let scene = Scene::new(script)
            .write("agent/auth.json", &key("main-key").to_string())
            .write("agent/subagents/auth/explorer.json", &own)
            .with(|spec| {
                let agent_dir = spec.context.agent_dir.clone();
                context(spec).env.push(("PI_CODING_AGENT_DIR".into(), agent_dir.into()));
            });
        let path = scene.path("agent/subagents/auth/explorer.json");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        scene
    };
    let got = |scene: &Scene| fs::read_to_string(scene.path("auth")).expect("the child's credentials");

    let good = scene(0o600);
    let result = good.run().await;
    assert_eq!(got(&good), own);
    assert_eq!(fs::read_to_string(good.path("tmp")).expect("written"), "", "it is not confined");
    assert!(!result.text.contains("correct-horse"), "{}", result.text);
    let session = PathBuf::from(result.details.results[0].session_file.clone().expect("a session"));
    let left = fs::read_dir(session.parent().expect("a directory")).expect("readable").count();
    assert_eq!(left, 1, "the copy is gone");

    let bad = scene(0o644);
    let result = bad.run().await;
    assert_eq!(got(&bad), key("main-key").to_string());
    let notes = &result.details.results[0].diagnostics;
    let said = |words: &str| notes.iter().any(|note| note.contains(words));
    assert!(said("explorer.json`: its mode is 644; expected 600"), "{notes:?}");

    let project = scene(0o600)
        .config(json!({ "projectAgentPolicy": "allow" }))
        .write("project/.pi/agents/explorer.md", agent)
        .write("project/.pi/subagents/auth/explorer.json", &key("planted").to_string())
        .write("project/subagents/auth/explorer.json", &key("planted").to_string());
    let result = project.run().await;
    assert_eq!(got(&project), key("main-key").to_string());
    let notes = &result.details.results[0].diagnostics;
    let withheld = "`subagents/auth/explorer.json` is not used: the project wrote this agent";
    assert!(notes.iter().any(|note| note == withheld), "{notes:?}");
}

#[tokio::test]
async fn a_running_tool_pauses_the_limit_on_silence() {
    let script = r#"begin; printf '{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{}}\n'; sleep 1
        printf '{"type":"tool_execution_end","toolCallId":"c1","toolName":"bash","result":{},"isError":false}\n'; said 'Done.' stop; settled"#;
    let result = Scene::new(script).config(json!({ "idleTimeoutMs": 400 })).run().await;
    assert_eq!(shape(&result), (None, 0, RunOutcome::Completed, false), "{}", result.text);
}

#[tokio::test]
async fn a_child_that_lingers_after_its_work_is_ended_without_making_it_a_failure() {
    let result = Scene::new("begin; said 'Done.' stop; settled; trap '' TERM; sleep 20")
        .config(json!({ "graceMs": 200 }))
        .run()
        .await;
    assert_eq!(shape(&result), (None, 0, RunOutcome::Completed, false), "{}", result.text);
}

#[tokio::test]
async fn an_abort_is_never_a_success_and_keeps_the_partial_text() {
    let scene = Scene::new("begin; delta 'so far'; sleep 20").config(json!({ "graceMs": 200 }));
    let cancel = Cancel::new();
    let (progress, mut receiver) = watch::channel(Progress::default());
    let run = start(&scene.spec, &progress, None, cancel.clone());
    let stop = async {
        receiver.wait_for(|progress| &*progress.text == "so far").await.expect("the text comes");
        cancel.cancel(CancelReason::Caller(Some("not needed".into())));
    };
    let (result, ()) = Box::pin(tokio::time::timeout(PATIENCE, async { tokio::join!(run, stop) }))
        .await
        .expect("the run ends");
    assert_eq!(shape(&result), (Some(ErrorCode::SubagentFailed), 130, RunOutcome::Aborted, true));
    assert!(message(&result).contains("cancelled by user: not needed"), "{}", message(&result));
    assert!(result.text.contains("so far"), "{}", result.text);
}

#[tokio::test]
async fn an_abort_before_the_start_starts_nothing() {
    let scene = Scene::new("begin; said 'Done.' stop; settled");
    let cancel = Cancel::new();
    cancel.cancel(CancelReason::Caller(None));
    let (result, updates) = scene.run_with(cancel, None).await;
    assert_eq!(shape(&result), (Some(ErrorCode::SubagentFailed), 130, RunOutcome::Aborted, true));
    assert_eq!((result.details.results[0].attempts, updates.len()), (0, 0));
    assert!(!scene.path("task").exists() && !scene.path("agent/subagents").exists());
}

#[tokio::test]
async fn refusals_start_nothing_and_say_what_would_be_right() {
    let fine = || Scene::new("begin; said 'Done.' stop; settled");
    let project_agent = "---\nname: local\nreadonly: true\n---\nLook.";
    let broken = fine().write("agent/subagents.json", "{\n  \"subagents\": { \"maxDepth\": }\n}");
    let cases = [
        (
            fine().with(|spec| spec.agent = "explorr".into()),
            ErrorCode::UnknownAgent,
            Mode::Single,
            "Unknown agent: explorr. Available agents: explorer, researcher, reviewer, implementer, tester",
        ),
        (
            fine().with(|spec| spec.task = " \n ".into()),
            ErrorCode::InvalidInput,
            Mode::Single,
            "`task` must not be blank",
        ),
        (
            fine().with(|spec| spec.agent = String::new()),
            ErrorCode::InvalidInput,
            Mode::Single,
            "`agent` must not be blank",
        ),
        (
            fine().config(json!({ "enabled": false })),
            ErrorCode::SubagentsDisabled,
            Mode::Single,
            "`subagents.enabled` is false",
        ),
        (broken, ErrorCode::SubagentsDisabled, Mode::Single, "subagents.json:2:"),
        (fine().config(json!({ "maxDepth": "deep" })), ErrorCode::InvalidInput, Mode::Single, "maxDepth"),
        (
            fine().with(|spec| context(spec).env.push(("PI_SUBAGENT_DEPTH".into(), "1".into()))),
            ErrorCode::SubagentDepthExceeded,
            Mode::Management,
            "depth 1",
        ),
        (
            fine()
                .with(|spec| spec.agent = "local".into())
                .write("project/.pi/agents/local.md", project_agent),
            ErrorCode::SubagentDisabled,
            Mode::Single,
            "`subagents.nonInteractivePolicy` is `deny`",
        ),
        (
            fine()
                .with(|spec| spec.agent = "local".into())
                .config(json!({ "projectAgentPolicy": "deny" }))
                .write("project/.pi/agents/local.md", project_agent),
            ErrorCode::SubagentDisabled,
            Mode::Single,
            "`subagents.projectAgentPolicy` is `deny`",
        ),
    ];
    for (scene, expected, mode, says) in cases {
        let result = scene.run().await;
        assert_eq!(
            (code(&result), result.details.mode, result.is_error),
            (Some(expected), mode, true),
            "{}",
            result.text
        );
        assert!(message(&result).contains(says), "{} should contain {says}", message(&result));
        assert_eq!((result.details.results.len(), result.text.as_str()), (0, message(&result)));
        assert!(!scene.path("task").exists(), "nothing was started: {says}");
    }
}

#[tokio::test]
async fn a_project_agent_is_confirmed_once_per_definition() {
    let scene = Scene::new("begin; said 'Done.' stop; settled")
        .with(|spec| spec.agent = "local".into())
        .write("project/.pi/agents/local.md", "---\nname: local\nreadonly: true\n---\nLook.");
    let ask = |answer| scene.run_with(Cancel::new(), Some(answer));
    let (refused, _) = ask(false).await;
    assert!(message(&refused).contains("the user did not allow it"), "{}", message(&refused));
    assert_eq!(code(&ask(true).await.0), None);
    assert_eq!(code(&ask(false).await.0), None, "a remembered yes is not asked for again");
    fs::write(
        scene.path("project/.pi/agents/local.md"),
        "---\nname: local\nreadonly: true\n---\nLook deeper.",
    )
    .expect("written");
    assert_eq!(
        code(&ask(false).await.0),
        Some(ErrorCode::SubagentDisabled),
        "a changed definition is asked for again"
    );
}

#[tokio::test]
async fn a_child_that_cannot_start_names_stage_and_path() {
    let fine = || Scene::new("begin; said 'Done.' stop; settled");
    let tools = |names: &[&str]| {
        Some(names.iter().map(|name| HostTool { name: (*name).into(), extension: None }).collect())
    };
    let cases = [
        (fine().with(|spec| spec.cwd.push("missing")), "cwd: ", "missing"),
        (
            fine().with(|spec| context(spec).pi_command = Some(vec!["no-such-pi".into()])),
            "executable: ",
            "no-such-pi",
        ),
        (fine().with(|spec| context(spec).pi_command = Some(Vec::new())), "executable: ", "piCommand"),
        (
            fine().with(|spec| context(spec).pi_command = Some(vec!["./pi".into()])),
            "executable: ",
            "`./pi` is relative",
        ),
        (
            fine()
                .with(|spec| context(spec).pi_command = Some(vec!["sh".into(), "cli.js".into()]))
                .write("project/cli.js", "exit 0"),
            "executable: ",
            "`cli.js` names a file of",
        ),
        (fine().with(|spec| context(spec).host.model = Some("--mode".into())), "arguments: ", "`--mode`"),
        (
            fine().with(|spec| spec.agent = "boxed".into()).write(
                "agent/agents/boxed.md",
                "---\nname: boxed\nreadonly: true\nlauncher: docker\n---\nLook.",
            ),
            "launcher: ",
            "docker",
        ),
        (fine().write("agent/subagents", "a file in the way"), "session directory: ", "subagents"),
        (fine().config(json!({ "sandbox": "required" })), "sandbox: ", "required, but unavailable"),
        (
            fine().with(|spec| spec.agent = "strict".into()).config(json!({ "sandbox": "off" })).write(
                "agent/agents/strict.md",
                "---\nname: strict\nreadonly: true\nsandbox: required\n---\nLook.",
            ),
            "sandbox: ",
            "required, but unavailable",
        ),
        (
            fine().with(|spec| {
                spec.agent = "researcher".into();
                context(spec).host.tools = tools(&["read"]);
            }),
            "agent `researcher` needs one of",
            "web_search",
        ),
    ];
    for (scene, stage, names) in cases {
        let result = scene.run().await;
        let single = &result.details.results[0];
        assert_eq!(shape(&result), (Some(ErrorCode::SubagentFailed), 1, RunOutcome::Failed, true), "{stage}");
        let error = single.error.as_deref().expect("an error");
        assert!(error.starts_with(stage) && error.contains(names), "{error}");
        assert_eq!(single.attempts, 0);
        assert!(!scene.path("task").exists(), "nothing was started: {error}");
    }
}

#[tokio::test]
async fn the_child_gets_an_explicit_allow_list_and_only_what_its_agent_needs() {
    let scene = Scene::new(
        r#"printf '%s\n' "$@" > "${0%/*}/argv"; env > "${0%/*}/env"; begin; said 'Done.' stop; settled"#,
    )
    .with(|spec| {
        let tool = |name: &str, extension: Option<&str>| HostTool {
            name: name.into(),
            extension: extension.map(Into::into),
        };
        context(spec).host.tools = Some(vec![
            tool("read", None),
            tool("grep", None),
            tool("bash", None),
            tool("lsp", Some("/ext/lsp.ts")),
            tool("paint", Some("/ext/paint.ts")),
        ]);
        context(spec).host.model = Some("fake/m1".into());
        context(spec).host.thinking = Some("low".into());
    });
    let result = scene.run().await;
    let single = &result.details.results[0];
    assert_eq!(single.exit_code, 0, "{}", result.text);
    let argv = fs::read_to_string(scene.path("argv")).expect("the child's arguments");
    for expected in [
        "--mode\njson\n-p\n",
        "--tools\nread,grep,lsp\n",
        "--model\nfake/m1\n",
        "--thinking\nlow\n",
        "/guard.cjs\n--no-extensions\n-e\n/ext/lsp.ts\n",
        "--no-skills\n",
        "--no-prompt-templates\n--no-themes\n",
    ] {
        assert!(argv.contains(expected), "{expected:?} in {argv}");
    }
    assert!(!argv.contains("paint") && !argv.contains("look around") && !argv.contains("--no-mcp"), "{argv}");
    let env = fs::read_to_string(scene.path("env")).expect("the child's environment");
    for expected in [
        "PI_SUBAGENT_CHILD=1\n",
        "PI_SUBAGENT_DEPTH=1\n",
        "PI_SUBAGENT_MAX_DEPTH=1\n",
        "PI_SUBAGENT_TOOLS=read,grep,lsp\n",
        "PI_SUBAGENT_ALLOW_LSP=1\n",
    ] {
        assert!(env.contains(expected), "{expected:?} in {env}");
    }
    let sandbox = single.sandbox.as_ref().expect("a report on a readonly agent");
    assert!(!sandbox.enforced && sandbox.reason.as_deref().is_some_and(|reason| reason.contains("warden")));
    assert!(single.diagnostics.iter().any(|text| text.contains("bash")), "{:?}", single.diagnostics);
    let left: Vec<_> = fs::read_dir(
        Path::new(single.session_file.as_deref().expect("a session")).parent().expect("its directory"),
    )
    .expect("readable")
    .map(|entry| entry.expect("an entry").file_name())
    .collect();
    assert_eq!(left, ["session.jsonl"], "prompt and guard are gone");
}

#[tokio::test]
async fn a_long_answer_keeps_head_and_tail_and_names_the_file_with_all_of_it() {
    let script = r#"begin; said "first $(head -c 300000 /dev/zero | tr '\0' x) last" stop; settled"#;
    let scene = Scene::new(script);
    let result = scene.run().await;
    let single = &result.details.results[0];
    assert_eq!(shape(&result), (Some(ErrorCode::SubagentOutputTruncated), 0, RunOutcome::Completed, false));
    assert!(
        result.text.len() <= 51_200 && result.text.starts_with("first x") && result.text.ends_with("x last")
    );
    let full = single.full_output_file.as_deref().expect("a file");
    assert!(result.text.contains(full), "the marker names the file");
    assert_eq!(fs::read_to_string(full).expect("readable").len(), 300_011);
}

#[tokio::test]
async fn no_field_of_a_result_or_an_update_carries_a_secret() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
    let script = format!(
        r#"begin; delta 'key {secret}'; sleep 0.3
        printf '{{"type":"message_end","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"c1","name":"bash","arguments":{{"command":"curl -H {secret}"}}}}],"stopReason":"toolUse"}}}}\n'; sleep 0.3
        echo 'oh {secret}' >&2; said 'It is {secret}.' error ',"errorMessage":"bad {secret}"'; settled; exit 2"#
    );
    let scene = Scene::new(&script).with(|spec| spec.task = format!("use {secret}"));
    let (result, updates) = scene.run_with(Cancel::new(), None).await;
    let whole = format!("{result:?}");
    assert!(!whole.contains("abcdefghijklmnopqrstuvwxyz0123456789"), "{whole}");
    let seen = format!("{updates:?}");
    assert!(!updates.is_empty() && !seen.contains("abcdefghijklmnopqrstuvwxyz0123456789"), "{seen}");
}

#[tokio::test]
async fn a_secret_that_is_still_being_written_does_not_show() {
    let scene = Scene::new("begin; delta 'The key is s3cr3tTokenValue98765'; sleep 20")
        .config(json!({ "idleTimeoutMs": 400, "graceMs": 200 }))
        .with(|spec| context(spec).env.push(("MY_API_TOKEN".into(), "s3cr3tTokenValue9876543210".into())));
    let (result, updates) = scene.run_with(Cancel::new(), None).await;
    let all = format!("{result:?} {updates:?}");
    assert!(result.text.contains("The key is") && !all.contains("s3cr3t"), "{all}");
}

#[tokio::test]
async fn the_cause_at_the_end_of_much_noise_is_kept() {
    let script = "i=0; while [ $i -lt 2000 ]; do echo \"warning $i: something is not quite right\" >&2; i=$((i+1)); done
        echo 'FATAL: the real cause' >&2; exit 1";
    let result = Scene::new(script).run().await;
    let error = result.details.results[0].error.as_deref().expect("an error");
    assert!(error.starts_with("warning 0:") && error.contains("FATAL: the real cause"), "{error}");
}

#[tokio::test]
async fn a_project_agent_gets_no_more_than_the_user_gives_to_children() {
    let script = r#"printf '%s\n' "$@" > "${0%/*}/argv"; begin; said 'Done.' stop; settled"#;
    let definition = "---\nname: local\nreadonly: true\nextensions: [/listed.ts, ./own.ts]\nskills: true\ncontext: project\ntimeoutMs: 9000000\n---\nLook.";
    let scene = Scene::new(script)
        .with(|spec| spec.agent = "local".into())
        .config(json!({
            "projectAgentPolicy": "allow", "inheritExtensions": ["/listed.ts", "/other.ts"], "inheritContext": "none",
        }))
        .write("project/.pi/agents/local.md", definition);
    let result = scene.run().await;
    assert_eq!(code(&result), None, "{}", result.text);
    let argv = fs::read_to_string(scene.path("argv")).expect("the child's arguments");
    assert!(argv.contains("-e\n/listed.ts\n--no-skills\n") && argv.contains("--no-context-files"), "{argv}");
    assert!(!argv.contains("own.ts") && !argv.contains("other.ts"), "{argv}");
}

#[tokio::test]
async fn updates_are_few_small_and_end_with_the_last_state() {
    let script = "begin; i=0; while [ $i -lt 3000 ]; do delta \"word$i \"; i=$((i+1)); done; said 'Done.' stop; settled";
    let scene = Scene::new(script);
    let (result, updates) = scene.run_with(Cancel::new(), None).await;
    let single = &result.details.results[0];
    // One each for starting and running, and one more at either end.
    let allowed = usize::try_from(single.duration_ms / 50).expect("small") + 4;
    assert!(
        !updates.is_empty() && updates.len() <= allowed,
        "{} updates in {} ms",
        updates.len(),
        single.duration_ms
    );
    for update in &updates {
        let shown = serde_json::to_string(&(&*update.text, &*update.display_items)).expect("serializable");
        assert!(shown.len() <= 64 * 1024);
    }
    let last = updates.last().expect("a last update");
    assert_eq!(last.turn_count, 1, "the last state is not lost");
}

#[tokio::test]
async fn a_writing_agent_lists_what_it_changed() {
    let git = |cwd: &Path, args: &[&str]| {
        let done = std::process::Command::new("git").args(args).current_dir(cwd).output().expect("git runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let scene = Scene::new(
        r#"echo odd > "$(printf 'evil\033[31m')"; echo new > added.txt; echo more >> dirty.txt
        begin; said 'Done.' stop; settled"#,
    )
    .config(json!({ "allowWrite": true }))
    .with(|spec| spec.agent = "writer".into())
    .write("agent/agents/writer.md", "---\nname: writer\ntools: read, write\n---\nWrite.")
    .write("project/kept.txt", "kept");
    fs::remove_dir(scene.path("project/.git")).expect("not a repository yet");
    let project = scene.path("project");
    git(&project, &["init", "-q"]);
    fs::write(project.join("dirty.txt"), "dirty before").expect("written");
    let result = scene.run().await;
    assert_eq!(
        result.details.results[0].changes.as_deref(),
        Some(&["added.txt".to_owned(), "dirty.txt".to_owned(), "evil [31m".to_owned()][..]),
        "{}",
        result.text
    );
    assert!(result.text.contains("Files changed: added.txt, dirty.txt, evil"), "{}", result.text);
}

#[tokio::test]
async fn a_dropped_run_ends_its_child() {
    let scene = Scene::new("echo $$ > \"${0%/*}/pid\"; begin; delta 'up'; sleep 20");
    let (progress, mut receiver) = watch::channel(Progress::default());
    {
        let run = start(&scene.spec, &progress, None, Cancel::new());
        tokio::pin!(run);
        tokio::select! {
            _ = &mut run => panic!("the child runs on"),
            up = receiver.wait_for(|progress| &*progress.text == "up") => drop(up),
            () = tokio::time::sleep(PATIENCE) => panic!("no update came"),
        }
    }
    let pid: i32 =
        fs::read_to_string(scene.path("pid")).expect("the child's pid").trim().parse().expect("a pid");
    let pid = rustix::process::Pid::from_raw(pid).expect("not 0");
    let gone = async {
        while rustix::process::test_kill_process(pid).is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the child is gone");
}

#[tokio::test]
async fn what_a_run_is_asked_for_comes_before_its_agent_and_only_narrows_its_tools() {
    let agent = "---\nname: own\ndescription: d\nmodel: fake/agents\nthinking: low\ntools: read, grep, ls\ntimeoutMs: 5000\n---\nBe.";
    let scene = |script: &str| Scene::new(script).write("agent/agents/own.md", agent);
    let asks = |overrides: RunOverrides| {
        move |spec: &mut RunSpec| {
            spec.agent = "own".into();
            spec.overrides = overrides;
        }
    };
    let says = r#"printf '%s ' "$@" > "$(dirname "$0")/args"; begin; said 'Done.' stop; settled"#;
    let shown = async |overrides: RunOverrides| {
        let scene = scene(says).with(asks(overrides));
        let result = scene.run().await;
        (fs::read_to_string(scene.path("args")).expect("the child's arguments"), result)
    };
    let (plain, _) = shown(RunOverrides::default()).await;
    assert!(plain.contains("--model fake/agents --thinking low --tools read,grep,ls "), "{plain}");
    let overrides = RunOverrides {
        model: Some("fake/asked".into()),
        thinking: Some("high".into()),
        tools: Some(vec!["ls".into(), "read".into(), "bash".into()]),
        ..RunOverrides::default()
    };
    let (asked, result) = shown(overrides).await;
    assert!(asked.contains("--model fake/asked --thinking high --tools read,ls "), "{asked}");
    let notes = &result.details.results[0].diagnostics;
    assert!(
        notes.contains(&"`grep` was dropped: it was not allowed when the run was asked for".to_owned()),
        "{notes:?}"
    );

    let table = [
        (Timeout::After(Duration::from_millis(300)), "300 ms (`runTimeoutSeconds`)"),
        (Timeout::After(Duration::from_secs(60)), "400 ms (`timeoutMs`)"),
        (Timeout::Never, "400 ms (`timeoutMs`)"),
        (Timeout::AsConfigured, "400 ms (`timeoutMs`)"),
    ];
    for (timeout, says) in table {
        let scene = scene("begin; sleep 20")
            .write("agent/agents/own.md", &agent.replace("5000", "400"))
            .config(json!({ "timeoutMs": 100, "graceMs": 200 }))
            .with(asks(RunOverrides { timeout, ..RunOverrides::default() }));
        let result = scene.run().await;
        assert_eq!(result.details.results[0].outcome, RunOutcome::HardTimeout, "{}", result.text);
        assert!(message(&result).contains(says), "{timeout:?}: {}", message(&result));
    }
}

#[tokio::test]
async fn an_attempt_is_repeated_as_often_as_the_configuration_says() {
    let script = r#"echo >> "${0%/*}/attempts"; begin; gives_up '500: overloaded'"#;
    for (retry, attempts) in [
        (json!({ "backoffMs": 1, "maxAttempts": 1 }), 1),
        (json!({ "backoffMs": 1, "maxAttempts": 3 }), 3),
        (json!({ "backoffMs": 1, "maxAttempts": 3, "enabled": false }), 1),
    ] {
        let scene = Scene::new(script).config(json!({ "retry": retry }));
        let result = scene.run().await;
        assert_eq!(shape(&result), (Some(ErrorCode::SubagentFailed), 1, RunOutcome::Failed, true), "{retry}");
        assert_eq!(result.details.results[0].attempts, attempts, "{retry}");
        let children = fs::read_to_string(scene.path("attempts")).expect("a line for each").lines().count();
        assert_eq!(u32::try_from(children), Ok(attempts), "{retry}");
    }
}

/// How a run goes whose provider asks for a pause: `true` when it waits for it, in which case it is aborted there.
async fn waits(seconds: u64, config: Value) -> bool {
    let script = format!("begin; gives_up '429: try again in {seconds}s'");
    let scene = Scene::new(&script).config(config);
    let (progress, mut receiver) = watch::channel(Progress::default());
    let cancel = Cancel::new();
    let run = start(&scene.spec, &progress, None, cancel.clone());
    let (attempt_report, ended) = oneshot::channel::<()>();
    let run = async {
        let result = run.await;
        drop(attempt_report);
        result
    };
    let watched = async {
        tokio::select! {
            biased;
            retrying = receiver.wait_for(|progress| progress.state == RunState::Retrying) => {
                retrying.expect("the run is going on");
                cancel.cancel(CancelReason::Caller(None));
                true
            }
            _ = ended => false,
        }
    };
    let both = Box::pin(tokio::time::timeout(PATIENCE, async { tokio::join!(run, watched) }));
    let (result, retries) = both.await.expect("the run ends");
    let outcome = if retries { RunOutcome::Aborted } else { RunOutcome::Failed };
    let single = &result.details.results[0];
    assert_eq!((single.outcome, single.attempts), (outcome, 1), "{}", result.text);
    retries
}

#[tokio::test]
async fn a_pause_of_more_than_a_minute_is_not_waited_for_even_without_a_limit() {
    for timeout in [0, 900_000] {
        let config = || json!({ "timeoutMs": timeout, "retry": { "backoffMs": 1 } });
        assert!(waits(59, config()).await, "timeoutMs: {timeout}");
        assert!(!waits(63, config()).await, "timeoutMs: {timeout}");
    }
}

#[tokio::test]
async fn a_pause_beyond_the_hard_limit_is_not_waited_for() {
    let config = |timeout| json!({ "timeoutMs": timeout, "retry": { "backoffMs": 1 } });
    assert!(!waits(40, config(40_000)).await, "some of it has passed already");
    assert!(waits(40, config(60_000)).await);
}

#[tokio::test]
async fn a_pause_that_the_provider_asks_for_lasts_even_where_the_configured_one_is_shorter() {
    let script = r#"begin; mkdir "${0%/*}/second" 2> /dev/null && gives_up '429: try again in 600ms' || { said 'Done.' stop; settled; }"#;
    let result = Scene::new(script).config(json!({ "retry": { "backoffMs": 1 } })).run().await;
    let single = &result.details.results[0];
    assert_eq!((single.outcome, single.attempts), (RunOutcome::Completed, 2), "{}", result.text);
    assert!(single.duration_ms >= 600, "{} ms", single.duration_ms);
}

#[tokio::test]
async fn another_attempt_gets_what_the_first_has_left_of_the_hard_limit() {
    let script = r#"begin; mkdir "${0%/*}/second" 2> /dev/null && { sleep 2; gives_up '500: overloaded'; } || sleep 30"#;
    let config = json!({ "timeoutMs": 3500, "graceMs": 200, "retry": { "backoffMs": 1 } });
    let result = Scene::new(script).config(config).run().await;
    let single = &result.details.results[0];
    assert_eq!((single.outcome, single.attempts), (RunOutcome::HardTimeout, 2), "{}", result.text);
    assert_eq!(message(&result), "hard limit reached: 3500 ms (`timeoutMs`)");
    assert!((3500..5500).contains(&single.duration_ms), "not 3500 ms each: {} ms", single.duration_ms);
}
