//! The state that each kind of event leaves: the answer, its usage, tools, retries and limits.

use std::time::{Duration, SystemTime};

use crate::heap::held;
use pi_events::{Collected, Collector, Progress, Refusal, StopReason};
use serde_json::{Value, json};

use crate::properties::{PLAIN, written};
use crate::{call, collect, delta, fed, held_before, message_end, started, stream, text};

#[test]
fn usage_is_summed_and_the_answer_is_the_last_message_without_a_tool_call() {
    let collected = collect(stream(&[
        message_end(&json!([text("let me look"), call("read", &json!({"path": "a"}))]), "toolUse"),
        message_end(&json!([text("first"), {"type": "thinking", "thinking": "hm"}, text("second")]), "stop"),
        message_end(&json!([call("bash", &json!({"command": "ls"}))]), "toolUse"),
    ]));
    assert_eq!(collected.text.as_deref(), Some("first\nsecond"));
    assert_eq!(collected.stop_reason, Some(StopReason::ToolUse));
    assert_eq!((collected.usage.input, collected.usage.total_tokens, collected.usage.turns), (3, 9, 3));
    assert!((collected.usage.cost.total - 1.5).abs() < 1e-9);
    assert_eq!(collected.model.as_deref(), Some("p/m"));
    let items = serde_json::to_value(&collected.display_items).expect("the value is serialized");
    assert_eq!(
        items,
        json!([
            {"type": "text", "text": "let me look"},
            {"type": "toolCall", "name": "read", "args": {"path": "a"}},
            {"type": "text", "text": "first"},
            {"type": "text", "text": "second"},
            {"type": "toolCall", "name": "bash", "args": {"command": "ls"}},
        ])
    );
}

#[test]
fn a_failed_call_is_marked_in_the_items() {
    let calls = json!([
        {"type": "toolCall", "id": "a", "name": "ls", "arguments": {}},
        {"type": "toolCall", "id": "b", "name": "ls", "arguments": {}},
    ]);
    let end = |id: &str, is_error: bool| json!({"type": "tool_execution_end", "toolCallId": id, "toolName": "ls", "result": {}, "isError": is_error});
    let start =
        |id: &str| json!({"type": "tool_execution_start", "toolCallId": id, "toolName": "ls", "args": {}});
    let stream_of = [message_end(&calls, "toolUse"), start("a"), start("b"), end("b", true), end("a", false)];
    let items = serde_json::to_value(collect(stream(&stream_of)).display_items);
    assert_eq!(
        items.expect("the value is serialized"),
        json!([
            {"type": "toolCall", "name": "ls", "args": {}},
            {"type": "toolCall", "name": "ls", "args": {}, "isError": true},
        ])
    );
}

#[test]
fn the_answer_and_the_partial_text_are_separate() {
    type Case<'a> = (&'a str, Vec<Value>, Option<&'a str>, Option<&'a str>);
    let answer = || message_end(&json!([text("answer")]), "stop");
    let failed = |content| message_end(&content, "error");
    let start = started;
    let cases: &[Case] = &[
        ("nothing", vec![], None, None),
        ("an answer", vec![delta("ans"), answer()], Some("answer"), None),
        ("cut off", vec![start(), delta("par"), delta("tial")], None, Some("partial")),
        ("cut off after an answer", vec![answer(), start(), delta("x")], Some("answer"), Some("x")),
        ("failed with text", vec![delta("a"), failed(json!([text("ab")]))], None, Some("ab")),
        ("failed without its text", vec![delta("a"), failed(json!([]))], None, Some("a")),
        ("failed after an answer", vec![answer(), failed(json!([]))], Some("answer"), None),
        (
            "streamed and failed after an answer",
            vec![answer(), start(), delta("x"), failed(json!([]))],
            Some("answer"),
            Some("x"),
        ),
        (
            "answered after a failure",
            vec![failed(json!([text("a")])), start(), answer()],
            Some("answer"),
            None,
        ),
        ("aborted", vec![message_end(&json!([text("a")]), "aborted")], None, Some("a")),
        ("cut by its length", vec![message_end(&json!([text("a")]), "length")], Some("a"), None),
        (
            "only a tool call",
            vec![message_end(&json!([text("look"), call("ls", &json!({}))]), "toolUse")],
            None,
            Some("look"),
        ),
        ("an empty answer", vec![answer(), message_end(&json!([]), "stop")], None, Some("answer")),
        (
            "blocks of a live text",
            vec![
                start(),
                delta("a"),
                json!({"type": "message_update",
            "assistantMessageEvent": {"type": "text_start", "contentIndex": 2}}),
                delta("b"),
            ],
            None,
            Some("a\nb"),
        ),
    ];
    for (label, records, text, partial) in cases {
        let collected = collect(stream(records));
        assert_eq!(collected.text.as_deref(), *text, "{label}");
        assert_eq!(collected.partial.as_deref(), *partial, "{label}");
    }
}

