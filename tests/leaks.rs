//! What a child says reaches a caller without secrets and without what a terminal obeys: in updates, in what is left of an
//! unfinished answer, and in the questions of its extensions.
#![cfg(unix)]

use std::fs;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pi_subagent_native::event::{Question, QuestionMethod};
use pi_subagent_native::process::Cancel;
use pi_subagent_native::run::{
    Answer, BoxFuture, ChildQuestion, Control, Host, HostCallbacks, HostContext, Progress, RunId,
    RunOverrides, RunSpec, ToolResult, Watchers, execute,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

/// Longer than any child here lives, shorter than a person waits for a stuck test.
const PATIENCE: Duration = Duration::from_secs(30);

/// Nothing about it looks like a secret, and it has words.
const KNOWN: &str = "correct horse battery staple";

/// It looks like a secret, wherever it stands.
const TOKEN: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

/// A run whose child is a script that prints the file `stream` after it has read a line of its input.
struct Scene {
    root: TempDir,
    spec: RunSpec,
}

impl Scene {
    fn new(protocol: &str, stream: &[Value], after: &str) -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        let (cwd, agent_dir) = (root.path().join("project"), root.path().join("agent"));
        fs::create_dir_all(cwd.join(".git")).expect("a project");
        fs::create_dir_all(&agent_dir).expect("an agent directory");
        let lines: Vec<_> = stream.iter().map(Value::to_string).collect();
        fs::write(root.path().join("stream"), lines.join("\n") + "\n").expect("a stream");
        let pi = root.path().join("pi.sh");
        let script = format!("read -r task\ncat \"$(dirname \"$0\")/stream\"\n{after}\n");
        fs::write(&pi, script).expect("a script");
        let mut env: Vec<_> = std::env::vars_os().filter(|(name, _)| name == "PATH").collect();
        env.push(("MY_API_TOKEN".into(), KNOWN.into()));
        let pi_command = Some(vec!["/bin/sh".to_owned(), pi.to_string_lossy().into_owned()]);
        let (home, host) = (Some(root.path().join("home")), Host::default());
        let config = Some(json!({ "protocol": protocol, "graceMs": 200, "retry": { "enabled": false } }));
        let context = Arc::new(HostContext { agent_dir, home, env, config, pi_command, warden: None, host });
        let (agent, task) = ("explorer".into(), "look around".into());
        let overrides = RunOverrides::default();
        Self { root, spec: RunSpec { agent, task, cwd, context, share: 1, siblings: 1, overrides } }
    }

    /// The result, and every update that was there to be seen: the last one always is.
    async fn run(&self, callbacks: &Asked) -> (ToolResult, Vec<Progress>) {
        let (progress, mut receiver) = watch::channel(Progress::default());
        let updates = tokio::spawn(async move {
            let mut seen = Vec::new();
            while receiver.changed().await.is_ok() {
                seen.push(receiver.borrow_and_update().clone());
            }
            seen
        });
        let watchers = Watchers { progress: &progress, rate_limited: &|_| {} };
        let control = Control { cancel: Cancel::new(), ..Control::default() };
        let run = execute(self.spec.clone(), RunId::draw(), watchers, callbacks, &control);
        let result = tokio::time::timeout(PATIENCE, run).await.expect("the run ends");
        drop(progress);
        (result, updates.await.expect("the updates end"))
    }
}

/// Somebody who writes down what is asked, and answers with the first thing there is to send back.
#[derive(Default)]
struct Asked(Mutex<Vec<Question>>);

impl HostCallbacks for Asked {
    fn is_interactive(&self) -> bool {
        true
    }

    fn ask(&self, ChildQuestion { question, .. }: ChildQuestion) -> BoxFuture<'_, Answer> {
        let answer = question.options.first().or(question.prefill.as_ref()).cloned();
        self.0.lock().expect("nobody panics").push(question);
        Box::pin(ready(Answer::Value(answer.unwrap_or_default())))
    }
}

fn delta(text: &str) -> Value {
    let event = json!({ "type": "text_delta", "contentIndex": 0, "delta": text });
    json!({ "type": "message_update", "usage": {}, "assistantMessageEvent": event })
}

fn said(text: &str, more: &Value) -> Value {
    let mut message = json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] });
    let more = more.as_object().expect("an object").clone();
    message.as_object_mut().expect("an object").extend(more);
    json!({ "type": "message_end", "message": message })
}

fn settled() -> Value {
    json!({ "type": "agent_settled", "aborted": false })
}

/// Whether a terminal would do something about it.
fn has_controls(shown: &str) -> bool {
    shown.contains("\\u{")
}

#[tokio::test]
async fn no_update_and_no_unfinished_answer_shows_the_beginning_of_a_secret_of_several_words() {
    // Wherever the stream may stop within it, in one piece and in several.
    for (at, _) in KNOWN.char_indices().skip(9) {
        let (first, second) = KNOWN[..at].split_at(at / 2);
        let stream = [delta("The words are: "), delta(first), delta(second)];
        let (result, updates) = Scene::new("json", &stream, "exit 3").run(&Asked::default()).await;
        let last = updates.last().expect("the last update always comes");
        assert!(last.text.starts_with("The words are:"), "{at}: {:?}", last.text);
        let all = format!("{updates:?}");
        assert!(!all.contains("correct"), "{at}: {all}");
        let result = format!("{result:?}");
        assert!(result.contains("The words are:") && !result.contains("correct"), "{at}: {result}");
    }
}

