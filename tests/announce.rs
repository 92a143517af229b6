//! The request for an announcement after the work is done, against a scripted child in RPC mode. `background` tests the
//! delivered messages.
#![cfg(unix)]

use std::fs;

use crate::support::child::{Child, ordered};
use crate::support::pids::eventually;
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Announcement, Answer, Control, RunOutcome, SingleResult, ToolResult};
use serde_json::{Value, json};
use supervisor::{Cancel, CancelReason};
use tokio::task::JoinSet;

/// The model calls a tool.
fn calls_a_tool() -> Child {
    Child::answering().receives().starts().calls_tool("", "read").listens()
}

/// A run with a request for an announcement.
fn announcing(child: Child, mut config: Value) -> Scene {
    config["announce"] = json!({ "mode": "ask" });
    announcing_scene(child, config)
}

/// A run whose announcement follows the configuration.
fn announcing_scene(child: Child, config: Value) -> Scene {
    let mut scene = Scene::new(child, config);
    scene.spec.overrides.announces = true;
    scene
}

impl Scene {
    async fn run_as_user(&self) -> ToolResult {
        self.run_controlled(&Control::default()).await
    }

    /// This user would answer any question.
    async fn run_controlled(&self, control: &Control) -> ToolResult {
        let answers = |_| Answer::Value("from a person".into());
        let user = User { answers: Some(Box::new(answers)), ..User::default() };
        self.run_with(&user, control).await.0
    }

    /// The commands that the child has read.
    fn received(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("received")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("the text is valid JSON")).collect()
    }

    async fn until_received(&self, count: usize) {
        eventually(&format!("command {count}"), || self.received().len() >= count).await;
    }
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

/// The fields of a result that no announcement may change.
fn is_the_answer(label: &str, result: &ToolResult) {
    let SingleResult { outcome, exit_code, error, output, stop_reason, .. } = single(result);
    assert_eq!((*outcome, *exit_code, error.as_ref()), (RunOutcome::Completed, 0, None), "{label}");
    assert_eq!(
        (output.as_deref(), &*result.text),
        (Some("The whole answer."), "The whole answer."),
        "{label}"
    );
    assert_eq!((stop_reason.as_deref(), result.is_error), (Some("stop"), false), "{label}");
}

fn quick() -> Value {
    json!({ "graceMs": 200 })
}

#[tokio::test]
async fn a_child_announces_in_the_same_session_and_both_turns_are_counted() {
    let scene = announcing(Child::answering().replies("In short.").listens(), quick());
    let result = scene.run_as_user().await;
    is_the_answer("said", &result);
    let single = single(&result);
    assert_eq!(single.announcement, Some(Announcement::Text("In short.".into())));
    assert_eq!((single.usage.turns, single.usage.input), (2, 20));
    assert!(single.diagnostics.iter().all(|note| !note.contains("announcement")), "{:?}", single.diagnostics);
    let received = scene.received();
    assert_eq!(received.len(), 2, "{received:?}");
    assert_eq!((&received[1]["type"], &received[1]["id"]), (&json!("prompt"), &json!("announce")));
    assert!(received[1]["message"].as_str().is_some_and(|words| words.contains("ANNOUNCE_SKIP")));

    let secret = "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ and \u{1b}[31mred";
    let long = "word ".repeat(40_000);
    for (answer, limit) in [(secret, 200), (long.as_str(), 60 * 1024)] {
        let child = Child::answering().replies(answer).listens();
        let result = announcing(child, quick()).run_as_user().await;
        is_the_answer("hostile", &result);
        let Some(Announcement::Text(text)) = &result.details.results[0].announcement else {
            panic!("{:?}", result.details.results[0].diagnostics)
        };
        assert!(text.len() < limit && !text.contains("abcdefghijkl") && !text.contains('\u{1b}'), "{text}");
    }
}

