//! The memory that a collector takes for records of any size.

use crate::heap::held;
use pi_events::{Collector, DisplayItem};
use serde_json::{Value, json};

use crate::questions::ask;
use crate::{END_HEAD, END_TAIL, call, collect, held_before, message_end, started, stream, text};

/// One more than the largest working set of the collector.
const MEMORY_LIMIT: usize = 3 * 1024 * 1024;

#[test]
fn repeated_results_take_little_memory() {
    /// The documented working set of a collector that expects a result.
    const LIMIT: usize = 9 * 1024 * 1024;
    let before = held_before();
    let mut collector = Collector::new().with_submit_tool("submit_result");
    let long = "x".repeat(512 * 1024);
    let head = br#"{"role":"toolResult","toolName":"submit_result","details":{"submitted":{"a":""#;
    collector.push(br#"{"type":"turn_end","toolResults":["#);
    for kind in [&b""[..], b"]}\n{\"type\":\"agent_end\",\"messages\":["] {
        collector.push(kind);
        for _ in 0..6 {
            collector.push(head);
            for _ in 0..3 {
                collector.push(long.as_bytes());
                assert!(held() - before - long.len() < LIMIT, "{}", held() - before);
            }
            collector.push(br#""}},"isError":false},"#);
        }
        collector.push(b"0");
    }
    collector.push(b"],\"willRetry\":false}\n");
    assert!(
        collector.into_collected().submitted.is_some_and(|submitted| submitted.json.len() > 3 * long.len())
    );
}

#[test]
fn repeated_messages_take_no_memory() {
    let before = held_before();
    let mut collector = Collector::new();
    collector
        .push(stream(&[json!({"type": "agent_start"}), json!({"type": "turn_start"}), started()]).as_bytes());
    collector.push(br#"{"type":"agent_end","messages":["#);
    let long = "x".repeat(1 << 20);
    for number in 0..20 {
        collector.push(br#"{"role":"assistant","content":[{"type":"text","text":""#);
        for part in [number.to_string().as_bytes(), b" ", long.as_bytes(), b"\"}],\"stopReason\":\"stop\"},"]
        {
            collector.push(part);
            assert!(held() - before - long.len() < MEMORY_LIMIT, "{}", held() - before);
        }
    }
    collector.push(b"{\"role\":\"user\"}],\"willRetry\":false}\n");
    assert!(collector.into_collected().text.is_some_and(|text| text.starts_with("19 ")));
}

#[test]
fn a_64_mib_answer_keeps_its_head_and_its_tail() {
    let words = b"lorem ipsum dolor sit amet \\n".repeat(36_000);
    let large = "word ".repeat(10_000);
    let before = held_before();
    let mut collector = Collector::new();
    // No reader takes the waiting items.
    for number in 0..2000 {
        let question = ask(number, &json!({"method": "select", "title": large, "options": vec![&large; 99]}));
        let answer =
            json!({"id": large, "type": "response", "command": large, "success": false, "error": large});
        collector.push(
            stream(&if number < 10 { vec![question, answer] } else { vec![ask(number, &json!({}))] })
                .as_bytes(),
        );
    }
    collector.push(END_HEAD.as_bytes());
    collector.push(b"FIRST ");
    let mut largest = 0;
    for _ in 0..64 {
        collector.push(&words);
        largest = largest.max(held() - before);
    }
    collector.push(b" LAST");
    collector.push(END_TAIL.as_bytes());
    // A second one while the first is kept is the most that can occur.
    collector.push(END_HEAD.as_bytes());
    collector.push(&words);
    collector.push(&words);
    largest = largest.max(held() - before);
    assert!(largest < MEMORY_LIMIT, "{largest}");
    let collected = collector.into_collected();
    let text = collected.text.expect("the child answered");
    assert!(text.starts_with("FIRST lorem ") && text.ends_with(" LAST"));
    assert!(text.len() < 1024 * 1024 + 64 && text.len() > 1000 * 1024, "{}", text.len());
    assert!(collected.omitted_bytes > 55_000_000, "{}", collected.omitted_bytes);
    assert!(text.contains(&format!("\n[{} bytes omitted]\n", collected.omitted_bytes)));
    let Some(DisplayItem::Text { text }) = collected.display_items.first() else {
        panic!("the item is not a text")
    };
    assert!(text.len() <= 4200 && text.starts_with("FIRST") && text.ends_with("LAST"));
}

#[test]
fn skipped_records_of_any_size_take_no_memory() {
    let filler = vec![b'y'; 1 << 20];
    let heads = [
        r#"{"type":"tool_execution_end","toolCallId":"a","toolName":"b","result":{"content":[{"type":"text","text":""#,
        r#"{"type":"tool_execution_update","toolCallId":"a","args":{"x":""#,
        r#"{"type":"agent_end","messages":[{"role":"assistant","content":[{"type":"text","text":""#,
        r#"{"type":"turn_end","message":{"role":"assistant","content":[{"type":"text","text":""#,
        r#"{"type":"message_start","message":{"role":"assistant","content":[{"type":"text","text":""#,
        r#"{"type":"message_end","message":{"role":"toolResult","content":[{"type":"text","text":""#,
        r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"d","partial":""#,
        r#"{"type":"from_the_future","payload":""#,
        r#"{"type":"response","command":"x","success":true,"data":{"messages":[{"disposition":""#,
        r#"{"type":"response","command":"x","success":true,"data":[""#,
        r#"{"type":"extension_ui_request","id":"1","method":"setWidget","widgetLines":[""#,
        "not JSON at all ",
        r#"{"broken" "#,
    ];
    for head in heads {
        let before = held_before();
        let mut collector = Collector::new();
        collector.push(head.as_bytes());
        for _ in 0..64 {
            collector.push(&filler);
            assert!(held() - before < 64 * 1024, "{head}: {}", held() - before);
        }
    }
}

#[test]
fn kept_records_of_any_shape_stay_bounded() {
    let heads = [
        r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":""#,
        r#"{"type":"message_end","message":{"role":"assistant","errorMessage":""#,
        r#"{"type":"message_end","message":{"role":""#,
        r#"{"type":""#,
        r#"{"the_key_is_""#,
        r#"{"n":1"#,
        r#"{"type":"tool_execution_start","toolCallId":""#,
        r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"a":""#,
        r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":""#,
        r#"{"type":"response","error":""#,
        r#"{"type":"response","data":{"disposition":""#,
        r#"{"type":"extension_ui_request","title":""#,
        r#"{"options":[""#,
        r#"{"options":[1"#,
        r#"{"type":"auto_retry_start","errorMessage":""#,
    ];
    for head in heads {
        for filler in [b"1".as_slice(), b"\xff", b"\\u0001", "\u{20ac}".as_bytes(), b"1,"] {
            let filler = filler.repeat(1 << 17);
            let before = held_before();
            let mut collector = Collector::new();
            collector.push(head.as_bytes());
            // Enough to exceed the limit of the text that the head begins.
            for _ in 0..if head.ends_with(r#""text":""#) { 10 } else { 2 } {
                collector.push(&filler);
                assert!(held() - before < MEMORY_LIMIT, "{head}: {}", held() - before);
            }
        }
    }
    let parts =
        [text("text"), call("t", &json!({"a": "x".repeat(20_000), "b": "y".repeat(20_000), "c": "z"}))];
    let content: Vec<&Value> = parts.iter().cycle().take(2000).collect();
    let before = held_before();
    let mut collector = Collector::new();
    collector.push(stream(&[message_end(&json!(content), "toolUse")]).as_bytes());
    assert!(held() - before < MEMORY_LIMIT, "{}", held() - before);
    let json = serde_json::to_string(&collector.live().display_items).expect("the value is serialized");
    assert!(json.len() < 60 * 1024, "{}", json.len());
}

#[test]
fn long_arguments_are_cut_not_dropped() {
    let arguments = json!({
        "path": "a.txt",
        "content": format!("BEGIN {} END", "word ".repeat(10_000)),
        "deep": (0..40).fold(json!("bottom"), |inner, _| json!([inner])),
        "zahl": 1.5, "ja": true, "nichts": null,
    });
    let collected = collect(stream(&[message_end(&json!([call("write", &arguments)]), "toolUse")]));
    let [DisplayItem::ToolCall { name, args, .. }] = collected.display_items.as_slice() else {
        panic!("the items are not one tool call")
    };
    assert_eq!(name, "write");
    assert_eq!((&args["path"], &args["zahl"], &args["ja"]), (&json!("a.txt"), &json!(1.5), &json!(true)));
    assert_eq!(args["nichts"], Value::Null);
    assert!(args["deep"].is_array());
    let content = args["content"].as_str().expect("the content is a string");
    assert!(content.len() <= 17 * 1024 && content.starts_with("BEGIN") && content.ends_with("END"));
    assert!(content.contains(" bytes omitted]"));
}

#[test]
fn large_tool_results_take_no_memory() {
    let result = "r".repeat(50 * 1024);
    let before = held_before();
    let mut collector = Collector::new();
    for number in 0..200 {
        let id = number.to_string();
        let content = json!([text(&result)]);
        collector.push(
            stream(&[
                message_end(
                    &json!([{"type": "toolCall", "id": id, "name": "read", "arguments": {}}]),
                    "toolUse",
                ),
                json!({"type": "tool_execution_start", "toolCallId": id, "toolName": "read", "args": {}}),
                json!({"type": "tool_execution_end", "toolCallId": id, "result": {"content": content}}),
                json!({"type": "message_start", "message": {"role": "toolResult", "content": content}}),
                json!({"type": "message_end", "message": {"role": "toolResult", "content": content}}),
                json!({"type": "turn_end", "toolResults": [{"content": content}]}),
            ])
            .as_bytes(),
        );
        assert!(held() - before < 100 * 1024, "{}", held() - before);
    }
    collector.push(stream(&[message_end(&json!([text("done")]), "stop")]).as_bytes());
    let collected = collector.into_collected();
    assert_eq!(collected.text.as_deref(), Some("done"));
    assert_eq!((collected.tools_completed, collected.usage.turns), (200, 201));
}
