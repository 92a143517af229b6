//! Measures reading and replacing small files, with the checks of this crate and with the standard library.
//!
//! `tools/bench.mjs` runs it. The measurement prints one line of JSON.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use files::{Directory, Entry, private};

const USAGE: &str = "usage: entries <folder> <files> <rounds>";
/// The size of a small record of a run.
const BYTES: usize = 2000;

/// The time per file, in microseconds, of each round.
#[derive(Default)]
struct Times {
    read: Vec<f64>,
    plainly_read: Vec<f64>,
    replaced: Vec<f64>,
    plainly_replaced: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let times = match arguments.as_slice() {
        [folder, files, rounds] => {
            measure(&Path::new(folder).canonicalize()?, files.parse()?, rounds.parse()?)?
        }
        // `cargo bench` alone measures nothing, because the folder is missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    let Times { read, plainly_read, replaced, plainly_replaced } = times;
    writeln!(
        std::io::stdout(),
        r#"{{"read":{read:?},"plainlyRead":{plainly_read:?},"replaced":{replaced:?},"plainlyReplaced":{plainly_replaced:?}}}"#
    )?;
    Ok(())
}

/// Reads and replaces `files` files of `folder`. The sides take turns at being first.
fn measure(folder: &Path, files: usize, rounds: usize) -> Result<Times, Box<dyn Error>> {
    let paths: Vec<PathBuf> = (0..files).map(|number| folder.join(format!("{number}.json"))).collect();
    let content = vec![b'x'; BYTES];
    for path in &paths {
        fs::write(path, &content)?;
    }
    let mut times = Times::default();
    for round in 0..rounds {
        for is_ours in [round % 2 == 0, round % 2 == 1] {
            let (read, replaced) = if is_ours {
                (&mut times.read, &mut times.replaced)
            } else {
                (&mut times.plainly_read, &mut times.plainly_replaced)
            };
            let began = Instant::now();
            let bytes = if is_ours { read_checked(folder, &paths)? } else { read_plainly(&paths)? };
            read.push(micros(began, files));
            if bytes != files * BYTES {
                return Err(format!("{bytes} bytes were read").into());
            }
            let began = Instant::now();
            for path in &paths {
                if is_ours {
                    private::write_temporary(path, &content)?.persist(path)?;
                } else {
                    let temporary = path.with_extension("tmp");
                    fs::write(&temporary, &content)?;
                    fs::rename(&temporary, path)?;
                }
            }
            replaced.push(micros(began, files));
        }
    }
    Ok(times)
}

/// Reads files in a directory that was opened once, and refuses links. Returns the number of bytes.
fn read_checked(folder: &Path, paths: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let directory = Directory::open_real(folder)?;
    let mut total = 0;
    for path in paths {
        let Entry::File(mut file) = directory.entry(path.file_name().unwrap_or_default())? else {
            return Err(format!("{} is not a file", path.display()).into());
        };
        let mut bytes = Vec::with_capacity(BYTES);
        total += file.read_to_end(&mut bytes)?;
    }
    Ok(total)
}

/// Reads files by their paths. Returns the number of bytes.
fn read_plainly(paths: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let mut total = 0;
    for path in paths {
        total += fs::read(path)?.len();
    }
    Ok(total)
}

fn micros(began: Instant, count: usize) -> f64 {
    began.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
