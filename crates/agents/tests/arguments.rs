//! Arguments of tool calls in the forms of other harnesses: unambiguous ones are converted, all others explained.

use agents::{Tool, prepare_arguments, prepare_json};
use proptest::prelude::*;
use serde_json::{Value, json};

fn prepared(tool: &str, given: &Value) -> Value {
    let tool = Tool::parse(tool).expect("the tool exists");
    prepare_arguments(tool, given.clone()).unwrap_or_else(|misuse| panic!("{tool} {given}: {misuse}"))
}

fn refused(tool: &str, given: Value) -> String {
    let tool = Tool::parse(tool).expect("the tool exists");
    prepare_arguments(tool, given).expect_err("the arguments are refused").to_string()
}

#[test]
fn lists_with_one_meaning_are_converted() {
    let entry = json!({ "agent": "explorer", "task": "look" });
    let text = entry.to_string();
    let list = format!("[{text}]");
    let one = json!({ "tasks": [entry] });
    for (label, tool, given, expected) in [
        ("nothing to do", "subagent_parallel", one.clone(), one.clone()),
        ("a list as text", "subagent_parallel", json!({ "tasks": list }), one.clone()),
        (
            "in a code fence",
            "subagent_parallel",
            json!({ "tasks": format!("```json\n{list}\n```\n") }),
            one.clone(),
        ),
        ("one entry as text", "subagent_parallel", json!({ "tasks": text }), one.clone()),
        ("one entry without a list", "subagent_parallel", json!({ "tasks": entry }), one.clone()),
        ("entries as text", "subagent_parallel", json!({ "tasks": [text] }), one.clone()),
        (
            "a list in an object with the same name",
            "subagent_parallel",
            json!({ "tasks": { "tasks": [entry] } }),
            one.clone(),
        ),
        ("a bare list", "subagent_parallel", json!([entry]), one.clone()),
        ("all arguments as text", "subagent_parallel", one.to_string().into(), one),
        ("steps as text", "subagent_chain", json!({ "steps": list }), json!({ "steps": [entry] })),
        (
            "the chain of pi's example",
            "subagent_chain",
            json!({ "chain": [entry] }),
            json!({ "steps": [entry] }),
        ),
    ] {
        assert_eq!(prepared(tool, &given), expected, "{label}");
    }
}

