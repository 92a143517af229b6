//! Commands that check what a child has done.
#![cfg(unix)]

#[path = "support/scene.rs"]
mod scene;
#[path = "support/stage.rs"]
mod stage;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use pi_subagent_native::process::CancelReason;
use pi_subagent_native::run::{CheckReport, Control, RunOutcome, SingleResult, ToolResult};
use scene::Scene;
use serde_json::{Value, json};
use stage::{PATIENCE, User};

/// Finishes twice: the second time when it is told that the check failed.
const TWICE: &str = "works; hear || exit 0; touch \"$home/mended\"; begin; said 'Mended.'; settled; leave";

/// A run of an agent that may write, whose work this command checks.
fn scene(script: &str, check: &str, config: &Value) -> Scene {
    let mut all = json!({ "allowWrite": true, "sandbox": { "mode": "off" } });
    for (key, value) in config.as_object().expect("an object") {
        all[key] = value.clone();
    }
    let mut scene = Scene::new(script, all);
    let agents = scene.path("agent/agents");
    fs::create_dir_all(&agents).expect("made");
    let check = serde_json::to_string(check).expect("a text");
    let agent = format!("---\nname: builder\nreadonly: false\ncheck: {check}\n---\nBuild.\n");
    fs::write(agents.join("builder.md"), agent).expect("written");
    scene.spec.agent = "builder".into();
    scene
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

fn check(result: &ToolResult) -> &CheckReport {
    single(result).check.as_ref().unwrap_or_else(|| panic!("it was checked: {}", result.text))
}

fn heard(scene: &Scene) -> String {
    fs::read_to_string(scene.path("heard")).unwrap_or_default()
}

/// Waits until a process is gone whose id the check has written.
async fn is_gone(pid: &Path) {
    let pid = fs::read_to_string(pid).expect("it was written");
    let process = Path::new("/proc").join(pid.trim());
    let since = Instant::now();
    while process.exists() {
        assert!(since.elapsed() < PATIENCE, "{} lives", process.display());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn work_that_passes_is_done_and_its_result_says_so() {
    let scene = scene("works; leave", "echo fine; echo also >&2", &json!({}));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(!result.is_error);
    let expected =
        "The whole answer.\n\nCheck `echo fine; echo also >&2` passed: exit code 0\n```\nfine\nalso\n```";
    assert!(result.text.starts_with(expected), "{}", result.text);
    assert_eq!((check(&result).passed, check(&result).runs), (true, 1));
    assert_eq!(heard(&scene).lines().count(), 1, "it was told nothing");
}

#[tokio::test]
async fn work_that_fails_is_mended_once_with_the_output_of_the_check() {
    let mends = scene(TWICE, "echo one is missing; test -e ../mended", &json!({}));
    let result = run(&mends).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(result.text.starts_with("Mended.\n\nCheck `"), "{}", result.text);
    assert_eq!((check(&result).passed, check(&result).runs), (true, 2));
    let told = heard(&mends);
    let told = told.lines().nth(1).expect("it was told");
    assert!(told.contains("one is missing") && told.contains("exit code 1"), "{told}");
    assert_eq!(single(&result).usage.turns, 2);
}

#[tokio::test]
async fn work_that_still_fails_is_a_failure_with_its_answer() {
    for (attempts, runs, answer) in [(0, 1, "The whole answer."), (1, 2, "Mended."), (2, 3, "Mended.")] {
        let again = "hear || exit 0; begin; said 'Mended.'; settled; leave";
        let script = TWICE.replace("leave", again);
        let scene = scene(&script, "echo broken; exit 3", &json!({ "check": { "attempts": attempts } }));
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{}", result.text);
        assert_eq!(
            single(&result).error.as_deref(),
            Some("the check `echo broken; exit 3` failed: exit code 3")
        );
        assert_eq!((single(&result).exit_code, check(&result).runs), (1, runs));
        assert!(result.text.contains(answer) && result.text.contains("```\nbroken\n```"), "{}", result.text);
    }
}

#[tokio::test]
async fn a_child_that_cannot_be_told_gets_no_other_turn() {
    let words = "cat > /dev/null; begin; said 'Done.'; settled";
    for (label, script, config) in [
        ("one shot", words, json!({ "protocol": "json" })),
        ("no turns left", "works; leave", json!({ "budget": { "maxTurns": 1 } })),
        ("it has left", "works; exit 0", json!({})),
    ] {
        let scene = scene(script, "echo broken; exit 3", &config);
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{label}: {}", result.text);
        assert_eq!(check(&result).ended, "exit code 3", "{label}");
        assert_eq!(single(&result).usage.turns, 1, "{label}");
    }
    let scene = scene(words, "true", &json!({ "protocol": "json" }));
    let result = run(&scene).await;
    assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
    assert!(check(&result).passed);
}

#[tokio::test]
async fn a_check_ends_in_a_defined_way_whatever_it_does() {
    let flood = "head -c 100000000 /dev/zero | tr '\\0' x; exit 3";
    for (check_command, ended) in [
        ("kill -9 $$", "killed by SIGKILL"),
        (flood, "exit code 3"),
        ("echo $$ > ../pid; sleep 300", "not finished after 1.0s (`check.timeoutMs`)"),
        ("sleep 300 & echo $! > ../pid; exit 4", "exit code 4"),
        ("no-such-program-here", "exit code 127"),
        ("read line || exit 5", "exit code 5"),
        ("if", "exit code 2"),
    ] {
        let config = json!({ "check": { "attempts": 0, "timeoutMs": 1000 } });
        let config = if check_command == flood { json!({ "check": { "attempts": 0 } }) } else { config };
        let scene = scene("works; leave", check_command, &config);
        let result = run(&scene).await;
        assert_eq!(check(&result).ended, ended, "{check_command}: {}", result.text);
        assert!(check(&result).output.len() <= 2048, "{check_command}");
        assert_eq!(single(&result).outcome, RunOutcome::Failed, "{check_command}");
        if check_command.contains("pid") {
            is_gone(&scene.path("pid")).await;
        }
    }
}

#[tokio::test]
async fn nothing_of_a_check_is_left_when_its_run_ends() {
    let endless = "echo $$ > ../pid.new; mv ../pid.new ../pid; sleep 300";
    for script in ["works; leave", "works; exit 0"] {
        let scene = scene(script, endless, &json!({ "timeoutMs": 2000 }));
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::HardTimeout, "{}", result.text);
        is_gone(&scene.path("pid")).await;

        let scene = self::scene(script, endless, &json!({}));
        let (control, user) = (Control::default(), User::default());
        let abort = async {
            while !scene.path("pid").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            control.cancel.cancel(CancelReason::Caller(None));
        };
        let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), abort);
        assert_eq!(single(&result).outcome, RunOutcome::Aborted, "{}", result.text);
        assert_eq!(single(&result).check, None);
        is_gone(&scene.path("pid")).await;
    }
}

