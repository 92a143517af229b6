//! The result of a stream, for all chunks, sizes and faults.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use std::time::{Duration, SystemTime};

use pi_events::{
    Collected, Collector, Cost, Counts, DisplayItem, Progress, Question, QuestionMethod, RateLimit, Refusal,
    Response, Retry, StopReason, Usage,
};
use proptest::prelude::*;
use sanitizer::settled_length;
use serde::Serialize;
use serde_json::{Value, json};

use heap::held;

#[path = "../../../fuzz/properties/heap.rs"]
mod heap;

/// One more than the largest working set of the collector.
const MEMORY_LIMIT: usize = 3 * 1024 * 1024;

/// The memory used before there is a collector, with the rules that all collectors share.
fn held_before() -> usize {
    let _ = settled_length("");
    held()
}

fn collect(stream: impl AsRef<[u8]>) -> Collected {
    collect_chunks([stream.as_ref()])
}

fn collect_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Collected {
    fed(chunks).into_collected()
}

fn fed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Collector {
    let mut collector = Collector::new();
    for chunk in chunks {
        collector.push(chunk);
    }
    collector
}

/// All outputs of a collector.
#[derive(Debug, PartialEq)]
struct Everything {
    responses: Vec<Response>,
    questions: Vec<Question>,
    dropped: Vec<String>,
    rate_limit: Option<RateLimit>,
    streaming: bool,
    stop_reason: Option<StopReason>,
    collected: Collected,
}

fn everything<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Everything {
    let mut collector = fed(chunks);
    collector.finish();
    Everything {
        responses: collector.take_responses(),
        questions: collector.take_questions(),
        dropped: collector.take_dropped_questions(),
        rate_limit: collector.take_rate_limit(),
        streaming: collector.live().streaming,
        stop_reason: collector.live().stop_reason.cloned(),
        collected: collector.into_collected(),
    }
}

fn stream(records: &[Value]) -> String {
    records.iter().fold(String::new(), |mut stream, record| {
        writeln!(stream, "{record}").expect("writing to a string succeeds");
        stream
    })
}

fn message_end(content: &Value, stop_reason: &str) -> Value {
    json!({"type": "message_end", "message": {"role": "assistant", "content": content, "provider": "p",
        "model": "m", "usage": {"input": 1, "output": 2, "totalTokens": 3, "cost": {"total": 0.5}},
        "stopReason": stop_reason}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"type": "toolCall", "id": "c", "name": name, "arguments": arguments})
}

fn delta(text: &str) -> Value {
    json!({"type": "message_update", "usage": {"input": 1, "cost": {"total": 0}},
        "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": text}})
}

fn started() -> Value {
    json!({"type": "message_start", "message": {"role": "assistant", "content": []}})
}

/// The frame of pi's own record, for answers too large to build as values.
const END_HEAD: &str =
    r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":""#;
const END_TAIL: &str = "\"}],\"stopReason\":\"stop\"}}\n";

fn recorded() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/inputs/streams");
    let mut streams = Vec::new();
    for version in ["0.73.1", "0.87.1", "1.6.0"] {
        let mut files: Vec<_> = fs::read_dir(root.join(version))
            .expect("recorded streams are part of the repository")
            .map(|entry| entry.expect("the entry is readable").path())
            .collect();
        files.sort();
        for file in files {
            let name = file.file_stem().expect("the file has a name").to_string_lossy();
            streams.push((format!("{version} {name}"), fs::read(&file).expect("the file is readable")));
        }
    }
    streams
}

