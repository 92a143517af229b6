//! Structured results: a child submits a value that matches its caller's schema.
#![cfg(unix)]

use std::fs;

use crate::support::scene::Scene;
use crate::support::stage::User;
use pi_subagent_native::run::{Control, ErrorCode, RunOutcome, SingleResult, ToolResult};
use serde_json::{Value, json};

/// `call` lets the model say something and call a tool. `submit` ends such a call with the value that the guard keeps.
const SUBMITS: &str = r#"
call() { # words tool
    printf '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"%s"},{"type":"toolCall","id":"c1","name":"%s","arguments":{}}],"provider":"fake","model":"m1","usage":{"input":1,"output":1,"cost":{"total":0}},"stopReason":"toolUse"}}\n' "$1" "$2"
    printf '{"type":"tool_execution_start","toolCallId":"c1","toolName":"%s","args":{}}\n' "$2"
}
end() { # tool details [isError]
    printf '{"type":"tool_execution_end","toolCallId":"c1","toolName":"%s","result":{"content":[{"type":"text","text":"Submitted."}],"details":%s},"isError":%s}\n{"type":"turn_end","message":{},"toolResults":[]}\n' "$1" "$2" "${3:-false}"
}
submit() { call "$1" submit_result; end submit_result "{\"submitted\":$2}" "$3"; }
begin
cat > /dev/null
"#;

