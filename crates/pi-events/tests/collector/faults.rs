//! Streams with faults: lines that are no events, records that are torn, missing or in the wrong place.

use pi_events::{Collected, Collector, DisplayItem, StopReason, Usage};
use serde_json::{Value, json};

use crate::properties::{PLAIN, written};
use crate::{
    END_HEAD, END_TAIL, call, collect, collect_chunks, delta, fed, message_end, started, stream, text,
};

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
fn the_last_record_of_a_stream_counts_without_a_newline() {
    // Their rest is skipped.
    for whole in [
        r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"abc","partial":{}}}"#,
        r#"{"type":"turn_end","message":{"role":"assistant"}}"#,
    ] {
        for size in [1, 7, 1000] {
            let counts = collect_chunks(whole.as_bytes().chunks(size)).counts;
            assert_eq!((counts.events, counts.invalid_lines), (1, 0), "{whole} in pieces of {size}");
        }
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