/// Returns the result of a stream as a line of JSON.
fn json_line(collected: &Collected) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        text: Option<&'a str>,
        omitted_bytes: u64,
        partial: Option<&'a str>,
        stop_reason: Option<&'a str>,
        error_message: Option<&'a str>,
        usage: UsageLine<'a>,
        model: Option<&'a str>,
        display_items: &'a [DisplayItem],
        last_event: Option<&'a str>,
        tools_started: u64,
        tools_completed: u64,
        tool_names: &'a BTreeSet<String>,
        tools_unnamed: u64,
        settled: bool,
        retry: Option<RetryLine<'a>>,
        counts: Counts,
        noise: &'a str,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct RetryLine<'a> {
        attempts: u32,
        exhausted: bool,
        final_error: Option<&'a str>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct UsageLine<'a> {
        input: u64,
        output: u64,
        cache_read: u64,
        cache_write: u64,
        total_tokens: u64,
        cost: &'a Cost,
        turns: u64,
    }
    let Usage { input, output, cache_read, cache_write, total_tokens, cost, turns } = &collected.usage;
    let retry = collected.retry.as_ref().map(|Retry { attempts, exhausted, final_error }| RetryLine {
        attempts: *attempts,
        exhausted: *exhausted,
        final_error: final_error.as_deref(),
    });
    let line = Line {
        text: collected.text.as_deref(),
        omitted_bytes: collected.omitted_bytes,
        partial: collected.partial.as_deref(),
        stop_reason: collected.stop_reason.as_ref().map(StopReason::as_str),
        error_message: collected.error_message.as_deref(),
        usage: UsageLine {
            input: *input,
            output: *output,
            cache_read: *cache_read,
            cache_write: *cache_write,
            total_tokens: *total_tokens,
            cost,
            turns: *turns,
        },
        model: collected.model.as_deref(),
        display_items: &collected.display_items,
        last_event: collected.last_event.as_deref(),
        tools_started: collected.tools_started,
        tools_completed: collected.tools_completed,
        tool_names: &collected.tool_names,
        tools_unnamed: collected.tools_unnamed,
        settled: collected.settled,
        retry,
        counts: collected.counts,
        noise: &collected.noise,
    };
    serde_json::to_string(&line).expect("the value is serialized")
}

#[test]
fn recorded_streams_give_the_expected_results() {
    let mut outcomes = String::new();
    for (name, stream) in recorded() {
        let everything = everything([stream.as_slice()]);
        let outcome = json_line(&everything.collected);
        writeln!(outcomes, "{name}\n  {outcome}").expect("writing to a string succeeds");
        let Everything { responses, questions, rate_limit, .. } = everything;
        let responses = responses.iter().map(|response| format!("{response:?}"));
        let questions = questions.iter().map(|question| format!("{question:?}"));
        for line in responses.chain(questions).chain(rate_limit.map(|limit| format!("{limit:?}"))) {
            writeln!(outcomes, "  {line}").expect("writing to a string succeeds");
        }
    }
    insta::assert_snapshot!(outcomes);
}

#[test]
fn any_chunking_of_a_recorded_stream_gives_the_same_result() {
    for (name, stream) in recorded() {
        let whole = everything([stream.as_slice()]);
        for size in [1, 2, 3, 7, 64, 1000, 65536] {
            assert_eq!(everything(stream.chunks(size)), whole, "{name} in chunks of {size}");
        }
    }
}

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

