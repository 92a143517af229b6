//! The definition of an agent, as in its file.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::output_schema::OutputSchema;
use sanitizer::text_enum;

text_enum! {
    /// The source of a definition, ordered by precedence, lowest first.
    #[derive(Default, PartialOrd, Ord, Hash)]
    pub enum Source {
        /// Part of this package.
        Builtin = "builtin",
        /// The user's own agent directory.
        User = "user",
        /// The project's directory. Its author may not be the user.
        #[default]
        Project = "project",
        /// The program that starts the run.
        Program = "program",
    }
}

text_enum! {
    /// The context files that a child of this agent reads.
    pub enum Context {
        /// `AGENTS.md` and similar files, as pi finds them.
        Project = "project",
        /// No context files.
        None = "none",
    }
}

text_enum! {
    /// The sandbox setting of a read-only child, ordered by strictness.
    #[derive(PartialOrd, Ord)]
    pub enum SandboxMode {
        /// The child never runs in a sandbox.
        Off = "off",
        /// The child runs in a sandbox if the kernel supports it.
        Auto = "auto",
        /// The child always runs in a sandbox. Without one it is refused.
        Required = "required",
    }
}

text_enum! {
    /// The network access of a sandboxed child's shell, ordered by strictness.
    #[derive(PartialOrd, Ord)]
    pub enum Network {
        /// The shell has the user's network access.
        On = "on",
        /// The shell has no network access. pi itself can still reach its model.
        Off = "off",
    }
}

text_enum! {
    /// The working tree of a child that may write, ordered by strictness.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Isolation {
        /// The child works in its directory.
        #[default]
        None = "none",
        /// The child works in a private repository if its directory is in a git work tree and git is installed.
        /// Otherwise it works in its directory.
        Auto = "auto",
        /// The child works in a private repository, made from the state of its tree.
        Private = "private",
    }
}

text_enum! {
    /// The recipient of a child's questions with the tool `ask`.
    #[derive(Default)]
    pub enum AskTarget {
        /// No recipient: the child does not have the tool.
        #[default]
        NoOne = "nobody",
        /// The user.
        User = "user",
        /// The conversation that started the run, or the user if a call waits for the run.
        Parent = "parent",
    }
}

impl AskTarget {
    /// Returns true if the child cannot ask.
    #[must_use]
    pub fn is_no_one(&self) -> bool {
        *self == Self::NoOne
    }
}

/// The skills of pi that a child sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Skills {
    /// All or none.
    All(bool),
    /// Only the skills with these names.
    Named(Vec<String>),
}

/// pi's thinking levels, lowest first.
pub const THINKING_LEVELS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// One agent, as declared in its file. [`super::plan_tools`] and the configuration decide what a child actually gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentDefinition {
    /// At most 64 letters, digits, `.`, `_` and `-`, of any script, composed (NFC); starts with a letter or a digit.
    pub name: String,
    /// One line, at most 1000 characters; may be empty.
    pub description: String,
    /// The source of the definition.
    pub source: Source,
    /// The file of the definition; absent for a builtin.
    pub path: Option<PathBuf>,
    /// Set if the agent may not change anything.
    pub readonly: bool,
    /// pi's tool names in the declared order, without duplicates. `None` if not declared; `Some([])` if the file
    /// declares that there are none.
    pub tools: Option<Vec<String>>,
    /// The line of `tools` in its file, counted from 1.
    pub tools_line: Option<u32>,
    /// Tools that the child never gets, even if other settings allow them. `*` matches any characters.
    pub denied_tools: Vec<String>,
    /// The model pattern for the child; `None` inherits.
    pub model: Option<String>,
    /// The thinking level for the child; `None` inherits.
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
    /// The agent's sandbox mode. The stricter of this and the configuration applies.
    pub sandbox: Option<SandboxMode>,
    /// The network access of the agent's shell; `None` uses the configuration.
    pub network: Option<Network>,
    /// The working tree of an agent that may write; `None` uses the settings.
    pub isolation: Option<Isolation>,
    /// The name of a launcher in the user's configuration.
    pub launcher: Option<String>,
    /// The line of `launcher` in its file, counted from 1.
    pub launcher_line: Option<u32>,
    /// Extensions that the child loads. A project agent may only name extensions that the user's configuration allows.
    pub extensions: Option<Vec<String>>,
    /// The context files that the child reads; `None` uses the configuration.
    pub context: Option<Context>,
    /// The skills that the child sees; `None` uses the configuration.
    pub skills: Option<Skills>,
    /// The recipient of the child's questions with the tool `ask`.
    pub ask: AskTarget,
    /// The shell command that checks the child's work.
    pub check: Option<String>,
    /// The shell command that prepares the private tree of an isolated run.
    pub setup: Option<String>,
    /// The shape of the result that the child must submit.
    pub output_schema: Option<OutputSchema>,
    /// The system prompt: the file's body, or the description if the body is empty.
    pub prompt: String,
    /// The SHA-256 of the file in lower-case hexadecimal. A confirmation applies only to this hash.
    pub content_hash: String,
}
