//! Calls that end before a child exists: nothing was started, nothing was spent.

use crate::agent::UnknownAgent;
use crate::process::SpawnError;
use crate::run::result::{CallError, ErrorCode, Mode, RunDetails, ToolResult};
use crate::text::{Sanitizer, TruncateLimits, chain};

/// Why a call is refused before anything about a child is decided.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A parameter is missing, empty or blank.
    #[error("`{parameter}` must not be blank; {expected}")]
    Blank {
        /// Which one.
        parameter: &'static str,
        /// What it is for.
        expected: &'static str,
    },
    /// Nothing to do, or too much.
    #[error("`{list}` has {count} entries; expected 1 to {most} (`subagents.{setting}`)")]
    Count {
        /// The parameter.
        list: &'static str,
        /// How many it has.
        count: usize,
        /// How many it may have.
        most: usize,
        /// The setting that says so.
        setting: &'static str,
    },
    /// There is no directory to work in.
    #[error("{}", chain(.0))]
    Directory(SpawnError),
    /// The first step of a chain has none before it.
    #[error(
        "step 1: `{{{place}}}` stands for something of an earlier step, and there is none; write `{{{{{place}}}}}` for the \
         word in braces itself"
    )]
    NoStepBefore {
        /// What stands in braces.
        place: String,
    },
    /// The configuration says no.
    #[error("delegation is switched off: `subagents.enabled` is false")]
    Disabled,
    /// A configuration file cannot be read, so what it allows is unknown.
    #[error("delegation is off until the configuration can be read: {0}")]
    BrokenConfig(String),
    /// A value of the caller's own configuration is wrong.
    #[error("the caller's configuration is not valid: {0}")]
    InvalidConfig(String),
    /// Too many delegations lie above this one.
    #[error(transparent)]
    Depth(crate::agent::TooDeep),
    /// No such agent.
    #[error(transparent)]
    Unknown(#[from] UnknownAgent),
    /// The policy for agents of a project says no.
    #[error("agent `{agent}` is defined by the project (`{path}`) and `subagents.{setting}` is `deny`")]
    ProjectPolicy {
        /// The agent.
        agent: String,
        /// Its definition.
        path: String,
        /// The setting that decided.
        setting: &'static str,
    },
    /// The user said no.
    #[error("agent `{agent}` is defined by the project (`{path}`) and the user did not allow it")]
    ProjectRefused {
        /// The agent.
        agent: String,
        /// Its definition.
        path: String,
    },
}

impl Refusal {
    /// The code for programs.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Blank { .. }
            | Self::Count { .. }
            | Self::Directory(_)
            | Self::NoStepBefore { .. }
            | Self::InvalidConfig(_) => ErrorCode::InvalidInput,
            Self::Disabled | Self::BrokenConfig(_) => ErrorCode::SubagentsDisabled,
            Self::Depth(_) => ErrorCode::SubagentDepthExceeded,
            Self::Unknown(_) => ErrorCode::UnknownAgent,
            Self::ProjectPolicy { .. } | Self::ProjectRefused { .. } => ErrorCode::SubagentDisabled,
        }
    }

    fn mode(&self) -> Mode {
        if matches!(self, Self::Depth(_)) { Mode::Management } else { Mode::Single }
    }

    /// The result of a refused call.
    #[must_use]
    pub fn into_result(self, sanitizer: &Sanitizer, limits: TruncateLimits) -> ToolResult {
        let message = sanitizer.sanitize(&self.to_string());
        let (text, _) = message.truncate(limits, None);
        let error = CallError { code: self.code(), message: text.to_string() };
        ToolResult {
            text: text.into_string(),
            is_error: true,
            usage: None,
            details: RunDetails { error: Some(error), ..RunDetails::new(self.mode(), None) },
        }
    }
}
