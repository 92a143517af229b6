//! Launchers: programs that start children in other places, such as a remote machine.

use serde::{Deserialize, Serialize};

use sanitizer::text_enum;

/// A program that starts a child in another place, such as a remote machine. Its texts may contain placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launcher {
    /// The program and its arguments, which contain `{argv}`.
    pub command: Vec<String>,
    /// The child's working directory in that place. `None` is the directory in which the launcher starts the child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The pi program in that place, with its arguments. `None` is `pi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi_command: Option<Vec<String>>,
    /// The quoting that the launcher applies to the words of `{argv}`. `None` is `sh` for `ssh`, and `words` for other
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// Variables that are passed on.
    #[serde(default)]
    pub env: Vec<String>,
    /// True if the user declares that nothing can be written on the remote machine.
    #[serde(default)]
    pub readonly: bool,
    /// The command that writes the session to its standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch: Option<Vec<String>>,
    /// The command that ends the remote side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Vec<String>>,
    /// The maximum number of runs at once.
    #[serde(default = "default_launcher_slots")]
    pub max_concurrent: usize,
}

text_enum! {
    /// The ways in which a launcher reads the words of the command that it starts.
    pub enum Quote {
        /// As words.
        Words = "words",
        /// As one text for a POSIX shell.
        Sh = "sh",
    }
}

/// The placeholders in braces that a launcher's texts may contain.
pub const PLACEHOLDERS: [&str; 7] = ["argv", "cwd", "project", "runId", "agent", "env", "session"];

/// The name of the launcher that needs no configuration: this machine.
pub const LOCAL: &str = "local";

fn default_launcher_slots() -> usize {
    64
}
