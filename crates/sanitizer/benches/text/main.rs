//! Measures the sanitizer and the truncator: their speed, and the sanitizer's hits and misses in texts of other projects.
//!
//! `tools/bench.mjs` and `tools/redaction.mjs` run it. The last line of its output is JSON. The baselines are in
//! `benchmark/`.

mod redaction;
mod speed;

use std::error::Error;
use std::io::Write;

const USAGE: &str = "usage: text sanitize <file> | truncate <file> | figures <texts> | changes <folder>…";

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = match arguments.as_slice() {
        ["sanitize", file] => speed::sanitize(file)?,
        ["truncate", file] => speed::truncate(file)?,
        ["figures", file] => redaction::figures(file)?,
        ["changes", folders @ ..] => redaction::changes(folders)?,
        // `cargo bench` alone measures nothing, because the texts are missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
