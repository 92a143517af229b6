//! A child that writes far more than a run keeps.

use std::fs::File;
use std::io::{self, Write};

use super::stdio::{stderr, stdout};

/// A flood: its start, the part that is repeated, and its end.
struct Shape {
    start: &'static str,
    part: String,
    end: &'static str,
}

/// Writes about `bytes` bytes of the kind: to standard error for `stderr`, else to standard output.
pub(crate) fn flood(kind: &str, bytes: usize) -> io::Result<()> {
    let output = if kind == "stderr" { stderr()? } else { stdout()? };
    let shape = shape(kind)?;
    write(output, &shape, bytes)
}

fn write(mut output: File, shape: &Shape, bytes: usize) -> io::Result<()> {
    output.write_all(shape.start.as_bytes())?;
    let block = shape.part.repeat((64 * 1024 / shape.part.len()).max(1));
    for _ in 0..bytes / block.len() {
        output.write_all(block.as_bytes())?;
    }
    output.write_all(shape.end.as_bytes())
}

fn shape(kind: &str) -> io::Result<Shape> {
    let text = "All work and no play makes a dull answer. ";
    let shape = |start, part: String, end| Ok(Shape { start, part, end });
    match kind {
        "stderr" | "garbage-lines" => shape("", format!("warning: {}\n", text.repeat(3)), ""),
        "noise-line" => shape("", text.into(), "\n"),
        "result-line" => shape(
            concat!(
                r#"{"type":"tool_execution_end","toolCallId":"call_1","toolName":"bash","#,
                r#""result":{"content":[{"type":"text","text":""#
            ),
            text.into(),
            "\"}]},\"isError\":false}\n",
        ),
        "nested-line" => shape(r#"{"type":"turn_end","message":"#, "[{\"a\":".into(), "\n"),
        "message" => shape(
            r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":""#,
            format!("{text}\\n"),
            concat!(
                r#""}],"provider":"fake","model":"m","usage":{"input":1,"output":1},"stopReason":"stop"}}"#,
                "\n"
            ),
        ),
        "arguments" => shape(
            concat!(
                r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","#,
                r#""name":"write","arguments":{"content":""#
            ),
            format!("{text}\\n"),
            concat!(r#""}}],"provider":"fake","model":"m","usage":{},"stopReason":"toolUse"}}"#, "\n"),
        ),
        "deltas" => shape(
            "{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n",
            format!(
                concat!(
                    r#"{{"type":"message_update","usage":{{"input":1,"output":1}},"assistantMessageEvent":"#,
                    r#"{{"type":"text_delta","contentIndex":0,"delta":"{}"}}}}"#,
                    "\n"
                ),
                text.repeat(3)
            ),
            "",
        ),
        "tool-calls" => shape(
            "",
            concat!(
                r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","#,
                r#""name":"read","arguments":{"path":"src/a.rs"}}],"usage":{"output":1},"stopReason":"toolUse"}}"#,
                "\n",
                r#"{"type":"tool_execution_start","toolCallId":"c","toolName":"read","args":{"path":"src/a.rs"}}"#,
                "\n"
            )
            .into(),
            "",
        ),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no flood is called `{kind}`"))),
    }
}
