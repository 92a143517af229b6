//! Questions of a child, and its answers to commands.

use std::time::Duration;

use crate::heap::held;
use pi_events::{Question, QuestionMethod, Response};
use serde_json::{Value, json};

use crate::{fed, held_before, stream};

pub(crate) fn ask(id: usize, fields: &Value) -> Value {
    let mut record = json!({"type": "extension_ui_request", "id": id.to_string(), "method": "confirm"});
    record
        .as_object_mut()
        .expect("the value is an object")
        .extend(fields.as_object().expect("the value is an object").clone());
    record
}

#[test]
fn questions_of_extensions_carry_their_fields() {
    use QuestionMethod::{Confirm, Editor, Input, Select};

    let bare = |id: &str, method| Question {
        id: id.to_owned(),
        method,
        title: String::new(),
        message: None,
        options: Vec::new(),
        placeholder: None,
        prefill: None,
        timeout: None,
        is_whole: true,
    };
    let text = |text: &str| Some(text.to_owned());
    let records = [
        ask(1, &json!({"title": "Go\u{1b}[31m on?", "message": "All of it.", "timeout": 1500})),
        ask(2, &json!({"method": "select", "title": "Which?", "options": ["a", "b \u{20ac}", ""]})),
        ask(3, &json!({"method": "input", "title": "Name?", "placeholder": "yours", "timeout": 0})),
        ask(4, &json!({"method": "editor", "title": "Edit", "prefill": "line\nline"})),
        ask(5, &json!({"method": "select", "title": null, "options": ["a", {"label": "b"}, 3]})),
        ask(6, &json!({"title": ["no"], "options": "none", "message": {"role": "assistant"}})),
        ask(7, &json!({"method": "notify", "message": "hello"})),
        ask(8, &json!({"method": "setStatus", "statusKey": "k", "statusText": "t"})),
        ask(9, &json!({"method": "setTitle", "title": "t"})),
        json!({"type": "extension_ui_request", "method": "confirm", "title": "without an id"}),
        json!({"type": "extension_ui_request", "id": "10"}),
    ];
    let expected = [
        Question {
            title: "Go\u{1b}[31m on?".to_owned(),
            message: text("All of it."),
            timeout: Some(Duration::from_millis(1500)),
            ..bare("1", Confirm)
        },
        Question {
            title: "Which?".to_owned(),
            options: ["a", "b \u{20ac}", ""].map(str::to_owned).to_vec(),
            ..bare("2", Select)
        },
        Question { title: "Name?".to_owned(), placeholder: text("yours"), ..bare("3", Input) },
        Question { title: "Edit".to_owned(), prefill: text("line\nline"), ..bare("4", Editor) },
        Question { options: vec!["a".to_owned()], is_whole: false, ..bare("5", Select) },
        bare("6", Confirm),
    ];
    let stream = stream(&records);
    for size in [1, 7, stream.len()] {
        let mut collector = fed(stream.as_bytes().chunks(size));
        assert_eq!(collector.take_questions(), expected, "chunks of {size}");
        assert!(collector.take_questions().is_empty(), "each item is taken once");
        assert_eq!(collector.into_collected().counts.invalid_lines, 0);
    }
}

#[test]
fn questions_are_bounded_and_dropped_ones_are_reported() {
    let long = |word: &str| format!("BEGIN {} END", format!("{word} ").repeat(20_000));
    let options: Vec<String> =
        (0..100).map(|number| format!("{number} {}", "\u{20ac}".repeat(2000))).collect();
    let fields = json!({"method": "select", "title": long("t"), "message": long("m"), "placeholder": long("p"),
        "prefill": long("e"), "options": options});
    let before = held_before();
    let mut collector = fed([stream(&[ask(0, &fields)]).as_bytes()]);
    let [question] = collector.take_questions().try_into().expect("there is one question");
    assert!(!question.is_whole);
    for text in [Some(question.title), question.message, question.placeholder, question.prefill] {
        let text = text.expect("the question has a text");
        assert!(text.len() <= 16 * 1024 && text.len() > 15 * 1024, "{}", text.len());
        assert!(text.starts_with("BEGIN ") && text.ends_with(" END") && text.contains(" bytes omitted]"));
    }
    assert_eq!(question.options.len(), 64);
    assert!(question.options.iter().all(|option| option.len() <= 1024 && option.len() > 1020));

    for (fields, kept) in [(json!({"title": "?"}), 16), (fields, 1)] {
        for number in 0..2000 {
            collector.push(stream(&[ask(number, &fields)]).as_bytes());
            assert!(held() - before < 512 * 1024, "{}", held() - before);
        }
        let asked: Vec<String> = collector.take_questions().into_iter().map(|question| question.id).collect();
        let newest = |from: usize, to: usize| (from..to).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!(asked, newest(2000 - kept, 2000));
        assert_eq!(collector.take_dropped_questions(), newest(2000 - kept - 1024, 2000 - kept));
    }
}

