//! Decides whether a child that may not write gets a shell.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::plan::SandboxPlan;
use crate::run::context::HostContext;
use agents::{SHELL, ShellPolicy};
use files::open;

/// The path of pi's settings in a project.
const PROJECT_SETTINGS: &str = ".pi/settings.json";
/// The maximum size of these settings, in bytes.
const MAX_SETTINGS: u64 = 1024 * 1024;
/// The setting that names the shell.
const SHELL_PATH: &str = "shellPath";

/// Decides whether a child in this sandbox gets a shell. Blocks.
pub(crate) fn shell_policy(sandbox: &SandboxPlan, cwd: &Path, context: &HostContext) -> ShellPolicy {
    if let SandboxPlan::Declared { .. } = sandbox {
        return ShellPolicy::Sandboxed;
    }
    let Some(sandbox) = sandbox.enforced() else { return ShellPolicy::NoSandbox };
    let tools = context.host.tools.iter().flatten();
    let is_foreign = tools.into_iter().any(|tool| tool.name == SHELL && tool.extension.is_some());
    if sandbox.shell.is_none() {
        ShellPolicy::NoToolSandbox
    } else if is_foreign {
        ShellPolicy::FromExtension
    } else if names_shell(cwd) {
        ShellPolicy::FromProject
    } else {
        ShellPolicy::Sandboxed
    }
}

/// Returns true if the project's settings name a shell, which would take precedence over the one in the child's
/// settings. Also returns true if the settings cannot be read, because pi might be able to read them.
fn names_shell(cwd: &Path) -> bool {
    match open::regular(&cwd.join(PROJECT_SETTINGS)).and_then(|file| open::read(file, MAX_SETTINGS)) {
        Ok(bytes) => {
            match serde_json::from_slice::<Value>(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)) {
                Ok(settings) => settings.get(SHELL_PATH).is_some(),
                Err(_) => !bytes.is_empty(),
            }
        }
        Err(error) => !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_that_may_name_a_shell_is_detected() {
        let root = tempfile::tempdir().expect("a temporary directory is created");
        let settings = root.path().join(PROJECT_SETTINGS);
        assert!(!names_shell(root.path()));
        assert!(!names_shell(Path::new("/dev/null")));
        fs::create_dir(root.path().join(".pi")).expect("the directory is created");
        for (text, expected) in [
            ("", false),
            ("{}", false),
            (r#"{"theme":"dark","packages":[]}"#, false),
            (r#"{"shellPath":"/bin/zsh"}"#, true),
            ("\u{feff}{\"shellPath\":\"/bin/zsh\"}", true),
            (r#"{"shellPath":""}"#, true),
            (r#"{"shellPath":null}"#, true),
            (r#"{"\u0073hellPath":"/bin/zsh"}"#, true),
            (r#"{"theme":1e999,"shellPath":"/bin/zsh"}"#, true),
            ("{", true),
        ] {
            fs::write(&settings, text).expect("the file is written");
            assert_eq!(names_shell(root.path()), expected, "{text}");
        }
        fs::remove_file(&settings).expect("the file is removed");
        fs::create_dir(&settings).expect("the directory is created");
        assert!(names_shell(root.path()), "a directory in place of the settings counts");
    }
}