#[test]
fn live_text_grows_with_the_deltas() {
    let mut collector = Collector::new();
    let progress = collector.push(stream(&[started(), delta("Hello "), delta("there")]).as_bytes());
    assert_eq!(progress, Progress { events: 3, changed: true });
    assert_eq!(collector.live().text, "Hello there");
    assert!(!collector.push(b"{\"type\":\"turn_start\"}\n").changed);
    let progress = collector.push(&stream(&[delta("!")]).as_bytes()[..40]);
    assert_eq!(progress, Progress::default(), "an incomplete record is no event");
    collector.push(&stream(&[delta("!")]).as_bytes()[40..]);
    assert_eq!(collector.live().text, "Hello there!");
}

#[test]
fn live_text_keeps_the_newest_64_kib() {
    let before = held_before();
    let mut collector = Collector::new();
    for number in 0..40_000 {
        collector.push(stream(&[delta(&format!("word{number} "))]).as_bytes());
    }
    let live = collector.live().text;
    assert!(live.len() <= 64 * 1024 && live.len() > 63 * 1024, "{}", live.len());
    assert!(
        live.starts_with("word") && live.ends_with("word39999 "),
        "the text has whole words at both ends"
    );
    assert!(held() - before < 200 * 1024, "{}", held() - before);
}

#[test]
fn the_work_is_settled_by_the_event_of_pi() {
    let end = json!({"type": "agent_end", "messages": []});
    let end_of =
        |retry: bool| json!({"type": "agent_end", "messages": [{"role": "user"}], "willRetry": retry});
    let start = json!({"type": "agent_start"});
    let settled = json!({"type": "agent_settled"});
    let retry = json!({"type": "auto_retry_start", "attempt": 1});
    let compaction = json!({"type": "compaction_start"});
    let system = json!({"type": "message_end", "message": {"role": "system", "content": ""}});
    let cases: &[(&str, &[&Value], bool)] = &[
        ("nothing", &[&start], false),
        ("old, ended", &[&start, &end], true),
        ("old, retried", &[&start, &end, &retry], false),
        ("old, retrying", &[&start, &end, &retry, &start], false),
        ("old, retried and ended", &[&start, &end, &retry, &start, &end], true),
        ("old, compacting", &[&start, &end, &compaction], false),
        ("new, ended", &[&start, &end_of(false)], false),
        ("new, will retry", &[&start, &end_of(true)], false),
        ("new, settled", &[&start, &end_of(false), &settled], true),
        ("new, asked again", &[&start, &end_of(false), &settled, &start], false),
        ("new by its system message", &[&start, &system, &end], false),
        ("new by its system message, settled", &[&start, &system, &end_of(false), &settled], true),
    ];
    for (label, records, expected) in cases {
        let records: Vec<Value> = records.iter().map(|record| (*record).clone()).collect();
        assert_eq!(collect(stream(&records)).settled, *expected, "{label}");
    }
}

#[test]
fn only_a_whole_answer_without_a_tool_call_is_the_result_of_unsettled_work() {
    for (content, stop_reason, is_result) in [
        (json!([text("done")]), "stop", true),
        (json!([text("done")]), "length", false),
        (json!([text("done")]), "error", false),
        (json!([text(" \n")]), "stop", false),
        (json!([]), "stop", false),
        (json!([text("I look"), call("read", &json!({"path": "a"}))]), "stop", false),
        (json!([text("I look"), call("read", &json!({"path": "a"}))]), "toolUse", false),
    ] {
        let collected = collect(stream(&[message_end(&content, stop_reason)]));
        assert_eq!(
            (collected.ends_with_answer, collected.settled),
            (is_result, false),
            "{content} {stop_reason}"
        );
    }
}

