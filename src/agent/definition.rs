//! An agent as its file defines it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::output_schema::OutputSchema;
use crate::text::text_enum;

text_enum! {
    /// Where a definition comes from, ordered by precedence, lowest first.
    #[derive(Default, PartialOrd, Ord, Hash)]
    pub enum Source {
        /// Part of this package.
        Builtin = "builtin",
        /// The user's own agent directory.
        User = "user",
        /// The project's directory. Its author may be somebody else than the user.
        #[default]
        Project = "project",
    }
}

text_enum! {
    /// Which context files a child of this agent reads.
    pub enum Context {
        /// `AGENTS.md` and similar files, as pi finds them.
        Project = "project",
        /// No context files.
        None = "none",
    }
}

text_enum! {
    /// Whether a read-only child runs in the kernel's sandbox, ordered by strictness.
    #[derive(PartialOrd, Ord)]
    pub enum SandboxMode {
        /// Never.
        Off = "off",
        /// When the kernel supports it.
        Auto = "auto",
        /// Always: without a sandbox the child is refused.
        Required = "required",
    }
}

text_enum! {
    /// Whether what the shell of a sandboxed child starts reaches the network, ordered by strictness.
    #[derive(PartialOrd, Ord)]
    pub enum Network {
        /// As the user does.
        On = "on",
        /// Not at all. pi itself goes on talking to its model.
        Off = "off",
    }
}

text_enum! {
    /// Where a child that may write works, ordered by strictness.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Isolation {
        /// In its directory.
        #[default]
        None = "none",
        /// In a private repository where there is git, in its directory elsewhere.
        Auto = "auto",
        /// In a private repository, made from the state of its tree.
        Private = "private",
    }
}

text_enum! {
    /// Whom a child may ask with the tool `ask`.
    #[derive(Default)]
    pub enum Asks {
        /// It has no such tool.
        #[default]
        Nobody = "nobody",
        /// The user.
        User = "user",
        /// The conversation that started the run; the user where a call waits for it.
        Parent = "parent",
    }
}

/// Which of pi's skills a child sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Skills {
    /// All or none.
    All(bool),
    /// Those of these names.
    Named(Vec<String>),
}

/// pi's thinking levels, lowest first.
pub const THINKING_LEVELS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// One agent, as its file declares it. [`super::plan_tools`] and the configuration decide what a child really gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentDefinition {
    /// At most 64 letters, digits, `.`, `_` and `-`, of any script, composed (NFC); starts with a letter or a digit.
    pub name: String,
    /// One line, at most 1000 characters; may be empty.
    pub description: String,
    /// Where the definition comes from.
    pub source: Source,
    /// The file it was read from; absent for a builtin.
    pub path: Option<PathBuf>,
    /// Whether the agent promises to change nothing.
    pub readonly: bool,
    /// pi's tool names in the order declared, without duplicates. `None`: not declared. `Some([])`: deliberately none.
    pub tools: Option<Vec<String>>,
    /// The line of `tools` in its file, counted from 1.
    pub tools_line: Option<u32>,
    /// Tools that the child never gets, whatever else allows them; `*` matches any characters.
    pub denied_tools: Vec<String>,
    /// Model pattern for the child; `None` inherits.
    pub model: Option<String>,
    /// Thinking level for the child; `None` inherits.
    pub thinking: Option<String>,
    /// The agent's own hard timeout; `None` uses the configuration.
    pub timeout: Option<Duration>,
    /// The agent's own idle timeout; `None` uses the configuration.
    pub idle_timeout: Option<Duration>,
    /// The agent's own turn limit.
    pub max_turns: Option<u32>,
    /// The agent's own limit of repeated tool calls.
    pub loop_stop_after: Option<u32>,
    /// The agent's own cost limit in USD.
    pub max_cost: Option<f64>,
    /// The sandbox mode it asks for. The stricter of this and the configuration applies.
    pub sandbox: Option<SandboxMode>,
    /// Whether its shell reaches the network; `None` uses the configuration.
    pub network: Option<Network>,
    /// Where it works, if it may write; `None` leaves that to the settings.
    pub isolation: Option<Isolation>,
    /// The name of a launcher in the user's configuration.
    pub launcher: Option<String>,
    /// The line of that name in its file, counted from 1.
    pub launcher_line: Option<u32>,
    /// Extensions that the child loads. A project agent may only name those that the user's configuration allows.
    pub extensions: Option<Vec<String>>,
    /// Which context files the child reads; `None` uses the configuration.
    pub context: Option<Context>,
    /// Which skills the child sees; `None` uses the configuration.
    pub skills: Option<Skills>,
    /// Whom the child may ask with the tool `ask`.
    pub ask: Asks,
    /// The shell command that checks the child's work.
    pub check: Option<String>,
    /// The shell command that prepares the private tree of an isolated run.
    pub setup: Option<String>,
    /// The shape of the result that the child has to submit.
    pub output_schema: Option<OutputSchema>,
    /// The system prompt: the file's body, or the description when the body is empty.
    pub prompt: String,
    /// SHA-256 of the file in lower-case hexadecimal. A confirmation is bound to it.
    pub content_hash: String,
}
