//! A child's output reaches a caller without secrets and without terminal control sequences: in updates, in the rest of an
//! unfinished answer, and in the questions of its extensions.
#![cfg(unix)]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::support::child::Child;
use crate::support::hidden::{assert_all_seen, with_hidden};
use crate::support::scene::Scene;
use crate::support::stage::User;
use parking_lot::Mutex;
use pi_events::QuestionMethod;
use pi_subagent_native::run::{Answer, ChildQuestion, Control, Progress, ToolResult};
use serde_json::{Value, json};

/// A known value that does not look like a secret, and that contains words.
const KNOWN: &str = "correct horse battery staple";

/// A value that looks like a secret everywhere.
const TOKEN: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

/// Writes the answer to its question to a file, unchanged, and ends.
fn keeps_answer() -> Child {
    Child::new().receives().saves_command("answer").says("Done.").settles().listens()
}

/// A run whose child prints `stream` after it has read a line of its input, and then takes the steps of `after`.
fn printing(protocol: &str, stream: &[Value], after: Child) -> Scene {
    let config = json!({ "protocol": protocol, "graceMs": 200, "retry": { "enabled": false } });
    let mut scene = Scene::new(Child::new().runs("read -r task\ncat \"$home/stream\"").then(after), config);
    let lines: Vec<_> = stream.iter().map(Value::to_string).collect();
    fs::write(scene.path("stream"), lines.join("\n") + "\n").expect("the file is written");
    Arc::make_mut(&mut scene.spec.context).env.push(("MY_API_TOKEN".into(), KNOWN.into()));
    scene
}

/// The result of such a run in `json` mode.
async fn run(stream: &[Value], after: Child) -> (ToolResult, Vec<Progress>) {
    printing("json", stream, after).run_with(&User::default(), &Control::default()).await
}

fn delta(text: &str) -> Value {
    let event = json!({ "type": "text_delta", "contentIndex": 0, "delta": text });
    json!({ "type": "message_update", "usage": {}, "assistantMessageEvent": event })
}

fn assistant_message(text: &str, more: &Value) -> Value {
    let mut message = json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] });
    let more = more.as_object().expect("the value is an object").clone();
    message.as_object_mut().expect("the value is an object").extend(more);
    json!({ "type": "message_end", "message": message })
}

fn settled() -> Value {
    json!({ "type": "agent_settled", "aborted": false })
}

/// Returns true if a terminal would react to it.
fn has_controls(shown: &str) -> bool {
    shown.contains("\\u{")
}

#[tokio::test]
async fn no_update_and_no_unfinished_answer_shows_the_beginning_of_a_secret_of_several_words() {
    // At every point where the stream may stop within the secret, in one piece and in several.
    for (at, _) in KNOWN.char_indices().skip(9) {
        let (first, second) = KNOWN[..at].split_at(at / 2);
        let stream = [delta("The words are: "), delta(first), delta(second)];
        let (result, updates) = run(&stream, Child::new().exits(3)).await;
        let last = updates.last().expect("at least one update is sent");
        assert!(last.text.starts_with("The words are:"), "{at}: {:?}", last.text);
        let all = format!("{updates:?}");
        assert!(!all.contains("correct"), "{at}: {all}");
        let result = format!("{result:?}");
        assert!(result.contains("The words are:") && !result.contains("correct"), "{at}: {result}");
    }
}

#[tokio::test]
async fn no_shortened_message_shows_the_beginning_of_a_secret_of_several_words() {
    for reason in ["error", "aborted", "length"] {
        let text = format!("The words are: {}", &KNOWN[..18]);
        let stream = [assistant_message(&text, &json!({ "stopReason": reason })), settled()];
        let (result, updates) = run(&stream, Child::new()).await;
        for all in [format!("{updates:?}"), format!("{result:?}")] {
            assert!(all.contains("The words are:") && !all.contains("correct"), "{reason}: {all}");
        }
    }
}

#[tokio::test]
async fn a_complete_answer_that_ends_like_the_beginning_of_a_secret_is_kept_whole() {
    let text = format!("It begins with {}", &KNOWN[..13]);
    let stream = [assistant_message(&text, &json!({ "stopReason": "stop" })), settled()];
    let (result, _) = run(&stream, Child::new()).await;
    assert_eq!(result.text, text);
}