#[test]
fn later_records_do_not_change_the_result() {
    let answer = |answer_text: &str, tokens: u64| {
        let mut record = message_end(&json!([text(answer_text)]), "stop");
        record["message"]["usage"] = json!({"input": tokens});
        record
    };
    let start = json!({"type": "agent_start"});
    let settled = json!({"type": "agent_settled"});
    let tool = json!({"type": "tool_execution_start", "toolCallId": "a", "toolName": "bash"});
    let work = stream(&[start.clone(), answer("The answer.", 10), settled.clone()]);
    let alone = collect(&work);
    let mut collector = Collector::new();
    collector.push(work.as_bytes());
    // An extension's report about itself does not revoke anything.
    collector.push(stream(&[json!({"type": "extension_error"})]).as_bytes());
    assert!(collector.live().finished && collector.live().has_answer);
    collector.begin_epilogue();
    let live = collector.live();
    assert!(!live.settled && !live.finished && !live.has_answer);
    assert_eq!((live.text, live.stop_reason), ("The answer.", None));
    collector.push(stream(&[start, tool, delta("Short")]).as_bytes());
    let live = collector.live();
    assert_eq!((live.text, live.running_tools, live.streaming), ("The answer.", 1, true));
    let failed = message_end(&json!([text("no")]), "error");
    collector.push(stream(&[answer("Short.", 5), failed, settled]).as_bytes());
    assert!(collector.live().finished);
    collector.begin_epilogue();
    let collected = collector.into_collected();
    let epilogue = collected.epilogue.as_deref().expect("the stream has an epilogue");
    assert_eq!(
        (epilogue.text.as_deref(), epilogue.stop_reason.clone()),
        (Some("Short."), Some(StopReason::Error))
    );
    assert_eq!((epilogue.tools_started, epilogue.settled), (1, true));
    assert_eq!((collected.usage.input, collected.usage.turns), (16, 3));
    let of_the_work =
        Collected { usage: alone.usage.clone(), counts: alone.counts, epilogue: None, ..collected };
    let last = Some("extension_error".to_owned());
    assert_eq!(of_the_work, Collected { last_event: last, ..alone });
}

#[test]
fn retries_are_reported() {
    let records = [
        json!({"type": "auto_retry_start", "attempt": 1, "maxAttempts": 3, "errorMessage": "500"}),
        json!({"type": "auto_retry_start", "attempt": 2, "maxAttempts": 3, "errorMessage": "500"}),
        json!({"type": "auto_retry_end", "success": false, "attempt": 2, "finalError": "500 again"}),
    ];
    let retry = collect(stream(&records)).retry.expect("the stream has retries");
    assert_eq!((retry.attempts, retry.exhausted, retry.final_error.as_deref()), (2, true, Some("500 again")));
    let retry = collect(stream(&records[..2])).retry.expect("the stream has retries");
    assert_eq!((retry.attempts, retry.exhausted), (2, false));
}

#[test]
fn a_retry_is_shown_until_the_model_answers_or_pi_gives_up() {
    let error = r#"429: {"message":"Slow down."}"#;
    let start = json!({"type": "auto_retry_start", "attempt": 2, "maxAttempts": 3, "delayMs": 4000, "errorMessage": error});
    let answers = json!({"type": "message_start", "message": {"role": "assistant", "content": [], "stopReason": "pending"}});
    let gives_up = json!({"type": "auto_retry_end", "success": false, "finalError": "500"});
    for end in [answers, gives_up, json!({"type": "agent_settled"})] {
        let mut collector = Collector::new();
        let before = SystemTime::now();
        collector.push(stream(&[start.clone(), json!({"type": "agent_start"})]).as_bytes());
        let retry = collector.live().retry.cloned().expect("the retry is announced");
        assert_eq!((retry.attempt, retry.max_attempts, retry.error.as_deref()), (2, Some(3), Some(error)));
        let pause = retry.at.duration_since(before).expect("the retry is in the future");
        assert!(pause >= Duration::from_secs(4) && pause < Duration::from_secs(60), "{pause:?}");
        collector.push(stream(std::slice::from_ref(&end)).as_bytes());
        assert_eq!(collector.live().retry, None, "{end}");
    }
}

#[test]
fn a_tool_counts_as_running_between_its_start_and_its_end() {
    let start =
        |id: &str| json!({"type": "tool_execution_start", "toolCallId": id, "toolName": "bash", "args": {}});
    let end = |id: &str| {
        json!({"type": "tool_execution_end", "toolCallId": id, "toolName": "bash",
            "result": {"toolCallId": "other", "content": []}})
    };
    let mut collector = Collector::new();
    collector.push(stream(&[start("a"), start("b")]).as_bytes());
    assert_eq!(collector.live().running_tools, 2);
    collector.push(stream(&[end("a"), end("a"), end("unknown")]).as_bytes());
    assert_eq!(collector.live().running_tools, 1);
    collector.push(b"{\"type\":\"turn_end\"}\n");
    assert_eq!(collector.live().running_tools, 0, "the end of each tool is counted");
    for number in 0..1000 {
        collector.push(stream(&[start(&number.to_string())]).as_bytes());
    }
    assert!(collector.live().running_tools <= 256);
    let collected = collector.into_collected();
    assert_eq!((collected.tools_started, collected.tools_completed), (1002, 3));
    assert_eq!(collected.tool_names.into_iter().collect::<Vec<_>>(), ["bash"]);
}