#[tokio::test]
async fn no_message_that_was_cut_shows_the_beginning_of_a_secret_of_several_words() {
    for reason in ["error", "aborted", "length"] {
        let text = format!("The words are: {}", &KNOWN[..18]);
        let stream = [said(&text, &json!({ "stopReason": reason })), settled()];
        let (result, updates) = Scene::new("json", &stream, "").run(&Asked::default()).await;
        for all in [format!("{updates:?}"), format!("{result:?}")] {
            assert!(all.contains("The words are:") && !all.contains("correct"), "{reason}: {all}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_ends_like_the_beginning_of_a_secret_loses_nothing_when_it_is_whole() {
    let text = format!("It begins with {}", &KNOWN[..13]);
    let stream = [said(&text, &json!({ "stopReason": "stop" })), settled()];
    let (result, _) = Scene::new("json", &stream, "").run(&Asked::default()).await;
    assert_eq!(result.text, text);
}

#[tokio::test]
async fn a_secret_of_several_words_is_redacted_once_it_is_complete() {
    let stream = [delta("The words are: "), delta(&KNOWN[..18]), delta(&KNOWN[18..]), delta(", I think.")];
    let (_, updates) = Scene::new("json", &stream, "exit 3").run(&Asked::default()).await;
    let last = updates.last().expect("the last update always comes");
    assert_eq!(&*last.text, "The words are: [REDACTED], I think.");
}

#[tokio::test]
async fn no_update_shows_a_secret_or_an_escape_in_the_name_of_a_model() {
    for (provider, model) in [
        (TOKEN, "m1"),
        ("fake", TOKEN),
        (KNOWN, "m1"),
        ("\u{1b}[31mfake\u{1b}[0m", "\u{1b}]0;title\u{7}m\u{9b}1"),
    ] {
        let more = json!({ "provider": provider, "model": model, "stopReason": "stop" });
        let stream = [said("Done.", &more), settled()];
        let (result, updates) = Scene::new("json", &stream, "").run(&Asked::default()).await;
        assert_eq!(result.text, "Done.");
        let named = updates.last().and_then(|last| last.model.clone()).expect("the last update names it");
        assert!(named.contains("fake") || named.contains("m1"), "{named}");
        for all in [format!("{updates:?}"), format!("{result:?}")] {
            assert!(!all.contains(&TOKEN[4..]) && !all.contains(KNOWN), "{all}");
            assert!(!has_controls(&all), "{all}");
        }
    }
}

#[tokio::test]
async fn no_text_of_a_question_shows_a_secret_or_an_escape_and_answers_go_back_in_the_childs_words() {
    let hostile = format!("\u{1b}[31m{TOKEN}\u{7} and {KNOWN}");
    let rows = [
        ("confirm", json!({ "message": hostile })),
        ("select", json!({ "options": [hostile, "other"] })),
        ("input", json!({ "placeholder": hostile })),
        ("editor", json!({ "prefill": hostile })),
    ];
    for (method, fields) in rows {
        let mut question = json!({ "type": "extension_ui_request", "id": "q1", "method": method });
        question["title"] = hostile.as_str().into();
        let texts = fields.as_object().expect("an object").clone();
        question.as_object_mut().expect("an object").extend(texts);
        let stream = [json!({ "type": "agent_start" }), question];
        // It says what it was answered, as it came.
        let after = r#"read -r answer; printf '%s' "$answer" > "${0%/*}/answer"; printf '%s\n%s\n' \
            '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}' \
            '{"type":"agent_settled","aborted":false}'; read -r end || exit 0"#;
        let (scene, asked) = (Scene::new("rpc", &stream, after), Asked::default());
        let (result, _) = scene.run(&asked).await;
        assert_eq!(result.text, "Done.", "{method}");
        let asked = asked.0.into_inner().expect("nobody panics");
        let [shown] = asked.as_slice() else { panic!("{method}: {asked:?}") };
        let clean = "[GITHUB_TOKEN_REDACTED] and [REDACTED]";
        let some = || Some(clean.to_owned());
        assert_eq!(shown.title, clean, "{method}");
        match shown.method {
            QuestionMethod::Confirm => assert_eq!(shown.message, some()),
            QuestionMethod::Select => assert_eq!(shown.options, [clean, "other"]),
            QuestionMethod::Input => assert_eq!(shown.placeholder, some()),
            QuestionMethod::Editor => assert_eq!(shown.prefill, some()),
        }
        let answer = fs::read_to_string(scene.root.path().join("answer")).expect("it was answered");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let expected = if matches!(method, "select" | "editor") { hostile.as_str() } else { "" };
        assert_eq!(answer["value"], expected, "{method}");
    }
}
