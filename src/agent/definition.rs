//! What an agent is, once its file has been read.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

/// Where a definition comes from. The order is the order of precedence, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Part of this package.
    Builtin,
    /// The user's own agent directory.
    User,
    /// The project's directory: somebody else may have written it.
    Project,
}

impl Source {
    /// Its name in listings.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which context files a child of this agent reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// `AGENTS.md` and its like, as pi finds them.
    Project,
    /// None at all.
    None,
}

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
    /// `auto`, `required` or `off`.
    pub sandbox: Option<String>,
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
