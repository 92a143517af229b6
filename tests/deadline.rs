//! The end of a child's time: it is warned, stopped, and asked for a report.
#![cfg(unix)]

use std::fs;
use std::time::Duration;

use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, RunOutcome, ToolResult};
use serde_json::{Value, json};

/// `works_on` calls a tool that does not end. `hear_stop` waits for the command to stop, after which no tool is running.
const WORDS: &str = r#"
works_on() {
    said "$1" toolUse; printf '{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{}}\n'
}
hear_stop() { until hear && case "$line" in *'"abort"'*) true;; *) false;; esac; do :; done; said '' aborted; settled; }
hear; begin
"#;

fn scene(script: &str, limit_ms: u64) -> Scene {
    Scene::new(&format!("{WORDS}{script}"), json!({ "timeoutMs": limit_ms, "graceMs": 200 }))
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

/// The messages to the child, without its task.
fn received(scene: &Scene) -> Vec<Value> {
    let received = fs::read_to_string(scene.path("heard")).unwrap_or_default();
    received.lines().skip(1).map(|line| serde_json::from_str(line).expect("commands are JSON")).collect()
}

fn ended(result: &ToolResult) -> (RunOutcome, Option<&str>) {
    let single = &result.details.results[0];
    (single.outcome, single.output.as_deref())
}

#[tokio::test]
async fn a_child_is_warned_before_its_time_is_up() {
    let scene = scene("works_on 'I look.'; hear; said 'What I have.'; settled; leave", 5000);
    let result = run(&scene).await;
    assert_eq!(ended(&result), (RunOutcome::Completed, Some("What I have.")), "{}", result.text);
    let [steer] = &received(&scene)[..] else {
        panic!("the child did not receive exactly one message: {:?}", received(&scene))
    };
    assert_eq!(steer["type"], "steer");
    let words = steer["message"].as_str().unwrap_or_default();
    assert!(words.contains("the time for this run") && words.contains("of 5.0s"), "{words}");
}

#[tokio::test]
async fn a_finished_answer_is_the_result_at_the_limit_and_no_message_follows_it() {
    // pi never reports the end of its work.
    let scene = scene("said 'The answer.'; leave", 2000);
    let result = run(&scene).await;
    assert_eq!(ended(&result), (RunOutcome::Completed, Some("The answer.")), "{}", result.text);
    let note = "the child was ended after its answer: hard limit reached: 2000 ms (`timeoutMs`)";
    let notes = &result.details.results[0].diagnostics;
    assert!(notes.iter().any(|diagnostic| diagnostic == note), "{notes:?}");
    let received = received(&scene);
    assert!(received.iter().all(|command| command["type"] == "abort"), "{received:?}");
}

#[tokio::test]
async fn an_answer_from_before_the_callers_message_is_not_the_result_at_the_limit() {
    let scene = scene("hear; said 'An answer without it.'; leave", 2000);
    let (user, control) = (User::default(), Control::default());
    let steer = async {
        while !scene.path("heard").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(control.steering.steer("and mind the gap"));
    };
    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), steer);
    assert_eq!(ended(&result), (RunOutcome::HardTimeout, Some("An answer without it.")), "{}", result.text);
}

#[tokio::test]
async fn the_report_of_a_child_whose_time_is_up_is_the_partial_result() {
    let report = "hear_stop; hear; begin; said 'Two of three are done.'; settled; leave";
    for (label, work, expected) in [
        ("a tool ran", "works_on 'I look.'", "Two of three are done."),
        ("a text was under way", "delta 'The first chapter'", "The first chapter\n\nTwo of three are done."),
    ] {
        let scene = scene(&format!("{work}; {report}"), 2000);
        let result = run(&scene).await;
        assert_eq!(ended(&result), (RunOutcome::HardTimeout, Some(expected)), "{label}: {}", result.text);
        assert!(
            result.text.contains("hard limit reached: 2000 ms (`timeoutMs`)"),
            "{label}: {}",
            result.text
        );
        let asked = received(&scene).pop().expect("the child received a command");
        let words = asked["message"].as_str().unwrap_or_default();
        assert!(asked["type"] == "prompt" && words.starts_with("Your time for this task is up."), "{asked}");
        assert_eq!(
            result.details.results[0].usage.turns,
            result.usage.as_ref().map_or(0, |usage| usage.turns)
        );
    }
}

#[tokio::test]
async fn a_child_whose_time_is_up_has_no_more_than_its_last_turn() {
    for (label, script, expected) in [
        ("the child does not stop", "works_on 'I look.'; sleep 20", "I look."),
        ("the child does not reply", "works_on 'I look.'; hear_stop; hear; sleep 20", "I look."),
        (
            "the child calls a tool",
            "works_on 'I look.'; hear_stop; hear; begin; works_on 'More.'; sleep 20",
            "More.",
        ),
        ("the child exits", "works_on 'I look.'; hear_stop; exit 0", "I look."),
        (
            "the child gives an empty answer",
            "works_on 'I look.'; hear_stop; hear; begin; said ''; settled; leave",
            "I look.",
        ),
    ] {
        let result = run(&scene(script, 2000)).await;
        assert_eq!(ended(&result), (RunOutcome::HardTimeout, Some(expected)), "{label}: {}", result.text);
        let took = result.details.results[0].duration_ms;
        // Two seconds, plus the time until the child has ended.
        assert!(took < 8000, "{label}: {took} ms");
        assert!(result.details.results[0].announcement.is_none(), "{label}");
    }
}
