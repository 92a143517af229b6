//! The collector of event streams, as JavaScript sees it.

use std::fs::File;
use std::io::Read;

use napi::bindgen_prelude::{Either, Env, PromiseRaw, Uint8Array};
use napi_derive::napi;

use super::sanitizer_maker;
use crate::node::json::Json;
use crate::node::runtime::{off_thread, promise};
use crate::run::clean;
use pi_events::Collector;
use sanitizer::Sanitizer;

/// The number of bytes of a file that are read at a time.
const READ_BYTES: usize = 64 * 1024;

/// Collects the event stream of `pi --mode json` from memory.
///
/// @example
/// ```ts
/// import { collectOutput } from "pi-subagent-native/extension";
///
/// const { final, counts } = await collectOutput('{"type":"agent_settled"}');
/// console.log(final, counts.events);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
pub fn collect_output(
    env: Env,
    jsonl: Either<String, Uint8Array>,
) -> napi::Result<PromiseRaw<'static, Json>> {
    let sanitizer = sanitizer_maker(None)?;
    // A copy, because JavaScript may continue to write to its own buffer.
    let jsonl = match jsonl {
        Either::A(text) => text.into_bytes(),
        Either::B(bytes) => bytes.to_vec(),
    };
    promise(env, async move {
        let folded = off_thread(move || {
            let mut collector = Collector::new();
            collector.push(&jsonl);
            output_json(collector, &sanitizer())
        });
        folded.await?
    })
}

/// Collects the event stream of `pi --mode json` as it arrives, in at most 3 MiB of memory.
///
/// @example
/// ```ts
/// import { OutputCollector } from "pi-subagent-native/extension";
///
/// const collector = new OutputCollector();
/// for await (const piece of process.stdin) collector.push(piece);
/// console.log((await collector.finish()).output);
/// ```
#[napi]
pub struct OutputCollector(Collector);

#[napi]
impl OutputCollector {
    /// Creates a collector that has read nothing.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self(Collector::new())
    }

    /// Takes the next piece, which may end anywhere.
    #[napi(catch_unwind)]
    pub fn push(&mut self, piece: Either<String, Uint8Array>) {
        self.0.push(match &piece {
            Either::A(text) => text.as_bytes(),
            Either::B(bytes) => bytes,
        });
    }

    /// Resolves with what has arrived, and starts anew.
    #[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
    pub fn finish(&mut self, env: Env) -> napi::Result<PromiseRaw<'static, Json>> {
        let sanitizer = sanitizer_maker(None)?;
        let collector = std::mem::take(&mut self.0);
        promise(env, async move { off_thread(move || output_json(collector, &sanitizer())).await? })
    }
}

/// Collects the event stream of `pi --mode json` from a file of any size, in at most 3 MiB of memory. Rejects if the file cannot
/// be read.
///
/// @example
/// ```ts
/// import { collectOutputFile } from "pi-subagent-native/extension";
///
/// const { output, usage } = await collectOutputFile("run.jsonl").catch(() => ({ output: "", usage: undefined }));
/// console.log(output, usage?.cost);
/// ```
#[napi(catch_unwind, ts_return_type = "Promise<CollectedOutput>")]
pub fn collect_output_file(env: Env, path: String) -> napi::Result<PromiseRaw<'static, Json>> {
    let sanitizer = sanitizer_maker(None)?;
    promise(env, async move {
        let folded = off_thread(move || {
            fold(&path)
                .map_err(|error| napi::Error::from_reason(format!("cannot read `{path}`: {error}")))
                .and_then(|collector| output_json(collector, &sanitizer()))
        });
        folded.await?
    })
}

fn output_json(collector: Collector, sanitizer: &Sanitizer) -> napi::Result<Json> {
    Json::new(&clean(collector.into_collected(), sanitizer))
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
