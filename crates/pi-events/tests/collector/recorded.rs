//! Recorded streams of several versions of pi, in any chunks.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pi_events::{Collected, Cost, Counts, DisplayItem, Retry, StopReason, Usage};
use serde::Serialize;

use crate::{Everything, everything};

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
