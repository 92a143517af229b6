//! The settings with one entry for each name: agents, and launchers, which start children in other places.

use sanitizer::text_enum;
use serde::{Deserialize, Serialize};

use crate::{Context, Isolation, Skills};

/// An agent's settings from the user's file and from the project's files. Absent values leave the agent file unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSettings {
    /// The model. `inherit` is the configured model, or the session's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The thinking level. `inherit` works as with the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// The command that checks its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The command that prepares its private tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// The limits that can be made stricter.
    #[serde(flatten)]
    pub bounds: AgentBounds,
    /// The stricter values from a project's files.
    #[serde(skip_serializing_if = "AgentBounds::is_empty")]
    pub project: AgentBounds,
}

/// The settings of an agent that a project may make stricter. A limit of 0 cancels the limit of the agent file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentBounds {
    /// pi's tool names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Hard timeout in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Idle timeout in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// The maximum number of assistant messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u64>,
    /// The cost limit in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// The number of repetitions of the same tool calls after which the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_stop_after: Option<u64>,
    /// The skills that the child sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Skills>,
    /// The context files that the child reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The tree in which the agent works if it may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// True if the agent may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl AgentBounds {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

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
