//! Structured results: a child submits a value that matches its caller's schema.
#![cfg(unix)]

use std::fs;

use crate::support::child::{Child, ordered};
use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, ErrorCode, RunOutcome, SingleResult, ToolResult};
use serde_json::{Value, json};

/// The call of a tool ends with these details, which are JSON.
fn ends(tool: &str, details: &str, is_error: bool) -> Child {
    let line = format!(
        r#"{{"type":"tool_execution_end","toolCallId":"c1","toolName":"{tool}","result":{{"content":[{{"type":"text","text":"Submitted."}}],"details":{details}}},"isError":{is_error}}}"#
    );
    Child::new().writes(&line).emits("turn_end", &ordered!({ "message": {}, "toolResults": [] }))
}

/// The model submits a value, which is JSON, and the guard keeps it.
fn submits(text: &str, value: &str) -> Child {
    Child::new().calls_tool(text, "submit_result").then(ends(
        "submit_result",
        &format!(r#"{{"submitted":{value}}}"#),
        false,
    ))
}

/// The model submits a value that pi refuses.
fn is_refused(text: &str, value: &str) -> Child {
    Child::new().calls_tool(text, "submit_result").then(ends(
        "submit_result",
        &format!(r#"{{"submitted":{value}}}"#),
        true,
    ))
}

fn scene(child: Child, schema: &Value) -> Scene {
    let config = json!({ "protocol": "json", "output": { "maxBytes": 51_200, "maxLines": 2_000 } });
    let mut scene = Scene::new(Child::new().starts().reads_task().then(child), config);
    scene.spec.overrides.output_schema = Some(schema.clone());
    scene
}

async fn run(scene: &Scene) -> ToolResult {
    scene.run_with(&User::default(), &Control::default()).await.0
}

fn single(result: &ToolResult) -> &SingleResult {
    &result.details.results[0]
}

fn object() -> Value {
    json!({ "type": "object", "properties": { "files": { "type": "array" } } })
}

#[tokio::test]
async fn the_submitted_value_is_the_result_and_part_of_the_text() {
    let table = [
        (
            "an object",
            submits("Found them.", r#"{"files":["a","b\n"]}"#),
            object(),
            json!({ "files": ["a", "b\n"] }),
        ),
        (
            "the last of two",
            submits("", r#"{"files":[]}"#).then(submits("", r#"{"files":["c"]}"#)),
            object(),
            json!({ "files": ["c"] }),
        ),
        (
            "after a call that pi refused",
            is_refused("", r#"{"files":1}"#).then(submits("", r#"{"files":["c"]}"#)),
            object(),
            json!({ "files": ["c"] }),
        ),
        (
            "before a call that pi refused",
            submits("", r#"{"files":["c"]}"#).then(is_refused("", r#"{"files":1}"#)),
            object(),
            json!({ "files": ["c"] }),
        ),
        (
            "a value that is not an object",
            submits("", r#"{"value":[1,2]}"#),
            json!({ "type": "array" }),
            json!([1, 2]),
        ),
        ("nothing", submits("", r#"{"value":null}"#), json!({ "type": "null" }), json!(null)),
        (
            "braces in texts, and keys of other objects",
            submits("", r#"{"files":["}]{","\"}"],"submitted":{"files":[]}}"#),
            object(),
            json!({ "files": ["}]{", "\"}"], "submitted": { "files": [] } }),
        ),
    ];
    for (label, child, schema, expected) in table {
        let scene = scene(child.settles(), &schema);
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{label}: {}", result.text);
        assert_eq!(single(&result).structured.as_ref(), Some(&expected), "{label}");
        let json = serde_json::to_string_pretty(&expected).expect("the value is serialized");
        assert!(result.text.contains(&format!("```json\n{json}\n```")), "{label}: {}", result.text);
        assert_eq!(single(&result).structured_file, None, "{label}");
    }
}

/// The child's record of the call's end is lost, for example behind other output on its line.
#[tokio::test]
async fn a_repeated_result_is_enough() {
    // A tool's result, in the form in which messages repeat it.
    let result = |is_error: bool, tool: &str| {
        ordered!({
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": tool,
            "content": [{ "type": "text", "text": "Submitted." }],
            "details": { "submitted": { "files": ["c"] } },
            "isError": is_error,
        })
    };
    let fine = result(false, "submit_result");
    let turn = |result: &str| {
        let line =
            format!(r#"{{"type":"turn_end","message":{{"role":"assistant"}},"toolResults":[{result}]}}"#);
        Child::new().writes(&line)
    };
    let work = |result: &str| {
        let line =
            format!(r#"{{"type":"agent_end","messages":[{{"role":"user"}},{result}],"willRetry":false}}"#);
        Child::new().writes(&line).emits("agent_settled", &ordered!({}))
    };
    let lost = || {
        Child::new()
            .calls_tool("Found them.", "submit_result")
            .runs(r#"printf '\a[title] {"type":"tool_execution_end","toolCall\n'"#)
    };
    let empty = || submits("", r#"{"files":[]}"#);
    let table = [
        ("in the end of the turn", lost().then(turn(&fine)).settles(), Some(json!(["c"]))),
        ("in the end of the work", lost().then(work(&fine)), Some(json!(["c"]))),
        ("in both", lost().then(turn(&fine)).then(work(&fine)), Some(json!(["c"]))),
        ("the second of two", empty().then(lost()).then(turn(&fine)).settles(), Some(json!(["c"]))),
        (
            "the second, which pi refused",
            empty().then(lost()).then(turn(&result(true, "submit_result"))).settles(),
            Some(json!([])),
        ),
        ("another tool", lost().then(turn(&result(false, "read"))).settles(), None),
    ];
    for (label, child, files) in table {
        let result = run(&scene(child, &object())).await;
        let expected = if files.is_some() { RunOutcome::Completed } else { RunOutcome::Failed };
        assert_eq!(single(&result).outcome, expected, "{label}: {}", result.text);
        assert_eq!(
            single(&result).structured.as_ref().map(|value| &value["files"]),
            files.as_ref(),
            "{label}"
        );
    }
}

/// The values differ, so the limits of repetition do not end such a run.
#[tokio::test]
async fn the_tenth_refused_result_ends_the_run_with_its_reason() {
    let refuses = |number: usize| {
        let reason = format!("Validation failed:\n  - /files/{number}: must be a string");
        let end = ordered!({
            "toolCallId": "c1",
            "toolName": "submit_result",
            "result": { "content": [{ "type": "text", "text": reason }], "details": {} },
            "isError": true,
        });
        Child::new()
            .calls_tool("", "submit_result")
            .emits("tool_execution_end", &end)
            .emits("turn_end", &ordered!({ "message": {}, "toolResults": [] }))
    };
    let until = |last: usize| (1..=last).fold(Child::new(), |child, number| child.then(refuses(number)));
    let nine = run(&scene(until(9).then(submits("", r#"{"files":[]}"#)).settles(), &object())).await;
    assert_eq!(single(&nine).structured, Some(json!({ "files": [] })), "{}", nine.text);
    let ten = run(&scene(until(10).runs("exec sleep 30"), &object())).await;
    let expected = "pi refused 10 submitted results that do not match `outputSchema`; the last reason: \
                    `Validation failed: - /files/10: must be a string`";
    assert_eq!(single(&ten).error.as_deref(), Some(expected), "{}", ten.text);
    assert_eq!(single(&ten).outcome, RunOutcome::Failed);
}

#[tokio::test]
async fn a_child_that_submits_nothing_fails_and_its_text_is_kept() {
    let never = "the child has not submitted a result: it never called `submit_result` with success";
    let refused = format!("{never}; pi refused 1, the last for this reason: `Submitted.`");
    for (label, child) in [
        ("an answer alone", Child::new().says("I found a and b.")),
        ("a refused call", is_refused("I found a and b.", r#"{"files":1}"#)),
        (
            "another tool with such details",
            Child::new().calls_tool("I found a and b.", "read").then(ends(
                "read",
                r#"{"submitted":{"files":[]}}"#,
                false,
            )),
        ),
        ("text that looks like a call", Child::new().says(r#"I found a and b. {"submitted":{"files":[]}}"#)),
    ] {
        let result = run(&scene(child.settles(), &object())).await;
        let expected = if label == "a refused call" { &*refused } else { never };
        assert_eq!(single(&result).error.as_deref(), Some(expected), "{label}: {}", result.text);
        assert_eq!(result.details.error.as_ref().map(|error| error.code), Some(ErrorCode::SubagentFailed));
        assert!(
            result.text.contains("partial output:\n```text\nI found a and b."),
            "{label}: {}",
            result.text
        );
        assert_eq!(single(&result).structured, None, "{label}");
    }
}

#[tokio::test]
async fn a_large_result_is_stored_whole_in_a_file() {
    let filler = "x".repeat(50_000);
    for (count, is_inline) in [(1, true), (20, false)] {
        let items = vec![filler.as_str(); count].join("\",\"");
        let mut scene = scene(submits("Many.", &format!("{{\"files\":[\"{items}\"]}}")).settles(), &object());
        scene.spec.task = "look".into();
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{}", result.text);
        let file = single(&result).structured_file.as_deref().expect("the structured result has a file");
        assert!(
            result.text.starts_with("Many.\n\n[The result is ") && result.text.contains(file),
            "{}",
            result.text
        );
        let value: Value = serde_json::from_slice(&fs::read(file).expect("the file is readable"))
            .expect("the bytes are valid JSON");
        assert_eq!(value["files"].as_array().map(Vec::len), Some(count));
        assert_eq!(single(&result).structured.is_some(), is_inline);
        assert_eq!(result.details.error, None, "the result was not truncated");
    }
    // A value above the size limit is a failure, not half a value.
    let scene =
        scene(submits("", &format!("{{\"files\":[\"{}\"]}}", "x".repeat(3_000_000))).settles(), &object());
    let result = run(&scene).await;
    let error = single(&result).error.as_deref().unwrap_or_default();
    assert!(error.contains("has more than 2097152 bytes"), "{error}");
}

#[tokio::test]
async fn secrets_in_a_structured_result_are_redacted() {
    let key = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    let value = format!(r#"{{"files":["{key}"],"password":"hunter2hunter2"}}"#);
    let result = run(&scene(submits("", &value).settles(), &object())).await;
    let whole = format!("{result:?}");
    assert!(
        single(&result).structured.is_some() && !whole.contains(key) && !whole.contains("hunter2"),
        "{whole}"
    );
}

#[tokio::test]
async fn an_invalid_schema_is_refused_before_the_start() {
    for (schema, why) in [
        (json!([]), "expected a JSON Schema"),
        (json!({}), "it is empty"),
        (
            json!({ "properties": { "day": { "type": "date" } } }),
            "`type` at `#/properties/day` is `date`; expected `string`",
        ),
        (
            json!({ "type": "array", "items": { "$ref": "#/$defs/gone" } }),
            "`$ref` at `#/items` is `#/$defs/gone`, but the schema has no such part",
        ),
        (
            json!({ "$ref": "https://example.com/report.json" }),
            "`$ref` at `#` is `https://example.com/report.json`, which is not in the schema",
        ),
        (json!({ "type": "object", "description": "x".repeat(20_000) }), "at most 16384"),
    ] {
        let result = run(&scene(Child::new().runs(r#"touch "$home/started""#), &schema)).await;
        let error = result.details.error.expect("the run has an error");
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert!(error.message.contains("`outputSchema`") && error.message.contains(why), "{}", error.message);
    }
}
