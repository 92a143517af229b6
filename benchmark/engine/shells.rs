//! Measures what the tools' sandbox adds to a shell command.

use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pi_subagent_native::process::ToolShell;
use serde_json::{Value, json};

/// The user's shell, which the other one executes.
const SHELL: &str = "/bin/sh";
/// The name of a file that is hidden from tools, beside the shell.
const HIDDEN: &str = "auth.json";

/// Puts the warden into a folder as the shell of tools that may write to another one. Returns its path.
pub(crate) fn install(warden: &Path, folder: &Path, temporary: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let tools = ToolShell {
        shell: SHELL.into(),
        writable: vec![temporary.into()],
        hidden: vec![folder.join(HIDDEN)],
        network: false,
        unix_sockets: true,
        unset: vec!["A_TOKEN".into()],
        file_bytes: Some(1 << 30),
    };
    fs::write(folder.join(HIDDEN), "{}")?;
    let shell = folder.join(ToolShell::NAME);
    fs::write(folder.join(format!("{}{}", ToolShell::NAME, ToolShell::OPTIONS_SUFFIX)), tools.to_bytes())?;
    symlink(fs::canonicalize(warden)?, &shell)?;
    Ok(shell)
}

/// Runs an empty command in each shell, in turn, `count` times, and reports how many milliseconds each took.
pub(crate) fn measure(shell: &str, count: &str) -> Result<Value, Box<dyn Error>> {
    let (mut plain, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..count.parse::<usize>()? {
        for (shell, times) in [(SHELL, &mut plain), (shell, &mut confined)] {
            let started = Instant::now();
            let status = Command::new(shell).args(["-c", ":"]).status()?;
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            if !status.success() {
                return Err(format!("{shell} ended with {status}").into());
            }
        }
    }
    Ok(json!({ "plainMs": plain, "confinedMs": confined }))
}