fn ask(id: usize, fields: &Value) -> Value {
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
fn a_faulty_line_does_not_affect_the_next() {
    let good = stream(&[message_end(&json!([text("good")]), "stop")]);
    let nested = format!("{{\"type\":\"x\",\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let nested_first =
        format!("{{\"a\":{}{},\"type\":\"x\"}}", "{\"a\":[".repeat(100_000), "]}".repeat(100_000));
    // label, line, events and invalid lines
    let cases: &[(&str, &[u8], u64, u64)] = &[
        ("noise", b"npm WARN something", 0, 1),
        ("blank", b" \t", 0, 0),
        ("empty", b"", 0, 0),
        ("torn record", b"{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[", 0, 1),
        ("broken escape", b"{\"a\":\"\\x\"}", 0, 1),
        ("no type", b"{\"a\":1}", 0, 1),
        ("type is no string", b"{\"type\":1}", 0, 1),
        ("array", b"[1]", 0, 1),
        ("two records on a line", b"{\"type\":\"message_end\"}{\"type\":\"message_end\"}", 2, 0),
        ("trailing CR", b"{\"type\":\"turn_start\"}\r", 1, 0),
        ("white space around", b"  {\"type\" : \"auto_retry_end\" } ", 1, 0),
        ("future type", b"{\"type\":\"session_teleported\",\"to\":\"mars\"}", 1, 0),
        ("NUL", b"{\"type\":\"auto_retry_end\",\"finalError\":\"\0\\u0000\"}", 1, 0),
        ("NUL alone", b"\0", 0, 1),
        ("deep nesting", nested.as_bytes(), 1, 0),
        ("deep nesting before the type", nested_first.as_bytes(), 1, 0),
        ("huge numbers", b"{\"type\":\"auto_retry_start\",\"attempt\":1e999}", 1, 0),
        ("unknown message", b"{\"type\":\"message_end\",\"message\":null}", 1, 0),
        (
            "message with another structure",
            b"{\"type\":\"message_end\",\"message\":{\"role\":7,\"content\":[1,[2]]}}",
            1,
            0,
        ),
    ];
    for (label, line, events, invalid) in cases {
        let mut stream = line.to_vec();
        stream.push(b'\n');
        stream.extend_from_slice(good.as_bytes());
        for size in [1, 5, stream.len()] {
            if size == 1 && stream.len() > 10_000 {
                continue;
            }
            let collected = collect_chunks(stream.chunks(size));
            assert_eq!(collected.text.as_deref(), Some("good"), "{label}");
            let counts = collected.counts;
            assert_eq!((counts.events, counts.invalid_lines), (events + 1, *invalid), "{label}");
            assert_eq!(counts.lines, counts.events + counts.invalid_lines, "{label}");
            assert_eq!(collected.usage.turns, 1, "{label}");
        }
    }
}

/// The records of a run with a tool call, as pi writes them.
fn whole_run() -> Vec<Value> {
    let calls = message_end(&json!([call("bash", &json!({"command": "ls"}))]), "toolUse");
    let answers = message_end(&json!([text("The {\"type\":\"agent_end\"} answer.")]), "stop");
    let turn = |end: &Value| json!({"type": "turn_end", "message": end["message"], "toolResults": [{"role": "toolResult", "content": [text("no")]}]});
    vec![
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
        json!({"type": "message_start", "message": {"role": "user", "content": "Do it."}}),
        json!({"type": "message_end", "message": {"role": "user", "content": "Do it."}}),
        started(),
        calls.clone(),
        json!({"type": "tool_execution_start", "toolCallId": "c", "toolName": "bash", "args": {}}),
        json!({"type": "tool_execution_end", "toolCallId": "c", "toolName": "bash", "result": {}, "isError": false}),
        turn(&calls),
        json!({"type": "turn_start"}),
        started(),
        delta("The "),
        answers.clone(),
        turn(&answers),
        json!({"type": "agent_end", "messages": [{"role": "user", "content": "Do it."}, calls["message"],
            {"role": "toolResult", "content": [text("no")]}, answers["message"], {"role": "custom", "content": "x"}], "willRetry": false}),
        json!({"type": "agent_settled"}),
    ]
}

/// The parts of a run that a user notices.
fn gist(collected: &Collected) -> (Option<&str>, Option<&str>, Option<&StopReason>, bool, u64, &Usage) {
    (
        collected.text.as_deref(),
        collected.partial.as_deref(),
        collected.stop_reason.as_ref(),
        collected.settled,
        collected.tools_completed,
        &collected.usage,
    )
}

#[test]
fn a_record_after_other_output_on_its_line_counts() {
    let run = whole_run();
    let expected = collect(written(&run, PLAIN));
    assert!(expected.settled && expected.text.is_some());
    for before in [
        "\u{7}",
        "\u{1b}]0;pi - work\u{7}",
        "\u{1b}[2K\rlinting 12% ",
        "[lint] {\"ok\": true} ",
        "says {\"type\":\"text\"} and {\"type\":\"agent_settled\" ",
        "{\"type\":\"unheard_of\"}{\"a\":1} x",
        "\u{e9}",
    ] {
        // Output that looks like a record is skipped. A record directly after it is found.
        let is_record = before.starts_with('{');
        for lost in 0..=run.len() {
            let noisy: String = run.iter().enumerate().fold(String::new(), |stream, (at, record)| {
                let before = if at == lost || lost == run.len() { before } else { "" };
                stream + before + &written(std::slice::from_ref(record), PLAIN)
            });
            for size in [1, 3, 64, noisy.len()] {
                let collected = collect_chunks(noisy.as_bytes().chunks(size));
                if !is_record {
                    assert_eq!(
                        gist(&collected),
                        gist(&expected),
                        "{before:?} before {lost}, chunks of {size}"
                    );
                    let shown = before.trim_matches(['\r', ' ']);
                    assert!(collected.noise.starts_with(shown), "{before:?}: {:?}", collected.noise);
                    assert_eq!(collected.counts.invalid_lines, 0);
                }
                assert_eq!(collected.counts.lines, collected.counts.events + collected.counts.invalid_lines);
            }
        }
    }
}

#[test]
fn records_without_a_line_end_between_them_count() {
    let run = whole_run();
    let expected = collect(written(&run, PLAIN));
    for before in ["", "\u{7}"] {
        // After an update no record is searched for.
        let joined: String = run
            .iter()
            .filter(|record| record["type"] != "message_update")
            .map(|record| written(std::slice::from_ref(record), PLAIN).trim_end().to_owned())
            .collect();
        for size in [1, 7, joined.len()] {
            let line = format!("{before}{joined}\n");
            let collected = collect_chunks(line.as_bytes().chunks(size));
            assert_eq!(gist(&collected), gist(&expected), "{before:?}, chunks of {size}");
        }
    }
}

#[test]
fn a_quoted_record_ends_nothing() {
    let run = whole_run();
    let quote = |record: &Value| written(std::slice::from_ref(record), PLAIN).trim_end().to_owned();
    let answer = quote(&message_end(&json!([text("Forged.")]), "stop"));
    let settled = quote(&json!({"type": "agent_settled"}));
    let end = quote(&json!({"type": "agent_end", "messages": [], "willRetry": false}));
    let tool_end = quote(&json!({"type": "tool_execution_end", "toolCallId": "x"}));
    // While the tool runs.
    for quoted in [
        format!("log: {settled}"),
        format!("log: {end}{settled}"),
        format!("log: {answer}"),
        format!("log: {tool_end}"),
        format!("log: {settled} was sent"),
        format!("log: [{}]", quote(&run[1])),
    ] {
        let stream = format!("{}{quoted}\n", written(&run[..7], PLAIN));
        for size in [1, 5, stream.len()] {
            let mut collector = fed(stream.as_bytes().chunks(size));
            let live = collector.live();
            assert_eq!((live.running_tools, live.settled, live.has_answer), (1, false, false), "{quoted}");
            assert_eq!(live.turns_begun, 1, "{quoted}");
            collector.finish();
            assert!(collector.into_collected().noise.contains(&quoted), "{quoted}");
        }
    }
}

#[test]
fn later_records_are_enough_for_the_answer() {
    let run = whole_run();
    let expected = collect(written(&run, PLAIN));
    let is = |record: &Value, kind: &str| record["type"] == kind;
    let without = |kinds: &[&str], from: usize| -> Collected {
        let records = run.iter().enumerate();
        let kept = records.filter(|(at, record)| *at < from || !kinds.iter().any(|kind| is(record, kind)));
        collect(written(&kept.map(|(_, record)| record.clone()).collect::<Vec<_>>(), PLAIN))
    };
    for (kinds, from) in [
        (&["message_end"][..], 10),
        (&["message_end"], 0),
        (&["message_end", "turn_end"], 10),
        (&["message_start", "message_update", "message_end", "turn_end"], 10),
        (&["message_end", "turn_end", "turn_start", "message_start"], 10),
        (&["message_end", "agent_end"], 10),
        (&["turn_end", "agent_end"], 0),
    ] {
        let collected = without(kinds, from);
        assert_eq!(gist(&collected), gist(&expected), "without {kinds:?} from {from}");
    }
}

/// The records of a run that submits its result, as pi writes them.
fn submitting_run() -> Vec<Value> {
    let calls = message_end(&json!([call("submit_result", &json!({"files": ["a"]}))]), "toolUse");
    let details = json!({"submitted": {"files": ["a"]}});
    // The order of the keys is pi's.
    let reply = json!({"role": "toolResult", "toolCallId": "c", "toolName": "submit_result", "content": [text("Submitted.")],
        "details": details, "isError": false});
    vec![
        json!({"type": "agent_start"}),
        json!({"type": "turn_start"}),
        started(),
        calls.clone(),
        json!({"type": "tool_execution_start", "toolCallId": "c", "toolName": "submit_result", "args": {}}),
        json!({"type": "tool_execution_end", "toolCallId": "c", "toolName": "submit_result",
            "result": {"content": [text("Submitted.")], "details": details}, "isError": false}),
        json!({"type": "message_start", "message": reply}),
        json!({"type": "message_end", "message": reply}),
        json!({"type": "turn_end", "message": calls["message"], "toolResults": [reply]}),
        json!({"type": "agent_end", "messages": [{"role": "user", "content": "Do it."}, calls["message"], reply], "willRetry": false}),
        json!({"type": "agent_settled"}),
    ]
}

#[test]
fn later_records_are_enough_for_the_submitted_result() {
    let run = submitting_run();
    let collect = |lost: &[&str], size: usize| {
        let kept = run.iter().filter(|record| !lost.iter().any(|kind| record["type"] == *kind));
        let stream = written(&kept.cloned().collect::<Vec<_>>(), PLAIN);
        let mut collector = Collector::new().with_submit_tool("submit_result");
        for chunk in stream.as_bytes().chunks(size) {
            collector.push(chunk);
        }
        let is_answered = collector.live().answered;
        (is_answered, collector.into_collected())
    };
    for lost in [
        &[][..],
        &["tool_execution_end"],
        &["tool_execution_start", "tool_execution_end"],
        &["tool_execution_end", "turn_end"],
        &["tool_execution_end", "agent_end"],
        &["message_end", "tool_execution_start", "tool_execution_end"],
        &["message_end", "tool_execution_end", "turn_end"],
    ] {
        for size in [1, 7, 1 << 20] {
            let (is_answered, collected) = collect(lost, size);
            let submitted = collected.submitted.as_ref().map(|submitted| submitted.json.as_slice());
            assert_eq!(submitted, Some(br#"{"files":["a"]}"#.as_slice()), "without {lost:?}");
            assert!(collected.ends_with_answer && collected.settled, "without {lost:?}");
            assert_eq!(is_answered, !lost.contains(&"agent_end"), "without {lost:?}");
            assert_eq!((collected.usage.turns, collected.refused_results.count), (1, 0), "without {lost:?}");
        }
    }
}

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

#[test]
fn a_stream_may_begin_with_a_mark_and_end_without_a_newline() {
    let good = stream(&[message_end(&json!([text("good")]), "stop")]);
    let marked = [b"\xef\xbb\xbf", good.trim_end().as_bytes()].concat();
    for size in [1, 2, 1000] {
        let collected = collect_chunks(marked.chunks(size));
        assert_eq!(collected.text.as_deref(), Some("good"));
        assert_eq!(collected.counts.bytes, marked.len() as u64);
    }
    let windows = good.replace('\n', "\r\n");
    assert_eq!(collect(windows).text.as_deref(), Some("good"));
}

#[test]
fn a_record_torn_by_the_end_of_the_stream_is_no_event() {
    // At the point where it is read, and where its rest is skipped.
    for torn in [
        r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"abc","partial":{"#,
        r#"{"type":"turn_end","message":{"#,
        r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"a"}"#,
    ] {
        let collected = collect(torn);
        assert_eq!((collected.counts.events, collected.counts.invalid_lines), (0, 1), "{torn}");
        assert_eq!(collected.partial, None);
    }
}

#[test]
fn keys_may_be_escaped_and_the_last_duplicate_wins() {
    let collected = collect(
        br#"{"ty\u0070e":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"no"}],"content":[{"text":"a","type":"text","text":"b"},{"type":"image","text":"hidden"}],"stopReason":"error","stopReason":"stop","usage":{"input":5,"input":7.6,"output":-3,"cost":{"total":-1}}}}
"#,
    );
    assert_eq!(collected.text.as_deref(), Some("b"));
    assert_eq!(collected.stop_reason, Some(StopReason::Stop));
    assert_eq!((collected.usage.input, collected.usage.output), (8, 0));
    assert_eq!(collected.display_items, [DisplayItem::Text { text: "b".to_owned() }]);
}

#[test]
fn characters_split_over_chunks_stay_whole() {
    let answer = "é€😀 \\ud83d\\ude00 \\ud800 \\\"q\\\" ".repeat(3);
    let mut raw = [END_HEAD.as_bytes(), answer.as_bytes(), b"\xff\xe2\x82 end", END_TAIL.as_bytes()].concat();
    raw.extend_from_slice("plain noise: é€😀\n".as_bytes());
    let whole = collect(&raw);
    let decoded = "é€😀 😀 \u{fffd} \"q\" ".repeat(3) + "\u{fffd}\u{fffd} end";
    assert_eq!(whole.text.as_deref(), Some(decoded.as_str()));
    assert_eq!(whole.noise, "plain noise: é€😀");
    for cut in 0..raw.len() {
        assert_eq!(collect_chunks([&raw[..cut], &raw[cut..]]), whole, "cut at byte {cut}");
    }
}

#[test]
fn noise_is_bounded_and_keeps_the_newest_lines() {
    let mut collector = Collector::new();
    for number in 0..10_000 {
        collector.push(format!("warning {number}\r\n").as_bytes());
    }
    collector.push("endless line ".repeat(157).as_bytes());
    collector.push("secret".repeat(10_000).as_bytes());
    let collected = collector.into_collected();
    assert!(collected.noise.len() <= 8 * 1024 && collected.noise.starts_with("warning "));
    assert!(
        collected.noise.contains("warning 9999\nendless"),
        "an endless line does not displace the others"
    );
    assert!(collected.noise.ends_with("endless line "), "the text ends with a whole word");
    assert_eq!(collected.counts.invalid_lines, 10_001);
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
    let [DisplayItem::ToolCall { name, args }] = collected.display_items.as_slice() else {
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

/// A record as pi could write it, and the differences of other writers.
fn record() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        "[a-z \"\\\\/\n\t\u{0}\u{1f}é€😀]{0,30}",
        Just("assistantMessageEvent\":{\"type\":\"text_delta\",\"delta\":\"fake".to_owned()),
        Just("}},\"delta\":\"{[".to_owned()),
    ];
    let part = prop_oneof![
        words.clone().prop_map(|words| text(&words)),
        words.clone().prop_map(|words| json!({"type": "thinking", "thinking": words, "text": "no"})),
        words
            .clone()
            .prop_map(|words| call("bash", &json!({"command": words, "deep": [{"type": "text"}, 1.5]}))),
    ];
    let content = prop::collection::vec(part, 0..4);
    let usage =
        || json!({"input": 5, "output": 2, "cost": {"input": 0.1, "total": 0.25, "x": "}"}, "x": [{}]});
    prop_oneof![
        4 => (words.clone(), any::<bool>()).prop_map(move |(words, is_old)| {
            let mut event = json!({"type": "text_delta", "contentIndex": 0, "delta": words});
            if is_old {
                event["partial"] = json!({"role": "assistant", "content": [text(&words)]});
                json!({"type": "message_update", "assistantMessageEvent": event, "message": {"content": [text("x")]}})
            } else {
                json!({"type": "message_update", "usage": usage(), "assistantMessageEvent": event})
            }
        }),
        2 => (content, prop_oneof![Just("stop"), Just("toolUse"), Just("error")]).prop_map(move |(content, stop)| {
            json!({"type": "message_end", "message": {"role": "assistant", "content": content, "provider": "p",
                "model": "m", "usage": usage(), "stopReason": stop, "errorMessage": "e"}})
        }),
        1 => prop_oneof![Just("text_start"), Just("thinking_delta"), Just("toolcall_end"), Just("text_end")]
            .prop_map(move |kind| json!({"type": "message_update", "usage": usage(), "assistantMessageEvent":
                {"type": kind, "contentIndex": 0, "delta": "not text", "content": "x"}})),
        1 => words.clone().prop_map(|words| json!({"type": "message_start", "message":
            {"role": "assistant", "content": [text(&words)], "model": "m2", "provider": "p2"}})),
        1 => words.clone().prop_map(|words| json!({"type": "message_end", "message": {"role": "user", "content": words}})),
        1 => words.clone().prop_map(|id| json!({"type": "tool_execution_start", "toolCallId": id, "toolName": id})),
        1 => words.clone().prop_map(|id| json!({"type": "tool_execution_end", "toolCallId": id,
            "result": {"toolCallId": "x", "content": [text(&id)]}})),
        1 => any::<Option<bool>>().prop_map(|retry| match retry {
            Some(retry) => json!({"type": "agent_end", "messages": [{"willRetry": 1}], "willRetry": retry}),
            None => json!({"type": "agent_end", "messages": []}),
        }),
        1 => words.clone().prop_map(|error| json!({"type": "auto_retry_end", "success": false, "finalError": error})),
        1 => words.clone().prop_map(|error| json!({"type": "auto_retry_start", "attempt": 2, "delayMs": 100.4,
            "errorMessage": format!("429 {error} retry in 3s")})),
        1 => (words.clone(), any::<bool>()).prop_map(|(words, success)| json!({"id": words, "type": "response",
            "command": "prompt", "success": success, "error": words,
            "data": {"disposition": words, "messages": [{"disposition": "no"}]}})),
        1 => (words, prop_oneof![Just("select"), Just("confirm"), Just("input"), Just("editor"), Just("notify")])
            .prop_map(|(words, method)| json!({"type": "extension_ui_request", "id": words, "method": method,
                "title": words, "message": words, "options": [words, 1, "b"], "prefill": words,
                "placeholder": words, "timeout": 5})),
        1 => prop_oneof![Just("agent_start"), Just("agent_settled"), Just("turn_end"), Just("unheard_of"),
            Just("session")].prop_map(|kind| json!({"type": kind, "message": {"role": "assistant"}})),
    ]
}

/// The notation of a value.
#[derive(Debug, Clone, Copy)]
struct Hand {
    /// Rotates the keys of each object by this number. `None` writes pi's order.
    rotate: Option<usize>,
    spaces: bool,
    escapes: bool,
}

/// pi's order of the keys that the fast path checks.
const ORDER: [&str; 10] = [
    "type",
    "usage",
    "assistantMessageEvent",
    "role",
    "toolCallId",
    "toolName",
    "contentIndex",
    "delta",
    "content",
    "partial",
];

fn write(value: &Value, hand: Hand, out: &mut String) {
    let space = if hand.spaces { " \t" } else { "" };
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| ORDER.iter().position(|name| name == key).unwrap_or(ORDER.len()));
            if let Some(by) = hand.rotate
                && !entries.is_empty()
            {
                let len = entries.len();
                entries.rotate_left(by % len);
            }
            out.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(space);
                write(&Value::String(key.clone()), hand, out);
                out.push_str(space);
                out.push(':');
                out.push_str(space);
                write(value, hand, out);
            }
            out.push('}');
        }
        Value::Array(elements) => {
            out.push('[');
            for (at, value) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(space);
                write(value, hand, out);
            }
            out.push(']');
        }
        Value::String(text) if hand.escapes => {
            out.push('"');
            for unit in text.encode_utf16() {
                write!(out, "\\u{unit:04x}").expect("writing to a string succeeds");
            }
            out.push('"');
        }
        other => write!(out, "{other}").expect("writing to a string succeeds"),
    }
}

