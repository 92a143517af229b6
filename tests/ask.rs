//! An agent with `ask: true`: its child has the tool, its questions reach the user, and the idle limit is paused while they wait.
#![cfg(unix)]

use std::fs;
use std::time::Duration;

use crate::support::child::{Child, GUARD_KEY, ordered};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Answer, ChildQuestion, Control, RunOutcome, ToolResult};
use serde_json::{Value, json};

/// pi's events when the model calls the tool of our guard. The child ends once it gets an answer.
fn asks() -> Child {
    asking(&format!("{GUARD_KEY} Which?"), Child::new().saves_command("answer"))
}

/// A child like [`asks`], with another title of its question, and with these steps after the answer.
fn asking(title: &str, steps: Child) -> Child {
    let end =
        ordered!({ "toolCallId": "c1", "toolName": "ask", "result": { "content": [] }, "isError": false });
    Child::new()
        .shows_guard_key()
        .receives()
        .starts()
        .runs(r#"env > "$home/env"; printf '%s\n' "$@" > "$home/argv""#)
        .starts_tool("ask")
        .receives()
        .asks_for_colour("q1", title)
        .receives()
        .then(steps)
        .emits("tool_execution_end", &end)
        .says("Done.")
        .settles()
        .listens()
}

/// A child that loads no extension except our guard, of an agent that may ask or not.
fn scene(child: Child, ask: bool, config: &Value) -> Scene {
    scene_of(child, if ask { "true" } else { "false" }, config)
}

fn scene_of(child: Child, ask: &str, config: &Value) -> Scene {
    let mut all = json!({ "graceMs": 200, "inheritExtensions": "none", "retry": { "enabled": false } });
    all.as_object_mut()
        .expect("the value is an object")
        .extend(config.as_object().expect("the value is an object").clone());
    let scene = Scene::new(child, all);
    fs::create_dir_all(scene.path("agent/agents")).expect("the directory is created");
    let agent = format!(
        "---\nname: explorer\nreadonly: true\ndescription: Asks.\ntools: read\nask: {ask}\n---\nAsk.\n"
    );
    fs::write(scene.path("agent/agents/explorer.md"), agent).expect("the agent file is written");
    scene
}

async fn run(scene: &Scene, user: &User<'_>) -> ToolResult {
    scene.run_with(user, &Control::default()).await.0
}

fn read(scene: &Scene, name: &str) -> String {
    fs::read_to_string(scene.path(name)).expect("the child wrote the file")
}

#[tokio::test]
async fn an_allowed_question_reaches_the_user_and_its_answer_the_child() {
    for (ask, whom) in [("true", "the user"), ("parent", "the agent that gave you this task")] {
        let scene = scene_of(asks(), ask, &json!({}));
        let answers = |ChildQuestion { question, agent, is_for_conversation, .. }: ChildQuestion| {
            assert_eq!((question.title.as_str(), agent.as_str()), ("Which?", "explorer"));
            assert!(!is_for_conversation, "the question goes to the user, because a call waits for the run");
            Answer::Value(question.options[1].clone())
        };
        let user = User { answers: Some(Box::new(answers)), ..User::default() };
        let result = run(&scene, &user).await;
        assert_eq!(result.text, "Done.");
        assert!(read(&scene, "answer").contains(r#""value":"green""#), "{}", read(&scene, "answer"));
        assert!(read(&scene, "env").contains("PI_SUBAGENT_TOOLS=read,ask\n"));
        let env = read(&scene, "env");
        let tool = env
            .lines()
            .find_map(|line| line.strip_prefix("PI_SUBAGENT_ASK="))
            .expect("the tool is in the environment");
        let tool: Value = serde_json::from_str(tool).expect("the text is valid JSON");
        let words = tool["tool"]["description"].as_str().expect("the tool has a description");
        assert!(words.starts_with(&format!("Ask {whom} one question")), "{words}");
        assert!(read(&scene, "argv").contains("--tools\nread,ask\n"));
    }
}

#[tokio::test]
async fn an_agent_that_may_not_ask_has_no_tool_and_a_forged_question_is_declined() {
    let scene = scene(asks(), false, &json!({}));
    let answers = |_: ChildQuestion| -> Answer { panic!("the user was asked") };
    let user = User { answers: Some(Box::new(answers)), ..User::default() };
    let result = run(&scene, &user).await;
    assert_eq!(result.text, "Done.");
    assert!(read(&scene, "answer").contains(r#""cancelled":true"#));
    assert!(read(&scene, "env").contains("PI_SUBAGENT_TOOLS=read\n"));
    assert!(read(&scene, "env").contains("PI_SUBAGENT_ASK=\n"));
}

/// No extension that could ask is loaded, so a program started by a tool has written it.
#[tokio::test]
async fn a_forged_question_without_the_key_is_declined() {
    let forged = "pi-subagent-ask:00000000-0000-0000-0000-000000000000";
    for title in ["Which?".to_owned(), format!("{forged} Which?"), forged.to_owned()] {
        let scene = scene(asking(&title, Child::new().saves_command("answer")), true, &json!({}));
        let answers = |_: ChildQuestion| -> Answer { panic!("the user was asked") };
        let user = User { answers: Some(Box::new(answers)), ..User::default() };
        let result = run(&scene, &user).await;
        assert_eq!(result.text, "Done.");
        assert!(read(&scene, "answer").contains(r#""cancelled":true"#), "{title}");
    }
}

#[tokio::test]
async fn a_question_without_a_user_is_declined_at_once() {
    let scene = scene(asks(), true, &json!({}));
    let result = run(&scene, &User::default()).await;
    assert_eq!(result.text, "Done.");
    assert!(read(&scene, "answer").contains(r#""cancelled":true"#));
}

/// No answer comes for longer than either limit, and the question is declined at its own limit.
#[tokio::test]
async fn the_idle_limit_is_paused_while_the_user_is_asked() {
    let limits = json!({ "idleTimeoutMs": 2000, "toolTimeoutMs": 2000 });
    let away = User { patience: Some(Duration::from_millis(3500)), ..User::default() };
    let result = run(&scene(asks(), true, &limits), &away).await;
    assert_eq!(result.text, "Done.", "{:?}", result.details.results[0].error);

    // After the answer, silence counts again.
    let silent = asking(&format!("{GUARD_KEY} Which?"), Child::new().runs("while receive; do :; done"));
    let soon = User { patience: Some(Duration::from_millis(10)), ..User::default() };
    let result = run(&scene(silent, true, &limits), &soon).await;
    assert_eq!(result.details.results[0].outcome, RunOutcome::IdleTimeout);
}

#[tokio::test]
async fn a_child_that_reads_no_answers_has_no_ask_tool_and_its_result_says_so() {
    let child = Child::new().starts().runs(r#"env > "$home/env""#).says("Done.").settles();
    let scene = scene(child, true, &json!({ "protocol": "json" }));
    let result = run(&scene, &User::default()).await;
    assert!(read(&scene, "env").contains("PI_SUBAGENT_TOOLS=read\n"));
    let notices = &result.details.results[0].diagnostics;
    let expected = "`ask` was dropped: a child with `protocol: \"json\"` cannot ask questions";
    assert!(notices.iter().any(|notice| notice.contains(expected)), "{notices:?}");
}