/// The stream is also cut into single bytes, and follows any amount of output.
#[test]
fn a_failed_shell_command_reports_its_error() {
    // In pi's order.
    let end = |tool: &str, is_error: bool, text: &str| {
        let result =
            json!({ "content": [{ "type": "text", "text": text }], "details": "Read-only file system" });
        format!(
            "{{\"type\":\"tool_execution_end\",\"toolCallId\":\"a\",\"toolName\":\"{tool}\",\"result\":{result},\"isError\":{is_error}}}\n"
        )
    };
    let read_only = "bash: line 1: x: Read-only file system\n\nCommand exited with code 1";
    let denied = "mkdir: 'é': Permission denied\n\nCommand exited with code 1";
    let long = format!("{}{denied}", "é\n".repeat(40_000));
    for (label, streams, expected) in [
        ("read-only", vec![end("bash", true, read_only)], Some(Refusal::ReadOnly)),
        ("denied", vec![end("bash", true, denied)], Some(Refusal::Denied)),
        ("after much output", vec![end("bash", true, &long)], Some(Refusal::Denied)),
        (
            "the more severe refusal",
            vec![end("bash", true, read_only), end("bash", true, denied)],
            Some(Refusal::ReadOnly),
        ),
        ("the command succeeded", vec![end("bash", false, read_only)], None),
        ("another tool", vec![end("read", true, denied)], None),
        ("far from the end", vec![end("bash", true, &format!("{denied}{}", "x".repeat(4_000)))], None),
        ("no denied path", vec![end("bash", true, "Command exited with code 1")], None),
    ] {
        let bytes = streams.concat();
        assert_eq!(collect(&bytes).refusal, expected, "{label}");
        let mut collector = Collector::new();
        for byte in bytes.as_bytes() {
            collector.push(std::slice::from_ref(byte));
        }
        assert_eq!(collector.into_collected().refusal, expected, "{label}, byte by byte");
    }
}

#[test]
fn retries_count_as_exhausted_only_for_the_last_request() {
    let start = json!({"type": "auto_retry_start", "attempt": 1, "errorMessage": "500"});
    let end = |error: &str| json!({"type": "auto_retry_end", "success": false, "finalError": error});
    let failed = || message_end(&json!([]), "error");
    let cases: &[(&str, &[Value], bool)] = &[
        ("gave up", &[failed(), start.clone(), failed(), end("500")], true),
        ("called off", &[failed(), start.clone(), end("Retry cancelled")], false),
        (
            "gave up, then another request failed",
            &[start.clone(), failed(), end("500"), message_end(&json!([]), "error")],
            false,
        ),
        (
            "gave up, then answered",
            &[start.clone(), failed(), end("500"), message_end(&json!([]), "stop")],
            false,
        ),
    ];
    for (label, records, exhausted) in cases {
        let retry = collect(stream(records)).retry;
        assert_eq!(retry.is_some_and(|retry| retry.exhausted), *exhausted, "{label}");
    }
}

#[test]
fn tools_beyond_the_kept_names_are_counted() {
    let start = |name: String| json!({"type": "tool_execution_start", "toolCallId": "a", "toolName": name});
    let mut records: Vec<Value> = (0..66).map(|number| start(number.to_string())).collect();
    records.extend([start("0".to_owned()), json!({"type": "tool_execution_start", "toolCallId": "b"})]);
    let collected = collect(stream(&records));
    assert_eq!((collected.tool_names.len(), collected.tools_unnamed, collected.tools_started), (64, 3, 68));
}

