//! Measures the time that the two sandboxes add: the outer one to the start of a child, the inner one to a shell
//! command.

use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use supervisor::ToolShell;

/// The user's shell, which the sandboxed shell executes.
const SHELL: &str = "/bin/sh";
/// The numbers of entries in a home directory and in pi's directory.
const HOME_ENTRIES: usize = 60;
const PI_ENTRIES: usize = 12;
/// The number of entries in an untidy home directory.
const UNTIDY_ENTRIES: usize = 1000;

/// The measured shells: their names in the report, the number of entries in the home directory, and network access.
const SHELLS: [(&str, usize, bool); 3] = [
    ("confinedMs", HOME_ENTRIES, true),
    ("noNetworkMs", HOME_ENTRIES, false),
    ("untidyMs", UNTIDY_ENTRIES, true),
];

/// Installs the warden as the shell of a child's tools in several home directories below `folder`. Returns the paths.
pub(crate) fn install(warden: &Path, folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    SHELLS.iter().map(|(name, files, network)| shell(warden, &folder.join(name), *files, *network)).collect()
}

fn shell(warden: &Path, home: &Path, files: usize, network: bool) -> Result<PathBuf, Box<dyn Error>> {
    let agent = home.join(".pi/agent");
    let temporary = home.join("tmp");
    let own = agent.join("subagents/scratch/0123456789abcdef");
    fs::create_dir_all(&own)?;
    fs::create_dir(&temporary)?;
    for (directory, count) in [(home, files), (&agent, PI_ENTRIES)] {
        (0..count).try_for_each(|number| fs::write(directory.join(number.to_string()), ""))?;
    }
    let credentials = agent.join("auth.json");
    fs::write(&credentials, "{}")?;
    let tools = ToolShell {
        shell: SHELL.into(),
        writable: vec![temporary],
        hidden: vec![agent.join("subagents"), credentials],
        masked: [".ssh", ".aws", ".gnupg", ".config/gh", ".netrc"].map(|name| home.join(name)).to_vec(),
        network,
        unix_sockets: true,
        unset: vec!["A_TOKEN".into()],
        file_bytes: Some(1 << 30),
        ..ToolShell::default()
    };
    let shell = own.join(ToolShell::NAME);
    fs::write(own.join(format!("{}{}", ToolShell::NAME, ToolShell::OPTIONS_SUFFIX)), tools.to_bytes())?;
    symlink(fs::canonicalize(warden)?, &shell)?;
    Ok(shell)
}

/// Runs an empty command in the user's shell and in each of `confined`, in turn, `count` times, and reports the
/// milliseconds of each.
pub(crate) fn measure(count: &str, confined: &[&str]) -> Result<Value, Box<dyn Error>> {
    let names = ["plainMs"].into_iter().chain(SHELLS.map(|(name, ..)| name));
    let mut found: Vec<(&str, &str, Vec<f64>)> =
        names.zip([SHELL].iter().chain(confined)).map(|(name, shell)| (name, *shell, Vec::new())).collect();
    for _ in 0..count.parse::<usize>()? {
        for (_, shell, times) in &mut found {
            let started = Instant::now();
            let status = Command::new(*shell).args(["-c", ":"]).status()?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            if !status.success() {
                return Err(format!("{shell} ended with {status}").into());
            }
        }
    }
    Ok(found.into_iter().map(|(name, _, times)| (name.to_owned(), json!(times))).collect())
}
