//! The stop reasons of an assistant message, in pi's words.

use serde::{Serialize, Serializer};

/// The stop reason of an assistant message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model has finished its answer.
    Stop,
    /// The model reached its output limit.
    Length,
    /// The model calls tools and continues after them.
    ToolUse,
    /// The request failed.
    Error,
    /// The turn was aborted.
    Aborted,
    /// An unknown reason, as written and not sanitized.
    Other(String),
}

impl StopReason {
    /// Returns the name on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolUse => "toolUse",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::Other(name) => name,
        }
    }

    /// Returns true if the message was cut short and is no answer.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Error | Self::Aborted)
    }

    /// Returns true if no tool call of the message is executed: the message was cut short, or the last call may be
    /// incomplete.
    #[must_use]
    pub fn discards_tool_calls(&self) -> bool {
        self.is_failure() || *self == Self::Length
    }

    /// Returns true if the model has finished its turn, even if it reached its output limit.
    #[must_use]
    pub fn ends_turn(&self) -> bool {
        matches!(self, Self::Stop | Self::Length)
    }
}

impl Serialize for StopReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl From<&str> for StopReason {
    fn from(name: &str) -> Self {
        [Self::Stop, Self::Length, Self::ToolUse, Self::Error, Self::Aborted]
            .into_iter()
            .find(|reason| reason.as_str() == name)
            .unwrap_or_else(|| Self::Other(name.to_owned()))
    }
}
