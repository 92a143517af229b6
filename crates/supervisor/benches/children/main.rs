//! Measures starting children through a warden and in its sandboxes, and an event of a log that is switched off.
//!
//! `tools/bench.mjs` runs it. Each measurement prints one line of JSON.

#[cfg(target_os = "linux")]
mod builds;
#[cfg(target_os = "linux")]
mod guarded;
mod log;
#[cfg(target_os = "linux")]
mod shells;

use std::error::Error;
use std::io::Write;

const USAGE: &str = "usage: children log | guarded <warden> <folder> <count> | opens <file> | \
    rings <warden> <folder> <count> | shells <count> <shell>… | builds <warden> <folder> <count>";

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = match arguments.as_slice() {
        ["log"] => log::measure(),
        #[cfg(target_os = "linux")]
        ["guarded", warden, folder, count] => guarded::measure(warden, folder, count)?,
        #[cfg(target_os = "linux")]
        ["opens", file] => guarded::opens(file)?,
        #[cfg(target_os = "linux")]
        ["rings", warden, folder, count] => guarded::rings(warden, folder, count)?,
        #[cfg(target_os = "linux")]
        ["shells", count, confined @ ..] => shells::measure(count, confined)?,
        #[cfg(target_os = "linux")]
        ["builds", warden, folder, count] => guarded::builds(warden, folder, count)?,
        // `cargo bench` alone measures nothing, because the warden is missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}
