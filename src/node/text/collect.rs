//! The collector of event streams, as JavaScript sees it.

use std::fs::File;
use std::io::Read;

use napi::bindgen_prelude::{Either, Env, PromiseRaw, Uint8Array};
use napi_derive::napi;

use super::sanitizer_maker;
use crate::node::into_js::{IntoJs, object_into_js};
use crate::node::result::{DisplayItem, RunUsage};
use crate::node::runtime::{off_thread, promise};
use crate::run::clean;
use pi_events::{Collected, Collector, Counts};

/// The number of bytes of a file that are read at a time.
const READ_BYTES: usize = 64 * 1024;

/// The outcome of a child's event stream. Every string is sanitized with the secrets of this process.
#[napi(object, object_from_js = false)]
pub struct CollectedOutput {
    /// The text of the last complete assistant message that calls no tool; empty when there is none. At most 1 MiB.
    pub output: String,
    /// True when the child reported the end of its work.
    pub r#final: bool,
    /// Summed over the assistant messages.
    pub usage: RunUsage,
    /// The error of the last assistant message.
    pub error: Option<String>,
    /// The newest 64 KiB of assistant text that did not become the answer.
    pub partial_output: Option<String>,
    /// The reason why the last assistant message ended, such as `stop` or `length`.
    pub stop_reason: Option<String>,
    /// The model of the first assistant message, `provider/id`.
    pub model: Option<String>,
    /// The type of the last event.
    pub last_event_type: Option<String>,
    /// The newest texts and tool calls, oldest first; at most 64, and 48 KiB of JSON.
    pub display_items: Vec<DisplayItem>,
    /// Bytes left out of the middle of `output`; 0 when it is whole.
    pub omitted_bytes: f64,
    /// The counts of what was read.
    pub counts: StreamCounts,
    /// The end of the lines that are no JSON; at most 8 KiB.
    pub noise: String,
}

/// The bytes and lines that were read from a stream.
#[napi(object, object_from_js = false)]
pub struct StreamCounts {
    /// Bytes.
    pub bytes: f64,
    /// Lines that are not blank.
    pub lines: f64,
    /// Lines that are events.
    pub events: f64,
    /// Events of an unknown type; also counted in `events`.
    pub unknown_events: f64,
    /// Lines that are no events.
    pub invalid_lines: f64,
}

/// Collects the event stream of `pi --mode json` from memory.
///
/// @example
/// ```ts
/// import { collectOutput } from "pi-subagent-native";
///
/// const { final, counts } = await collectOutput('{"type":"agent_settled"}');
/// console.log(final, counts.events);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
pub fn collect_output(
    env: Env,
    jsonl: Either<String, Uint8Array>,
) -> napi::Result<PromiseRaw<'static, CollectedOutput>> {
    let sanitizer = sanitizer_maker(None)?;
    // A copy, because JavaScript may continue to write to its own buffer.
    let jsonl = match jsonl {
        Either::A(text) => text.into_bytes(),
        Either::B(bytes) => bytes.to_vec(),
    };
    promise(
        env,
        off_thread(move || {
            let mut collector = Collector::new();
            collector.push(&jsonl);
            clean(collector.into_collected(), &sanitizer()).into_js()
        }),
    )
}

/// Collects the event stream of `pi --mode json` from a file of any size, in at most 3 MiB of memory. Rejects if the file cannot
/// be read.
///
/// @example
/// ```ts
/// import { collectOutputFile } from "pi-subagent-native";
///
/// const { output, usage } = await collectOutputFile("run.jsonl").catch(() => ({ output: "", usage: undefined }));
/// console.log(output, usage?.cost);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
pub fn collect_output_file(env: Env, path: String) -> napi::Result<PromiseRaw<'static, CollectedOutput>> {
    let sanitizer = sanitizer_maker(None)?;
    promise(env, async move {
        let folded = off_thread(move || {
            fold(&path)
                .map_err(|error| napi::Error::from_reason(format!("cannot read `{path}`: {error}")))
                .map(|collector| clean(collector.into_collected(), &sanitizer()).into_js())
        });
        folded.await?
    })
}

fn fold(path: &str) -> std::io::Result<Collector> {
    let mut file = File::open(path)?;
    let mut collector = Collector::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(collector),
            Ok(read) => drop(collector.push(&buffer[..read])),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

object_into_js! { |collected: Collected| CollectedOutput {
    output: collected.text.unwrap_or_default(),
    r#final: collected.settled,
    error: collected.error_message,
    partial_output: collected.partial,
    stop_reason: collected.stop_reason.map(|reason| reason.as_str().to_owned()),
    last_event_type: collected.last_event,
    usage, model, display_items, omitted_bytes, counts, noise,
} }

object_into_js! { |counts: Counts| StreamCounts { bytes, lines, events, unknown_events, invalid_lines } }
