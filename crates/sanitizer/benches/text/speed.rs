//! Measures the sanitizer and the truncator on a file's text.

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use sanitizer::{Sanitizer, SanitizerOptions, TruncateLimits};
use serde_json::{Value, json};

/// The minimum duration of a measurement, long enough that a scheduling pause does not affect the median.
const MEASURE_FOR: Duration = Duration::from_millis(200);
const MIN_RUNS: usize = 5;

/// The maximum duration of a measurement with fewer runs: a slow input needs no more of them to show that it is slow.
const MAX_FOR: Duration = Duration::from_millis(500);

pub(crate) fn sanitize(file: &str) -> io::Result<Value> {
    let text = std::fs::read_to_string(file)?;
    let sanitizer = Sanitizer::new(SanitizerOptions {
        secrets: vec!["correct-horse-battery-staple-42".into()],
        homes: vec!["/home/user".into()],
        ..SanitizerOptions::default()
    });
    Ok(repeat(&text, || sanitizer.sanitize(&text).len()))
}

pub(crate) fn truncate(file: &str) -> io::Result<Value> {
    let text = std::fs::read_to_string(file)?;
    Ok(repeat(&text, || sanitizer::truncate(&text, TruncateLimits::default(), Some("output.md")).text.len()))
}

/// Runs the work repeatedly; the first run warms up and is not timed.
fn repeat(text: &str, work: impl Fn() -> usize) -> Value {
    let bytes_out = black_box(work());
    let begin = Instant::now();
    let mut times = Vec::new();
    while begin.elapsed() < if times.len() < MIN_RUNS { MAX_FOR } else { MEASURE_FOR } {
        let started = Instant::now();
        black_box(work());
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "bytes": text.len(),
        "bytesOut": bytes_out,
        "ns": nanoseconds(times[times.len() / 2]),
        "leastNs": nanoseconds(times[0]),
        "runs": times.len(),
    })
}
