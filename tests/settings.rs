//! One call, one reading of the configuration: whoever edits the files meanwhile changes the next call.
#![cfg(unix)]

use std::fs;
use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pi_subagent_native::orchestrate::{Call, CallOrder, TaskSpec, TasksSpec, parallel};
use pi_subagent_native::run::{
    BoxFuture, ConfirmRequest, Control, Host, HostCallbacks, HostContext, RunId, ToolResult,
};
use serde_json::json;
use tokio::sync::watch;

const BEFORE: &str = "value-that-was-there-before";
const AFTER: &str = "value-that-came-meanwhile";

/// Says what the environment gives it, and keeps the same in a file of its own.
const SCRIPT: &str = r#"
cat > /dev/null
printf '%s' "$DEPLOY_TOKEN" > "$0.$PI_SUBAGENT_RUN_ID"
printf '{"type":"session","version":3}\n{"type":"agent_start"}\n{"type":"turn_start"}\n'
printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"It is %s."}],"stopReason":"stop"}}\n' "$DEPLOY_TOKEN"
printf '{"type":"agent_end","messages":[],"willRetry":false}\n{"type":"agent_settled","aborted":false}\n'
"#;

/// A person who allows every agent, and edits the configuration before answering.
struct Editing {
    file: PathBuf,
}

impl HostCallbacks for Editing {
    fn is_interactive(&self) -> bool {
        true
    }

    fn confirm(&self, _request: ConfirmRequest) -> BoxFuture<'_, bool> {
        configure(&self.file, AFTER);
        Box::pin(ready(true))
    }
}

fn configure(file: &Path, token: &str) {
    fs::write(file, json!({ "subagents": { "env": { "DEPLOY_TOKEN": token } } }).to_string())
        .expect("written");
}

/// Runs an agent of the project on so many tasks, side by side, and says what the children were given.
async fn run(tasks: usize) -> (ToolResult, Vec<String>) {
    let root = tempfile::tempdir().expect("a temporary directory");
    let (project, agent_dir) = (root.path().join("project"), root.path().join("agent"));
    fs::create_dir_all(project.join(".git")).expect("a project");
    fs::create_dir_all(project.join(".pi/agents")).expect("a directory");
    fs::create_dir_all(&agent_dir).expect("an agent directory");
    let agent = project.join(".pi/agents/local.md");
    fs::write(agent, "---\nname: local\nreadonly: true\n---\nLook.").expect("an agent");
    let (script, file) = (root.path().join("pi.sh"), agent_dir.join("subagents.json"));
    fs::write(&script, SCRIPT).expect("a script");
    configure(&file, BEFORE);
    let context = Arc::new(HostContext {
        agent_dir,
        home: Some(root.path().join("home")),
        env: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
        config: Some(json!({ "protocol": "json" })),
        pi_command: Some(vec!["/bin/sh".to_owned(), script.to_string_lossy().into_owned()]),
        warden: None,
        host: Host::default(),
    });
    let task = TaskSpec { agent: "local".into(), cwd: None, task: "look around".into() };
    let spec = TasksSpec { tasks: vec![task; tasks], cwd: project, context };
    let call = Call {
        id: RunId::draw(),
        callbacks: Arc::new(Editing { file: file.clone() }),
        control: Control::default(),
        updates: watch::channel(None).0,
        host_id: None,
        order: CallOrder::now(),
    };
    let result = parallel(spec, call).await;
    assert!(fs::read_to_string(file).expect("readable").contains(AFTER), "somebody was asked");
    let files = fs::read_dir(root.path()).expect("a directory").flatten().map(|entry| entry.path());
    let kept = files.filter(|path| path.to_string_lossy().contains("pi.sh."));
    (result, kept.map(|path| fs::read_to_string(path).expect("readable")).collect())
}

#[tokio::test]
async fn an_edit_while_a_person_is_asked_does_not_reach_the_runs_of_the_call() {
    for tasks in [1, 3] {
        let (result, given) = run(tasks).await;
        assert_eq!(given, vec![BEFORE; tasks], "{}", result.text);
        let whole = format!("{result:?}");
        assert_eq!(whole.matches("output: Some(\"It is [REDACTED].\")").count(), tasks, "{whole}");
        assert!(!whole.contains(BEFORE) && !whole.contains(AFTER), "{whole}");
    }
}
