//! The native side of the benchmarks: one small program for all measurements and for the writers that feed them.
//! `tools/bench.mjs` runs it. Each measurement prints one line of JSON. It uses only the crate's public API and does
//! not know the baselines.

mod buffer;
#[cfg(target_os = "linux")]
mod builds;
mod child;
mod flood;
#[cfg(target_os = "linux")]
mod guarded;
mod log;
mod memory;
mod pipe;
mod pour;
mod redaction;
mod shells;
mod stdio;
mod text;
mod trees;

use std::error::Error;
use std::io::Write;

const USAGE: &str = "usage: engine drain | collect | supervise <drain|collect> <program> <argument>… | \
    pour <file> <chunks|lines|sent> | flood <kind> <bytes> | memory <kind> <bytes> | sanitize <file> | truncate <file> | log | \
    figures <texts> | changes <folder>… | trees <warden> <folder> <files> <rounds> | guarded <warden> <folder> <count> | opens <file> | rings <warden> <folder> <count> | shells <count> <shell>… | builds <warden> <folder> <count> | child <gate> <deltas> <pause in ms> <argument of pi>…";

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
        ["sanitize", file] => text::sanitize(file)?,
        ["truncate", file] => text::truncate(file)?,
        ["log"] => log::measure(),
        ["figures", file] => redaction::figures(file)?,
        ["trees", warden, folder, files, rounds] => trees::measure(warden, folder, files, rounds)?,
        ["changes", folders @ ..] => redaction::changes(folders)?,
        #[cfg(target_os = "linux")]
        ["shells", count, confined @ ..] => shells::measure(count, confined)?,
        #[cfg(target_os = "linux")]
        ["guarded", warden, folder, count] => guarded::measure(warden, folder, count)?,
        #[cfg(target_os = "linux")]
        ["rings", warden, folder, count] => guarded::rings(warden, folder, count)?,
        #[cfg(target_os = "linux")]
        ["builds", warden, folder, count] => guarded::builds(warden, folder, count)?,
        #[cfg(target_os = "linux")]
        ["opens", file] => guarded::opens(file)?,
        // `cargo bench` alone measures nothing, because the writer and the baselines are missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
