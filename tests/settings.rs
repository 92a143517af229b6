//! One call, one reading of the configuration: whoever edits the files meanwhile changes the next call.
#![cfg(unix)]

#[path = "support/stage.rs"]
mod stage;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use pi_subagent_native::orchestrate::{Call, CallOrder, TaskSpec, TasksSpec, parallel};
use pi_subagent_native::run::{Control, RunId, ToolResult};
use serde_json::json;
use stage::{PATIENCE, User, context, stage};
use tokio::sync::watch;

const BEFORE: &str = "value-that-was-there-before";
const AFTER: &str = "value-that-came-meanwhile";

/// Says what the environment gives it, and keeps the same in a file of its own.
const SCRIPT: &str = r#"
cat > /dev/null
printf '%s' "$DEPLOY_TOKEN" > "$0.$PI_SUBAGENT_RUN_ID"
begin; said "It is $DEPLOY_TOKEN."; settled
"#;

fn configure(file: &Path, token: &str) {
    fs::write(file, json!({ "subagents": { "env": { "DEPLOY_TOKEN": token } } }).to_string())
        .expect("written");
}

/// Runs an agent of the project on so many tasks, side by side, and says what the children were given.
async fn run(tasks: usize) -> (ToolResult, Vec<String>) {
    let root = stage(SCRIPT);
    let (project, file) = (root.path().join("project"), root.path().join("agent/subagents.json"));
    fs::create_dir_all(project.join(".pi/agents")).expect("a directory");
    let agent = project.join(".pi/agents/local.md");
    fs::write(agent, "---\nname: local\nreadonly: true\n---\nLook.").expect("an agent");
    configure(&file, BEFORE);
    let context = Arc::new(context(root.path(), json!({ "protocol": "json" })));
    // The user allows every agent, and edits the configuration before answering.
    let edited = file.clone();
    let confirms = move || {
        configure(&edited, AFTER);
        true
    };
    let task = TaskSpec { agent: "local".into(), cwd: None, task: "look around".into() };
    let spec = TasksSpec { tasks: vec![task; tasks], cwd: project, context };
    let call = Call {
        id: RunId::draw(),
        callbacks: Arc::new(User { confirms: Some(Box::new(confirms)), ..User::default() }),
        control: Control::default(),
        updates: watch::channel(None).0,
        host_id: None,
        order: CallOrder::now(),
    };
    let result = tokio::time::timeout(PATIENCE, parallel(spec, call)).await.expect("the runs end");
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