#[tokio::test]
async fn a_secret_of_several_words_is_redacted_once_it_is_complete() {
    let stream = [delta("The words are: "), delta(&KNOWN[..18]), delta(&KNOWN[18..]), delta(", I think.")];
    let (_, updates) = run(&stream, Child::new().exits(3)).await;
    let last = updates.last().expect("at least one update is sent");
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
        let stream = [assistant_message("Done.", &more), settled()];
        let (result, updates) = run(&stream, Child::new()).await;
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
async fn a_question_is_exact_for_the_user_and_sanitized_for_others() {
    let hostile = format!("\u{1b}[31m{TOKEN}\u{7} and {KNOWN}");
    let rows = [
        ("confirm", json!({ "message": hostile })),
        ("select", json!({ "options": [hostile, "other"] })),
        ("input", json!({ "placeholder": hostile })),
        ("editor", json!({ "prefill": hostile })),
    ];
    let unseen = json!({ "message": with_hidden(&format!("{TOKEN} and {KNOWN}")) });
    for (method, fields) in rows.into_iter().chain([("confirm", unseen)]) {
        let mut question = json!({ "type": "extension_ui_request", "id": "q1", "method": method });
        question["title"] = hostile.as_str().into();
        let texts = fields.as_object().expect("the value is an object").clone();
        question.as_object_mut().expect("the value is an object").extend(texts);
        let stream = [json!({ "type": "agent_start" }), question];
        let mut scene = printing("rpc", &stream, keeps_answer());
        let config =
            Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the context has a configuration");
        config["inheritExtensions"] = "all".into();
        for is_user in [true, false] {
            // The first part of an answer, as the user sees it or as a model does.
            let asked: Mutex<Vec<ChildQuestion>> = Mutex::default();
            let answers = |asking: ChildQuestion| {
                let ChildQuestion { question, shown, .. } = &asking;
                let seen = shown.options.first().or(shown.prefill.as_ref()).map(ToString::to_string);
                let sanitized = question.options.first().or(question.prefill.as_ref()).cloned();
                let answer = if is_user { seen } else { sanitized };
                asked.lock().push(asking);
                Answer::Value(answer.unwrap_or_default())
            };
            let user = User { answers: Some(Box::new(answers)), ..User::default() };
            let (result, _) = scene.run_with(&user, &Control::default()).await;
            assert_eq!(result.text, "Done.", "{method}");
            drop(user);
            let asked = asked.into_inner();
            let [ChildQuestion { question: shown, shown: exact, .. }] = asked.as_slice() else {
                panic!("{method}: {asked:?}")
            };
            let seen = format!("<U+001B>[31m{TOKEN}<U+0007> and {KNOWN}");
            assert_eq!(&*exact.title, seen, "{method}");
            let texts = [&exact.message, &exact.placeholder, &exact.prefill, &exact.options.first().cloned()];
            let [text] = texts.map(Option::as_deref).into_iter().flatten().collect::<Vec<_>>()[..] else {
                panic!("{method}: {exact:?}")
            };
            assert!(text == seen || text.contains("<U+"), "{method}: {text}");
            assert_all_seen(method, text);
            let clean = "[GITHUB_TOKEN_REDACTED] and [REDACTED]";
            let some = || Some(clean.to_owned());
            assert_eq!(shown.title, clean, "{method}");
            match shown.method {
                QuestionMethod::Confirm => assert_eq!(shown.message, some()),
                QuestionMethod::Select => assert_eq!(shown.options, [clean, "other"]),
                QuestionMethod::Input => assert_eq!(shown.placeholder, some()),
                QuestionMethod::Editor => assert_eq!(shown.prefill, some()),
            }
            let answer = fs::read_to_string(scene.path("answer")).expect("the child received an answer");
            let answer: Value = serde_json::from_str(&answer).expect("the text is valid JSON");
            let expected = if matches!(method, "select" | "editor") { hostile.as_str() } else { "" };
            assert_eq!(answer["value"], expected, "{method}");
        }
    }
}

/// A shell of a child without extensions writes the same text as pi does for an extension's question.
#[tokio::test]
async fn an_impossible_question_of_the_child_is_declined_and_reported() {
    let question =
        json!({ "type": "extension_ui_request", "id": "q1", "method": "input", "title": "[sudo] password:" });
    let rows = [
        ("none", json!("none"), false),
        ("the extensions of its tools, of which there are none", json!("auto"), false),
        ("an empty list", json!([]), false),
        ("one", json!(["/ext/asks.ts"]), true),
        ("all", json!("all"), true),
    ];
    for (label, inherited, is_asked) in rows {
        let mut scene =
            printing("rpc", &[json!({ "type": "agent_start" }), question.clone()], keeps_answer());
        let config =
            Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the context has a configuration");
        config["inheritExtensions"] = inherited;
        let asked = Mutex::new(0);
        let answers = |_: ChildQuestion| {
            *asked.lock() += 1;
            Answer::Value("secret".to_owned())
        };
        let user = User { answers: Some(Box::new(answers)), ..User::default() };
        let (result, _) = scene.run_with(&user, &Control::default()).await;
        assert_eq!(result.text, "Done.", "{label}");
        drop(user);
        assert_eq!(asked.into_inner(), u32::from(is_asked), "{label}");
        let answer = fs::read_to_string(scene.path("answer")).expect("the child received an answer");
        assert_eq!(answer.contains("\"cancelled\":true"), !is_asked, "{label}: {answer}");
        let notices = &result.details.results[0].diagnostics;
        let is_reported = notices.iter().any(|notice| notice.starts_with("a question was declined"));
        assert_eq!(is_reported, !is_asked, "{label}: {notices:?}");
    }
}

/// A person cannot approve hidden text.
#[tokio::test]
async fn a_question_too_long_to_show_is_declined_and_the_result_says_so() {
    let long = format!("npm test {} ; ./x.sh", "# and so on ".repeat(2_000));
    let options =
        [json!({ "title": "Allow?", "options": [long] }), json!({ "title": long, "options": ["Yes"] })];
    let texts = [json!({ "title": long }), json!({ "title": "Allow?", "message": long })];
    let input = [json!({ "title": long }), json!({ "title": "Name?", "placeholder": long })];
    let rows = [("select", options), ("confirm", texts), ("input", input)];
    for (method, fields) in rows.into_iter().flat_map(|(method, all)| all.map(|fields| (method, fields))) {
        let mut question = json!({ "type": "extension_ui_request", "id": "q1", "method": method });
        question
            .as_object_mut()
            .expect("the value is an object")
            .extend(fields.as_object().expect("the value is an object").clone());
        let mut scene = printing("rpc", &[json!({ "type": "agent_start" }), question], keeps_answer());
        let config =
            Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the context has a configuration");
        config["inheritExtensions"] = "all".into();
        let answers = |_: ChildQuestion| -> Answer { panic!("the user was asked") };
        let user = User { answers: Some(Box::new(answers)), ..User::default() };
        let (result, _) = scene.run_with(&user, &Control::default()).await;
        assert_eq!(result.text, "Done.", "{method}");
        let answer = fs::read_to_string(scene.path("answer")).expect("the child received an answer");
        assert!(answer.contains("\"cancelled\":true"), "{method}: {answer}");
        let notices = &result.details.results[0].diagnostics;
        let is_reported =
            notices.iter().any(|notice| notice.starts_with("a question was declined: it was too long"));
        assert!(is_reported, "{method}: {notices:?}");
    }
}

/// A user who never answers.
fn away() -> User<'static> {
    User { patience: Some(Duration::from_millis(200)), ..User::default() }
}