fn scene(script: &str, schema: &Value) -> Scene {
    let config = json!({ "protocol": "json", "output": { "maxBytes": 51_200, "maxLines": 2_000 } });
    let mut scene = Scene::new(&format!("{SUBMITS}\n{script}"), config);
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
    let table: &[(&str, &str, Value, Value)] = &[
        (
            "an object",
            r#"submit 'Found them.' '{"files":["a","b\n"]}'"#,
            object(),
            json!({ "files": ["a", "b\n"] }),
        ),
        (
            "the last of two",
            r#"submit '' '{"files":[]}'; submit '' '{"files":["c"]}'"#,
            object(),
            json!({ "files": ["c"] }),
        ),
        (
            "after a call that pi refused",
            r#"submit '' '{"files":1}' true; submit '' '{"files":["c"]}'"#,
            object(),
            json!({ "files": ["c"] }),
        ),
        (
            "before a call that pi refused",
            r#"submit '' '{"files":["c"]}'; submit '' '{"files":1}' true"#,
            object(),
            json!({ "files": ["c"] }),
        ),
        (
            "a value that is not an object",
            r#"submit '' '{"value":[1,2]}'"#,
            json!({ "type": "array" }),
            json!([1, 2]),
        ),
        ("nothing", r#"submit '' '{"value":null}'"#, json!({ "type": "null" }), json!(null)),
        (
            "braces in texts, and keys of other objects",
            r#"submit '' '{"files":["}]{","\"}"],"submitted":{"files":[]}}'"#,
            object(),
            json!({ "files": ["}]{", "\"}"], "submitted": { "files": [] } }),
        ),
    ];
    for (label, script, schema, expected) in table {
        let scene = scene(&format!("{script}; settled"), schema);
        let result = run(&scene).await;
        assert_eq!(single(&result).outcome, RunOutcome::Completed, "{label}: {}", result.text);
        assert_eq!(single(&result).structured.as_ref(), Some(expected), "{label}");
        let json = serde_json::to_string_pretty(expected).expect("the value is serialized");
        assert!(result.text.contains(&format!("```json\n{json}\n```")), "{label}: {}", result.text);
        assert_eq!(single(&result).structured_file, None, "{label}");
    }
}

/// The child's record of the call's end is lost, for example behind other output on its line.
#[tokio::test]
async fn a_repeated_result_is_enough() {
    let repeats = r#"
result() { # value isError [tool]
    printf '{"role":"toolResult","toolCallId":"c1","toolName":"%s","content":[{"type":"text","text":"Submitted."}],"details":{"submitted":%s},"isError":%s}' "${3:-submit_result}" "$1" "$2"
}
turn() { printf '{"type":"turn_end","message":{"role":"assistant"},"toolResults":[%s]}\n' "$1"; }
ended() { printf '{"type":"agent_end","messages":[{"role":"user"},%s],"willRetry":false}\n{"type":"agent_settled"}\n' "$1"; }
lost() { call 'Found them.' submit_result; printf '\a[title] {"type":"tool_execution_end","toolCall\n'; }
"#;
    let value = r#"'{"files":["c"]}'"#;
    let table: &[(&str, String, Option<Value>)] = &[
        (
            "in the end of the turn",
            format!(r#"lost; turn "$(result {value} false)"; settled"#),
            Some(json!(["c"])),
        ),
        ("in the end of the work", format!(r#"lost; ended "$(result {value} false)""#), Some(json!(["c"]))),
        (
            "in both",
            format!(r#"lost; one=$(result {value} false); turn "$one"; ended "$one""#),
            Some(json!(["c"])),
        ),
        (
            "the second of two",
            format!(r#"submit '' '{{"files":[]}}'; lost; turn "$(result {value} false)"; settled"#),
            Some(json!(["c"])),
        ),
        (
            "the second, which pi refused",
            format!(r#"submit '' '{{"files":[]}}'; lost; turn "$(result {value} true)"; settled"#),
            Some(json!([])),
        ),
        ("another tool", format!(r#"lost; turn "$(result {value} false read)"; settled"#), None),
    ];
    for (label, script, files) in table {
        let result = run(&scene(&format!("{repeats}\n{script}"), &object())).await;
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
    let refuse = r#"refuse() { # number
    call '' submit_result
    printf '{"type":"tool_execution_end","toolCallId":"c1","toolName":"submit_result","result":{"content":[{"type":"text","text":"Validation failed:\\n  - /files/%s: must be a string"}],"details":{}},"isError":true}\n{"type":"turn_end","message":{},"toolResults":[]}\n' "$1"
}"#;
    let until = |last: usize| format!("{refuse}\nfor number in $(seq {last}); do refuse $number; done\n");
    let nine = run(&scene(&format!("{} submit '' '{{\"files\":[]}}'; settled", until(9)), &object())).await;
    assert_eq!(single(&nine).structured, Some(json!({ "files": [] })), "{}", nine.text);
    let ten = run(&scene(&format!("{} exec sleep 30", until(10)), &object())).await;
    let expected = "pi refused 10 submitted results that do not match `outputSchema`; the last reason: \
                    `Validation failed: - /files/10: must be a string`";
    assert_eq!(single(&ten).error.as_deref(), Some(expected), "{}", ten.text);
    assert_eq!(single(&ten).outcome, RunOutcome::Failed);
}

#[tokio::test]
async fn a_child_that_submits_nothing_fails_and_its_text_is_kept() {
    let never = "the child has not submitted a result: it never called `submit_result` with success";
    let refused = format!("{never}; pi refused 1, the last for this reason: `Submitted.`");
    for (label, script) in [
        ("an answer alone", "said 'I found a and b.'"),
        ("a refused call", r#"submit 'I found a and b.' '{"files":1}' true"#),
        (
            "another tool with such details",
            r#"call 'I found a and b.' read; end read '{"submitted":{"files":[]}}'"#,
        ),
        ("text that looks like a call", r#"said 'I found a and b. {\"submitted\":{\"files\":[]}}'"#),
    ] {
        let result = run(&scene(&format!("{script}; settled"), &object())).await;
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
        let mut scene = scene("submit 'Many.' \"$(cat \"$home/value\")\"; settled", &object());
        fs::write(scene.path("value"), format!("{{\"files\":[\"{items}\"]}}")).expect("the file is written");
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
    let scene = scene(
        "submit '' \"{\\\"files\\\":[\\\"$(head -c 3000000 /dev/zero | tr '\\0' x)\\\"]}\"; settled",
        &object(),
    );
    let result = run(&scene).await;
    let error = single(&result).error.as_deref().unwrap_or_default();
    assert!(error.contains("has more than 2097152 bytes"), "{error}");
}

#[tokio::test]
async fn secrets_in_a_structured_result_are_redacted() {
    let key = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
    let script = format!(r#"submit '' '{{"files":["{key}"],"password":"hunter2hunter2"}}'; settled"#);
    let result = run(&scene(&script, &object())).await;
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
            json!({ "type": "array", "items": { "$ref": "#/$defs/gone" } }),
            "`$ref` at `#/items` is `#/$defs/gone`, but the schema has no such part",
        ),
        (
            json!({ "$ref": "https://example.com/report.json" }),
            "`$ref` at `#` is `https://example.com/report.json`, which is not in the schema",
        ),
        (json!({ "type": "object", "description": "x".repeat(20_000) }), "at most 16384"),
    ] {
        let result = run(&scene("touch \"$home/started\"", &schema)).await;
        let error = result.details.error.expect("the run has an error");
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert!(error.message.contains("`outputSchema`") && error.message.contains(why), "{}", error.message);
    }
}