#[test]
fn a_rate_limit_is_reported_with_its_time() {
    let retry = |error: &str, delay_ms: u64| json!({"type": "auto_retry_start", "attempt": 1, "delayMs": delay_ms, "errorMessage": error});
    let failed = |error: &str| {
        json!({"type": "message_end", "message": {"role": "assistant", "content": [], "stopReason": "error",
            "errorMessage": error}})
    };
    let cases: &[(&str, Vec<Value>, Option<u64>)] = &[
        ("pi's own pause", vec![retry("429: slow down", 2000)], Some(2000)),
        ("the provider's", vec![retry("429: try again in 7s", 2000)], Some(7000)),
        ("the longest", vec![retry("429: try again in 7s", 1), retry("429", 2000)], Some(7000)),
        ("not retried", vec![failed("usage limit reached. Try again in ~5 min.")], Some(300_000)),
        ("not retried, without a time", vec![failed("429: slow down")], None),
        ("another error", vec![retry("500: try again in 7s", 2000), failed("500: try again in 7s")], None),
        ("no error", vec![json!({"type": "auto_retry_start", "attempt": 1, "delayMs": 2000})], None),
        (
            "an answer about limits",
            vec![message_end(&json!([text("429: rate limit, try again in 9s")]), "stop")],
            None,
        ),
    ];
    for (label, records, expected) in cases {
        let mut collector = fed([stream(records).as_bytes()]);
        let delay = collector.take_rate_limit().map(|limit| limit.delay);
        assert_eq!(delay, expected.map(Duration::from_millis), "{label}");
        assert_eq!(collector.take_rate_limit(), None, "{label}: the rate limit is reported once");
    }
}

#[test]
fn the_live_state_shows_streaming_and_the_last_stop_reason() {
    let update =
        |kind: &str| json!({"type": "message_update", "assistantMessageEvent": {"type": kind, "delta": "x"}});
    let user = json!({"type": "message_start", "message": {"role": "user", "content": "go"}});
    let mut collector = Collector::new();
    let steps: &[(&str, Value, bool, bool, Option<&str>)] = &[
        ("a prompt", user, false, false, None),
        ("a message begins", started(), true, true, None),
        ("the model thinks", update("thinking_delta"), false, true, None),
        (
            "the model calls a tool",
            message_end(&json!([call("ls", &json!({}))]), "toolUse"),
            true,
            false,
            Some("toolUse"),
        ),
        ("another message without its beginning", update("thinking_delta"), true, true, Some("toolUse")),
        (
            "the agent ends",
            json!({"type": "agent_end", "messages": [], "willRetry": true}),
            true,
            false,
            Some("toolUse"),
        ),
        ("again", delta("x"), true, true, Some("toolUse")),
        ("the message is aborted", message_end(&json!([text("x")]), "aborted"), true, false, Some("aborted")),
        (
            "a spelled-out update",
            json!({"assistantMessageEvent": {"type": "text_start"}, "type": "message_update"}),
            true,
            true,
            Some("aborted"),
        ),
        ("settled", json!({"type": "agent_settled"}), true, false, Some("aborted")),
    ];
    for (label, record, changed, streaming, stop_reason) in steps {
        let progress = collector.push(stream(std::slice::from_ref(record)).as_bytes());
        let live = collector.live();
        assert_eq!(
            (live.streaming, live.stop_reason.map(StopReason::as_str)),
            (*streaming, *stop_reason),
            "{label}"
        );
        assert_eq!(progress.changed, *changed, "{label}");
    }
}

#[test]
fn the_guard_reports_the_context_use() {
    /// The tokens and the window.
    type Context = (Option<u64>, u64);
    let status = |key: &str, text: Option<&str>| json!({"type": "extension_ui_request", "id": "a", "method": "setStatus", "statusKey": key, "statusText": text});
    let ours = "pi-subagent-context";
    let cases: &[(&[Value], Option<Context>)] = &[
        (&[], None),
        (&[status(ours, Some("1200/200000"))], Some((Some(1200), 200_000))),
        (&[status(ours, Some("1200/200000")), status(ours, Some("?/200000"))], Some((None, 200_000))),
        (
            &[status(ours, Some("1200/200000")), status("git", Some("5/6")), status(ours, None)],
            Some((Some(1200), 200_000)),
        ),
        (
            &[
                json!({"type": "extension_ui_request", "id": "a", "method": "setTitle", "statusKey": ours, "statusText": "1/2"}),
            ],
            None,
        ),
    ];
    for (records, expected) in cases {
        for stream in [stream(records), written(records, PLAIN)] {
            for size in [1, 9, stream.len().max(1)] {
                let mut collector = fed(stream.as_bytes().chunks(size));
                assert!(collector.take_questions().is_empty(), "a status message is no question");
                let context = collector.into_collected().context;
                assert_eq!(context.map(|context| (context.tokens, context.window)), *expected, "{stream}");
            }
        }
    }
}
