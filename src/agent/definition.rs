//! What an agent is, once its file has been read.

use std::path::PathBuf;
use std::time::Duration;

use crate::text::text_enum;

text_enum! {
    /// Where a definition comes from. The order is the order of precedence, lowest first.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Source {
        /// Part of this package.
        Builtin = "builtin",
        /// The user's own agent directory.
        User = "user",
        /// The project's directory: somebody else may have written it.
        Project = "project",
    }
}

text_enum! {
    /// Which context files a child of this agent reads.
    pub enum Context {
        /// `AGENTS.md` and its like, as pi finds them.
        Project = "project",
        /// None at all.
        None = "none",
    }
}

text_enum! {
    /// Whether a readonly child runs in the kernel's sandbox. The order is that of strictness.
    #[derive(PartialOrd, Ord)]
    pub enum SandboxMode {
        /// Never.
        Off = "off",
        /// Where the kernel can do it.
        Auto = "auto",
        /// Or it does not run.
        Required = "required",
    }
}

/// The thinking levels that pi knows, lowest first.
pub const THINKING_LEVELS: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/// One agent, as its file declares it. What a child really gets is decided by [`super::plan_tools`] and the
/// configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDefinition {
    /// `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
    pub name: String,
    /// One line, possibly empty, at most 1000 characters.
    pub description: String,
    /// Where it comes from.
    pub source: Source,
    /// The file it was read from; absent for a builtin.
    pub path: Option<PathBuf>,
    /// Whether the agent promises to change nothing.
    pub readonly: bool,
    /// pi's tool names in the order declared, none twice. `None`: not declared. `Some([])`: none, on purpose.
    pub tools: Option<Vec<String>>,
    /// Model pattern for the child; `None` inherits.
    pub model: Option<String>,
    /// Thinking level for the child; `None` inherits.
    pub thinking: Option<String>,
    /// The agent's own hard limit; `None` leaves it to the configuration.
    pub timeout: Option<Duration>,
    /// The agent's own silence limit; `None` leaves it to the configuration.
    pub idle_timeout: Option<Duration>,
    /// The agent's own limit of turns.
    pub max_turns: Option<u32>,
    /// The agent's own limit of cost in USD.
    pub max_cost: Option<f64>,
    /// The sandbox it asks for; the stricter of this and the configuration holds.
    pub sandbox: Option<SandboxMode>,
    /// Name of a launcher of the user's configuration.
    pub launcher: Option<String>,
    /// Extensions the child loads. A project agent can only name what the user's configuration allows.
    pub extensions: Option<Vec<String>>,
    /// Which context files the child reads; `None` leaves it to the configuration.
    pub context: Option<Context>,
    /// Whether the child sees skills; `None` leaves it to the configuration.
    pub skills: Option<bool>,
    /// The system prompt: the file's body, or the description when the body is empty.
    pub prompt: String,
    /// SHA-256 of the file as lower case hexadecimal; what a confirmation is bound to.
    pub content_hash: String,
}
