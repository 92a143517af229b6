//! Readers of a pipe: one discards the bytes, one collects them as a run does.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pi_events::{Collector, DisplayItem};
use serde_json::{Value, json};
use supervisor::{Activity, Cancel, ChildCommand, Input, Observer, SuperviseLimits, supervise};

use super::stdio::{Buffer, stdin};

/// The interval between copies of the live state. A caller gets at most ten updates per second.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(100);

/// Reads standard input and discards it.
pub(crate) fn drain() -> io::Result<Value> {
    let mut bytes = 0;
    let started = Instant::now();
    read_all(|chunk| bytes += chunk.len())?;
    Ok(json!({ "bytes": bytes, "ns": nanoseconds(started), "cpuNs": cpu_nanoseconds() }))
}

/// Collects standard input, and copies the live state at the interval of a caller's updates.
pub(crate) fn collect() -> io::Result<Value> {
    let started = Instant::now();
    let mut fold = Fold::new();
    read_all(|chunk| fold.push(chunk))?;
    Ok(fold.finish(started))
}

/// Drains or collects the output of a child process, read by `supervise`.
pub(crate) fn supervised(consumer: &str, program: &str, arguments: &[&str]) -> Result<Value, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let command = child(program, arguments)?;
    let is_drain = consumer == "drain";
    let started = Instant::now();
    let mut watch = Watch { fold: (!is_drain).then(Fold::new), bytes: 0 };
    let cancel = Cancel::new();
    runtime.block_on(supervise(
        command,
        Input::once(Vec::new()),
        SuperviseLimits::default(),
        None,
        &cancel,
        &mut watch,
    ))?;
    Ok(match watch.fold {
        Some(fold) => fold.finish(started),
        None => json!({ "bytes": watch.bytes, "ns": nanoseconds(started) }),
    })
}

/// Returns a command for a program, with this process's environment and no warden.
pub(crate) fn child(program: &str, arguments: &[&str]) -> io::Result<ChildCommand> {
    Ok(ChildCommand {
        program: PathBuf::from(program),
        args: arguments.iter().map(OsString::from).collect(),
        cwd: std::env::current_dir()?,
        env: std::env::vars_os().collect(),
        untrusted: Vec::new(),
        guardian: None,
    })
}

/// The observer of a run, without its policies.
struct Watch {
    fold: Option<Fold>,
    bytes: usize,
}

impl Observer for Watch {
    fn stdout(&mut self, chunk: &[u8]) -> Activity {
        self.bytes += chunk.len();
        if let Some(fold) = &mut self.fold {
            fold.push(chunk);
        }
        Activity { alive: true, silence: None, settled: false, ..Activity::default() }
    }
}

/// A collector, and copies of its live state.
struct Fold {
    collector: Collector,
    snapshot_at: Instant,
    snapshots: u64,
    seen: (String, Vec<DisplayItem>),
}

impl Fold {
    fn new() -> Self {
        Self {
            collector: Collector::new(),
            snapshot_at: Instant::now(),
            snapshots: 0,
            seen: (String::new(), Vec::new()),
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.collector.push(chunk);
        let now = Instant::now();
        if now - self.snapshot_at >= SNAPSHOT_INTERVAL {
            self.snapshot_at = now;
            self.snapshots += 1;
            // An update copies the same data out of the collector.
            let live = self.collector.live();
            self.seen = (live.text.to_owned(), live.display_items.to_vec());
        }
    }

    fn finish(mut self, started: Instant) -> Value {
        self.collector.finish();
        let collected = self.collector.into_collected();
        let ns = nanoseconds(started);
        json!({
            "bytes": collected.counts.bytes,
            "ns": ns,
            "cpuNs": cpu_nanoseconds(),
            "looks": self.snapshots,
            "turns": collected.usage.turns,
            "output": collected.usage.output,
            "toolsCompleted": collected.tools_completed,
            "textBytes": collected.text.map_or(0, |text| text.len()),
            "lastLook": self.seen.0.len() + self.seen.1.len(),
        })
    }
}

fn read_all(mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut input = stdin()?;
    let mut buffer = Buffer::new();
    loop {
        let count = input.read(&mut buffer.0)?;
        if count == 0 {
            return Ok(());
        }
        each(&buffer.0[..count]);
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the CPU time of this thread so far, or `None` if the system does not report it.
fn cpu_nanoseconds() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