fn written(records: &[Value], hand: Hand) -> String {
    records.iter().fold(String::new(), |mut stream, record| {
        write(record, hand, &mut stream);
        stream.push('\n');
        stream
    })
}

const PLAIN: Hand = Hand { rotate: None, spaces: false, escapes: false };

/// The parts of a result that do not depend on the notation.
fn meaning<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Everything {
    let mut everything = everything(chunks);
    everything.collected.counts.bytes = 0;
    everything
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn key_order_spaces_and_escapes_do_not_matter(
        records in prop::collection::vec(record(), 1..12),
        rotate in 0usize..7, spaces: bool, escapes: bool, size in 1usize..80,
    ) {
        let fast = written(&records, PLAIN);
        let expected = meaning([fast.as_bytes()]);
        prop_assert_eq!(&meaning(fast.as_bytes().chunks(size)), &expected);
        for rotate in [None, Some(rotate)] {
            let slow = written(&records, Hand { rotate, spaces, escapes });
            prop_assert_eq!(&meaning([slow.as_bytes()]), &expected, "{}", slow);
            prop_assert_eq!(&meaning(slow.as_bytes().chunks(size)), &expected, "{}", slow);
        }
    }

    /// A whole line may be recognized as it is. In pieces it never is. Damage must not separate the two.
    #[test]
    fn any_chunking_of_damaged_lines_gives_the_same_result(
        records in prop::collection::vec(record(), 1..6),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            Just(b'"'), Just(b'\\'), Just(b'{'), Just(b'}'), Just(b'\n'), Just(b','), Just(b'0'), any::<u8>()
        ], 0..3u8), 1..6),
        size in 1usize..40,
    ) {
        let mut stream = written(&records, PLAIN).into_bytes();
        for (at, byte, how) in damage {
            let at = at.index(stream.len());
            match how {
                0 => stream[at] = byte,
                1 => stream.insert(at, byte),
                _ if stream.len() > 1 => { stream.remove(at); }
                _ => {}
            }
        }
        let whole = everything([stream.as_slice()]);
        prop_assert_eq!(&everything(stream.chunks(1)), &whole);
        prop_assert_eq!(&everything(stream.chunks(size)), &whole);
    }

    #[test]
    fn any_chunking_of_random_bytes_gives_the_same_result(stream in prop::collection::vec(any::<u8>(), 0..600), size in 1usize..50) {
        prop_assert_eq!(everything(stream.chunks(size)), everything([stream.as_slice()]));
    }
}

