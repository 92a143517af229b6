//! Measures an event of a log that is switched off.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};

/// One event takes less than a clock can show.
const EVENTS: u32 = 20_000_000;

pub(crate) fn measure() -> Value {
    json!({
        "ns": nanoseconds_each(|number| tracing::debug!(target: "child", number, "a program ends")),
        "withoutNs": nanoseconds_each(drop),
    })
}

/// Returns the time of one round of a loop.
fn nanoseconds_each(work: impl Fn(u32)) -> f64 {
    let started = Instant::now();
    for number in 0..EVENTS {
        work(black_box(number));
    }
    started.elapsed().as_secs_f64() * 1e9 / f64::from(EVENTS)
}