#[tokio::test]
async fn an_announcement_never_changes_the_result_of_the_task() {
    // Longer than a loaded machine takes for the task, which comes first.
    let idle = || json!({ "graceMs": 200, "idleTimeoutMs": 5000 });
    let hard = || json!({ "graceMs": 200, "timeoutMs": 5000 });
    // The child receives the abort.
    let patient = json!({ "graceMs": 30_000 });
    let table = [
        (
            "dies",
            Child::answering().receives().starts().streams("Half").runs("kill -KILL $$"),
            quick(),
            "the child ended before it",
        ),
        ("leaves", Child::answering().receives().starts().exits(3), quick(), "the child ended before it"),
        (
            "has stopped listening",
            Child::working().says("The whole answer.").runs("exec 0<&-").settles().sleeps(30),
            idle(),
            "the child took too long for it",
        ),
        (
            "hangs",
            Child::answering().receives().starts().sleeps(30),
            idle(),
            "the child took too long for it",
        ),
        (
            "talks on",
            Child::answering()
                .receives()
                .starts()
                .runs(&format!("while :; do {}; sleep 0.1; done", Child::new().streams("x"))),
            hard(),
            "the child took too long for it",
        ),
        ("calls a tool", calls_a_tool(), patient, "the child called a tool instead"),
        ("says nothing", Child::answering().replies(" ").listens(), quick(), "the child gave no answer"),
        (
            "fails",
            Child::answering().receives().starts().says("").with_error("529: overloaded").settles().listens(),
            quick(),
            "the model's provider reported an error: `529: overloaded`",
        ),
        (
            "refuses",
            Child::answering()
                .receives()
                .emits(
                    "response",
                    &ordered!({ "id": "announce", "command": "prompt", "success": false, "error": "busy" }),
                )
                .listens(),
            quick(),
            "the child rejected the prompt: `busy`",
        ),
    ];
    let mut runs = JoinSet::new();
    for (label, child, config, why) in table {
        runs.spawn(async move {
            let scene = announcing(child, config);
            let result = scene.run_as_user().await;
            is_the_answer(label, &result);
            let SingleResult { announcement, diagnostics, .. } = single(&result);
            assert_eq!(*announcement, None, "{label}");
            assert!(diagnostics.contains(&format!("no announcement: {why}")), "{label}: {diagnostics:?}");
            let is_aborted = scene.received().iter().any(|command| command["type"] == "abort");
            assert!(is_aborted || label != "calls a tool", "{:?}", scene.received());
        });
    }
    while let Some(run) = runs.join_next().await {
        run.expect("every run keeps its result");
    }
}

#[tokio::test]
async fn a_question_is_withdrawn_during_the_announcement() {
    let question = ordered!({ "id": "q1", "method": "input", "title": "Name?" });
    let child = Child::answering()
        .receives()
        .starts()
        .emits("extension_ui_request", &question)
        .receives()
        .says("In short.")
        .settles()
        .listens();
    let scene = announcing(child, quick());
    let result = scene.run_as_user().await;
    is_the_answer("asks", &result);
    assert_eq!(single(&result).announcement, Some(Announcement::Text("In short.".into())));
    let received = scene.received();
    assert_eq!((&received[2]["id"], &received[2]["cancelled"]), (&json!("q1"), &json!(true)), "{received:?}");
    assert_eq!(received.len(), 3, "{received:?}");
}

#[tokio::test]
async fn messages_reach_a_working_child_and_no_announcing_child() {
    // The child listens all the time, so a message that does not arrive was not sent.
    let child = Child::working()
        .receives()
        .says("The whole answer.")
        .settles()
        .receives()
        .starts()
        .waits_for("go")
        .says("In short.")
        .settles()
        .listens();
    let scene = announcing(child, quick());
    let control = Control::default();
    let steer = async {
        scene.until_received(1).await;
        assert!(control.steering.steer("and mind the gap"), "a working child accepts a message");
        scene.until_received(3).await;
        assert!(!control.steering.steer("and the step"), "an announcing child accepts no message");
        fs::write(scene.path("go"), "").expect("the file is written");
    };
    let (result, ()) = tokio::join!(scene.run_controlled(&control), steer);
    is_the_answer("steered", &result);
    assert_eq!(single(&result).announcement, Some(Announcement::Text("In short.".into())));
    let received = scene.received();
    let types: Vec<_> = received.iter().map(|command| &command["type"]).collect();
    assert_eq!(types, ["prompt", "steer", "prompt"], "{received:?}");
}

