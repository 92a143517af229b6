//! The collector, as JavaScript sees it.

use std::fs::File;
use std::io::Read;

use napi::bindgen_prelude::{Either, Env, PromiseRaw, Uint8Array};
use napi_derive::napi;

use super::result::{DisplayItem, RunUsage, number};
use super::runtime::off_thread;
use super::text::sanitizer_maker;
use crate::event::{Collected, Collector};
use crate::run::clean;

/// How much of a file is read at a time.
const READ_BYTES: usize = 64 * 1024;

/// What the event stream of a child says. Every string is sanitized, with the secrets of this process.
#[napi(object, object_from_js = false)]
pub struct CollectedOutput {
    /// The text of the last complete assistant message that is no tool call; empty when there is none.
    pub output: String,
    /// Whether the child said that its work is done.
    pub r#final: bool,
    /// Added up over the assistant messages.
    pub usage: RunUsage,
    /// What the last assistant message says went wrong.
    pub error: Option<String>,
    /// The text under way when the stream ended.
    pub partial_output: Option<String>,
    /// Why the last assistant message ended.
    pub stop_reason: Option<String>,
    /// The model that answered, `provider/id`.
    pub model: Option<String>,
    /// The type of the last event.
    pub last_event_type: Option<String>,
    /// The newest texts and tool calls, oldest first; bounded.
    pub display_items: Vec<DisplayItem>,
    /// Bytes left out of the middle of `output` because it was too long to keep.
    pub omitted_bytes: f64,
    /// How much of what was read.
    pub counts: StreamCounts,
    /// The end of what was no JSON.
    pub noise: String,
}

/// How much of what was read.
#[napi(object, object_from_js = false)]
pub struct StreamCounts {
    /// Bytes of the stream.
    pub bytes: f64,
    /// Lines that are not blank.
    pub lines: f64,
    /// Lines that are events.
    pub events: f64,
    /// Events of a type that is not known.
    pub unknown_events: f64,
    /// Lines that are not events.
    pub invalid_lines: f64,
}

/// Folds an event stream that is in memory.
#[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
pub fn collect_output(
    env: &Env,
    jsonl: Either<String, Uint8Array>,
) -> napi::Result<PromiseRaw<'_, CollectedOutput>> {
    let sanitizer = sanitizer_maker(None);
    // A copy, because JavaScript may go on writing into its own.
    let jsonl = match jsonl {
        Either::A(text) => text.into_bytes(),
        Either::B(bytes) => bytes.to_vec(),
    };
    env.spawn_future(off_thread(move || {
        let mut collector = Collector::new();
        collector.push(&jsonl);
        clean(collector.into_collected(), &sanitizer()).into()
    }))
}

/// Folds an event stream that is in a file, in bounded memory. Rejects when the file cannot be read.
#[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
pub fn collect_output_file(env: &Env, path: String) -> napi::Result<PromiseRaw<'_, CollectedOutput>> {
    let sanitizer = sanitizer_maker(None);
    env.spawn_future(async move {
        let folded = off_thread(move || {
            fold(&path)
                .map_err(|error| napi::Error::from_reason(format!("cannot read `{path}`: {error}")))
                .map(|collector| clean(collector.into_collected(), &sanitizer()).into())
        });
        folded.await?
    })
}

fn fold(path: &str) -> std::io::Result<Collector> {
    let mut file = File::open(path)?;
    let (mut collector, mut buffer) = (Collector::new(), vec![0; READ_BYTES]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(collector),
            Ok(read) => drop(collector.push(&buffer[..read])),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl From<Collected> for CollectedOutput {
    fn from(collected: Collected) -> Self {
        Self {
            output: collected.text.unwrap_or_default(),
            r#final: collected.settled,
            usage: (&collected.usage).into(),
            error: collected.error_message,
            partial_output: collected.partial,
            stop_reason: collected.stop_reason,
            model: collected.model,
            last_event_type: collected.last_event,
            display_items: collected.display_items.into_iter().map(Into::into).collect(),
            omitted_bytes: number(collected.omitted_bytes),
            counts: StreamCounts {
                bytes: number(collected.counts.bytes),
                lines: number(collected.counts.lines),
                events: number(collected.counts.events),
                unknown_events: number(collected.counts.unknown_events),
                invalid_lines: number(collected.counts.invalid_lines),
            },
            noise: collected.noise,
        }
    }
}
