//! The result of a stream, for all chunks, sizes and faults.

mod faults;
#[path = "../../../../fuzz/properties/heap.rs"]
mod heap;
mod memory;
mod properties;
mod questions;
mod recorded;
mod state;

use std::fmt::Write as _;

use crate::heap::held;
use pi_events::{Collected, Collector, Question, RateLimit, Response, StopReason};
use sanitizer::settled_length;
use serde_json::{Value, json};

/// The memory used before there is a collector, with the rules that all collectors share.
pub(crate) fn held_before() -> usize {
    let _ = settled_length("");
    held()
}

pub(crate) fn collect(stream: impl AsRef<[u8]>) -> Collected {
    collect_chunks([stream.as_ref()])
}

pub(crate) fn collect_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Collected {
    fed(chunks).into_collected()
}

pub(crate) fn fed<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Collector {
    let mut collector = Collector::new();
    for chunk in chunks {
        collector.push(chunk);
    }
    collector
}

/// All outputs of a collector.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    pub(crate) responses: Vec<Response>,
    pub(crate) questions: Vec<Question>,
    pub(crate) dropped: Vec<String>,
    pub(crate) rate_limit: Option<RateLimit>,
    pub(crate) streaming: bool,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) collected: Collected,
}

pub(crate) fn everything<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Everything {
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

pub(crate) fn stream(records: &[Value]) -> String {
    records.iter().fold(String::new(), |mut stream, record| {
        writeln!(stream, "{record}").expect("writing to a string succeeds");
        stream
    })
}

pub(crate) fn message_end(content: &Value, stop_reason: &str) -> Value {
    json!({"type": "message_end", "message": {"role": "assistant", "content": content, "provider": "p",
        "model": "m", "usage": {"input": 1, "output": 2, "totalTokens": 3, "cost": {"total": 0.5}},
        "stopReason": stop_reason}})
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn call(name: &str, arguments: &Value) -> Value {
    json!({"type": "toolCall", "id": "c", "name": name, "arguments": arguments})
}

pub(crate) fn delta(text: &str) -> Value {
    json!({"type": "message_update", "usage": {"input": 1, "cost": {"total": 0}},
        "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": text}})
}

pub(crate) fn started() -> Value {
    json!({"type": "message_start", "message": {"role": "assistant", "content": []}})
}

/// The frame of pi's own record, for answers too large to build as values.
pub(crate) const END_HEAD: &str =
    r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":""#;
pub(crate) const END_TAIL: &str = "\"}],\"stopReason\":\"stop\"}}\n";
