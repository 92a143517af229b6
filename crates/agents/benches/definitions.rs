//! Measures the discovery of agents: of changed files, of unchanged ones, and reading the same files with a YAML parser alone.
//!
//! `tools/bench.mjs` runs it. The measurement prints one line of JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agents::{AgentDirs, discover};
use serde_json::{Value, json};

const USAGE: &str = "usage: definitions <folder> <files> <rounds>";
/// Older than the files that discovery reads again although nothing about them seems to have changed.
const AGE: Duration = Duration::from_secs(3600);

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = match arguments.as_slice() {
        [folder, files, rounds] => measure(Path::new(folder), files.parse()?, rounds.parse()?)?,
        // `cargo bench` alone measures nothing, because the folder is missing.
        [] => return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?),
        _ => return Err(USAGE.into()),
    };
    writeln!(std::io::stdout(), "{report}")?;
    Ok(())
}

/// Discovers `files` agents of the user, in milliseconds for all of them.
fn measure(folder: &Path, files: usize, rounds: u32) -> Result<Value, Box<dyn Error>> {
    let agent_dir = folder.join("agent");
    let project = folder.join("project");
    fs::create_dir_all(agent_dir.join("agents"))?;
    fs::create_dir_all(project.join(".git"))?;
    let mut paths = Vec::new();
    for number in 0..files {
        let path = agent_dir.join("agents").join(format!("agent-{number}.md"));
        fs::write(&path, definition(number))?;
        paths.push(path);
    }
    let find = || discover(&project, &agent_dir, Some(folder), AgentDirs::default());
    let mut changed = Vec::new();
    let mut unchanged = Vec::new();
    let mut parsed = Vec::new();
    for round in 0..rounds {
        // Another time of the last change, so that no file counts as known.
        for path in &paths {
            File::options()
                .write(true)
                .open(path)?
                .set_modified(SystemTime::now() - AGE - Duration::from_secs(round.into()))?;
        }
        let began = Instant::now();
        parse_plainly(&paths)?;
        parsed.push(millis(began));
        for times in [&mut changed, &mut unchanged] {
            let began = Instant::now();
            let catalog = find();
            times.push(millis(began));
            let last = format!("agent-{}", files.saturating_sub(1));
            if catalog.find(&last).is_err() {
                return Err(format!("{last} was not found").into());
            }
        }
    }
    Ok(json!({ "changed": changed, "unchanged": unchanged, "parsed": parsed }))
}

/// Reads each file and its front matter, without checking a field.
fn parse_plainly(paths: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    for path in paths {
        let text = fs::read_to_string(path)?;
        let front = text.split("---\n").nth(1).ok_or("a file has no front matter")?;
        let fields: BTreeMap<String, serde_yaml::Value> = serde_yaml::from_str(front)?;
        if fields.len() != 5 {
            return Err(format!("{} has {} fields", path.display(), fields.len()).into());
        }
    }
    Ok(())
}

/// A definition of usual size.
fn definition(number: usize) -> String {
    let front = format!(
        "name: agent-{number}\ndescription: Reviews changes of part {number} and reports what is wrong\n\
         tools: read, grep, find, ls, bash\nmodel: anthropic/claude-haiku-4-5\nthinking: low\n"
    );
    let prompt = "Read the files that the task names. Report what is wrong, with file and line.\n".repeat(20);
    format!("---\n{front}---\n\n{prompt}")
}

fn millis(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}
