//! The same records in any notation and any chunks give the same result.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{Everything, call, collect, collect_chunks, everything, text};

/// A record as pi could write it, and the differences of other writers.
pub(crate) fn record() -> impl Strategy<Value = Value> {
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
pub(crate) struct Hand {
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

pub(crate) fn write(value: &Value, hand: Hand, out: &mut String) {
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

pub(crate) fn written(records: &[Value], hand: Hand) -> String {
    records.iter().fold(String::new(), |mut stream, record| {
        write(record, hand, &mut stream);
        stream.push('\n');
        stream
    })
}

pub(crate) const PLAIN: Hand = Hand { rotate: None, spaces: false, escapes: false };

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
