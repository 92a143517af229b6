//! Measures the memory of the native part of a run while its child floods it.

use std::error::Error;
use std::io;

use pi_events::Collector;
use serde_json::{Value, json};
use supervisor::{Activity, Cancel, Input, Observer, SuperviseLimits, supervise};

use super::pipe::child;

/// Reads a flood of this program through `supervise` and a collector. Reports the resident set just before the child
/// starts and at its peak. The peak includes code pages that are used for the first time.
pub(crate) fn measure(kind: &str, bytes: &str) -> Result<Value, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let program = std::env::current_exe()?;
    let program = program.to_str().ok_or("the path of this program is not UTF-8")?;
    let command = child(program, &["flood", kind, bytes])?;
    let cancel = Cancel::new();
    let limits = SuperviseLimits::default();

    // 5 resets the peak to the present size.
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = status("VmRSS")?;
    let mut watch = Watch(Collector::new());
    let supervised =
        runtime.block_on(supervise(command, Input::once(Vec::new()), limits, None, &cancel, &mut watch))?;
    watch.0.finish();
    let collected = watch.0.into_collected();
    let peak = status("VmHWM")?;
    Ok(json!({
        "beforeKib": before,
        "peakKib": peak,
        "seconds": supervised.duration.as_secs_f64(),
        "stdoutBytes": collected.counts.bytes,
        "events": collected.counts.events,
        "stderrOmitted": omitted(&supervised.stderr),
        "complete": supervised.complete,
    }))
}

/// Returns the number of omitted bytes in a text of standard error.
fn omitted(stderr: &str) -> u64 {
    let (before, _) = stderr.split_once(" bytes omitted]\n").unwrap_or_default();
    before.rsplit("\n[").next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

struct Watch(Collector);

impl Observer for Watch {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        let progress = self.0.push(chunk);
        Activity { alive: progress.events > 0, silence: None, settled: false, ..Activity::default() }
    }
}

/// Returns a value of `/proc/self/status` in KiB.
fn status(name: &str) -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok())
        .ok_or_else(|| io::Error::other(format!("/proc/self/status has no {name}")))
}