#[tokio::test]
async fn only_finished_work_that_may_have_changed_something_is_checked() {
    let touch = "touch ../checked";
    let failed = "hear; begin; said '' error ',\"errorMessage\":\"no\"'; settled; leave";
    for (label, script, config) in [
        ("a provider error", failed, json!({ "retry": { "enabled": false } })),
        ("an agent that may not write", "works; leave", json!({ "allowWrite": false })),
    ] {
        let scene = scene(script, touch, &config);
        let result = run(&scene).await;
        assert_eq!(single(&result).check, None, "{label}: {}", result.text);
        assert!(!scene.path("checked").exists(), "{label}");
    }
}

#[tokio::test]
async fn the_user_sets_checks_and_no_project_sets_them_for_the_users_agents() {
    let mut scene = scene("works; leave", "exit 3", &json!({ "agents": { "builder": { "check": "true" } } }));
    let result = run(&scene).await;
    assert_eq!(check(&result).command, "true");
    fs::create_dir_all(scene.path("project/.pi")).expect("made");
    let theirs = r#"{ "subagents": { "agents": { "builder": { "check": "touch ../owned" } }, "check": { "attempts": 9 } } }"#;
    fs::write(scene.path("project/.pi/subagents.json"), theirs).expect("written");
    scene.spec.task = "look again".into();
    let result = run(&scene).await;
    assert_eq!(check(&result).command, "true");
    assert!(!scene.path("owned").exists());
}
