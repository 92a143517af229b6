//! Measures the collector, alone and behind the supervisor, and writes the output of children for it.
//!
//! `tools/bench.mjs` runs it. Each measurement prints one line of JSON. The baselines are in `benchmark/`.

mod child;
mod flood;
mod memory;
mod pipe;
mod pour;
mod stdio;

use std::error::Error;
use std::io::Write;

const USAGE: &str = "usage: events drain | collect | supervise <drain|collect> <program> <argument>… | \
    pour <file> <chunks|lines|sent> | flood <kind> <bytes> | memory <kind> <bytes> | \
    child <gate> <deltas> <pause in ms> <argument of pi>…";

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = match arguments.as_slice() {
        ["drain"] => pipe::drain()?,
        ["collect"] => pipe::collect()?,
        ["supervise", consumer, program, rest @ ..] => pipe::supervised(consumer, program, rest)?,
        ["pour", file, "chunks"] => return Ok(pour::chunks(file)?),
        // A run appends pi's arguments.
        ["pour", file, "sent", ..] => return Ok(pour::sent(file)?),
        ["pour", file, "lines"] => return Ok(pour::lines(file)?),
        ["flood", kind, bytes] => return Ok(flood::flood(kind, bytes.parse()?)?),
        ["child", gate, deltas, pause, passed @ ..] => return child::speak(gate, deltas, pause, passed),
        ["memory", kind, bytes] => memory::measure(kind, bytes)?,
        // `cargo bench` alone measures nothing, because the writer and the baselines are missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