#[tokio::test]
async fn the_configured_text_limits_apply_to_an_announcement() {
    let bytes = |count: usize| "x".repeat(count);
    let lines = |count: usize| vec!["line"; count].join("\n");
    for (label, answer, is_cut) in [
        ("as many bytes as may be", bytes(256), false),
        ("a byte beyond the limit", bytes(257), true),
        ("many bytes", bytes(100_000), true),
        ("as many lines as may be", lines(10), false),
        ("a line beyond the limit", lines(11), true),
    ] {
        let config = json!({ "graceMs": 200, "output": { "maxBytes": 256, "maxLines": 10 } });
        let child = Child::answering().replies(&answer).listens();
        let result = announcing(child, config).run_as_user().await;
        is_the_answer(label, &result);
        let Some(Announcement::Text(text)) = &single(&result).announcement else {
            panic!("{label}: {:?}", single(&result).diagnostics)
        };
        assert!(text.len() <= 256 && text.lines().count() <= 10, "{label}: {text}");
        assert_eq!(text.contains("[truncated"), is_cut, "{label}: {text}");
        assert_eq!(*text == answer, !is_cut, "{label}: {text}");
    }
}

#[tokio::test]
async fn stopping_a_run_while_it_announces_keeps_its_result() {
    for (reason, why) in [
        (CancelReason::Caller(Some("enough".into())), "cancelled by user: enough"),
        (CancelReason::Shutdown, "cancelled: the session ended"),
    ] {
        let scene = announcing(Child::answering().receives().starts().sleeps(30), quick());
        let control = Control { cancel: Cancel::new(), ..Control::default() };
        let stop = async {
            scene.until_received(2).await;
            control.cancel.cancel(reason.clone());
        };
        let (result, ()) = tokio::join!(scene.run_controlled(&control), stop);
        is_the_answer(why, &result);
        assert!(single(&result).diagnostics.contains(&format!("no announcement: {why}")));
    }
}

#[tokio::test]
async fn a_run_without_a_complete_answer_is_not_asked_to_announce() {
    let budget = json!({ "graceMs": 200, "budget": { "maxTurns": 1 } });
    let table = [
        ("cut", Child::working().says("Half").with_stop_reason("length").settles().listens(), quick()),
        ("failed", Child::working().says("So far").with_stop_reason("error").settles().listens(), quick()),
        ("over budget", Child::answering().listens(), budget),
    ];
    for (label, child, config) in table {
        let scene = announcing(child, config);
        let result = scene.run_as_user().await;
        assert_eq!(single(&result).announcement, None, "{label}");
        assert_eq!(scene.received().len(), 1, "{label}: {:?}", scene.received());
    }
    let mut scene = announcing(Child::answering().listens(), quick());
    scene.spec.overrides.announces = false;
    is_the_answer("not wished for", &scene.run_as_user().await);
    assert_eq!(scene.received().len(), 1);
}

#[tokio::test]
async fn a_childs_prompt_says_that_its_last_message_is_the_report() {
    // The system prompt is in a file among the child's arguments.
    let keeps_prompt =
        r#"for arg; do case $arg in *prompt.md) cat "${arg#*=}" > "$home/prompt";; esac; done"#;
    let prompt = |config: Value, then: Child| async move {
        let child = Child::new().runs(keeps_prompt).then(Child::answering()).then(then);
        let scene = announcing_scene(child, config);
        scene.run_as_user().await;
        fs::read_to_string(scene.path("prompt")).expect("the child wrote its prompt")
    };
    let text = prompt(json!({ "output": { "maxBytes": 2048 } }), Child::new().listens()).await;
    assert!(
        text.contains("reads only your last message")
            && text.contains("2.0 KiB")
            && text.contains("ANNOUNCE_SKIP"),
        "{text}"
    );
    let asked =
        prompt(json!({ "announce": { "mode": "ask" } }), Child::new().replies("In short.").listens()).await;
    assert!(!asked.contains("reads your last message"), "{asked}");
}