#[tokio::test]
async fn an_unanswered_question_is_declined_even_if_the_child_would_wait_longer() {
    for timeout in [None, Some(u64::MAX), Some(3_600_000)] {
        let mut question =
            json!({ "type": "extension_ui_request", "id": "q1", "method": "confirm", "title": "Remove it?" });
        if let Some(timeout) = timeout {
            question["timeout"] = timeout.into();
        }
        let mut scene = printing("rpc", &[json!({ "type": "agent_start" }), question], keeps_answer());
        let config =
            Arc::make_mut(&mut scene.spec.context).config.as_mut().expect("the context has a configuration");
        config["inheritExtensions"] = "all".into();
        let (result, _) = scene.run_with(&away(), &Control::default()).await;
        assert_eq!(result.text, "Done.", "{timeout:?}");
        let answer = fs::read_to_string(scene.path("answer")).expect("the child received an answer");
        assert!(answer.contains("\"cancelled\":true"), "{timeout:?}: {answer}");
    }
}

#[tokio::test]
async fn no_invisible_character_reaches_a_caller() {
    let hidden = with_hidden("word");
    let call = json!({ "type": "toolcall_end", "contentIndex": 0,
        "toolCall": { "id": "c1", "name": hidden, "arguments": { &hidden: hidden } } });
    let tool = json!({ "type": "tool_execution_start", "toolCallId": "c1", "toolName": hidden,
        "args": { "path": hidden } });
    let ended = json!({ "type": "tool_execution_end", "toolCallId": "c1", "toolName": hidden, "result": hidden,
        "isError": true });
    for (label, more, exit) in [
        ("an answer", json!({ "stopReason": "stop" }), 0),
        ("an error of the provider", json!({ "stopReason": "error", "errorMessage": hidden }), 0),
        ("an unknown end", json!({ "stopReason": hidden }), 3),
        ("text on standard error", json!({ "stopReason": "aborted" }), 3),
    ] {
        let mut model = json!({ "provider": hidden, "model": hidden });
        let more = more.as_object().expect("the value is an object").clone();
        model.as_object_mut().expect("the value is an object").extend(more);
        let update = json!({ "type": "message_update", "usage": {}, "assistantMessageEvent": call });
        let stream = [
            delta(&hidden),
            update,
            tool.clone(),
            ended.clone(),
            assistant_message(&hidden, &model),
            settled(),
        ];
        let after = Child::new().runs(&format!("printf '%s\\n' '{hidden}' >&2")).exits(exit);
        let (result, updates) = run(&stream, after).await;
        let all = format!("{result:?}{updates:?}");
        assert!(all.contains("word"), "{label}: {all}");
        assert_all_seen(label, &all);
    }
    let mut scene = printing("json", &[], Child::new().exits(3));
    scene.spec.agent = with_hidden("nobody");
    let (refused, _) = scene.run_with(&User::default(), &Control::default()).await;
    assert!(refused.text.contains("Unknown agent `nobody`"), "{}", refused.text);
    assert_all_seen("a refusal", &format!("{refused:?}"));
}