#[test]
fn answers_to_commands_are_reported() {
    let records = [
        json!({"id": "a", "type": "response", "command": "prompt", "success": true, "data": {"disposition": "started"}}),
        json!({"type": "response", "command": "parse", "success": false, "error": "Failed to parse command: \u{1b}"}),
        json!({"id": 7, "type": "response", "command": "abort", "success": true}),
        json!({"id": "b", "type": "response", "command": "get_messages", "success": true,
            "data": {"messages": [{"role": "assistant", "content": [{"type": "text", "text": "no"}],
                "disposition": "no", "usage": {"input": 9}}], "disposition": null}}),
        json!({"id": "c", "type": "response", "command": "x", "success": "yes", "data": ["disposition"], "error": {}}),
        json!({"type": "response"}),
    ];
    let text = |text: &str| Some(text.to_owned());
    let bare = |command: &str| Response {
        id: None,
        command: command.to_owned(),
        success: false,
        error: None,
        disposition: None,
    };
    let expected = [
        Response { id: text("a"), success: true, disposition: text("started"), ..bare("prompt") },
        Response { error: text("Failed to parse command: \u{1b}"), ..bare("parse") },
        Response { id: text("7"), success: true, ..bare("abort") },
        Response { id: text("b"), success: true, ..bare("get_messages") },
        Response { id: text("c"), ..bare("x") },
        bare(""),
    ];
    let stream = stream(&records);
    for size in [1, 7, stream.len()] {
        let mut collector = fed(stream.as_bytes().chunks(size));
        assert_eq!(collector.take_responses(), expected, "chunks of {size}");
        assert!(collector.take_responses().is_empty(), "each item is taken once");
        let collected = collector.into_collected();
        assert_eq!((collected.counts.events, collected.counts.unknown_events), (6, 0));
        assert_eq!((collected.last_event.as_deref(), collected.usage.turns), (None, 0));
    }
}

#[test]
fn answers_to_commands_are_skimmed_and_bounded() {
    let head = br#"{"id":"m","type":"response","command":"get_messages","success":true,"data":{"messages":["#;
    let message =
        br#"{"role":"assistant","content":[{"type":"text","text":"a \ud800 \" ] } \ud83d\ude00 \u0000"}]},"#;
    let messages = message.repeat(20_000);
    let before = held_before();
    let mut collector = fed([head.as_slice()]);
    for chunk in messages.chunks(4099) {
        collector.push(chunk);
        assert!(held() - before < 32 * 1024, "{}", held() - before);
    }
    collector.push(b"0],\"disposition\":\"\\ud800late\"},\"error\":\"");
    collector.push(&b"word ".repeat(100_000));
    collector.push(b"\"}\n");
    let [response] = collector.take_responses().try_into().expect("there is one answer");
    assert_eq!((response.id.as_deref(), response.disposition.as_deref()), (Some("m"), Some("\u{fffd}late")));
    let error = response.error.expect("the answer has an error");
    assert!(error.len() < 8 * 1024 + 64 && error.contains(" bytes omitted]"));

    let answer = |id: usize| json!({"id": id.to_string(), "type": "response", "command": "c".repeat(5000), "success": true});
    for number in 0..1000 {
        collector.push(stream(&[answer(number)]).as_bytes());
    }
    assert!(held() - before < 64 * 1024, "{}", held() - before);
    let responses = collector.take_responses();
    assert_eq!((responses.len(), responses[15].id.as_deref()), (16, Some("999")));
    assert!(responses.iter().all(|response| response.command.len() == 1024));
    collector.push(&stream(&[answer(1)]).as_bytes()[..100]);
    assert!(collector.take_responses().is_empty(), "an incomplete record is no answer");
}