/// Lines that nearly have pi's frame. Recognized as a whole or read in pieces, they give the same result.
#[test]
fn lines_that_nearly_match_the_fast_path_give_the_same_result() {
    let head = r#"{"type":"message_update","usage":{"input":1},"assistantMessageEvent":{"type":"text_delta","contentIndex":0"#;
    let old = r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0"#;
    let lines: &[(String, &str, u64)] = &[
        (format!(r#"{head},"delta":"a"}}}}"#), "a", 0),
        (format!("{head},\"delta\":\"a\"}}}}\r"), "a", 0),
        (format!(r#"{head},"delta":"a"}}}} "#), "a", 0),
        (format!(r#"{head},"delta":"a","delta":"b"}}}}"#), "b", 0),
        (format!(r#"{head},"delta":"a","type":"thinking_delta"}}}}"#), "", 0),
        (format!(r#"{head},"delta":"a"}},"type":"turn_end"}}"#), "", 0),
        (format!(r#"{head},"delta":"a"}},"assistantMessageEvent":{{"type":"text_delta","delta":"b"}}}}"#), "b", 0),
        (format!(r#"{head},"delta":"a"}}"#), "", 1),
        (format!(r#"{head},"delta":"a"}}}}}}"#), "", 1),
        (format!(r#"{head},"delta":"a\x"}}}}"#), "", 1),
        (format!(r#"{head},"delta":"a\u00e9\ud800"}}}}"#), "a\u{e9}\u{fffd}", 0),
        (format!(r#"{head},"delta":null}}}}"#), "", 0),
        (format!(r#"{head}x,"delta":"a"}}}}"#), "", 1),
        (format!(r#"{head}.5,"delta":"a"}}}}"#), "a", 0),
        (format!(r#"{head}1234567890123,"delta":"a"}}}}"#), "a", 0),
        (format!(r#"{old},"delta":"a","partial":{{"delta":"b"}},"delta":"c"}}}}"#), "a", 0),
        (format!(r#"{old},"partial":{{"delta":"b"}},"delta":"c"}}}}"#), "c", 0),
        (format!(r#"{old},"delta":"a","partial":{{never closed"#), "a", 0),
        (format!(r#"{old},"delta":"a"}},"message":{{}}}}"#), "a", 0),
        (r#"{"type":"message_update","usage":{"input":{},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"no","partial":1}},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"a"}}"#.to_owned(), "a", 0),
        (r#"{"type":"message_update","usage":{"a":"}},\"","b":{"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"no"}}},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"a"}}"#.to_owned(), "a", 0),
        (r#"{"type":"message_update","usage":{"a":1},"assistantMessageEvent":{"type":"text_deltas","contentIndex":0,"delta":"a"}}"#.to_owned(), "", 0),
        (r#"{"type":"message_update","usage":{"a":1},"assistantMessageEvent":{"type":"thinking_delta","delta":"a"}}"#.to_owned(), "", 0),
    ];
    // So that a usage object is remembered.
    let before = format!("{head},\"delta\":\".\"}}}}\n");
    for (line, expected, invalid) in lines {
        let stream = format!("{before}{line}\n");
        let whole = collect(&stream);
        assert_eq!(whole.partial, Some(format!(".{expected}")), "{line}");
        assert_eq!(whole.counts.invalid_lines, *invalid, "{line}");
        for size in [1, 13] {
            assert_eq!(collect_chunks(stream.as_bytes().chunks(size)), whole, "{line}");
        }
    }
}

#[test]
fn nothing_before_the_line_that_ends_a_banner_is_an_event() {
    let stream = "{\"type\":\"agent_settled\"}\nWelcome, begins\n{\"type\":\"agent_end\"}\nbegins\r\n{\"type\":\"agent_start\"}\nbegins\n";
    for size in [1, 3, stream.len()] {
        let mut collector = Collector::new().after_banner(Some("begins"));
        for chunk in stream.as_bytes().chunks(size) {
            collector.push(chunk);
        }
        let collected = collector.into_collected();
        assert_eq!(collected.counts.events, 1, "{size}");
        assert_eq!(collected.last_event.as_deref(), Some("agent_start"), "{size}");
        assert!(collected.noise.starts_with("{\"type\":\"agent_settled\"}\nWelcome"), "{}", collected.noise);
    }
}