#[test]
fn values_with_one_meaning_are_converted() {
    let entry = json!({ "agent": "explorer", "task": "look" });
    for (label, tool, given, expected) in [
        (
            "numbers as text",
            "sessions_list",
            json!({ "limit": " 5 ", "activeMinutes": "30.0" }),
            json!({ "limit": 5, "activeMinutes": 30 }),
        ),
        (
            "truth as text",
            "sessions_history",
            json!({ "sessionKey": "a", "includeTools": "True" }),
            json!({ "sessionKey": "a", "includeTools": true }),
        ),
        (
            "truth as 0",
            "sessions_history",
            json!({ "sessionKey": "a", "includeTools": 0 }),
            json!({ "sessionKey": "a", "includeTools": false }),
        ),
        (
            "an id of digits as a number",
            "sessions_stop",
            json!({ "sessionKey": 12_345_678 }),
            json!({ "sessionKey": "12345678" }),
        ),
        (
            "a choice in capitals",
            "sessions_spawn",
            json!({ "task": "look", "cleanup": "Keep" }),
            json!({ "task": "look", "cleanup": "keep" }),
        ),
        (
            "a schema as text",
            "sessions_spawn",
            json!({ "task": "look", "outputSchema": r#"{"type":"object"}"# }),
            json!({ "task": "look", "outputSchema": { "type": "object" } }),
        ),
        (
            "empty values",
            "sessions_spawn",
            json!({ "task": "look", "cleanup": "", "outputSchema": {}, "model": null, "label": "  ", "thinking": "null", "agentId": [] }),
            json!({ "task": "look" }),
        ),
        (
            "empty values of other tools",
            "subagent",
            json!({ "agent": "explorer", "task": "look", "tasks": [], "chain": null, "agentScope": "" }),
            entry.clone(),
        ),
        ("no arguments", "agents_list", Value::Null, json!({})),
        (
            "other spellings",
            "sessions_spawn",
            json!({ "task": "look", "run_timeout_seconds": 60, "agent-id": "tester" }),
            json!({ "task": "look", "runTimeoutSeconds": 60, "agentId": "tester" }),
        ),
        (
            "Claude Code's Task",
            "subagent",
            json!({ "subagent_type": "explorer", "description": "Find it", "prompt": "look", "run_in_background": false }),
            entry.clone(),
        ),
        (
            "Claude Code's Task in the background",
            "sessions_spawn",
            json!({ "subagent_type": "explorer", "description": "Find it", "prompt": "look", "run_in_background": "true" }),
            json!({ "agentId": "explorer", "label": "Find it", "task": "look" }),
        ),
        (
            "the key of a receipt",
            "sessions_stop",
            json!({ "childSessionKey": "agent:a:subagent:b" }),
            json!({ "sessionKey": "agent:a:subagent:b" }),
        ),
        (
            "the id of a receipt",
            "sessions_send",
            json!({ "runId": "1a2b3c4d", "message": "Go on." }),
            json!({ "sessionKey": "1a2b3c4d", "message": "Go on." }),
        ),
        (
            "OpenClaw's sessions_send",
            "sessions_send",
            json!({ "label": "docs", "message": "Go on." }),
            json!({ "sessionKey": "docs", "message": "Go on." }),
        ),
        (
            "one value under two names",
            "subagent",
            json!({ "agent": "explorer", "agentId": "explorer", "task": "look" }),
            entry,
        ),
    ] {
        assert_eq!(prepared(tool, &given), expected, "{label}");
    }
}

#[test]
fn a_mistake_is_explained_with_its_place_and_the_expected_form() {
    let entry = json!({ "agent": "explorer", "task": "look" });
    let cases = [
        ("subagent_parallel", json!({ "tasks": ["Find the tests", entry, { "agent": "tester" }] })),
        ("subagent_parallel", json!({ "tasks": "Find the tests" })),
        ("subagent_parallel", json!({ "tasks": "[{\"agent\": \"explorer\", \"task\": " })),
        ("subagent_parallel", json!({ "tasks": 3 })),
        ("subagent_parallel", json!({ "tasks": [] })),
        ("subagent_parallel", json!({ "steps": [entry] })),
        ("subagent_parallel", entry.clone()),
        (
            "subagent_parallel",
            json!({ "tasks": [{ "agent": "explorer", "task": "look", "tools": ["read"] }] }),
        ),
        ("subagent_chain", json!({ "tasks": [entry] })),
        ("subagent", json!({ "tasks": [entry] })),
        ("subagent", json!({ "chain": [entry] })),
        (
            "subagent",
            json!({ "agent": "explorer", "task": "look", "agentScope": "user", "confirmProjectAgents": false }),
        ),
        ("subagent", json!({ "agent": "explorer", "task": "look", "outputSchema": { "type": "object" } })),
        ("subagent", json!({ "agent": "explorer", "task": "look", "run_in_background": true })),
        ("subagent", json!({ "agent": "explorer", "task": "look", "prompt": "read" })),
        ("subagent", json!({ "agent": "explorer", "task": "look", "resume": "1a2b3c4d" })),
        ("subagent", json!({ "agent": "explorer", "task": { "goal": "look" } })),
        ("subagent", json!({ "agent": "explorer", "description": "look" })),
        ("subagent", json!({ "action": "list" })),
        ("subagent", json!({ "agent": "", "task": " " })),
        ("subagent", json!("explorer")),
        (
            "sessions_spawn",
            json!({ "task": "look", "runTimeoutSeconds": -1, "cleanup": "later", "outputSchema": "none" }),
        ),
        ("sessions_spawn", json!({ "tasks": [entry] })),
        ("sessions_spawn", json!({ "task": "look", "labl": "x" })),
        ("sessions_list", json!({ "limit": "all", "activeMinutes": 2.5 })),
        ("sessions_list", json!({ "limit": 1e30 })),
        ("sessions_history", json!({ "sessionKey": "a", "includeTools": "some" })),
        ("sessions_send", json!({ "sessionKey": "a", "runId": "b", "message": "Go on." })),
        ("agents_list", json!({ "agent": "explorer" })),
        (
            "sessions_list",
            json!({ "a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7, "h\u{1b}[31m\n`": 8 }),
        ),
    ];
    let explained = cases.map(|(tool, given)| format!("{tool} {given}\n{}", refused(tool, given.clone())));
    insta::assert_snapshot!("arguments", explained.join("\n\n"));
}

#[test]
fn invalid_or_deeply_nested_json_is_refused() {
    for json in ["", "{", &format!("{{\"tasks\":{}", "[".repeat(100_000))] {
        let misuse = prepare_json(Tool::Parallel, json).expect_err("the JSON is refused").to_string();
        assert!(misuse.starts_with("The arguments are not valid JSON ("), "{misuse}");
    }
    let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    assert!(refused("subagent_parallel", json!({ "tasks": deep })).contains("is text that is not JSON"));
}

#[test]
fn a_message_stays_short_for_any_argument() {
    let long = "x".repeat(100_000);
    let entries: Vec<Value> = (0..100).map(|_| json!(long)).collect();
    for given in [
        json!({ "tasks": long }),
        json!({ "tasks": entries }),
        json!({ long.clone(): 1, "tasks": [{ long.clone(): 1 }] }),
    ] {
        let message = refused("subagent_parallel", given);
        assert!(message.len() < 3_000, "{} bytes", message.len());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "agent",
        "task",
        "tasks",
        "steps",
        "cwd",
        "model",
        "prompt",
        "sessionKey",
        "limit",
        "cleanup",
        "label",
        "outputSchema",
        "includeTools",
        "description",
        "other",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}\\[\\]\" ]{0,8}".prop_map(Value::from),
        Just(json!("[{\"agent\":\"a\",\"task\":\"b\"}]")),
    ];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn prepared_arguments_are_not_changed_again(given in any_json()) {
        for tool in Tool::TEXTS.iter().filter_map(|text| Tool::parse(text)) {
            if let Ok(once) = prepare_arguments(tool, given.clone()) {
                prop_assert_eq!(prepare_arguments(tool, once.clone()), Ok(once));
            }
        }
    }
}
