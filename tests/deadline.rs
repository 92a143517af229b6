//! The end of a child's time: it is warned, stopped, and asked for a report.
#![cfg(unix)]

use std::fs;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, RunOutcome, ToolResult};
use serde_json::{Value, json};

/// Calls a tool that does not end.
fn works_on(text: &str) -> Child {
    Child::new().says(text).with_stop_reason("toolUse").starts_tool("bash")
}

/// Waits for the command to stop, after which no tool is running.
fn stops() -> Child {
    Child::new()
        .runs(r#"until receive && case "$line" in *'"abort"'*) true;; *) false;; esac; do :; done"#)
        .says("")
        .with_stop_reason("aborted")
        .settles()
}

fn scene(child: Child, limit_ms: u64) -> Scene {
    Scene::new(Child::working().then(child), json!({ "timeoutMs": limit_ms, "graceMs": 200 }))
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

/// The messages to the child, without its task.
fn received(scene: &Scene) -> Vec<Value> {
    let received = fs::read_to_string(scene.path("received")).unwrap_or_default();
    received.lines().skip(1).map(|line| serde_json::from_str(line).expect("commands are JSON")).collect()
}

fn ended(result: &ToolResult) -> (RunOutcome, Option<&str>) {
    let single = &result.details.results[0];
    (single.outcome, single.output.as_deref())
}

#[tokio::test]
async fn a_child_is_warned_before_its_time_is_up() {
    let scene = scene(works_on("I look.").receives().says("What I have.").settles().listens(), 5000);
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
    let scene = scene(Child::new().says("The answer.").listens(), 2000);
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
    let scene = scene(Child::new().receives().says("An answer without it.").listens(), 2000);
    let (user, control) = (User::default(), Control::default());
    let steer = async {
        while !scene.path("received").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(control.steering.steer("and mind the gap"));
    };
    let ((result, _), ()) = tokio::join!(scene.run_with(&user, &control), steer);
    assert_eq!(ended(&result), (RunOutcome::HardTimeout, Some("An answer without it.")), "{}", result.text);
}

#[tokio::test]
async fn the_report_of_a_child_whose_time_is_up_is_the_partial_result() {
    let report = stops().replies("Two of three are done.").listens();
    for (label, work, expected) in [
        ("a tool ran", works_on("I look."), "Two of three are done."),
        (
            "a text was under way",
            Child::new().streams("The first chapter"),
            "The first chapter\n\nTwo of three are done.",
        ),
    ] {
        let scene = scene(work.then(report.clone()), 2000);
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
    for (label, child, expected) in [
        ("the child does not stop", works_on("I look.").sleeps(20), "I look."),
        ("the child does not reply", works_on("I look.").then(stops()).receives().sleeps(20), "I look."),
        (
            "the child calls a tool",
            works_on("I look.").then(stops()).receives().starts().then(works_on("More.")).sleeps(20),
            "More.",
        ),
        ("the child exits", works_on("I look.").then(stops()).exits(0), "I look."),
        (
            "the child gives an empty answer",
            works_on("I look.").then(stops()).replies("").listens(),
            "I look.",
        ),
    ] {
        let result = run(&scene(child, 2000)).await;
        assert_eq!(ended(&result), (RunOutcome::HardTimeout, Some(expected)), "{label}: {}", result.text);
        let took = result.details.results[0].duration_ms;
        // Two seconds, plus the time until the child has ended.
        assert!(took < 8000, "{label}: {took} ms");
        assert!(result.details.results[0].announcement.is_none(), "{label}");
    }
}
