//! Why an assistant message ended, in pi's words.

/// Why an assistant message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model had said everything.
    Stop,
    /// The model reached its output limit.
    Length,
    /// The model calls tools and goes on after them.
    ToolUse,
    /// The request failed.
    Error,
    /// The turn was aborted.
    Aborted,
    /// A reason that is not known here, as written; not sanitized.
    Other(String),
}

impl StopReason {
    /// The name on the wire.
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

    /// Whether the message broke off: no answer, whatever it says.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Error | Self::Aborted)
    }

    /// Whether no tool call of the message is executed: it broke off, or the last call may be incomplete.
    #[must_use]
    pub fn drops_calls(&self) -> bool {
        self.is_failure() || *self == Self::Length
    }

    /// Whether the model has finished its turn, if only because of its output limit.
    #[must_use]
    pub fn ends_turn(&self) -> bool {
        matches!(self, Self::Stop | Self::Length)
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
